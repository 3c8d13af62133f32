"""A smoke check: after a successful apply, a small job on each partition that was changed.

A failing prolog shows here, and not at three in the morning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_job import JobId, describe
from reconciler.cloud.slurm_script import Script
from reconciler.cloud.slurm_submission import JobOptions, prepare
from reconciler.cloud.slurm_wait import JobWait
from reconciler.engine.observe import Answer
from reconciler.errors import ReconcilerError
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

    def check(self, name: ClusterName, plan: ClusterPlan, answer: Answer, say: Callable[[str], None]) -> list[str]:
        """What went wrong, a sentence for each partition; empty when every job completed."""
        live = read_live(answer)
        if plan.action in (Action.CREATE, Action.REPLACE):
            partitions = {str(each.get("id")) for each in partitions_of(live)}
        else:
            partitions = set(concerned(plan.changes, live))
        return [said for partition in sorted(partitions) if (said := self._one(name, partition, say))]

    def _one(self, name: ClusterName, partition: str, say: Callable[[str], None]) -> str:
        say(f"smoke check on partition {partition}")
        submission = prepare(self.script, JobOptions(partition=partition, name=JOB_NAME))
        try:
            job = JobId(self.slurm.submit(name, submission).job_id)
            waited = self.wait(say).wait(name, job, self.timeout)
            if waited.is_completed:
                return ""
            if not waited.is_over:
                self.slurm.cancel(name, job)
        except ReconcilerError as error:
            return f"partition {partition}: {error.summary}"
        ended = "ended" if waited.is_over else f"was cancelled after {self.timeout:.0f} s"
        return f"partition {partition}: job {job} {ended}: {describe(waited.jobs)}"
