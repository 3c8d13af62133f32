"""Running jobs as a guard: a change to a cluster knows the jobs that it would hurt.

Asked for disruptive changes alone. A Slurm that can't be reached means that nobody knows, which blocks as jobs would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reconciler.engine.observe import Answer
from reconciler.engine.settle import Pace, Say, Waits
from reconciler.errors import BlockedError, InterruptedRun, ReconcilerError
from reconciler.plan.model import Blocker, ClusterPlan, Job, Note
from reconciler.plan.status import live_status
from reconciler.plan.touched import Touched, is_disruptive, touched
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import Typed, read_live

if TYPE_CHECKING:
    from reconciler.cloud.slurm_job import SlurmJob

Queue = Callable[[ClusterName], "Sequence[SlurmJob]"]
RUNNING_JOBS, JOBS_UNKNOWN = "running_jobs", "jobs_unknown"


def guard(
    plan: ClusterPlan, desired: Desired, answer: Answer | None, queue: Queue, *, waits: bool = False
) -> ClusterPlan:
    """The plan with the jobs that it would hurt, and what `lifecycle.running_jobs` makes of them.

    With `waits`, whoever carries the plan out waits for running jobs in any case (`apply --graceful`).
    """
    if answer is None or not is_disruptive(plan.action, plan.changes):
        return plan
    live = read_live(answer)
    what = touched(plan.action, plan.changes, live)
    if not what or _never_ran(live):
        return plan
    policy = "wait" if waits and desired.lifecycle.running_jobs == "block" else desired.lifecycle.running_jobs
    try:
        there = [job for job in queue(desired.name) if not job.is_finished and _places(job) & what.partitions]
    except ReconcilerError as error:
        return _unknown(plan, policy, error)
    listed = replace(plan, jobs=tuple(_shown(job) for job in there))
    jobs = [job for job in there if is_hurt(job, what)]
    if not jobs:
        return listed
    said = in_words(jobs)
    if policy == "warn":
        return _noted(listed, RUNNING_JOBS, f"{said}; lifecycle.running_jobs is warn: apply goes through with it")
    queued = [job for job in jobs if not job.is_running]
    if policy == "wait" and not queued:
        return _noted(listed, RUNNING_JOBS, f"{said}; apply waits until they have ended")
    if queued and policy == "wait":
        said = f"{in_words(queued)}, in partitions that go: move or cancel them"
    return replace(listed, blockers=(*plan.blockers, Blocker(RUNNING_JOBS, said + _way_out(policy))))


def is_hurt(job: SlurmJob, what: Touched) -> bool:
    """Whether an unfinished job would lose by the change: a running one, or a queued one whose partition goes."""
    return bool(_places(job) & (what.partitions if job.is_running else what.going))


def _places(job: SlurmJob) -> set[str]:
    return set(job.partition.split(","))


def _never_ran(live: Typed) -> bool:
    """A create that failed left a cluster without a start time: no job can ever have run there (U, V)."""
    return live_status(live).state == "ERROR" and not live.get("start_time")


def _unknown(plan: ClusterPlan, policy: str, error: ReconcilerError) -> ClusterPlan:
    said = f"it isn't known which jobs run there: {error.summary}"
    if policy == "warn":
        return _noted(plan, JOBS_UNKNOWN, said)
    hint = "; lifecycle.running_jobs: warn lets the change through all the same"
    return replace(plan, blockers=(*plan.blockers, Blocker(JOBS_UNKNOWN, said + hint)))


def _noted(plan: ClusterPlan, code: str, message: str) -> ClusterPlan:
    return replace(plan, notes=(*plan.notes, Note(code, message)))


def _way_out(policy: str) -> str:
    return "; wait for them, cancel them, or say lifecycle.running_jobs: wait or warn" if policy == "block" else ""


def in_words(jobs: Sequence[SlurmJob]) -> str:
    """The jobs in a sentence; those that may never end are named as such."""
    shown = ", ".join(f"{job.label} ({job.user}, {job.partition}, {job.state})" for job in jobs[:5])
    more = f" and {len(jobs) - 5} more" if len(jobs) > 5 else ""
    endless = [job.label for job in jobs if job.is_running and job.time_limit is None]
    warning = f"; without a time limit, so perhaps without an end: {', '.join(endless[:10])}" if endless else ""
    count = sum(job.task_count for job in jobs)
    return f"{count} job{'s' if count > 1 else ''} would be hurt: {shown}{more}{warning}"


def _shown(job: SlurmJob) -> Job:
    return Job(job.job_id, job.user, job.partition, job.state, job.name, job.node_count)


@dataclass(frozen=True, slots=True)
class JobsWait:
    """Waiting for jobs to end. `timeout` in seconds is `--jobs-timeout`."""

    queue: Queue
    waits: Waits
    timeout: float
    pace: Pace = field(default=Pace(first=2.0, longest=60.0))  # frozen

    def until_clear(self, name: ClusterName, what: Touched, say: Say) -> None:
        """Return when no running job is left on what is touched. A Slurm that doesn't answer is asked again.

        Raises BlockedError after the timeout, InterruptedRun when interrupted; nothing has been sent in either case.
        """
        begin = self.waits.clock()
        for pause in self.pace.pauses():
            left = self._left(name, what)
            if not left:
                return
            say(f"waiting for jobs: {left}")
            if self.waits.clock() - begin + pause > self.timeout:
                raise BlockedError(f"{name}: after {self.timeout:.0f} s, {left}", code=RUNNING_JOBS)
            if self.waits.sleep(pause * (0.5 + self.waits.random() / 2)):
                raise InterruptedRun(f"{name}: interrupted while waiting for jobs")

    def _left(self, name: ClusterName, what: Touched) -> str:
        """The running jobs in words; empty for none."""
        try:
            jobs = [job for job in self.queue(name) if not job.is_finished and job.is_running and is_hurt(job, what)]
        except ReconcilerError as error:
            return f"it isn't known which jobs run there: {error.summary}"
        return in_words(jobs) if jobs else ""
