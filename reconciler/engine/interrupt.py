"""Ctrl-C and SIGTERM: stop waiting, not the service, and leave within seconds with everything said."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from reconciler.errors import InterruptedRun

GRACE = 5.0  # seconds for requests under way; CI runners kill soon after they ask


class _Stop(BaseException):
    """Raised by a signal; no ReconcilerError, which would be taken for a cluster's failure on its way."""


class Interrupt:
    """A request to stop, set by signals and looked at by every wait."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._raises = False

    def __bool__(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        self._event.set()

    def sleep(self, seconds: float) -> bool:
        """Sleep, at most `seconds`; True when the run was interrupted meanwhile."""
        return self._event.wait(seconds)

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT and SIGTERM set it while the block runs. For the main thread."""

        def handle(_signal: int, _frame: FrameType | None) -> None:
            self.set()
            if self._raises:
                raise _Stop

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Let it end the block at once, by InterruptedRun, whatever the main thread waits for there.

        For what comes before anything is sent: requests under way are abandoned.
        """
        self._raises = True
        try:
            if self:
                raise _Stop
            yield
        except _Stop:
            raise InterruptedRun("interrupted; nothing was sent") from None
        finally:
            self._raises = False

    def watch(self, work: Callable[[], None], *, grace: float = GRACE) -> bool:
        """Run `work` in a daemon thread; False when it was still running `grace` seconds after the interruption.

        What `work` raises is raised here.
        """
        raised: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again in the main thread, below
                raised.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        # Short joins, so that signal handlers get their turn on every platform.
        while thread.is_alive() and not self:
            thread.join(0.1)
        deadline = time.monotonic() + grace
        while thread.is_alive() and time.monotonic() < deadline:
            thread.join(0.05)
        if raised:
            raise raised[0]
        return not thread.is_alive()
