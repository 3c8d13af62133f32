"""Waiting for a job: polls that grow apart, and that outlive a controller's restart or one refused token."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import random as uniform

from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_job import JobId, SlurmJob, describe
from reconciler.cloud.transport import Limits
from reconciler.errors import AuthError, ReconcilerError, SlurmError, UnavailableError
from reconciler.spec.names import ClusterName

__all__ = ["JobWait", "Waited", "describe"]

_FIRST_PAUSE, _GROWTH, _LAST_PAUSE = 0.5, 1.5, 30.0  # seconds
_PATIENCE = 5  # polls in a row that may fail, once one has succeeded
_SHORTEST_REQUEST = 1.0


@dataclass(frozen=True, slots=True)
class Waited:
    """How a wait ended: all records of the job as last seen, and whether it is over."""

    jobs: tuple[SlurmJob, ...]
    is_over: bool

    @property
    def is_completed(self) -> bool:
        """Whether every task ended as it should."""
        return self.is_over and all(job.state == "COMPLETED" for job in self.jobs)


class JobWait:
    """Polls one job. A `sleep` that answers true ends the wait. The parameters are those of `Transport`."""

    def __init__(
        self,
        slurm: Slurm,
        *,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = uniform,
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`say` gets a sentence whenever the job's state changes, or a poll fails."""
        self._slurm = slurm
        self._sleep, self._clock, self._random = sleep, clock, random
        self._say = say

    def wait(
        self,
        name: ClusterName,
        job_id: JobId,
        timeout: float | None = None,
        *,
        is_stuck: Callable[[SlurmJob], bool] = lambda _: False,
    ) -> Waited:
        """Wait until the job, all tasks of it, is over, for `timeout` seconds, or until a task `is_stuck`.

        Raises what `Slurm.find` raises when the first look fails, or several in a row do.
        """
        deadline = self._clock() + (float("inf") if timeout is None else timeout)
        seen: dict[int, SlurmJob] = {}
        pause, failed, told = _FIRST_PAUSE, 0, ""
        while True:
            try:
                seen = self._look(name, job_id, seen, deadline)
                failed, words = 0, describe(seen.values())
            except (UnavailableError, AuthError, SlurmError) as error:
                failed += 1
                if not seen or failed > _patience(error):
                    raise
                words = f"can't be asked: {error.summary}"
            is_over = all(job.is_finished for job in seen.values())
            if words != told and not is_over:
                self._say(f"job {job_id}: {words}")
                told = words
            remaining = deadline - self._clock()
            ends = is_over or remaining <= 0 or any(map(is_stuck, seen.values()))
            if ends or self._sleep(min(remaining, pause * (0.5 + self._random()))):
                return Waited(tuple(seen.values()), is_over)
            pause = min(_LAST_PAUSE, pause * _GROWTH)

    def _look(
        self, name: ClusterName, job_id: JobId, seen: dict[int, SlurmJob], deadline: float
    ) -> dict[int, SlurmJob]:
        """The job's records so far. Those that the queue has forgotten meanwhile come from the history."""
        remaining = max(_SHORTEST_REQUEST, deadline - self._clock())
        limits = None if remaining == float("inf") else Limits(timeout=remaining, retry_budget=remaining)
        fresh = {job.job_id: job for job in self._slurm.find(name, job_id, limits).jobs}
        if job_id.task is not None:
            return fresh  # a task leaves the record of the waiting rest when it starts, and gets one of its own
        if any(job.job_id not in fresh for job in seen.values() if not job.is_finished):
            recorded = {job.job_id: job for job in self._slurm.history(name, job_id, limits).jobs}
            fresh = recorded | fresh
        return seen | fresh


def _patience(error: ReconcilerError) -> int:
    """A refused token is fetched anew once (by the transport, or by the service for Slurm); then it is what it is."""
    return 1 if isinstance(error, AuthError) else _PATIENCE
