"""Time that passes only where somebody sleeps, for the command line and the emulator in one process."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from reconciler.cli import applying, session
from reconciler.cloud.slurm_wait import JobWait
from reconciler.cloud.transport import Transport
from reconciler.emulator import service
from reconciler.engine.interrupt import Interrupt
from reconciler.engine.waiter import Waiter


class FakeTime:
    """Seconds, moved forward by every sleep. One hand for all threads: two that sleep at a time move it twice."""

    def __init__(self) -> None:
        self._begin = time.time()
        self._lock = threading.Lock()
        self.slept = 0.0

    def monotonic(self) -> float:
        return 1000.0 + self.slept

    def wall(self) -> float:
        return self._begin + self.slept

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept += max(0.0, seconds)
        time.sleep(0)  # let other threads have their turn, as a sleep does

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Put it in place of the clocks and sleeps of command line, engine, cloud and emulator.

        Jitter of waits is taken out besides, so that equal runs make equal requests.
        """
        patch.setattr(service, "time", SimpleNamespace(time=self.wall))
        patch.setattr(applying, "time", SimpleNamespace(monotonic=self.monotonic))
        patch.setattr(applying, "random", SimpleNamespace(random=lambda: 0.5))
        patch.setattr(session, "time", SimpleNamespace(sleep=self.sleep))
        patch.setattr(Interrupt, "sleep", lambda interrupt, seconds: self.sleep(seconds) or bool(interrupt))
        for made, doubles in (
            (Transport, {"clock": self.monotonic, "wall": self.wall}),
            (Waiter, {"clock": self.monotonic, "random": lambda: 0.5}),
            (JobWait, {"clock": self.monotonic, "random": lambda: 0.5}),
        ):
            defaults = made.__init__.__kwdefaults__
            assert doubles.keys() <= defaults.keys(), f"{made.__name__} takes its clock in another way now"
            for name, double in doubles.items():
                patch.setitem(defaults, name, double)
