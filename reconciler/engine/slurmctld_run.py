"""One run of a throw-away Slurm controller: a process, its folder and its port, and nothing left of them.

It trusts anybody's word (auth/none, so that no munge daemon is needed) but has nothing to run anything on, listens on
loopback alone where the host's own name leads there, keeps all in a temporary folder, and is killed if we are.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from enum import Enum
from functools import cache
from pathlib import Path

from reconciler.engine.interrupt import Interrupt
from reconciler.spec.slurm_log import RUNNING, missing_file

SBIN = "/usr/local/sbin:/usr/sbin:/sbin"  # which an ordinary user's PATH may lack
LIMIT = 15.0  # seconds for a controller to start or end
SETTLE = 0.25  # seconds in which a controller that says it runs may still find that it can't
STOP = 3.0  # seconds for it to end when told to
POLL = 0.01
PORTS = 3  # tries, should another process take the port first
_PORT_TAKEN = "Address already in use"
# The kernel kills a process when its parent dies from the moment on that this was asked for; if we died before, its
# parent is another by now. `sh` becomes the program, so the process stays the one that we started.
_UNLESS_ORPHAN = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"'


class End(Enum):
    """How a run went."""

    STARTED = "started"
    REFUSED = "refused"
    HUNG = "hung"  # neither, within LIMIT


def run(program: str, conf: str, interrupt: Interrupt) -> tuple[End, str]:
    """Start the controller on a configuration, see how it goes, stop it; also give what it wrote.

    `conf` is a slurm.conf without what depends on the place. An interruption counts as refused.
    """
    for _ in range(PORTS):
        with tempfile.TemporaryDirectory(prefix="reconciler-slurmctld-") as folder:
            end, log = _run(program, conf, Path(folder), interrupt)
        if end is not End.REFUSED or _PORT_TAKEN not in log:
            break
    return end, log


def _run(program: str, conf: str, folder: Path, interrupt: Interrupt) -> tuple[End, str]:
    config, log = folder / "slurm.conf", folder / "log"
    (folder / "state").mkdir()
    config.write_text(conf + _place(folder), "utf-8")
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the program that the user names, or the system's slurmctld
            # -D: in the foreground, with its log on standard error; -c: without looking for an earlier state.
            [*die_with_us(), program, "-D", "-c", "-f", str(config)],
            cwd=folder,
            env={"PATH": f"{os.defpath}:{SBIN}", "LC_ALL": "C", "SLURM_CONF": str(config)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        end = _watch(process, log, interrupt)
        if end is End.STARTED:
            os.kill(process.pid, signal.SIGTERM)
            _wait(process, STOP)
    finally:
        _kill(process)
    text = _read(log)
    # What it was still starting when it was told to stop may have failed after all.
    return (End.REFUSED if end is End.STARTED and "fatal: " in text else end), text


def _place(folder: Path) -> str:
    """The settings that the place asks for."""
    settings = {
        "ClusterName": "check",
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": _free_port(),
        "SlurmUser": os.getuid(),
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "AccountingStorageType": "accounting_storage/none",
        "StateSaveLocation": f'"{folder / "state"}"',
        "SlurmctldPidFile": f'"{folder / "pid"}"',
    }
    if _own_name_is_loopback():
        settings["CommunicationParameters"] = "NoCtldInAddrAny"
    return "".join(f"{key}={value}\n" for key, value in settings.items())


@cache
def _own_name_is_loopback() -> bool:
    """Whether a controller that binds to the host's own name, the only narrower choice it has, binds to loopback."""
    try:
        return socket.gethostbyname(socket.gethostname()).startswith("127.")
    except OSError:
        return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def die_with_us() -> list[str]:
    """What makes the kernel kill the controller when we are killed, where the system has it."""
    setpriv = shutil.which("setpriv")
    own = str(os.getpid())
    return [setpriv, "--pdeathsig", "KILL", "--", "/bin/sh", "-c", _UNLESS_ORPHAN, "sh", own] if setpriv else []


def _watch(process: subprocess.Popen[bytes], log: Path, interrupt: Interrupt) -> End:
    """Wait until the controller runs, has ended, or waits for what won't come."""
    deadline, settled = time.monotonic() + LIMIT, 0.0
    while not _has_ended(process):
        now, text = time.monotonic(), _read(log)
        if missing_file(text) or interrupt:
            return End.REFUSED
        if not settled and RUNNING in text:
            settled = now + SETTLE
        if settled and now > settled:
            return End.STARTED
        if now > deadline:
            return End.HUNG
        interrupt.sleep(POLL)
    return End.REFUSED


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether it has ended; it stays a zombie, so that its number, which is its group's, is nobody else's."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _has_ended(process) and time.monotonic() < deadline:
        time.sleep(POLL)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End what still runs: also the process that a controller has for scripts, which is of the same group.

    Whether or not the controller itself still runs: it may have left others behind.
    """
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(log: Path) -> str:
    return log.read_text("utf-8", errors="replace")
