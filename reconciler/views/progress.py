"""What a long wait shows on standard error. Whoever waits calls a `Progress`, from as many threads as it likes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Protocol, Self, TextIO

from reconciler.views.outcome import duration
from reconciler.views.safe import safe
from reconciler.views.terminal import is_interactive, use_colour
from reconciler.views.wording import short_name

HEARTBEAT = 30.0  # seconds; a CI log shows no more than this often that a wait goes on


class Progress(Protocol):
    """An observer of clusters' changes. `cluster` is the full resource name, times are seconds; no call waits.

    Entered before the first call and left after the last, so that what it has drawn can be taken away.
    """

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def started(self, cluster: str, action: str, operation: str = "") -> None:
        """The request was accepted; `operation` is what is waited for, where there is one."""

    def update(self, cluster: str, message: str, elapsed: float) -> None:
        """The operation was polled: its own progress message (may be empty), and how long the wait has been."""

    def retry(self, cluster: str, reason: str, delay: float) -> None:
        """A request failed in a way that passes; it is made again after the delay."""

    def finished(self, cluster: str, status: str, seconds: float) -> None:
        """The cluster's fate is known."""


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def started(self, cluster: str, action: str, operation: str = "") -> None: ...

    def update(self, cluster: str, message: str, elapsed: float) -> None: ...

    def retry(self, cluster: str, reason: str, delay: float) -> None: ...

    def finished(self, cluster: str, status: str, seconds: float) -> None: ...


class Lines(Silent):
    """A line per change, for logs; where nothing changes, one in `HEARTBEAT` seconds and cluster."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()
        self._said: dict[str, tuple[str, float]] = {}

    def started(self, cluster: str, action: str, operation: str = "") -> None:
        with self._lock:
            self._said[cluster] = "", 0.0
            # Not the action: the operation may be a step towards it, such as a hold before a delete.
            self._write(cluster, f"sent, {operation}" if operation else f"{action} started")

    def update(self, cluster: str, message: str, elapsed: float) -> None:
        with self._lock:
            last, at = self._said.get(cluster, ("", 0.0))
            if (message and message != last) or elapsed - at >= HEARTBEAT:
                self._said[cluster] = message or last, elapsed
                self._write(cluster, f"{message or last or 'still waiting'} ({duration(elapsed)})")

    def retry(self, cluster: str, reason: str, delay: float) -> None:
        with self._lock:
            self._write(cluster, f"{reason}; trying again in {duration(delay)}")

    def finished(self, cluster: str, status: str, seconds: float) -> None:
        with self._lock:
            self._said.pop(cluster, None)
            self._write(cluster, f"{status} after {duration(seconds)}")

    def _write(self, cluster: str, text: str) -> None:
        # A log that can't be written to any more (a closed pipe) is no reason to stop waiting.
        with suppress(OSError, ValueError):
            self._stream.write(f"{safe(short_name(cluster))}: {safe(text)}\n")
            self._stream.flush()


def for_stream(stream: TextIO, environ: Mapping[str, str], *, quiet: bool = False) -> Progress:
    """The progress that suits a stream: live lines where a person watches, plain ones for a log, none if quiet."""
    if quiet:
        return Silent()
    if not is_interactive(stream, environ):
        return Lines(stream)
    from reconciler.views.progress_live import Live

    return Live(stream, colour=use_colour(stream, environ))
