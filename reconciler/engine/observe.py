"""Reading many clusters: requests grow with pages, not with clusters.

Clusters of one project and location are read by LIST pages; by GET where only one or two are asked for, where LIST
isn't permitted, and where LIST doesn't show a cluster: it speaks of "active" ones (S2), so it can't prove absence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from reconciler.cloud.clusters import is_same
from reconciler.engine.threads import in_parallel
from reconciler.errors import ApiError, ReconcilerError, UnavailableError
from reconciler.spec.names import ClusterName
from reconciler.spec.shape import misshapen

Answer = dict[str, Any]
Seen = Callable[[ClusterName, Answer | None], None]
Failed = Callable[[ClusterName, ReconcilerError], None]
LIST_FROM = 3  # so many clusters of one location are worth a LIST
LOCATIONS = 4  # read at a time: enough to hide latency, and each holds a page of answers


class Reads(Protocol):
    """What is needed of `cloud.clusters.Clusters` to read."""

    def get(self, name: ClusterName) -> Answer | None: ...

    def list(self, project: str, location: str) -> Iterator[Answer]: ...


def observe(reads: Reads, names: Iterable[ClusterName], seen: Seen, failed: Failed) -> None:
    """Read each cluster once and hand it on as it comes, so that no answer need be kept.

    `seen` and `failed` are called from several threads, once per name in all. A location's failure stops no other.
    """
    by_place: dict[tuple[str, str], list[ClusterName]] = defaultdict(list)
    for name in names:
        by_place[name.project, name.location].append(name)
    in_parallel(lambda group: _location(reads, group, seen, failed), list(by_place.values()), workers=LOCATIONS)


def _location(reads: Reads, names: list[ClusterName], seen: Seen, failed: Failed) -> None:
    missing = {name.cluster_id: name for name in names}
    if len(names) >= LIST_FROM:
        try:
            _by_list(reads, missing, seen, failed)
        except ApiError:
            pass  # refused, such as by permissions: GET may be allowed where LIST isn't, and says why if not
        except ReconcilerError as error:
            for name in missing.values():
                failed(name, error)
            return
    in_parallel(lambda name: _by_get(reads, name, seen, failed), list(missing.values()))


def _by_list(reads: Reads, missing: dict[str, ClusterName], seen: Seen, failed: Failed) -> None:
    """Hand on what the pages show, and take it out of `missing`."""
    project, location, _ = next(iter(missing.values()))
    for answer in reads.list(project, location):
        shown = ClusterName.parse(str(answer.get("name", "")))
        name = missing.get(shown.cluster_id) if shown else None
        # What only shares an id with ours, such as one of another location, proves nothing: GET tells.
        if shown and name and is_same(name, shown):
            del missing[name.cluster_id]
            if wrong := misshapen(answer):  # one of a page: the others are still good
                failed(name, UnavailableError(f"the list of {name.parent} has what is no cluster: {wrong}"))
            else:
                seen(name, answer)


def _by_get(reads: Reads, name: ClusterName, seen: Seen, failed: Failed) -> None:
    try:
        answer = reads.get(name)
    except ReconcilerError as error:
        failed(name, error)
    else:
        seen(name, answer)
