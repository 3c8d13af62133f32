"""Running jobs as a guard: a change to a cluster knows the jobs that it would hurt.

Asked for disruptive changes alone. A Slurm that can't be reached means that nobody knows, which blocks as jobs would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from reconciler.engine.observe import Answer
from reconciler.errors import ReconcilerError
from reconciler.plan.canonical import SlurmKey
from reconciler.plan.model import Blocker, ClusterPlan, Job, Note
from reconciler.plan.policy import JOBS_UNKNOWN, RECENT_JOBS, RUNNING_JOBS
from reconciler.plan.status import live_status
from reconciler.plan.touched import Touched, is_disruptive, slurm_of, touched
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import Typed, read_live

if TYPE_CHECKING:
    from reconciler.cloud.slurm_job import SlurmJob

Queue = Callable[[ClusterName], "Sequence[SlurmJob]"]
_SHOWN = 5  # jobs in a sentence
_HIDES_JOBS = frozenset({"jobs", "all"})
_PRIVATE = "PrivateData in the live config hides the jobs of others"


@dataclass(frozen=True, slots=True)
class Affected:
    """Jobs in the partitions that a change touches.

    hurt: what runs there, or nobody knows where, and what is queued in partitions that go. queued: what waits, and
    keeps its place. recent: what is over, where the partition or its pool goes and the controller, which has a record
    of it, stays.
    """

    hurt: tuple[SlurmJob, ...]
    queued: tuple[SlurmJob, ...]
    recent: tuple[SlurmJob, ...]

    @classmethod
    def of(cls, queue: Iterable[SlurmJob], what: Touched) -> Affected:
        """Sort a cluster's queue."""
        hurt, queued, recent = [], [], []
        for job in queue:
            places = {place.strip() for place in job.partition.split(",")}
            lost = job.is_running and not places & what.known  # in a partition that is gone, or can't be read
            if job.is_finished:
                recent += [job] if places & what.dropped else []
            elif lost or what.everything or places & (what.partitions if job.is_running else what.going):
                hurt.append(job)
            elif places & what.partitions:
                queued.append(job)
        return cls(tuple(hurt), tuple(queued), tuple(recent))

    @property
    def lost(self) -> tuple[SlurmJob, ...]:
        """What is queued in partitions that go: no wait would save it."""
        return tuple(job for job in self.hurt if not job.is_running)

    @property
    def passing(self) -> Affected:
        """What time alone takes away: what runs, and records."""
        return replace(self, hurt=tuple(job for job in self.hurt if job.is_running))

    def in_words(self) -> str:
        """In sentences; empty where nothing speaks against the change."""
        said = [_hurt_in_words(self.hurt)] if self.hurt else []
        said += [f"still queued: {_count(self.queued)}"] if said and self.queued else []
        said += [_recent_in_words(self.recent)] if self.recent else []
        return "; ".join(said)


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
    policy = desired.lifecycle.running_jobs
    if _is_private(live):
        return _unknown(plan, policy, _PRIVATE)
    try:
        affected = Affected.of(queue(desired.name), what)
    except ReconcilerError as error:
        return _unknown(plan, policy, f"{error.summary}{f' ({error.hint})' if error.hint else ''}")
    listed = replace(plan, jobs=tuple(_shown(job) for job in (*affected.hurt, *affected.queued)))
    if not (said := affected.in_words()):
        return listed
    code = RUNNING_JOBS if affected.hurt else RECENT_JOBS
    waits |= policy == "wait"
    if waits and (policy == "warn" or not affected.lost):
        return _noted(listed, code, f"{said}; apply waits until they are gone")
    if policy == "warn":
        return _noted(listed, code, f"{said}; lifecycle.running_jobs is warn: apply goes through with it")
    if waits:
        said = f"{_hurt_in_words(affected.lost)}, in partitions that go: move or cancel them"
    else:
        said += "; wait for them, cancel them, or say lifecycle.running_jobs: wait or warn"
    return replace(listed, blockers=(*plan.blockers, Blocker(code, said)))


def _never_ran(live: Typed) -> bool:
    """A create that failed left a cluster without a start time: no job can ever have run there (U, V)."""
    status = live_status(live)
    return status.state == "ERROR" and not status.nodes and not live.get("start_time")


def _is_private(live: Typed) -> bool:
    """Whether the controller shows nobody but its operators what others run (slurm.conf, PrivateData)."""
    config = slurm_of(live).get("config")
    entries = config.items() if isinstance(config, dict) else ()
    values = (str(value) for key, value in entries if SlurmKey(key) == SlurmKey("PrivateData"))
    return any(not _HIDES_JOBS.isdisjoint(value.lower().replace(" ", "").split(",")) for value in values)


def _unknown(plan: ClusterPlan, policy: str, why: str) -> ClusterPlan:
    said = f"it isn't known which jobs run there: {why}"
    if policy == "warn":
        return _noted(plan, JOBS_UNKNOWN, said)
    hint = "; lifecycle.running_jobs: warn lets the change through all the same"
    return replace(plan, blockers=(*plan.blockers, Blocker(JOBS_UNKNOWN, said + hint)))


def _noted(plan: ClusterPlan, code: str, message: str) -> ClusterPlan:
    return replace(plan, notes=(*plan.notes, Note(code, message)))


def _hurt_in_words(jobs: Sequence[SlurmJob]) -> str:
    """Jobs that would be hurt, when their limits end them, and which of them may never end."""
    named = _named(f"{job.label} ({job.user}, {job.partition or 'no partition'}, {_life(job)})" for job in jobs)
    running = [job for job in jobs if job.is_running]
    endless = [job.label for job in running if job.time_limit is None]
    ends = [job.end_time for job in running if job.time_limit is not None and job.end_time]
    said = [f"{_count(jobs)} would be hurt: {named}"]
    said += [f"without a time limit, so perhaps without an end: {_named(endless)}"] if endless else []
    said += [f"the latest time limit ends at {_stamp(max(ends))}"] if ends else []
    return "; ".join(said)


def _recent_in_words(jobs: Sequence[SlurmJob]) -> str:
    """Controllers have crashed over records that name a partition which is gone (J106)."""
    named = _named(job.label for job in jobs)
    what = f"{_count(jobs)} where a partition or its pool goes"
    return f"the controller keeps records of {what}, for some five minutes: {named}"


def _stamp(moment: int) -> str:
    """Seconds since the epoch for people, in UTC."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _count(jobs: Sequence[SlurmJob]) -> str:
    """`1 job`, `3 running and 97 pending jobs`: tasks of an array count each."""
    running = sum(job.task_count for job in jobs if job.is_running)
    rest = sum(job.task_count for job in jobs if not job.is_running)
    noun = "job" if running + rest == 1 else "jobs"
    return f"{running} running and {rest} pending {noun}" if running and rest else f"{running + rest} {noun}"


def _named(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more


def _state(job: SlurmJob) -> str:
    """The state as a reader needs it: a job that was cancelled and still holds nodes hasn't ended."""
    return "COMPLETING" if "COMPLETING" in job.states else job.state


def _life(job: SlurmJob) -> str:
    """The state, and of what runs since when, and until when at most. Moments, so that equal queues read alike."""
    said = [_state(job)]
    said += [f"since {_stamp(job.start_time)}"] if job.is_running and job.start_time else []
    said += [f"until {_stamp(job.end_time)} at most"] if job.is_running and job.time_limit and job.end_time else []
    return " ".join(said)


def _shown(job: SlurmJob) -> Job:
    return Job(job.job_id, job.user, job.partition, _state(job), job.name, job.node_count)
