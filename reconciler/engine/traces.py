"""Operations that may be a write whose answer was lost: while one runs, nobody knows yet what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from reconciler.errors import ReconcilerError
from reconciler.spec.names import ClusterName

Listing = Callable[[str, str], Iterable[dict[str, Any]]]  # the operations of a project and location
_SKEW = timedelta(minutes=5)  # between the service's clock and ours, at most
_KINDS = {"POST": "Create", "PATCH": "Update", "DELETE": "Delete"}


@dataclass(frozen=True, slots=True)
class Traces:
    """What the operations list shows of a lost write. `now` is the time of day.

    One for a run: what it has `taken` are the operations that it knows to be other writes of its own.
    """

    operations: Listing
    now: Callable[[], datetime]
    taken: set[str] = field(default_factory=set)

    def running(self, name: ClusterName, method: str, since: datetime) -> str:
        """The name of an operation that may be the write sent `since` then and still runs; empty for none.

        The list doesn't say which cluster an operation is about (C), or says it in `target`: so whatever may be ours
        counts. A list that can't be read shows nothing: then the cluster's own state has to do.
        """
        try:
            found = self._candidates(name, method, since)
            return next(found, "")
        except ReconcilerError:
            return ""

    def _candidates(self, name: ClusterName, method: str, since: datetime) -> Iterator[str]:
        for operation in self.operations(name.project, name.location):
            metadata = operation.get("metadata")
            told = metadata if isinstance(metadata, dict) else {}
            if (
                not operation.get("done")
                and operation.get("name") not in self.taken
                and _is_kind(told, method)
                and _is_about(told, name)
                and _is_since(told, since)
            ):
                yield str(operation.get("name", ""))


def _is_kind(metadata: dict[str, Any], method: str) -> bool:
    kind = str(metadata.get("@type", "")).rpartition(".")[2]
    return _KINDS[method] in kind or not any(other in kind for other in _KINDS.values())


def _is_about(metadata: dict[str, Any], name: ClusterName) -> bool:
    target = ClusterName.parse(str(metadata.get("target", "")))
    return target is None or (target.location, target.cluster_id) == (name.location, name.cluster_id)


def _is_since(metadata: dict[str, Any], since: datetime) -> bool:
    generic = metadata.get("genericMetadata")
    created = generic.get("createTime") if isinstance(generic, dict) else None
    try:
        return datetime.fromisoformat(str(created)) >= since - _SKEW
    except (ValueError, TypeError):  # no time, or one without a zone
        return True
