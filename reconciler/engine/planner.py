"""Making a plan: read what is live, compare, collect. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from reconciler import __version__
from reconciler.engine.observe import Answer, Reads, in_parallel, observe
from reconciler.engine.scripts import block_broken_scripts
from reconciler.errors import ReconcilerError
from reconciler.plan.build import DEFAULT_UPDATE_MODE, plan_cluster
from reconciler.plan.model import ClusterPlan, Plan, PlanError, summarise
from reconciler.plan.status import live_status
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

UntilIdle = Callable[[ClusterName], Answer | None]


def make_plan(
    reads: Reads,
    clusters: Iterable[Desired],
    *,
    created_at: str,
    errors: Iterable[PlanError] = (),
    update_mode: str = DEFAULT_UPDATE_MODE,
    until_idle: UntilIdle | None = None,
) -> Plan:
    """The plan for all clusters; `errors` are those of files that couldn't be read, to stand beside the others.

    A cluster that can't be read is an error of its own and never looks like an absent one. With `until_idle`, clusters
    that are busy are waited for, all of them together, and planned as they are then.
    """
    wanted = {desired.name: desired for desired in clusters}
    plans: list[ClusterPlan] = []
    busy: list[ClusterName] = []
    failures = list(errors)

    def seen(name: ClusterName, answer: Answer | None) -> None:
        if until_idle and answer is not None and live_status(read_live(answer)).is_busy:
            busy.append(name)
        else:
            plans.append(plan_one(name, answer))

    def plan_one(name: ClusterName, answer: Answer | None) -> ClusterPlan:
        made = plan_cluster(wanted[name], answer, update_mode=update_mode)
        return block_broken_scripts(made, wanted[name])

    def failed(name: ClusterName, error: ReconcilerError) -> None:
        failures.append(PlanError(wanted[name].source, error.code, str(error), cluster=str(name)))

    def wait_for(name: ClusterName) -> None:
        try:
            answer = until_idle(name) if until_idle else None
        except ReconcilerError as error:
            failed(name, error)
        else:
            plans.append(plan_one(name, answer))

    observe(reads, wanted, seen, failed)
    in_parallel(wait_for, busy, workers=len(busy))
    return assemble(plans, failures, created_at=created_at)


def assemble(plans: Iterable[ClusterPlan], errors: Iterable[PlanError], *, created_at: str) -> Plan:
    """A plan of these clusters, in the order of their names whatever the order of the answers was."""
    ordered = tuple(sorted(plans, key=lambda plan: plan.cluster))
    return Plan(
        tool_version=__version__,
        created_at=created_at,
        clusters=ordered,
        errors=tuple(sorted(errors, key=lambda error: (error.cluster, error.source, error.message))),
        summary=summarise(ordered),
    )
