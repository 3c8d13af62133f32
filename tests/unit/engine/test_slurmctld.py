"""Finding a controller, and ones that don't behave: stand-ins, for no real one can be made to."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from reconciler.engine import slurmctld_run
from reconciler.engine.slurmctld import ROUNDS, Checked, NoSlurmctld, check, find
from reconciler.spec.findings import Problem, Severity
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.slurmconf import SLURM

CLUSTER = Desired(
    ClusterName("acme-ml", "us-central1", "demo"),
    "clusters.d/a.yaml",
    Lifecycle(),
    {"orchestrator_spec": {"slurm_spec": {"config": {"MaxJobCount": "5"}}}},
)


@pytest.fixture(autouse=True)
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where controllers have their folders."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def controller(folder: Path, does: str) -> Path:
    """A program that calls itself slurmctld, and what it does on a configuration."""
    program = folder / "slurmctld"
    program.write_text(f'#!/bin/sh\n[ "$1" = -V ] && {{ echo slurm-wlm 99.05.1; exit; }}\n{does}\n')
    program.chmod(0o755)
    return program


SOUND = "echo slurmctld: Running as primary controller; exec sleep 60"


def sound_but_for(wrong: str) -> str:
    """What a controller does that starts, but not on CLUSTER."""
    return f'if grep -q MaxJobCount= "$4"; then\n{wrong}\nelse\n{SOUND}\nfi'


def checked(program: Path) -> tuple[Problem, ...]:
    return check([CLUSTER], slurmctld=str(program))[CLUSTER.name].problems


def test_no_controller(tmp_path: Path) -> None:
    """A program that isn't there is said, by an error of its own."""
    with pytest.raises(NoSlurmctld, match=r"there is no .*/nothing here") as raised:
        checked(tmp_path / "nothing")
    assert raised.value.code == "no_slurmctld"
    assert raised.value.hint


def test_no_controller_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a path, PATH is searched and the sbin folders, relative ones too."""
    monkeypatch.setattr("reconciler.engine.slurmctld.SBIN", str(tmp_path / "sbin"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoSlurmctld, match="there is no program slurmctld here"):
        find(None)
    (tmp_path / "sbin").mkdir()
    program = controller(tmp_path / "sbin", "exit 0")
    assert find(None).program == str(program)
    assert find(None).version == "99.05.1"
    monkeypatch.chdir(tmp_path)
    assert find("sbin/slurmctld").program == str(program)


def test_a_path_is_taken_as_a_shell_takes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`./slurmctld` is the one in this folder, and never another one that PATH leads to."""
    (tmp_path / "bin").mkdir()
    elsewhere = controller(tmp_path / "bin", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoSlurmctld, match=r"there is no program \./slurmctld here"):
        find("./slurmctld")
    assert find("slurmctld").program == str(elsewhere)
    here = controller(tmp_path, "exit 0")
    assert find("./slurmctld").program == str(here)


@pytest.mark.parametrize("content", ["#!/bin/sh\necho hello\n", "#!/nowhere/interpreter\n"])
def test_another_program(tmp_path: Path, content: str) -> None:
    """A program that isn't a slurmctld, or can't be run, is no controller."""
    program = tmp_path / "program"
    program.write_text(content)
    program.chmod(0o755)
    with pytest.raises(NoSlurmctld, match=r"is no slurmctld|can't be run"):
        checked(program)


@pytest.mark.parametrize(
    "does",
    ['echo "slurmctld: fatal: out of order" >&2; exit 1', "echo out of order; exit 0", "echo out of order; sleep 60"],
    ids=["refuses", "ends", "hangs"],
)
def test_starts_on_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path, does: str) -> None:
    """A program that starts on nothing at all, as Slurm's others do, is to blame itself, and no file is."""
    monkeypatch.setattr(slurmctld_run, "LIMIT", 0.5)
    with pytest.raises(NoSlurmctld, match=r"doesn't start as a controller.*out of order"):
        checked(controller(tmp_path, does))
    assert list(scratch.iterdir()) == []


def test_hangs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path) -> None:
    """A controller that neither starts nor ends is ended, and what it was given is called unchecked."""
    monkeypatch.setattr(slurmctld_run, "LIMIT", 2)
    (problem,) = checked(controller(tmp_path, sound_but_for("echo slurmctld: thinking; exec sleep 60")))
    assert (problem.path, problem.severity) == (SLURM, Severity.WARNING)
    assert problem.hint == "its last words: slurmctld: thinking"
    assert list(scratch.iterdir()) == []


def test_does_not_stop(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path) -> None:
    """A controller that won't end when told to is killed."""
    monkeypatch.setattr(slurmctld_run, "STOP", 0.2)
    does = "trap '' TERM; echo slurmctld: Running as primary controller; while :; do sleep 0.1; done"
    assert checked(controller(tmp_path, does)) == ()
    assert list(scratch.iterdir()) == []


def test_fails_after_all(tmp_path: Path) -> None:
    """A controller that says it runs and then finds that it can't has not started."""
    does = (
        "trap 'echo slurmctld: fatal: MaxJobCount is too small; exit 1' TERM\n"
        "echo slurmctld: Running as primary controller\n"
        "while :; do sleep 0.1; done"
    )
    (problem,) = checked(controller(tmp_path, sound_but_for(does)))
    assert problem.path == (*SLURM, "config", "MaxJobCount")
    assert problem.severity is Severity.ERROR


def test_port_taken_by_another(tmp_path: Path) -> None:
    """A port that was free and is taken by the time is no fault of the file: another is tried."""
    witness = tmp_path / "tried"
    taken = f"touch {witness}; echo slurmctld: fatal: bind: Address already in use; exit 1"
    assert checked(controller(tmp_path, f"[ -e {witness} ] || {{ {taken}; }}\n{SOUND}")) == ()
    assert witness.exists()


def test_from_another_thread(tmp_path: Path) -> None:
    """The check works outside the main thread, where signals can't be asked for."""
    told: list[tuple[Problem, ...]] = []
    program = controller(tmp_path, SOUND)
    thread = threading.Thread(target=lambda: told.append(checked(program)))
    thread.start()
    thread.join(30)
    assert told == [()]


def test_nothing_to_check(tmp_path: Path) -> None:
    """A cluster without Slurm has nothing to check, and no controller is started for it."""
    witness = tmp_path / "started"
    desired = Desired(CLUSTER.name, CLUSTER.source, Lifecycle(), {"node_pools": []})
    assert check([desired], slurmctld=str(controller(tmp_path, f"touch {witness}"))) == {desired.name: Checked()}
    assert not witness.exists()


def test_a_controller_that_forks_and_ends(tmp_path: Path) -> None:
    """What it leaves behind is ended with it."""
    left = tmp_path / "left"
    does = f"sleep 600 &\necho $! >> {left}\necho slurmctld: fatal: MaxJobCount is too small; exit 1"
    assert checked(controller(tmp_path, sound_but_for(does)))
    for number in map(int, left.read_text().split()):
        wait_until_ended(number)


def wait_until_ended(number: int) -> None:
    """Until a process is gone, or a zombie that nobody has collected yet."""
    for _ in range(1000):
        try:
            if psutil.Process(number).status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.01)
    pytest.fail(f"process {number} is still there")


needs_setpriv = pytest.mark.skipif(shutil.which("setpriv") is None, reason="there is no setpriv here")


@needs_setpriv
def test_no_controller_without_its_parent(tmp_path: Path) -> None:
    """One whose parent died before it could ask to die with it doesn't start."""
    witness = tmp_path / "it's there; $(exit)"
    command = [*slurmctld_run.die_with_us(), "touch", str(witness)]
    orphaned = subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", *command], check=False)
    assert orphaned.returncode == 1
    assert not witness.exists()
    subprocess.run(command, check=True)
    assert witness.exists()


@needs_setpriv
def test_a_controller_dies_with_its_parent() -> None:
    """The kernel ends it when the process that started it is killed."""
    script = (
        "import subprocess; from reconciler.engine.slurmctld_run import die_with_us\n"
        "run = subprocess.Popen([*die_with_us(), 'sleep', '600']); print(run.pid, flush=True); run.wait()"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent, parent.stdout as output:
        number = int(output.readline())
        while psutil.Process(number).name() != "sleep":
            time.sleep(0.01)
        parent.kill()
    wait_until_ended(number)


def test_what_was_not_tried_is_told(tmp_path: Path) -> None:
    """Parameters that a trial must go without, and those that it went without silently, each with where it stands."""
    slurm = {
        "config": {"MaxJobCount": "5", "jobsubmitplugins": "lua"},
        "node_sets": [{"node_pool_id": "cpu", "config": {"State": "DOWN", "Weight": "1"}}],
        "partitions": [{"id": "gpu", "node_pool_ids": ["cpu"], "config": {"Nodes": "ALL"}}],
    }
    desired = Desired(CLUSTER.name, CLUSTER.source, Lifecycle(), {"orchestrator_spec": {"slurm_spec": slurm}})
    found = check([desired], slurmctld=str(controller(tmp_path, SOUND)))[desired.name]
    assert found == Checked((), ("JobSubmitPlugins", "State of node set cpu", "Nodes of partition gpu"))


def test_neighbours_of_a_refused_parameter_are_told(tmp_path: Path) -> None:
    """What makes no sense without a refused parameter isn't tried either, and isn't passed over."""
    slurm = {"config": {"PriorityType": "priority/nope", "PriorityMaxAge": "1", "Priority_Params": "x"}}
    desired = Desired(CLUSTER.name, CLUSTER.source, Lifecycle(), {"orchestrator_spec": {"slurm_spec": slurm}})
    refused = "echo slurmctld: fatal: cannot find priority plugin for priority/nope; exit 1"
    does = f'if grep -q PriorityType= "$4"; then\n{refused}\nelse\n{SOUND}\nfi'
    found = check([desired], slurmctld=str(controller(tmp_path, does)))[desired.name]
    assert [problem.path[-1] for problem in found.problems] == ["PriorityType"]
    assert set(found.untried) == {"PriorityMaxAge", "Priority_Params"}


def test_more_mistakes_than_are_looked_for(tmp_path: Path) -> None:
    """A check that gives up after many mistakes says that there may be more."""
    config = {f"Wrong{number}": "x" for number in range(ROUNDS + 3)}
    desired = Desired(
        CLUSTER.name, CLUSTER.source, Lifecycle(), {"orchestrator_spec": {"slurm_spec": {"config": config}}}
    )
    refused = "echo slurmctld: fatal: bad value for $(grep -o -m1 '^Wrong[0-9]*' \"$4\"); exit 1"
    does = f'if grep -q ^Wrong "$4"; then\n{refused}\nelse\n{SOUND}\nfi'
    problems = check([desired], slurmctld=str(controller(tmp_path, does)))[desired.name].problems
    assert len(problems) == ROUNDS + 1
    assert (problems[-1].path, problems[-1].severity) == (SLURM, Severity.WARNING)
    assert "there may be more" in problems[-1].message
