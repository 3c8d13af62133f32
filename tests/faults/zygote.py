"""A process that has loaded everything and forks into command lines: hundreds of them start in no time.

One line of JSON in is one command: its arguments, folder, environment, and the files for its streams. Two lines come
out: the process id at once, and the exit code when it has ended. A line in acknowledges that, and gives the id free: a
signal that is sent a moment too late must not meet a stranger.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import reconciler

_ROOT = Path(reconciler.__file__).parents[1]
_PATIENCE = 60.0


class Child:
    """A command under way: `pid` until `end` has been called."""

    def __init__(self, zygote: Zygote, out: Path, err: Path) -> None:
        self._zygote = zygote
        self._out, self._err = out, err
        self.pid = int(zygote.heard())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, also to one that has ended meanwhile."""
        os.kill(self.pid, number)

    def end(self) -> int:
        """Wait for its end; the exit code, negative for a signal."""
        hanging = threading.Timer(_PATIENCE, os.kill, (self.pid, signal.SIGKILL))
        hanging.start()
        try:
            code = int(self._zygote.heard())
        finally:
            hanging.cancel()
        self._zygote.send({})
        return code

    @property
    def out(self) -> str:
        """Standard output so far."""
        return self._out.read_text(errors="replace")

    @property
    def err(self) -> str:
        """Standard error so far."""
        return self._err.read_text(errors="replace")


class Zygote:
    """The preloaded process; commands run one at a time."""

    def __enter__(self) -> Self:
        self._popen = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._popen.communicate()

    def start(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Child:
        """Start a command."""
        out, err = cwd / "stdout", cwd / "stderr"
        for path in (out, err):
            path.write_bytes(b"")
        command = {"arguments": arguments, "cwd": str(cwd), "env": dict(environment), "out": str(out), "err": str(err)}
        self.send(command)
        return Child(self, out, err)

    def send(self, command: Mapping[str, object]) -> None:
        """Write a line."""
        assert self._popen.stdin
        self._popen.stdin.write(json.dumps(command) + "\n")
        self._popen.stdin.flush()

    def heard(self) -> str:
        """Read a line."""
        assert self._popen.stdout
        return self._popen.stdout.readline()


def _serve() -> None:
    _preload()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the commands
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _become(**json.loads(line))  # which tells its id
        ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert ended
        print(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status, flush=True)
        sys.stdin.readline()
        os.waitpid(pid, 0)


def _preload() -> None:
    import requests  # noqa: F401 - for the fork to find
    import tenacity  # noqa: F401

    from reconciler.cli import app, apply, applying, commands  # noqa: F401
    from reconciler.cloud import clusters, operations, slurm, wire  # noqa: F401
    from reconciler.engine import waiter  # noqa: F401
    from reconciler.spec import rules  # noqa: F401
    from reconciler.views import json, text  # noqa: F401


def _become(arguments: list[str], cwd: str, env: dict[str, str], out: str, err: str) -> NoReturn:
    from reconciler.cli.app import run

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as `reconciler.__main__` has it
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    print(os.getpid(), flush=True)
    for stream, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(path, flags | os.O_CREAT | (os.O_TRUNC if stream else 0), 0o600), stream)
    sys.exit(run(arguments))


if __name__ == "__main__":
    _serve()
