"""The words of plan and drift, and what stands first: shared by the terminal and the Markdown view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reconciler.plan.model import Action, Change, ClusterPlan, Origin, Plan
from reconciler.spec.fields import Impact
from reconciler.spec.names import ClusterName

if TYPE_CHECKING:
    from reconciler.engine.results import Drift

GLYPHS = {Action.CREATE: "+", Action.UPDATE: "~", Action.REPLACE: "-/+", Action.DELETE: "-", Action.NO_OP: "="}
IMPACTS = {
    Impact.IN_PLACE: "",
    Impact.RECREATES_NODES: "recreates nodes",
    Impact.REMOVES_NODES: "removes nodes",
    Impact.IMMUTABLE: "immutable",
}
ENDS = {Action.DELETE: "deletes the cluster", Action.REPLACE: "deletes the cluster and makes it anew"}
_HARM = list(Impact)
_ORDER = [Action.REPLACE, Action.DELETE, Action.UPDATE, Action.CREATE, Action.NO_OP]


@dataclass(frozen=True, slots=True)
class Words:
    """How a report names things. `before` and `after` are the sides of a change."""

    title: str
    before: str
    after: str
    harm: str  # heads what is removed or recreated
    sends: bool  # whether requests are made of it, so that their masks matter
    actions: dict[Action, str]
    origins: dict[Origin, str]


PLAN = Words(
    title="Plan",
    before="Before",
    after="After",
    harm="Removes or recreates",
    sends=True,
    actions={action: action.value for action in Action} | {Action.NO_OP: "unchanged"},
    origins={Origin.EDIT: "This change makes", Origin.DRIFT: "Live differs (would be reverted)"},
)
DRIFT = Words(
    title="Drift",
    before="Live",
    after="File",
    harm="To undo it would remove or recreate",
    sends=False,
    actions={
        Action.CREATE: "missing",
        Action.UPDATE: "differs",
        Action.REPLACE: "differs, only replacing undoes it",
        Action.DELETE: "still there",
        Action.NO_OP: "as its file says",
    },
    origins={Origin.EDIT: "The files' changes", Origin.DRIFT: "Live moved away"},
)


def plan_summary(plan: Plan) -> str:
    """`Plan: 1 to create, … 5 unchanged (1 blocked)`."""
    counts = plan.summary
    actions = f"{counts.create} to create, {counts.update} to update, {counts.replace} to replace"
    text = f"Plan: {actions}, {counts.delete} to delete, {counts.no_op} unchanged"
    asides = [f"{counts.blocked} blocked"] if counts.blocked else []
    asides += [f"{len(plan.errors)} not planned"] if plan.errors else []
    return f"{text} ({', '.join(asides)})" if asides else text


def drift_summary(drift: Drift) -> str:
    """`Drift: 2 of 7 clusters differ, 1 missing, 0 still there, 1 unmanaged, 4 as their files say`."""
    counts = drift.plan.summary
    differ = f"{counts.update + counts.replace} of {len(drift.plan.clusters)} clusters differ"
    text = f"Drift: {differ}, {counts.create} missing, {counts.delete} still there"
    text += f", {len(drift.unmanaged)} unmanaged, {counts.no_op} as their files say"
    return f"{text} ({len(drift.plan.errors)} not read)" if drift.plan.errors else text


def short_name(cluster: str) -> str:
    """`PROJECT/LOCATION/ID`, as every command takes it; what isn't a cluster's name stays as it is."""
    name = ClusterName.parse(cluster)
    return "/".join(name) if name else cluster


def harm_of(cluster: ClusterPlan) -> Impact:
    """The worst that happens to what is there. Nothing can be harmed by a create."""
    if cluster.action is Action.CREATE:
        return Impact.IN_PLACE
    if cluster.action in (Action.DELETE, Action.REPLACE):
        return Impact.IMMUTABLE
    return max((change.impact for change in cluster.changes), key=_HARM.index, default=Impact.IN_PLACE)


def worst(cluster: ClusterPlan) -> str:
    """The worst that happens to what is there, in words; "" where all is in place."""
    return ENDS.get(cluster.action) or IMPACTS[harm_of(cluster)]


def impact_of(cluster: ClusterPlan, change: Change) -> str:
    """The tag of a change; empty where it is in place or the cluster is yet to be made."""
    return "" if cluster.action is Action.CREATE else IMPACTS[change.impact]


def by_danger(clusters: Iterable[ClusterPlan]) -> list[ClusterPlan]:
    """Replaces and deletes, then updates by the harm they do, then creates; otherwise in the given order."""
    return sorted(clusters, key=lambda cluster: (_ORDER.index(cluster.action), -_HARM.index(harm_of(cluster))))


def by_harm(changes: Iterable[Change]) -> list[Change]:
    """The most harmful first; otherwise in the given order."""
    return sorted(changes, key=lambda change: -_HARM.index(change.impact))


def harmful(cluster: ClusterPlan) -> list[Change]:
    """The changes of an update that cost nodes, the worst first. What is immutable is refused, and so costs nothing."""
    costly = (Impact.REMOVES_NODES, Impact.RECREATES_NODES)
    if cluster.action is not Action.UPDATE:
        return []
    return [change for impact in costly for change in cluster.changes if change.impact is impact]


def is_shown(cluster: ClusterPlan) -> bool:
    """Whether there is more to say of a cluster than that it doesn't change."""
    return cluster.action is not Action.NO_OP or bool(cluster.blockers or cluster.notes or cluster.jobs)


def by_origin(words: Words, cluster: ClusterPlan) -> list[tuple[Origin | None, str, list[Change]]]:
    """Changes in their groups with the groups' titles; one group without a title where origins weren't asked for."""
    ordered = cluster.changes if cluster.action is Action.CREATE else by_harm(cluster.changes)
    groups: list[tuple[Origin | None, str]] = [(origin, words.origins[origin]) for origin in Origin]
    found = [(origin, title, [c for c in ordered if c.origin is origin]) for origin, title in [(None, ""), *groups]]
    return [group for group in found if group[2]]


def plural(number: int, noun: str) -> str:
    """`1 change`, `2 changes`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
