"""Drift: what a plan would undo, and live clusters that no file knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from reconciler.engine.assess import Assessor
from reconciler.engine.observe import Reads
from reconciler.engine.planner import make_plan
from reconciler.engine.results import Drift
from reconciler.engine.threads import in_parallel
from reconciler.errors import ReconcilerError
from reconciler.plan.model import PlanError
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName


def find_drift(
    reads: Reads,
    clusters: Sequence[Desired],
    *,
    assess: Assessor,
    errors: Iterable[PlanError] = (),
    known: Iterable[ClusterName] = (),
    concerns: Callable[[ClusterName], bool] = lambda _: True,
    include_unmanaged: bool = False,
) -> Drift:
    """Compare live with the files. `known` names all clusters that files name, usable or not, looked at or not.

    Unmanaged ones are looked for where these are, and told where they are among those that the run `concerns`.
    """
    failures = list(errors)
    managed = {desired.name for desired in clusters} | set(known)
    unmanaged: list[str] = []

    def look(place: tuple[str, str]) -> None:
        project, location = place
        try:
            for answer in reads.list(project, location):
                shown = ClusterName.parse(str(answer.get("name", "")))
                name = ClusterName(project, location, shown.cluster_id) if shown else None
                if name and name not in managed and concerns(name):
                    unmanaged.append(str(name))
        except ReconcilerError as error:
            failures.append(PlanError(f"projects/{project}/locations/{location}", error.code, str(error)))

    if include_unmanaged:
        in_parallel(look, sorted({(name.project, name.location) for name in managed}))
    plan = make_plan(reads, clusters, assess=assess, errors=failures)
    return Drift(plan, tuple(sorted(unmanaged)))
