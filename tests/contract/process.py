"""The command line as a process of its own: signals, streams and terminals as users and CI have them."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import reconciler

_PATIENCE = 60.0  # seconds after which something hangs
COMMAND = (sys.executable, "-m", "reconciler")
ROOT = str(Path(reconciler.__file__).parents[1])


def until(happened: Callable[[], bool]) -> None:
    """Wait for something that happens on the service's side."""
    end = time.monotonic() + _PATIENCE
    while not happened():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


class _Heard:
    """What a stream has said so far, collected by a thread."""

    def __init__(self, stream: IO[bytes], changed: threading.Condition) -> None:
        self._changed = changed
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._listen, args=(stream,), daemon=True)
        self._thread.start()

    def _listen(self, stream: IO[bytes]) -> None:
        with stream:
            while part := self._read(stream):
                with self._changed:
                    self._parts.append(part)
                    self._changed.notify_all()

    @staticmethod
    def _read(stream: IO[bytes]) -> bytes:
        try:
            return os.read(stream.fileno(), 65536)
        except OSError:  # a terminal whose other end has gone
            return b""

    def text(self) -> str:
        return b"".join(self._parts).decode(errors="replace")

    def finish(self) -> str:
        self._thread.join(_PATIENCE)
        return self.text()


class Process:
    """A command under way."""

    def __init__(self, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> None:
        self._changed = threading.Condition()
        self._popen = self._open([*COMMAND, *arguments], cwd, {**environment, "PYTHONPATH": ROOT})

    def _open(self, command: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        # Started from a background job, or an xdist worker, it would inherit "ignore Ctrl-C".
        ignored = signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            popen = subprocess.Popen(
                command,
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        finally:
            signal.signal(signal.SIGINT, ignored)
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._out = _Heard(popen.stdout, self._changed)
        self._err = _Heard(popen.stderr, self._changed)
        return popen

    @property
    def out(self) -> str:
        """Standard output so far; all of it after `end`."""
        return self._out.text()

    @property
    def err(self) -> str:
        """Standard error so far; all of it after `end`."""
        return self._err.text()

    def hear(self, text: str) -> str:
        """Wait until this is said on either stream; standard error by then."""
        self._wait_until(lambda: text in self.out or text in self.err, f"{text!r} was never said")
        return self.err

    def _wait_until(self, happened: Callable[[], bool], otherwise: str) -> None:
        with self._changed:
            found = self._changed.wait_for(lambda: happened() or self._popen.poll() is not None, _PATIENCE)
        if not found or not happened():
            self._out.finish() if self._popen.poll() is not None else None
            assert happened(), f"{otherwise}\n{self.out}\n{self.err}"

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._popen.send_signal(number)

    def end(self) -> int:
        """Wait for its end; the exit code."""
        try:
            code = self._popen.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
            raise AssertionError(f"it doesn't end\n{self.out}\n{self.err}") from None
        self._out.finish()
        self._err.finish()
        return code

    def kill(self) -> None:
        """kill -9, and see it gone."""
        self._popen.kill()
        self.end()


class Terminal(Process):
    """A command at a terminal: what is said on either stream is in `out`."""

    def _open(self, command: list[str], cwd: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        master, slave = pty.openpty()
        popen = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._keyboard = os.dup(master)
        self._out = self._err = _Heard(os.fdopen(master, "rb", buffering=0), self._changed)
        return popen

    def type(self, keys: str) -> None:
        """Press keys; `\\x03` is Ctrl-C."""
        os.write(self._keyboard, keys.encode())

    def end(self) -> int:
        """Wait for its end; the exit code."""
        code = super().end()
        os.close(self._keyboard)
        return code
