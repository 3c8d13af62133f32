"""Whole Slurm configurations tried on a real slurmctld."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from reconciler.engine.slurmctld import NoSlurmctld, check, find
from reconciler.engine.slurmctld_run import SBIN
from reconciler.spec.findings import Problem, Severity
from reconciler.spec.loader import Loaded, load

REPOSITORY = Path(__file__).parents[2]
CLUSTER = """\
project: acme-ml
location: us-central1
cluster_id: {name}
spec:
  node_pools:
    - id: cpu
      machine_spec: {{machine_type: n2-standard-8}}
      scaling_spec: {{min_node_count: 0, max_node_count: 4}}
    - id: a4
      machine_spec: {{machine_type: a4-highgpu-8g, accelerator_type: NVIDIA_B200, accelerator_count: 8}}
      provisioning_model: SPOT
      scaling_spec: {{min_node_count: 1, max_node_count: 2}}
  orchestrator_spec:
    slurm_spec:
      config:
        {config}
      node_sets:
        - node_pool_id: cpu
          config:
            {nodes}
      partitions:
        - id: a4
          node_pool_ids: [a4]
          config:
            {first}
        - id: cpu
          node_pool_ids: [cpu]
          config:
            {second}
"""


@pytest.fixture(autouse=True)
def _real_controller(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A slurmctld of this machine; whatever it does, nothing of it is left."""
    try:
        find(None)
    except NoSlurmctld as error:
        pytest.skip(str(error))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    assert list(scratch.iterdir()) == []
    assert controllers(scratch) == []


pytestmark = pytest.mark.slurm


def cluster(
    config: str = "MaxJobCount: '5'",
    first: str = "MaxTime: '60'",
    second: str = "MaxTime: '60'",
    nodes: str = "Weight: '1'",
    name: str = "demo",
) -> str:
    """A cluster file, given what its maps hold."""
    return CLUSTER.format(name=name, config=config, first=first, second=second, nodes=nodes)


def files(root: Path, *texts: str) -> Loaded:
    """Cluster files, loaded."""
    folder = root / "clusters.d"
    folder.mkdir(exist_ok=True)
    for number, text in enumerate(texts):
        (folder / f"{number}.yaml").write_text(text)
    loaded = load(cwd=root)
    assert [finding for finding in loaded.findings if finding.severity is Severity.ERROR] == []
    return loaded


def found(root: Path, text: str) -> list[tuple[str, Problem]]:
    """What the controller says of one file: the text of the line that it is about, and the problem."""
    loaded = files(root, text)
    (desired,) = loaded.clusters
    lines = ["", *text.splitlines()]
    problems = check(loaded.clusters, slurmctld=None)[desired.name].problems
    return [(lines[loaded.locate(desired, problem.path).line].strip(), problem) for problem in problems]


def controllers(scratch: Path) -> list[psutil.Process]:
    """The processes of controllers that have their files below a folder, and of theirs for scripts."""
    mine = []
    for process in psutil.process_iter():
        try:
            is_mine = process.environ().get("SLURM_CONF", "").startswith(str(scratch))
            if is_mine and process.status() != psutil.STATUS_ZOMBIE:
                mine.append(process)
        except psutil.Error:
            continue
    return mine


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            cluster("{PreemptType: preempt/none,\n         PreemptMode: 'SUSPEND,GANG'}"),
            "PreemptMode: 'SUSPEND,GANG'}",
            "PreemptType and PreemptMode values incompatible",
        ),
        (cluster("Bananas: '1'"), "Bananas: '1'", "Parsing error at unrecognized key: Bananas"),
        (cluster(second="MaxTime: banana"), "MaxTime: banana", 'Bad value "banana" for MaxTime'),
        (cluster(second="Bananas: 1"), "Bananas: 1", "Parsing error at unrecognized key: Bananas"),
        (cluster(nodes="Weight: x"), "Weight: x", "Weight value (x) is not a valid number"),
        (cluster("PriorityType: priority/multifactr"), "PriorityType: priority/multifactr", "there is no plugin"),
        (
            cluster("SelectType: select/linear\n        SelectTypeParameters: CR_Core"),
            "SelectTypeParameters: CR_Core",
            "Invalid SelectTypeParameters for select/linear",
        ),
    ],
    ids=["preempt", "unknown", "bad value", "unknown in partition", "node set", "plugin", "together"],
)  # fmt: skip
def test_wrong_configurations(tmp_path: Path, text: str, line: str, words: str) -> None:
    """What keeps the controller from starting is one error at the line that says it, in the controller's words."""
    ((where, problem),) = found(tmp_path, text)
    assert where == line
    assert problem.rule == "slurm-config"
    assert problem.severity is Severity.ERROR
    assert words in problem.message


def test_one_mistake_hides_no_other(tmp_path: Path) -> None:
    """Every mistake is found at once, though the controller ends at the first."""
    wrong = cluster("{Bananas: 1,\n         MaxStepCount: '0'}", "MaxTime: banana", "MaxTime: cherry", "Weight: x")
    assert {where for where, _ in found(tmp_path, wrong)} == {
        "{Bananas: 1,",
        "MaxStepCount: '0'}",
        "MaxTime: banana",
        "MaxTime: cherry",
        "Weight: x",
    }


@pytest.mark.parametrize(
    "text",
    [
        cluster("{PreemptType: preempt/partition_prio, PreemptMode: REQUEUE, PriorityType: priority/multifactor}"),
        cluster("SelectType: select/linear", "OverSubscribe: EXCLUSIVE", "{State: INACTIVE, MaxTime: INFINITE}"),
        cluster("{AccountingStorageTRES: gres/gpu, PriorityWeightAge: 5}", "TRESBillingWeights: 'CPU=1.0,GRES/gpu=2'"),
        cluster("AccountingStorageEnforce: 'associations,limits,qos'", "AllowQos: normal"),
        cluster(nodes="{Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 2, MemSpecLimit: 1024, Features: 'a,b'}"),
    ],
)  # fmt: skip
def test_good_configurations(tmp_path: Path, text: str) -> None:
    """Nothing is said of what a controller starts on."""
    assert found(tmp_path, text) == []


def test_example_clusters() -> None:
    """The repository's own clusters have configurations that a controller starts on."""
    loaded = load([REPOSITORY / "clusters.d"], cwd=REPOSITORY)
    assert loaded.clusters
    checked = check(loaded.clusters, slurmctld=None)
    assert [(name, found.problems) for name, found in checked.items() if found.problems] == []


def test_ten_clusters(tmp_path: Path) -> None:
    """Ten are tried side by side, and each gets what is its own."""
    texts = [cluster(name=f"c{number}", first=f"MaxTime: {'6' if number % 3 else 'b'}0") for number in range(10)]
    loaded = files(tmp_path, *texts)
    checked = check(loaded.clusters, slurmctld=None)
    assert list(checked) == [desired.name for desired in loaded.clusters]
    assert [name.cluster_id for name, found in checked.items() if found.problems] == ["c0", "c3", "c6", "c9"]


def test_parameter_of_a_later_version(tmp_path: Path) -> None:
    """What only a later Slurm knows is a warning at its line, and hides no mistake."""
    (later, wrong) = found(tmp_path, cluster("HashPlugin: hash/k12", "MaxTime: banana"))
    assert (later[0], later[1].rule, later[1].severity) == (
        "HashPlugin: hash/k12",
        "slurm-config-version",
        Severity.WARNING,
    )
    assert (wrong[0], wrong[1].severity) == ("MaxTime: banana", Severity.ERROR)


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ("SwitchType: switch/hpe_slingshot", "slurm-config-version"),
        ("AcctGatherProfileType: acct_gather_profile/hdf5", "slurm-config-version"),
        ("TopologyPlugin: topology/tree", "slurm-config"),
        ("MessageTimeout: 1000", "slurm-config"),
    ],
)
def test_warnings(tmp_path: Path, config: str, rule: str) -> None:
    """Plugins that this machine lacks, files that only the service has, and complaints alone are no errors."""
    ((where, problem),) = found(tmp_path, cluster(config))
    assert (where, problem.rule, problem.severity) == (config, rule, Severity.WARNING)


def test_nothing_named_by_the_controller(tmp_path: Path) -> None:
    """Words that lead nowhere are shown at the Slurm part of the file."""
    ((where, problem),) = found(tmp_path, cluster("TopologyPlugin: topology/3d_torus"))
    assert where == "slurm_spec:"
    assert problem.severity is Severity.ERROR


@pytest.mark.parametrize("name", ["slurmd", "slurmrestd", "slurmdbd"])
def test_another_program_of_slurm(tmp_path: Path, name: str) -> None:
    """One that tells a version, too, is no controller: it is to blame, and not the file."""
    program = shutil.which(name, path=SBIN)
    if program is None:
        pytest.skip(f"there is no {name} here")
    with pytest.raises(NoSlurmctld, match="doesn't start as a controller"):
        check(files(tmp_path, cluster()).clusters, slurmctld=program)


def test_no_program_runs_and_no_file_is_written(tmp_path: Path) -> None:
    """A file can't make the controller run, load or write anything."""
    witness = tmp_path / "witness"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {witness}\n")
    script.chmod(0o755)
    keys = ("SlurmctldPrimaryOnProg", "ResumeProgram", "MailProg", "RebootProgram", "EpilogSlurmctld")
    config = "".join(f"{key}: {script}\n        " for key in keys)
    config += f"SlurmctldLogFile: {witness}\n        PluginDir: {tmp_path}\n        JobSubmitPlugins: lua"
    assert found(tmp_path, cluster(config)) == []
    assert not witness.exists()


def test_lines_cannot_be_injected(tmp_path: Path) -> None:
    """A value that holds another line is an error, and the line isn't tried."""
    ((where, problem),) = found(tmp_path, cluster('MaxJobCount: "5\\nBananas=1"'))
    assert where == 'MaxJobCount: "5\\nBananas=1"'
    assert "would not end" in problem.message


INTERRUPTED = """
import sys
from pathlib import Path
from reconciler.engine.slurmctld import check
from reconciler.errors import InterruptedRun
from reconciler.spec.loader import load
clusters = load(cwd=Path(sys.argv[1])).clusters
try:
    check(clusters, slurmctld=None)
except InterruptedRun:
    sys.exit(130)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM leave nothing behind; SIGKILL, which leaves no time to tidy up, no process."""
    files(tmp_path, *[cluster(name=f"c{each}") for each in range(60)])
    scratch = tmp_path / "interrupted"
    scratch.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)],
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONPATH": str(REPOSITORY)},
    )
    try:
        wait_until(lambda: bool(controllers(scratch)))
        run.send_signal(number)
        code = run.wait(30)
    finally:
        run.kill()
        run.wait()
    wait_until(lambda: not controllers(scratch))
    assert code == (-number if number is signal.SIGKILL else 130)
    assert number is signal.SIGKILL or list(scratch.iterdir()) == []


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll, for half a minute at most."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
