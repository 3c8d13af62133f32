"""A smoke check: after a successful apply, a small job on each partition that was changed.

A failing prolog shows here, and not at three in the morning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_job import JobId, SlurmJob, describe
from reconciler.cloud.slurm_script import Script
from reconciler.cloud.slurm_submission import JobOptions, prepare
from reconciler.cloud.slurm_wait import JobWait
from reconciler.engine.observe import Answer
from reconciler.errors import ReconcilerError, SlurmError
from reconciler.plan.held import state
from reconciler.plan.model import Action, ClusterPlan
from reconciler.plan.touched import concerned, partitions_of
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

JOB_NAME = "reconciler-smoke"


@dataclass(frozen=True, slots=True)
class Smoke:
    """What a check needs. `timeout` in seconds is for each job, from submission to end."""

    slurm: Slurm
    wait: Callable[[Callable[[str], object]], JobWait]
    script: Script
    timeout: float
    is_interrupted: Callable[[], bool] = lambda: False

    def check(self, name: ClusterName, plan: ClusterPlan, answer: Answer, say: Callable[[str], None]) -> list[str]:
        """What went wrong, a sentence for each partition; empty when every job completed.

        A partition that the file itself keeps closed can't be checked, and isn't wrong.
        """
        live = read_live(answer)
        states = {str(each.get("id")): state(each) for each in partitions_of(live)}
        is_new = plan.action in (Action.CREATE, Action.REPLACE)
        changed = sorted(states.keys() if is_new else concerned(plan.changes, live))
        for partition in changed:
            if states[partition] != "UP":
                say(f"no smoke check on partition {partition}: its State is {states[partition]}")
        said = (self._one(name, partition, say) for partition in changed if states[partition] == "UP")
        return [f"partition {partition}: {wrong}" for partition, wrong in said if wrong]

    def _one(self, name: ClusterName, partition: str, say: Callable[[str], None]) -> tuple[str, str]:
        if self.is_interrupted():
            return partition, "not checked, since the run was interrupted"
        say(f"smoke check on partition {partition}")
        submission = prepare(self.script, JobOptions(partition=partition, name=JOB_NAME))
        try:
            job = JobId(self.slurm.submit(name, submission).job_id)
        except ReconcilerError as error:
            return partition, _words(error)
        try:
            return partition, self._outcome(name, job, say)
        except ReconcilerError as error:
            look = f"to look: 'reconciler jobs show {'/'.join(name)} {job}'"
            return partition, f"job {job} can't be watched, and may still run ({look}): {_words(error)}"

    def _outcome(self, name: ClusterName, job: JobId, say: Callable[[str], None]) -> str:
        """How the job ended, where it didn't end well; what hasn't ended is cancelled."""
        waited = self.wait(say).wait(name, job, self.timeout, is_stuck=_is_stuck)
        if waited.is_over:
            return _ended(job, waited.jobs)
        told, is_stuck = describe(waited.jobs), any(map(_is_stuck, waited.jobs))
        why = "when the run was interrupted" if self.is_interrupted() else f"after {self.timeout:.0f} s"
        wrong = f"couldn't be launched, as when a prolog fails: {told}" if is_stuck else f"hadn't ended {why}: {told}"
        try:
            cancelled = self.slurm.cancel(name, job)
        except ReconcilerError as error:
            how = f"to cancel it: 'reconciler jobs cancel {'/'.join(name)} {job}'"
            return f"job {job} {wrong}; it couldn't be cancelled, and may still be there ({how}): {_words(error)}"
        if cancelled.was_finished:
            return _ended(job, cancelled.jobs)
        return f"job {job} {wrong}; it was cancelled" if is_stuck else f"job {job} was cancelled {why}: {told}"


def _ended(job: JobId, jobs: tuple[SlurmJob, ...]) -> str:
    """How a job that is over ended; empty where it ended well."""
    if all(each.state == "COMPLETED" for each in jobs):
        return ""
    codes = sorted({each.exit_code for each in jobs if each.exit_code})
    return f"job {job} ended: {describe(jobs)}" + (f" (exit code {', '.join(map(str, codes))})" if codes else "")


def _words(error: ReconcilerError) -> str:
    """What went wrong and what to do about it; of Slurm's refusals the hints are for options of `jobs submit`."""
    return error.summary if isinstance(error, SlurmError) else str(error)


def _is_stuck(job: SlurmJob) -> bool:
    """Whether Slurm holds a job after a launch that failed (22.05 and 25.11: JobHeldUser), so that it'll never run."""
    return job.is_pending and "held" in job.reason.lower()
