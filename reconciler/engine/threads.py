"""Many requests at a time, in threads that keep nobody from leaving: they are daemons, and so are abandoned."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
WORKERS = 16


def in_parallel(work: Callable[[T], object], items: Sequence[T], workers: int = WORKERS) -> None:
    """Call `work` for each item, in threads where there is more than one. What it raises is raised here, at the end.

    An exception in the waiting thread itself, such as Ctrl-C, ends the wait at once, with requests still under way.
    """
    if len(items) <= 1:
        for item in items:
            work(item)
        return
    crew = Crew(work, workers)
    for item in items:
        crew.add(item)
    crew.join()


class Crew(Generic[T]):
    """Calls `work` for items that come one by one, in at most `most` threads, first come, first served."""

    def __init__(self, work: Callable[[T], object], most: int = WORKERS) -> None:
        self._work = work
        self._most = most
        self._left: deque[T] = deque()
        self._alive = 0
        self._raised: list[BaseException] = []
        self._changed = threading.Condition()

    def add(self, item: T) -> None:
        """Hand over an item; returns at once."""
        with self._changed:
            self._left.append(item)
            if self._alive >= self._most:
                return
            self._alive += 1
        threading.Thread(target=self._run, daemon=True).start()

    def join(self) -> None:
        """Wait until all is done. What `work` raised is raised here; an interruption ends the wait alone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alive)
            if self._raised:
                raise self._raised[0]

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._left:
                    self._alive -= 1
                    self._changed.notify_all()
                    return
                item = self._left.popleft()
            try:
                self._work(item)
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread, by `join`
                self._raised.append(error)


class Aside:
    """Work in a thread of its own, one after the other; what takes longer than `patience` seconds is left to itself.

    At most `most` are left so at a time: the next one then waits until one of them has ended.
    """

    def __init__(self, patience: float, most: int) -> None:
        self._patience = patience
        self._slots = threading.Semaphore(most)

    def run(self, work: Callable[[], object]) -> None:
        """Begin it, and wait for its end as long as patience lasts. What it raises ends its thread alone."""
        self._slots.acquire()
        over = threading.Event()

        def run() -> None:
            try:
                work()
            finally:
                self._slots.release()
                over.set()

        threading.Thread(target=run, daemon=True).start()
        over.wait(self._patience)


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` answers or raises, if that comes in time. Raises TimeoutError: then it goes on by itself."""
    answers: list[T] = []
    raised: list[BaseException] = []
    over = threading.Event()

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread, below
            raised.append(error)
        over.set()

    threading.Thread(target=run, daemon=True).start()
    if not over.wait(seconds):
        raise TimeoutError
    if raised:
        raise raised[0]
    return answers[0]
