"""A cluster's whole plan: what the pure core makes of file and answer, then scripts, then the jobs that run there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from reconciler.engine.observe import Answer
from reconciler.engine.scripts import block_broken_scripts
from reconciler.plan.build import DEFAULT_UPDATE_MODE, plan_cluster
from reconciler.plan.held import held_notes
from reconciler.plan.model import ClusterPlan
from reconciler.plan.schedule import schedule_notes
from reconciler.plan.touched import is_disruptive
from reconciler.spec.model import Desired
from reconciler.spec.reading import read_live

if TYPE_CHECKING:
    from reconciler.engine.guard import Queue
    from reconciler.plan.base import Base


@dataclass(frozen=True, slots=True)
class Assessor:
    """How clusters are planned in this run.

    queue: asks a cluster's Slurm for its jobs; None asks no Slurm. waits: running jobs are waited for in any case.
    base: the files at the revision that the branch starts from, None without `--base`. now: for pauses and windows.
    """

    now: datetime
    update_mode: str = DEFAULT_UPDATE_MODE
    queue: Queue | None = None
    waits: bool = False
    base: Base | None = None

    def compare(self, desired: Desired, answer: Answer | None) -> ClusterPlan:
        """The plan without a look at jobs: no request is made."""
        made = block_broken_scripts(plan_cluster(desired, answer, update_mode=self.update_mode), desired)
        if self.base is not None:
            from reconciler.plan.base import compare_with_base

            made = compare_with_base(made, desired.name, self.base, answer)
        disruptive = is_disruptive(made.action, made.changes)
        live = read_live(answer) if answer and desired.lifecycle.ignore_changes else {}
        notes = (
            *schedule_notes(desired.lifecycle, self.now, disruptive=disruptive),
            *held_notes(made.changes, live, desired.spec),
        )
        return replace(made, notes=(*made.notes, *notes)) if notes else made

    def guard(self, plan: ClusterPlan, desired: Desired, answer: Answer | None) -> ClusterPlan:
        """The plan with the jobs that it would hurt; one request, and only where the plan is disruptive."""
        if self.queue is None or not is_disruptive(plan.action, plan.changes):
            return plan
        from reconciler.engine.guard import guard

        return guard(plan, desired, answer, self.queue, waits=self.waits)

    def __call__(self, desired: Desired, answer: Answer | None) -> ClusterPlan:
        return self.guard(self.compare(desired, answer), desired, answer)
