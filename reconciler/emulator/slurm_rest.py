"""The paths of the Slurm job API, and what each does to a cluster's queue."""

from __future__ import annotations

import re
from collections.abc import Callable

from reconciler.emulator import slurm_intake
from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_replies import Dialect, Reply
from reconciler.emulator.slurm_scheduler import CancelResult, Scheduler

_TASK = re.compile(r"(\d+)_(\d+)")


class RestCall:
    """One call on one cluster; None where there is no such path."""

    def __init__(self, scheduler: Scheduler, dialect: Dialect, method: str, body: object | None) -> None:
        self._scheduler = scheduler
        self._dialect = dialect
        self._method = method
        self._body = body

    def slurm(self, segments: list[str]) -> Reply | None:
        """Answers a path below ``/slurm/VERSION/``."""
        match segments:
            case ["job", "submit"]:
                return self._only("POST", self._submit)
            case ["job", job_id]:
                handlers = {"GET": self._show, "DELETE": self._cancel}
                return handlers[self._method](job_id) if self._method in handlers else self._dialect.wrong_method()
            case ["partition", name]:
                return self._only("GET", lambda: self._partition(name))
            case ["jobs" | "partitions" | "nodes" | "ping" as what]:
                return self._only("GET", getattr(self, f"_{what}"))
        return None

    def slurmdb(self, segments: list[str]) -> Reply | None:
        """Answers a path below ``/slurmdb/VERSION/``."""
        match segments:
            case ["job", job_id]:
                return self._only("GET", lambda: self._history(_find(self._recorded(), job_id)))
            case ["jobs"]:
                return self._only("GET", lambda: self._history(self._recorded()))
        return None

    def _only(self, method: str, answer: Callable[[], Reply]) -> Reply:
        return answer() if self._method == method else self._dialect.wrong_method()

    def _submit(self) -> Reply:
        submission = self._dialect.read_submission(self._body)
        if isinstance(submission, tuple):
            return submission
        taken = slurm_intake.submit(self._scheduler, submission)
        if isinstance(taken, slurm_intake.Accepted):
            return self._dialect.submitted(taken.job, taken.caveat, submission)
        return self._dialect.refused(taken)

    def _show(self, job_id: str) -> Reply:
        jobs = _find(self._live(), job_id)
        return self._dialect.jobs(jobs, self._scheduler) if jobs else self._dialect.unknown_job(job_id)

    def _cancel(self, job_id: str) -> Reply:
        results: list[CancelResult] = [self._scheduler.cancel(job) for job in _find(self._live(), job_id)]
        # Of several jobs (an array) one that could be cancelled makes the call a success.
        best = next((result for result in ("done", "denied", "finished") if result in results), None)
        return self._dialect.cancelled(job_id, best)

    def _jobs(self) -> Reply:
        return self._dialect.jobs(self._live(), self._scheduler)

    def _partitions(self) -> Reply:
        return self._dialect.partitions(list(self._scheduler.view.partitions.values()), self._scheduler)

    def _partition(self, name: str) -> Reply:
        partition = self._scheduler.view.partitions.get(name)
        if partition is None:
            return self._dialect.unknown_partition(name)
        return self._dialect.partitions([partition], self._scheduler)

    def _nodes(self) -> Reply:
        return self._dialect.nodes(self._scheduler)

    def _ping(self) -> Reply:
        return self._dialect.ping()

    def _history(self, jobs: list[Job]) -> Reply:
        return self._dialect.history(jobs, self._scheduler)

    def _live(self) -> list[Job]:
        """Jobs that slurmctld still knows."""
        oldest = self._scheduler.state.time - self._scheduler.settings.min_job_age
        return [job for job in self._scheduler.state.jobs.values() if not job.is_finished or job.end_time > oldest]

    def _recorded(self) -> list[Job]:
        """Jobs that slurmdbd has heard of."""
        newest = self._scheduler.state.time - self._scheduler.settings.accounting_lag
        return [job for job in self._scheduler.state.jobs.values() if job.submit_time <= newest]


def _find(jobs: list[Job], text: str) -> list[Job]:
    """The jobs that an id means: one job, all of an array or of a heterogeneous job, or a task (``5_2``)."""
    if task := _TASK.fullmatch(text):
        return [job for job in jobs if (job.array_job_id, job.array_task_id) == (int(task[1]), int(task[2]))]
    if not text.isdecimal() or int(text) == 0:
        return []
    number = int(text)
    members = [job for job in jobs if number in (job.array_job_id, job.het_job_id)]
    return members or [job for job in jobs if job.job_id == number]
