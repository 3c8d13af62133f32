"""A cluster's whole plan: what the pure core makes of file and answer, then scripts, then the jobs that run there."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.engine.guard import Queue, guard
from reconciler.engine.observe import Answer
from reconciler.engine.scripts import block_broken_scripts
from reconciler.plan.build import DEFAULT_UPDATE_MODE, plan_cluster
from reconciler.plan.model import ClusterPlan
from reconciler.spec.model import Desired


@dataclass(frozen=True, slots=True)
class Assessor:
    """How clusters are planned in this run. `queue` None asks no Slurm; `waits`: running jobs are waited for."""

    update_mode: str = DEFAULT_UPDATE_MODE
    queue: Queue | None = None
    waits: bool = False

    def compare(self, desired: Desired, answer: Answer | None) -> ClusterPlan:
        """The plan without a look at jobs: no request is made."""
        made = plan_cluster(desired, answer, update_mode=self.update_mode)
        return block_broken_scripts(made, desired)

    def guard(self, plan: ClusterPlan, desired: Desired, answer: Answer | None) -> ClusterPlan:
        """The plan with the jobs that it would hurt; one request, and only where the plan is disruptive."""
        return guard(plan, desired, answer, self.queue, waits=self.waits) if self.queue else plan

    def __call__(self, desired: Desired, answer: Answer | None) -> ClusterPlan:
        return self.guard(self.compare(desired, answer), desired, answer)
