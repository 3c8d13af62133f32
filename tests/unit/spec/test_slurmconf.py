"""The slurm.conf that a cluster file amounts to."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.spec.findings import Path
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.slurmconf import SlurmConf, render
from tests.unit.spec.samples import HEAD, load_one

SLURM: Path = ("spec", "orchestrator_spec", "slurm_spec")
LOGIN_AND_CPU = """\
spec:
  node_pools:
    - id: login
      machine_spec: {machine_type: n2-standard-4}
      scaling_spec: {min_node_count: 1, max_node_count: 1}
    - id: cpu
      machine_spec: {machine_type: n2-standard-8}
      scaling_spec: {min_node_count: 0, max_node_count: 4}
    - id: a4
      machine_spec: {machine_type: a4-highgpu-8g, accelerator_type: NVIDIA_B200, accelerator_count: 8}
      scaling_spec: {min_node_count: 1, max_node_count: 1}
  orchestrator_spec:
    slurm_spec:
      login_node_pool_id: login
"""


def conf_of(slurm: str, lifecycle: str = "") -> SlurmConf:
    """The configuration of a cluster with a login, a CPU and a GPU pool; `slurm` is JSON, what slurm_spec has more."""
    fields = "".join(f"      {key}: {json.dumps(value)}\n" for key, value in json.loads(slurm).items())
    loaded = load_one(HEAD + lifecycle + LOGIN_AND_CPU + fields)
    assert [str(each) for each in loaded.findings] == []
    return render(loaded.clusters[0])


def line_of(conf: SlurmConf, path: Path) -> str:
    """The line that comes from a path."""
    return conf.text.splitlines()[conf.lines.index(path)].removesuffix("\\").strip()


def test_whole_file() -> None:
    """Pools but the login pool are cloud nodes with their counts and sizes; the first partition is the default."""
    partitions = [
        {"id": "main", "node_pool_ids": ["a4", "cpu"], "config": {"MaxTime": "1-00:00:00"}},
        {"id": "debug", "node_pool_ids": ["cpu", "login"]},
    ]
    conf = conf_of(json.dumps({"partitions": partitions, "config": {"MaxJobCount": "5"}}))
    assert conf.problems == ()
    assert (
        conf.text
        == """\
SelectType=select/cons_tres
GresTypes=gpu
MaxJobCount=5
NodeName=cpu-[0-3] \\
  CPUs=8 \\
  RealMemory=32000 \\
  State=CLOUD
NodeName=a4-0 \\
  CPUs=224 \\
  RealMemory=3968000 \\
  Gres=gpu:8 \\
  State=CLOUD
PartitionName=main \\
  Nodes=a4-0,cpu-[0-3] \\
  Default=YES \\
  MaxTime=1-00:00:00
PartitionName=debug \\
  Nodes=cpu-[0-3]
"""
    )


def test_every_line_has_its_path() -> None:
    """There is a path for each line, in the spelling of the file, and none for what only the tool says."""
    partition = {"id": "main", "node_pool_ids": ["cpu"], "config": {"max_time": "60"}}
    node_set = {"node_pool_id": "cpu", "config": {"Weight": "5"}}
    conf = conf_of(
        json.dumps({"partitions": [partition], "node_sets": [node_set], "config": {"prioritytype": "priority/basic"}})
    )
    assert len(conf.lines) == len(conf.text.splitlines())
    assert conf.lines[0] is None
    assert line_of(conf, (*SLURM, "config", "prioritytype")) == "PriorityType=priority/basic"
    assert line_of(conf, (*SLURM, "partitions", 0, "config", "max_time")) == "MaxTime=60"
    assert line_of(conf, (*SLURM, "node_sets", 0, "config", "Weight")) == "Weight=5"
    assert line_of(conf, ("spec", "node_pools", 1, "id")) == "NodeName=cpu-[0-3]"


def test_the_files_value_wins() -> None:
    """A parameter that the tool would set too stands once, with the file's value."""
    conf = conf_of('{"config": {"selecttype": "select/linear", "GresTypes": "gpu,mps"}}')
    assert conf.text.startswith("SelectType=select/linear\nGresTypes=gpu,mps\nNodeName=")
    assert conf.text.count("SelectType=") == conf.text.count("GresTypes=") == 1


def test_own_geometry_of_nodes() -> None:
    """A node set that says how the CPUs are laid out isn't contradicted by a CPU count from the machine type."""
    conf = conf_of('{"node_sets": [{"node_pool_id": "cpu", "config": {"Sockets": "1", "CoresPerSocket": "4"}}]}')
    nodes = conf.text[conf.text.index("NodeName=cpu") : conf.text.index("NodeName=a4")]
    assert "CPUs" not in nodes
    assert "  Sockets=1 \\\n  CoresPerSocket=4\n" in nodes


def test_default_partition_id() -> None:
    """The default partition is the named one where one is named."""
    partitions = [{"id": "one", "node_pool_ids": ["cpu"]}, {"id": "two", "node_pool_ids": ["cpu"]}]
    conf = conf_of(json.dumps({"partitions": partitions, "default_partition_id": "two"}))
    assert conf.text.count("Default=YES") == 1
    assert conf.text.index("Default=YES") > conf.text.index("PartitionName=two")


def test_scheduling_and_accounting() -> None:
    """The superseded messages become parameters of slurm.conf, lists joined by commas."""
    conf = conf_of(
        '{"scheduling": {"preempt_type": "preempt/qos", "preempt_mode": ["SUSPEND", "GANG"],'
        ' "priority_weight_job_size": 7}, "accounting": {"accounting_storage_enforce": ["limits", "qos"]}}'
    )
    assert line_of(conf, (*SLURM, "scheduling", "preempt_mode")) == "PreemptMode=SUSPEND,GANG"
    assert line_of(conf, (*SLURM, "scheduling", "priority_weight_job_size")) == "PriorityWeightJobSize=7"
    assert line_of(conf, (*SLURM, "accounting", "accounting_storage_enforce")) == "AccountingStorageEnforce=limits,qos"


def test_config_excludes_them() -> None:
    """Beside a config they aren't looked at, even if nothing of it can be tried."""
    spec = {
        "orchestrator_spec": {
            "slurm_spec": {"config": {"MailProg": "x"}, "scheduling": {"preempt_type": "preempt/qos"}}
        }
    }
    assert "Preempt" not in render(desired(spec)).text


def test_something_to_start_on() -> None:
    """Without nodes and partitions there are one of each that come from nowhere, since a controller wants them."""
    conf = conf_of('{"config": {"MaxJobCount": "5"}}')
    assert conf.text.endswith("PartitionName=none\n")
    loaded = load_one(HEAD + "spec:\n  node_pools: []\n  orchestrator_spec: {slurm_spec: {}}\n")
    assert render(loaded.clusters[0]).lines == (None, None, None, None)


@pytest.mark.parametrize("spec", ["spec: {node_pools: []}\n", "lifecycle: {state: absent}\n"])
def test_nothing_to_check(spec: str) -> None:
    """A cluster without Slurm, or one that is to be deleted, has no configuration."""
    loaded = load_one(HEAD + spec)
    assert render(loaded.clusters[0]) == SlurmConf(())


def test_leave_out() -> None:
    """A parameter can be left out; the tool's own value comes back in its stead."""
    loaded = load_one(HEAD + LOGIN_AND_CPU + "      config: {SelectType: select/linear, MaxJobCount: '5'}\n")
    path = (*SLURM, "config", "SelectType")
    assert render(loaded.clusters[0]).text.startswith("SelectType=select/linear\n")
    assert render(loaded.clusters[0], {path}).text.startswith("SelectType=select/cons_tres\n")


@pytest.mark.parametrize(
    "key",
    [
        "Prolog", "Epilog", "PrologSlurmctld", "EpilogSlurmctld", "TaskProlog", "SrunEpilog", "ResvProlog", "MailProg",
        "HealthCheckProgram", "ResumeProgram", "SuspendProgram", "ResumeFailProgram", "RebootProgram",
        "SlurmctldPrimaryOnProg", "SlurmctldPrimaryOffProg", "UnkillableStepProgram", "JobSubmitPlugins",
        "CliFilterPlugins", "PrEpPlugins", "JobCompType", "JobCompLoc", "BurstBufferType", "PowerPlugin",
        "NodeFeaturesPlugins", "PluginDir", "PlugStackConfig", "Include", "StateSaveLocation", "SlurmctldLogFile",
        "SlurmctldPidFile", "SlurmSchedLogFile", "JobCredentialPrivateKey", "AuthType", "AuthInfo", "AuthAltParameters",
        "CredType", "SlurmUser", "SlurmctldHost", "slurmctld_port", "SlurmctldAddr", "ControlMachine",
        "BackupController",
        "AccountingStorageType", "AccountingStorageHost", "AccountingStoragePass", "SwitchParameters", "NodeName",
        "PartitionName", "ClusterName", "SlurmctldDebug", "SLURMCTLDSYSLOGDEBUG", "CommunicationParameters",
    ],
)  # fmt: skip
def test_held_back(key: str) -> None:
    """What would run programs, touch files, or move the controller elsewhere is never in the file."""
    conf = conf_of(json.dumps({"config": {key: "x", "MaxJobCount": "5"}}))
    assert [setting.path for setting in conf.held_back] == [(*SLURM, "config", key)]
    assert "=x" not in conf.text
    assert "MaxJobCount=5\n" in conf.text


@pytest.mark.parametrize(
    "key",
    [
        "PrologFlags", "PrologEpilogTimeout", "EpilogMsgTime", "AccountingStorageEnforce", "AccountingStoreFlags",
        "SchedulerParameters", "PreemptParameters", "PrivateData", "SlurmctldParameters", "TmpFS", "TrackWCKey",
    ],
)  # fmt: skip
def test_not_held_back(key: str) -> None:
    """Parameters with similar names that do no harm are tried."""
    conf = conf_of(json.dumps({"config": {key: "x"}}))
    assert line_of(conf, (*SLURM, "config", key)) == f"{key}=x"


def test_held_back_in_records() -> None:
    """The file can't name nodes, which the service does, nor put them in a state in which they are looked for."""
    node_set = {"node_pool_id": "cpu", "config": {"NodeAddr": "10.0.0.1", "State": "UNKNOWN", "Weight": "2"}}
    conf = conf_of(json.dumps({"node_sets": [node_set]}))
    assert [setting.key for setting in conf.held_back] == ["NodeAddr", "State"]
    assert conf.text.count("State=CLOUD") == 2


@pytest.mark.parametrize(
    "value",
    [
        "1\nProlog=/x", "1\rProlog=/x", "1 Prolog=/x", "1\tx", "1 \\", "a\\", "1 # x", "1\0", "\x1b[2J", 'a "b" c',
        '"a', "1\u2028P=x", "1\x85P=x",
    ],
)  # fmt: skip
def test_values_stay_in_their_line(value: str) -> None:
    """A value that could begin another line or parameter, or hide the rest of its own, is an error and left out."""
    spec = {"orchestrator_spec": {"slurm_spec": {"config": {"MaxJobCount": value}, "partitions": []}}}
    conf = render(desired(spec))
    (problem,) = conf.problems
    assert (problem.path, problem.rule) == ((*SLURM, "config", "MaxJobCount"), "slurm-config")
    assert "MaxJobCount" not in conf.text


@pytest.mark.parametrize("key", ["A B", "A\nB", "A=1\nB", "", "#A", "A\\", "É"])
def test_names_are_words(key: str) -> None:
    """A name that is no word is an error and left out."""
    spec = {"orchestrator_spec": {"slurm_spec": {"partitions": [{"id": "p", "config": {key: "1"}}]}}}
    conf = render(desired(spec))
    assert [problem.path for problem in conf.problems] == [(*SLURM, "partitions", 0, "config", key)]


def test_ids_are_names() -> None:
    """An id that would be more than a name in slurm.conf is an error, and its line left out."""
    spec = {
        "node_pools": [{"id": "a[0-9]", "scaling_spec": {"max_node_count": 2}}],
        "orchestrator_spec": {"slurm_spec": {"partitions": [{"id": "p Default=YES"}, {"id": "p\nFoo=1"}]}},
    }
    conf = render(desired(spec))
    assert [problem.path for problem in conf.problems] == [
        ("spec", "node_pools", 0, "id"),
        (*SLURM, "partitions", 0, "id"),
        (*SLURM, "partitions", 1, "id"),
    ]
    assert conf.lines == (None, None, None, None)


def test_a_pool_without_nodes() -> None:
    """No line stands for no nodes, and a partition over such pools alone has none; the others are as they were."""
    pools = [
        {"id": "none", "scaling_spec": {"max_node_count": 0}},
        {"id": "some", "scaling_spec": {"max_node_count": 2}},
    ]
    partitions = [{"id": "p", "node_pool_ids": ["none"]}, {"id": "q", "node_pool_ids": ["none", "some"]}]
    conf = render(desired({"node_pools": pools, "orchestrator_spec": {"slurm_spec": {"partitions": partitions}}}))
    heads = [line for line in conf.text.splitlines() if "Name=" in line or "Nodes=" in line]
    assert [line.removesuffix("\\").strip() for line in heads] == [
        "NodeName=some-[0-1]",
        "PartitionName=p",
        "PartitionName=q",
        "Nodes=some-[0-1]",
    ]


def test_quoted_text() -> None:
    """A text in double quotes may have spaces."""
    assert line_of(conf_of('{"config": {"X11Parameters": " \\"a b\\" "}}'), (*SLURM, "config", "X11Parameters")) == (
        'X11Parameters="a b"'
    )


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=30), max_size=6))
def test_no_text_makes_lines(config: dict[str, str]) -> None:
    """Whatever a map holds, each line is one that was meant, and begins with the name that was meant."""
    conf = render(desired({"orchestrator_spec": {"slurm_spec": {"config": config}}}))
    lines = conf.text.split("\n")
    assert lines.pop() == ""
    assert [line.strip().partition("=")[0] for line in lines] == [setting.key for setting in conf.settings]
    assert len(conf.text.splitlines()) == len(conf.settings)


def desired(spec: dict[str, object]) -> Desired:
    """A cluster of a typed spec, for values that the loader might not let through."""
    return Desired(ClusterName("acme-ml", "us-central1", "demo"), "clusters.d/a.yaml", Lifecycle(), spec)
