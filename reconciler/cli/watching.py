"""Progress of an apply, from the applier's observer calls to what standard error shows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from reconciler.engine.applier import Observer
from reconciler.engine.results import Result
from reconciler.plan.model import ClusterPlan
from reconciler.views.progress import Progress, for_stream


class Watching(Observer):
    """Adds elapsed times, and names each operation before its first poll: a killed run must have left it behind."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begin: dict[str, float] = {}
        self._named: dict[str, str] = {}

    def started(self, plan: ClusterPlan) -> None:
        self._begin[plan.cluster] = time.monotonic()

    def progress(self, plan: ClusterPlan, message: str, operation: str) -> None:
        if operation and self._named.get(plan.cluster) != operation:
            self._named[plan.cluster] = operation
            self._progress.started(plan.cluster, plan.action, operation)
        self._progress.update(plan.cluster, message, time.monotonic() - self._begin[plan.cluster])

    def finished(self, plan: ClusterPlan, result: Result) -> None:
        self._progress.finished(plan.cluster, result.status, time.monotonic() - self._begin[plan.cluster])


@contextmanager
def observer() -> Iterator[Watching]:
    """An observer that writes to standard error while the block runs."""
    with for_stream(sys.stderr, os.environ) as progress:
        yield Watching(progress)
