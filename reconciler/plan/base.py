"""A plan seen from the revision that a branch starts from: whose changes these are, what may not happen in one step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reconciler.plan.build import plan_cluster
from reconciler.plan.model import Action, Blocker, Change, ClusterPlan, Note, Origin
from reconciler.spec.fields import Impact
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName


@dataclass(frozen=True, slots=True)
class Base:
    """The cluster files at the base revision.

    `unreadable` names clusters whose files can't be used there; `blind` says that there are files, or parts of the
    tree, of which it isn't known which clusters they name. `lifted` are the clusters that the branch doesn't protect.
    """

    clusters: Mapping[ClusterName, Desired]
    unreadable: frozenset[ClusterName] = frozenset()
    blind: bool = False
    lifted: frozenset[ClusterName] = frozenset()

    def seen_from(self, head: Iterable[Desired]) -> Base:
        """The base beside the branch's own files."""
        return replace(self, lifted=frozenset(each.name for each in head if not each.lifecycle.prevent_destroy))

    def find(self, name: ClusterName) -> Desired | None:
        """What the base says of a cluster, which may name its project by number there and by id here."""
        if name in self.clusters:
            return self.clusters[name]
        return next((desired for other, desired in self.clusters.items() if _is_same_place(name, other)), None)

    def hides(self, name: ClusterName) -> bool:
        """Whether the base may say something of the cluster that can't be read."""
        return self.find(name) is None and (self.blind or name in self.unreadable)


def _is_same_place(one: ClusterName, other: ClusterName) -> bool:
    return one[1:] == other[1:] and one.project.isdigit() != other.project.isdigit()


def compare_with_base(
    plan: ClusterPlan, name: ClusterName, base: Base, answer: Mapping[str, Any] | None
) -> ClusterPlan:
    """The plan with the origin of each change, and blocked where the base still protects the cluster."""
    before = base.find(name)
    drifted: set[tuple[str, str]] = set()
    if before is not None and before.lifecycle.state == "present":
        drifted = {_key(change) for change in plan_cluster(before, dict(answer) if answer else None).changes}
    changes = tuple(
        replace(change, origin=Origin.DRIFT if _key(change) in drifted else Origin.EDIT) for change in plan.changes
    )
    protected = before.lifecycle.prevent_destroy if before is not None else base.hides(name)
    destroys = plan.action in (Action.DELETE, Action.REPLACE) or (name in base.lifted and _removes(changes))
    blockers = _PROTECTED if protected and destroys else ()
    notes = (_HIDDEN,) if changes and base.hides(name) else ()
    return replace(plan, changes=changes, blockers=(*plan.blockers, *blockers), notes=(*plan.notes, *notes))


def _removes(changes: Iterable[Change]) -> bool:
    """Whether the branch takes pools, partitions or nodes away, by which a cluster can be destroyed piece by piece."""
    return any(change.impact is Impact.REMOVES_NODES and change.origin is Origin.EDIT for change in changes)


_HIDDEN = Note("base_unreadable", "the base's files can't all be read: drift may be told as this branch's changes")


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
