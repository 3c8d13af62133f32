"""What a controller's log says of the file. The messages are ones that Slurm 22.05.8 wrote."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.spec.findings import Path, Severity
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.slurm_log import Trial, Verdict, judge, missing_file, objections, unplaced
from reconciler.spec.slurmconf import SLURM, render

NOISE = """\
slurmctld: slurmctld version 22.05.8 started on cluster check
slurmctld: error:  mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:195: pmi/pmix: can not load PMIx library
slurmctld: error: Couldn't load specified plugin name for mpi/pmix_v4: Plugin init() callback failed
slurmctld: error: MPI: Cannot create context for mpi/pmix_v4
slurmctld: error: Could not open job state file /run/x/state/job_state: No such file or directory
slurmctld: error: NOTE: Trying backup state save file. Jobs may be lost!
"""
USELESS = "slurmctld: fatal: Unable to process configuration file\n"


def trial(
    log: str, config: dict[str, str] | None = None, *partitions: dict[str, str], nodes: dict[str, str] | None = None
) -> Trial:
    """A run on a cluster with a pool `cpu` and partitions `p0`, `p1` ..., given their config maps."""
    slurm: dict[str, Any] = {
        "config": config or {},
        "partitions": [
            {"id": f"p{number}", "node_pool_ids": ["cpu"], "config": each} for number, each in enumerate(partitions)
        ],
        "node_sets": [{"node_pool_id": "cpu", "config": nodes or {}}],
    }
    pool = {
        "id": "cpu",
        "machine_spec": {"machine_type": "n2-standard-8"},
        "scaling_spec": {"max_node_count": 4},
    }
    spec = {"node_pools": [pool], "orchestrator_spec": {"slurm_spec": slurm}}
    conf = render(Desired(ClusterName("acme-ml", "us-central1", "demo"), "clusters.d/a.yaml", Lifecycle(), spec))
    return Trial(conf, NOISE + "".join(f"slurmctld: {line}\n" for line in log.splitlines()), "22.05.8")


def verdict(run: Trial) -> tuple[Path, str, str, Severity]:
    """The one problem, without its hint."""
    judged = judge(run)
    assert judged is not None
    assert judged.problem is not None
    problem = judged.problem
    return problem.path[len(SLURM) :], problem.rule, problem.message.partition(": ")[2], problem.severity


def error(path: Path, message: str) -> tuple[Path, str, str, Severity]:
    return path, "slurm-config", message, Severity.ERROR


def test_unknown_parameter() -> None:
    """A parameter that no Slurm knows is an error at its key, with what may have been meant."""
    run = trial("error: _parse_next_key: Parsing error at unrecognized key: MaxJobCont", {"MaxJobCont": "5"})
    assert verdict(run) == error(("config", "MaxJobCont"), "Parsing error at unrecognized key: MaxJobCont")
    judged = judge(run)
    assert judged is not None
    assert judged.problem is not None
    assert judged.problem.hint == 'did you mean "MaxJobCount"?'
    assert judged.leave_out == {(*SLURM, "config", "MaxJobCont")}


def test_parameter_of_another_version() -> None:
    """A parameter that another version knows isn't the file's fault."""
    run = trial("error: _parse_next_key: Parsing error at unrecognized key: HashPlugin", {"HashPlugin": "hash/k12"})
    judged = judge(run)
    assert judged is not None
    assert judged.problem is not None
    assert judged.problem.rule == "slurm-config-version"
    assert judged.problem.severity is Severity.WARNING
    assert "22.05.8" in judged.problem.message


def test_parameter_of_another_record() -> None:
    """The reported line tells a parameter that is wrong in a partition from the one that is right for the cluster."""
    config, partition = {"MaxJobCount": "5"}, {"MaxJobCount": "5"}
    line = trial("", config, {}, partition).conf.text.splitlines().index("PartitionName=p1 \\") + 1
    log = (
        "error: Parsing error at unrecognized key: MaxJobCount\n"
        f'error: Parse error in file /run/x/slurm.conf line {line}: "   MaxJobCount=5"\n'
    )
    run = trial(log + USELESS, config, {}, partition)
    assert verdict(run) == error(
        ("partitions", 1, "config", "MaxJobCount"), "Parsing error at unrecognized key: MaxJobCount"
    )


@pytest.mark.parametrize(
    ("log", "config", "key"),
    [
        ("error: PreemptMode=banana invalid", {"PreemptMode": "banana"}, "PreemptMode"),
        ('error: ResumeRate value "x" is not a valid number', {"ResumeRate": "x"}, "ResumeRate"),
        ("error: Bad SelectTypeParameter: FOO", {"SelectTypeParameters": "CR_Core,FOO"}, "SelectTypeParameters"),
        ("error: Bad rlimit name: FOO", {"PropagateResourceLimits": "FOO"}, "PropagateResourceLimits"),
        ("fatal: Invalid configured licenses: foo:a", {"MaxJobCount": "1", "Licenses": "foo:a"}, "Licenses"),
        (
            "fatal: PrologFlags=Contain is required for use with job_container/tmpfs",
            {"JobContainerType": "job_container/tmpfs"},
            "JobContainerType",
        ),
        (
            "fatal: Invalid SelectTypeParameters for select/linear: CR_CORE (4), it can't contain CR_CORE.",
            {"SelectType": "select/linear", "selecttypeparameters": "CR_Core"},
            "selecttypeparameters",
        ),
    ],
)  # fmt: skip
def test_cluster_parameters(log: str, config: dict[str, str], key: str) -> None:
    """A message belongs to the parameter whose name or value it has."""
    assert verdict(trial(log, config)) == error(("config", key), log.partition(": ")[2])


def test_parameters_that_do_not_go_together() -> None:
    """A message about two parameters stands at the later of them, and both are left out of the next run."""
    run = trial(
        f"error: PreemptType and PreemptMode values incompatible\n{USELESS}",
        {"PreemptMode": "SUSPEND,GANG", "PreemptType": "preempt/none"},
    )
    assert verdict(run) == error(("config", "PreemptMode"), "PreemptType and PreemptMode values incompatible")
    judged = judge(run)
    assert judged is not None
    assert judged.leave_out == {(*SLURM, "config", "PreemptMode"), (*SLURM, "config", "PreemptType")}


def test_the_partition_with_the_value() -> None:
    """Of several partitions with the parameter, the one with the value is meant."""
    run = trial('error: Bad value "banana" for MaxTime', {}, {"MaxTime": "5"}, {"MaxTime": "banana"})
    assert verdict(run) == error(("partitions", 1, "config", "MaxTime"), 'Bad value "banana" for MaxTime')


def test_what_parsing_stumbled_over() -> None:
    """Of a line that can't be read the first of what Slurm shows is wrong, whatever else it mentions."""
    log = (
        "error: Weight value (x) is not a valid number\n"
        "error: NodeNames=cpu-[0-3] MemSpecLimit=9999999 is invalid, reset to 0\n"
        'error: Parse error in file /run/x/slurm.conf line 2: "   Weight=x   Features=foo"'
    )
    run = trial(log, nodes={"MemSpecLimit": "9999999", "Weight": "x", "Features": "foo"})
    assert verdict(run) == error(("node_sets", 0, "config", "Weight"), "Weight value (x) is not a valid number")


def test_no_file_of_ours_is_named() -> None:
    """Messages don't show the temporary folder."""
    run = trial(
        'error: Parse error in file /run/x/slurm.conf line 2: "SchedulerParameters="', {"SchedulerParameters": ""}
    )
    assert verdict(run) == error(("config", "SchedulerParameters"), "Parse error at SchedulerParameters=")


def missing(plugin: str) -> str:
    return (
        f"error: Couldn't find the specified plugin name for {plugin} looking at all files\nfatal: failed to initialize"
    )


def test_mistyped_plugin() -> None:
    """A plugin that Slurm has nowhere is an error; what is about it goes too, for nothing can be said of that."""
    run = trial(missing("preempt/partition_pro"), {"PreemptType": "preempt/partition_pro", "PreemptMode": "REQUEUE"})
    assert verdict(run) == error(("config", "PreemptType"), "there is no plugin preempt/partition_pro")
    judged = judge(run)
    assert judged is not None
    assert judged.leave_out == {(*SLURM, "config", "PreemptType"), (*SLURM, "config", "PreemptMode")}
    assert judged.problem is not None
    assert judged.problem.hint == 'did you mean "preempt/partition_prio"?'


@pytest.mark.parametrize("plugin", ["topology/block", "site_factor/ours"])
def test_plugin_that_is_missing_here(plugin: str) -> None:
    """A plugin that other machines' Slurm has, or that may be somebody's own, can't be checked."""
    path, rule, _, severity = verdict(trial(missing(plugin), {"TopologyPlugin": plugin}))
    assert (path, rule, severity) == (("config", "TopologyPlugin"), "slurm-config-version", Severity.WARNING)


def test_plugin_without_its_kind() -> None:
    """A plugin named without its kind is an error."""
    run = trial("fatal: Can't find plugin for linear", {"SelectType": "linear"})
    assert verdict(run) == error(("config", "SelectType"), "there is no plugin linear")


def test_file_that_only_the_service_has() -> None:
    """A parameter that makes the controller wait for another file can't be checked."""
    log = "error: s_p_parse_file: cannot stat file /run/x/topology.conf: No such file, retrying in 1sec up to 60sec"
    run = trial(log, {"TopologyParam": "Dragonfly", "TopologyPlugin": "topology/tree"})
    assert missing_file(run.log) == "topology.conf"
    path, rule, _, severity = verdict(run)
    assert (path, rule, severity) == (("config", "TopologyPlugin"), "slurm-config", Severity.WARNING)


WEIGHT = "error: TRES weight '{}' is not a configured TRES type.\nfatal: failed to parse tres weights str '{}'"


def test_resource_that_needs_accounting() -> None:
    """A resource that only a database could count can't be checked; a basic one that is misspelled can."""
    run = trial(WEIGHT.format("GRES:gpu", "GRES/gpu=2"), {}, {"TRESBillingWeights": "GRES/gpu=2"})
    assert verdict(run)[3] is Severity.WARNING
    run = trial(WEIGHT.format("CPUU", "CPUU=2"), {}, {"TRESBillingWeights": "CPUU=2"})
    assert verdict(run)[3] is Severity.ERROR


def test_resource_that_the_file_counts() -> None:
    """Nothing is said of a resource that the file itself has accounting count."""
    run = trial(
        WEIGHT.format("GRES:gpu", "GRES/gpu=2"),
        {"AccountingStorageTRES": "gres/gpu,gres/mps"},
        {"TRESBillingWeights": "GRES/gpu=2"},
    )
    assert judge(run) == Verdict(None, frozenset({(*SLURM, "partitions", 0, "config", "TRESBillingWeights")}))


def test_nothing_of_the_file() -> None:
    """Words that name nothing in the file lead to no place, but are passed on."""
    run = trial("fatal: current logic only supports 3-dimensions", {"TopologyPlugin": "topology/3d_torus"})
    assert judge(run) is None
    assert unplaced(run).path == SLURM
    assert unplaced(run).message.endswith("current logic only supports 3-dimensions")


def test_no_words_at_all() -> None:
    """A controller that ends without a word doesn't end in a blank message."""
    assert Trial(trial("").conf, "", "22.05.8").last_words == "it says nothing"


def test_objections() -> None:
    """What a running controller complains of is a warning, if it names a parameter of the file; the rest isn't."""
    log = "\n".join(
        [
            "error: MessageTimeout is too high for effective fault-tolerance",
            "Running as primary controller",
            "error: MessageTimeout is too high for effective fault-tolerance",
            "error: Invalid SchedulerParameters bf_interval: 0",
            "error: PriorityWeightAge can only be used with SlurmDBD, ignoring",
            "error: We have no QOS on the system Ignoring invalid Allow/DenyQOS value(s) foo",
            "error: read_slurm_conf: default partition not set.",
            "error: Invalid GRES configured on node cpu-[0-3]: foo:8",
            "error: Couldn't find the specified plugin name for route/foo looking at all files",
        ]
    )
    config = {
        "MessageTimeout": "1000", "SchedulerParameters": "bf_interval=x", "PriorityWeightAge": "1",
        "RoutePlugin": "route/foo",
    }  # fmt: skip
    problems = objections(trial(log, config, {"AllowQos": "foo"}, nodes={"Gres": "foo:8"}))
    assert {problem.severity for problem in problems} == {Severity.WARNING}
    assert [problem.path[len(SLURM) :] for problem in problems] == [
        ("config", "MessageTimeout"),
        ("config", "SchedulerParameters"),
        ("node_sets", 0, "config", "Gres"),
        ("config", "RoutePlugin"),
    ]
