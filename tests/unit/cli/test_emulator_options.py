"""`emulator`: what can't be followed is said before anything listens."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.cli.app import run
from tests.contract.process import Process


@pytest.fixture
def slurmrestd(tmp_path: Path) -> Iterator[Path]:
    """A socket where somebody listens."""
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        yield path


def refused(capsys: pytest.CaptureFixture[str], *options: str | Path) -> str:
    """What is said of options that can't be followed."""
    assert run(["emulator", *map(str, options)]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_the_port_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One that is taken, as the user gave it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(capsys, "--port", str(port)) == f"error: 127.0.0.1:{port}: Address already in use\n"


def test_a_configuration_without_its_slurm(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The built-in Slurm reads none, so it isn't passed over."""
    assert "of no use without the socket" in refused(capsys, "--slurm-config-dir", tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [("nothing", "No such file or directory"), ("left", "Connection refused"), ("x" * 120, "too long")],
)
def test_a_socket_where_nobody_listens(tmp_path: Path, name: str, said: str) -> None:
    """It is said at the start, and the emulator goes on: a slurmrestd may come later."""
    path = tmp_path / name
    if name == "left":  # by a slurmrestd that ended
        with socket.socket(socket.AF_UNIX) as ended:
            ended.bind(str(path))
    process = Process(["emulator", "--slurm-socket", str(path)], tmp_path, os.environ)
    process.hear("listening on")
    process.signal(signal.SIGTERM)
    assert process.end() == 0
    assert f"{path}: " in process.err
    assert said in process.err


def test_a_slurm_that_is_there(tmp_path: Path, slurmrestd: Path) -> None:
    """Nothing is said of it."""
    (tmp_path / "slurm.conf").touch()
    options = ["--slurm-socket", str(slurmrestd), "--slurm-config-dir", str(tmp_path)]
    process = Process(["emulator", *options], tmp_path, os.environ)
    process.hear("listening on")
    process.signal(signal.SIGTERM)
    assert (process.end(), process.err) == (0, "")


def test_a_folder_without_a_configuration(capsys: pytest.CaptureFixture[str], tmp_path: Path, slurmrestd: Path) -> None:
    """One that isn't there, and one that holds no slurm.conf."""
    for folder in (tmp_path / "nothing", tmp_path):
        said = refused(capsys, "--slurm-socket", slurmrestd, "--slurm-config-dir", folder)
        assert f"{folder / 'slurm.conf'}: No such file or directory" in said
