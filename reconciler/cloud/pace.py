"""Pacing shared by threads: slots that are handed out one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable

_FIRST_INTERVAL = 0.05
_LAST_INTERVAL = 2.0


class Pace:
    """Hands out slots at least `interval` seconds apart, whoever asks."""

    def __init__(self, interval: float, clock: Callable[[], float]) -> None:
        self._interval = interval
        self._clock = clock
        self._next = float("-inf")
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take the next slot; the answer is how many seconds to sleep until it comes."""
        with self._lock:
            now = self._clock()
            slot = max(now, self._next)
            self._next = slot + self._interval
            return slot - now


class Gate(Pace):
    """Open wide until the service says "too many requests": then closed for a while, and narrow afterwards.

    When it opens again requests leave one by one, so that a hundred threads that waited don't all knock at once.
    The distance doubles with each refusal and melts with each success (additive increase would take a run's length).
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(0.0, clock)

    def slow_down(self, pause: float) -> None:
        """Let nobody through for `pause` seconds, and go slower from then on."""
        with self._lock:
            self._next = max(self._next, self._clock() + pause)
            self._interval = min(_LAST_INTERVAL, max(_FIRST_INTERVAL, self._interval * 2))

    def ease(self) -> None:
        """Note a success."""
        if self._interval:  # read without the lock: in peace time it's zero and stays so
            with self._lock:
                self._interval = self._interval * 0.8 if self._interval > _FIRST_INTERVAL / 4 else 0.0
