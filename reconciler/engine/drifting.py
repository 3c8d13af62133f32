"""Drift: what a plan would undo, and live clusters that no file knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from reconciler.engine.assess import Assessor
from reconciler.engine.observe import Answer, Reads
from reconciler.engine.planning import assemble, make_plan
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
    doubtful: Mapping[ClusterName, PlanError] | None = None,
    known: Iterable[ClusterName] = (),
    concerns: Callable[[ClusterName], bool] = lambda _: True,
    include_unmanaged: bool = False,
) -> Drift:
    """Compare live with the files. `known` names all clusters that files name, usable or not, looked at or not.

    Unmanaged ones are looked for where these are, and told where they are among those that the run `concerns`.
    """
    managed = {desired.name for desired in clusters} | set(known)
    listing = _Listing(reads, lambda name: name not in managed and concerns(name))
    plan = make_plan(listing, clusters, assess=assess, errors=errors, doubtful=doubtful)
    failures: list[PlanError] = []

    def look(place: tuple[str, str]) -> None:
        project, location = place
        try:
            for _ in listing.list(project, location):
                pass
        except ReconcilerError as error:
            if include_unmanaged:  # else they are told where that costs no more than a try
                failures.append(PlanError(f"projects/{project}/locations/{location}", error.code, str(error)))

    in_parallel(look, sorted({(name.project, name.location) for name in managed} - listing.ended))
    if failures:
        plan = assemble(plan.clusters, [*plan.errors, *failures], created_at=plan.created_at)
    return Drift(plan, tuple(sorted(map(str, listing.noted))), include_unmanaged)


class _Listing:
    """Reads that note names of clusters which the lists show on the way, so that no location is listed twice."""

    def __init__(self, reads: Reads, is_notable: Callable[[ClusterName], bool]) -> None:
        self._reads = reads
        self._is_notable = is_notable
        self.noted: set[ClusterName] = set()
        self.ended: set[tuple[str, str]] = set()  # places whose lists were read to their end

    def get(self, name: ClusterName) -> Answer | None:
        return self._reads.get(name)

    def list(self, project: str, location: str) -> Iterator[Answer]:
        for answer in self._reads.list(project, location):
            shown = ClusterName.parse(str(answer.get("name", "")))
            name = ClusterName(project, location, shown.cluster_id) if shown else None
            if name and self._is_notable(name):
                self.noted.add(name)
            yield answer
        self.ended.add((project, location))
