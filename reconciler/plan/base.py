"""A plan seen from the revision that a branch starts from: whose changes these are, what may not happen in one step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reconciler.plan.build import plan_cluster
from reconciler.plan.model import Action, Blocker, Change, ClusterPlan, Note, Origin
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName


@dataclass(frozen=True, slots=True)
class Base:
    """The cluster files at the base revision. `unreadable` names clusters whose files can't be used there."""

    clusters: Mapping[ClusterName, Desired]
    unreadable: frozenset[ClusterName] = frozenset()


def compare_with_base(
    plan: ClusterPlan, name: ClusterName, base: Base, answer: Mapping[str, Any] | None
) -> ClusterPlan:
    """The plan with the origin of each change, and blocked where the base still protects the cluster."""
    before = base.clusters.get(name)
    drifted: set[tuple[str, str]] = set()
    if before is not None and before.lifecycle.state == "present":
        drifted = {_key(change) for change in plan_cluster(before, dict(answer) if answer else None).changes}
    changes = tuple(
        replace(change, origin=Origin.DRIFT if _key(change) in drifted else Origin.EDIT) for change in plan.changes
    )
    protected = before.lifecycle.prevent_destroy if before is not None else name in base.unreadable
    blockers = _PROTECTED if protected and plan.action in (Action.DELETE, Action.REPLACE) else ()
    return replace(plan, changes=changes, blockers=(*plan.blockers, *blockers))


_PROTECTED = (
    Blocker(
        "protected_at_base",
        "the base doesn't say lifecycle.prevent_destroy: false yet; merge that first, then the change that destroys",
    ),
)


def _key(change: Change) -> tuple[str, str]:
    """What a change leads to: where the base wants the same, the branch didn't make it."""
    return change.path, repr(change.after)


def removed(base: Desired) -> ClusterPlan:
    """What a plan says of a cluster whose file the tree no longer has."""
    message = (
        f"{base.source} is gone: the cluster stays, unmanaged from now on; to delete it, keep the file and say "
        "lifecycle.state: absent"
    )
    return ClusterPlan(str(base.name), base.source, Action.NO_OP, notes=(Note("file_removed", message),))
