"""Finding a controller, and ones that don't behave: stand-ins, for no real one can be made to."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import pytest

from reconciler.engine import slurmctld_run
from reconciler.engine.slurmctld import NoSlurmctld, check, find
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


def checked(program: Path) -> tuple[Problem, ...]:
    return check([CLUSTER], slurmctld=program)[CLUSTER.name]


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
    with pytest.raises(NoSlurmctld, match="there is no slurmctld here"):
        find(None)
    (tmp_path / "sbin").mkdir()
    program = controller(tmp_path / "sbin", "exit 0")
    assert find(None).program == str(program)
    assert find(None).version == "99.05.1"
    monkeypatch.chdir(tmp_path)
    assert find(Path("sbin/slurmctld")).program == str(program)


@pytest.mark.parametrize("content", ["#!/bin/sh\necho hello\n", "#!/nowhere/interpreter\n"])
def test_another_program(tmp_path: Path, content: str) -> None:
    """A program that isn't a slurmctld, or can't be run, is no controller."""
    program = tmp_path / "program"
    program.write_text(content)
    program.chmod(0o755)
    with pytest.raises(NoSlurmctld, match=r"is no slurmctld|can't be run"):
        checked(program)


def test_starts_on_nothing(tmp_path: Path, scratch: Path) -> None:
    """A controller that refuses whatever it is given says nothing of the files."""
    with pytest.raises(NoSlurmctld, match=r"starts on no configuration here.*out of order"):
        checked(controller(tmp_path, 'echo "slurmctld: fatal: out of order" >&2; exit 1'))
    assert list(scratch.iterdir()) == []


def test_hangs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scratch: Path) -> None:
    """A controller that neither starts nor ends is ended, and what it was given is called unchecked."""
    monkeypatch.setattr(slurmctld_run, "LIMIT", 0.2)
    (problem,) = checked(controller(tmp_path, "echo slurmctld: thinking; exec sleep 60"))
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
    (problem,) = checked(controller(tmp_path, f'if grep -q MaxJobCount= "$4"; then\n{does}\nelse\n{SOUND}\nfi'))
    assert problem.path == (*SLURM, "config", "MaxJobCount")
    assert problem.severity is Severity.ERROR


SOUND = "echo slurmctld: Running as primary controller; exec sleep 60"


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
    assert check([desired], slurmctld=controller(tmp_path, f"touch {witness}")) == {desired.name: ()}
    assert not witness.exists()
