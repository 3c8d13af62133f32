"""Disks that are full, readers that leave, streams that are closed, files that can't be written: nothing is half done."""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import reconciler
from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.contract.bench import Bench
from tests.faults.rig import operations, spec
from tests.faults.scenarios import changed, new

_COMMAND = [sys.executable, "-m", "reconciler"]
_NOISE = ("Traceback", "Exception ignored", "internal error", "BrokenPipeError")
_numbers = itertools.count()
REPORTS = (
    "plan",
    "plan --format json",
    "plan --format markdown",
    "drift",
    "validate",
    "list",
    "get one",
    "status one",
    "operations list",
    "schema plan",
    "--help",
    "plan --no-such-option",
)


@dataclass(frozen=True)
class Ended:
    """A process at its end; a stream that wasn't captured is empty."""

    code: int
    out: str
    err: str


def run(bench: Bench, command: str, prepare: Callable[[], object] | None = None, **streams: Any) -> Ended:
    """Run a command as a process; `streams` are those that aren't captured, `prepare` runs in it before it begins."""
    captured = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    environment = {**os.environ, "PYTHONPATH": str(Path(reconciler.__file__).parents[1])}
    done = subprocess.run(
        [*_COMMAND, *command.split()],
        cwd=bench.root,
        env=environment,
        timeout=60,
        check=False,
        preexec_fn=prepare,
        **{**captured, **streams},
    )
    ended = Ended(done.returncode, *((text or b"").decode(errors="replace") for text in (done.stdout, done.stderr)))
    assert not [noise for noise in _NOISE if noise in ended.out + ended.err], ended
    return ended


def _left() -> int:
    """The writing end of a pipe that nobody reads any more."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def _full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """An emulator in real time, for processes of their own."""
    with Emulator(EmulatorConfig(lro_seconds=0)) as running:
        yield running.url


@pytest.fixture
def bench(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository and a project of its own."""
    return Bench(tmp_path, service, f"disk-{next(_numbers)}", monkeypatch)


@pytest.fixture
def one(bench: Bench) -> Bench:
    """A cluster with a pending change."""
    changed(bench, "one")
    return bench


@pytest.mark.parametrize("stream", [_full, _left], ids=["full", "left"])
@pytest.mark.parametrize("command", REPORTS)
def test_a_report_that_cannot_be_shown(one: Bench, command: str, stream: Callable[[], int]) -> None:
    """Exit 1, or 64 for a command line that makes no sense, and no noise."""
    descriptor = stream()
    ended = run(one, command, stdout=descriptor)
    os.close(descriptor)
    assert ended.code == (64 if "no-such" in command else 1)
    assert ended.err or stream is _left


@pytest.mark.parametrize("stream", [_full, _left], ids=["full", "left"])
@pytest.mark.parametrize("which", ["stderr", "stdout"])
def test_a_change_whose_report_cannot_be_shown(one: Bench, which: str, stream: Callable[[], int]) -> None:
    """What was begun is ended all the same; only a result that can't be shown makes exit 1."""
    descriptor = stream()
    ended = run(one, "--verbose apply --auto-approve --format json", **{which: descriptor})
    os.close(descriptor)
    assert ended.code == (1 if which == "stdout" else 0)
    assert one.live("one")["labels"]["changed"] == "yes"
    if which == "stderr":
        assert json.loads(ended.out)["results"][0]["status"] == "applied"


@pytest.mark.parametrize("command", ["plan", "apply --auto-approve", "validate"])
@pytest.mark.parametrize("number", [1, 2])
def test_a_stream_that_is_closed_from_the_start(one: Bench, number: int, command: str) -> None:
    """As with `>&-`: whatever the process opens first gets that number, and must not be written into."""
    ended = run(one, command, lambda: os.close(number))
    assert ended.code in (0, 1)
    if "apply" in command:
        assert one.live("one")["labels"]["changed"] == "yes"


# --- plan files


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


def test_a_disk_that_is_full_leaves_the_old_plan_file(one: Bench) -> None:
    """A file that can't be written whole isn't written: the old one stays, and no temporary one does."""
    one.text("out/plan.json", "old")
    ended = run(one, "plan --out out/plan.json", _limit_files)
    assert ended.code == 1
    assert "out" in ended.err
    assert (one.root / "out" / "plan.json").read_text() == "old"
    assert [path.name for path in (one.root / "out").iterdir()] == ["plan.json"]


@pytest.mark.parametrize("target", ["missing/plan.json", "clusters.d", "file/plan.json", "", "x" * 300])
def test_a_plan_file_that_cannot_be_written(one: Bench, target: str) -> None:
    """Exit 1 and the path, or 64 where it's no path; nothing is left behind."""
    one.text("file", "")
    before = sorted(path.name for path in one.root.rglob("*"))
    outcome = one.run("plan", "--out", target)
    assert outcome.code == 1
    assert "error" in outcome.err
    assert "internal" not in outcome.err
    assert sorted(path.name for path in one.root.rglob("*")) == before


def test_a_plan_for_a_pipe(one: Bench) -> None:
    """What is no regular file, such as /dev/stdout or a pipe, is written into and not replaced."""
    pipe = one.root / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    reader.start()
    one.run("plan", "--out", "pipe").ok()
    reader.join(30)
    assert json.loads(heard[0])["summary"]["update"] == 1
    assert pipe.is_fifo()


def test_a_plan_through_a_link(one: Bench) -> None:
    """A link stays one; the file that it leads to is replaced, with its mode."""
    target = one.text("store/plan.json", "old")
    target.chmod(0o640)
    (one.root / "plan.json").symlink_to(target)
    one.run("plan", "--out", "plan.json").ok()
    assert (one.root / "plan.json").is_symlink()
    assert json.loads(target.read_text())["summary"]["update"] == 1
    assert target.stat().st_mode & 0o777 == 0o640


def test_readers_of_a_plan_file_see_all_or_nothing(one: Bench) -> None:
    """While it is written again and again, every read finds a whole one."""
    one.run("plan", "--out", "plan.json").ok()
    reading = threading.Event()
    wrong: list[str] = []

    def read() -> None:
        while not reading.is_set():
            text = (one.root / "plan.json").read_text()
            try:
                json.loads(text)
            except ValueError:
                wrong.append(text)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(5):
        one.run("plan", "--out", "plan.json").ok()
    reading.set()
    reader.join()
    assert not wrong


def test_an_import_that_runs_out_of_space(one: Bench) -> None:
    """The file is there whole or not at all."""
    ended = run(one, "import one --out out.yaml", _limit_files)
    assert ended.code == 1
    assert not [path.name for path in one.root.iterdir() if "out.yaml" in path.name]


def test_a_create_after_all_that(bench: Bench) -> None:
    """Two runs in a row that can't say anything do the work once."""
    new(bench, "one")
    for _ in range(2):
        descriptor = _full()
        run(bench, "apply --auto-approve", stdout=descriptor, stderr=descriptor)
        os.close(descriptor)
    assert operations(bench) == {"Create": 1}
    assert bench.live("one")["labels"] == spec()["labels"]
