"""Making a plan at once: read what is live, compare, look at the jobs, collect. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reconciler.engine.assess import Assessor
from reconciler.engine.observe import Reads
from reconciler.engine.planning import Planning, UntilIdle, assemble, stamp, unreadable
from reconciler.plan.model import ClusterPlan, Plan, PlanError
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName

__all__ = ["assemble", "make_plan", "stamp", "unreadable"]


def make_plan(
    reads: Reads,
    clusters: Iterable[Desired],
    *,
    assess: Assessor,
    errors: Iterable[PlanError] = (),
    doubtful: Mapping[ClusterName, PlanError] | None = None,
    besides: Iterable[ClusterPlan] = (),
    until_idle: UntilIdle | None = None,
) -> Plan:
    """The plan for all clusters. `errors` of files that couldn't be read, and plans made elsewhere, stand `besides`.

    A cluster that can't be read is an error of its own and never looks like an absent one. With `until_idle`, clusters
    that are busy are waited for, all of them together, and planned as they are then.
    """
    planning = Planning(reads, clusters, assess=assess, errors=errors, doubtful=doubtful, until_idle=until_idle)
    return planning.whole(besides)
