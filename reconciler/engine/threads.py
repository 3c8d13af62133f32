"""Many requests at a time, in threads that keep nobody from leaving: they are daemons, and so are abandoned."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

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
    left = deque(items)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            while True:
                try:
                    item = left.popleft()  # atomic
                except IndexError:
                    return
                work(item)
        except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread, below
            raised.append(error)

    threads = [threading.Thread(target=run, daemon=True) for _ in range(min(workers, len(items)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
