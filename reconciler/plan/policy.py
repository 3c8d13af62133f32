"""What is done about changes, and why apply would refuse. Pure functions of lifecycle, changes and status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reconciler.plan.model import Action, Blocker, Change
from reconciler.plan.status import LiveStatus
from reconciler.spec.fields import Impact
from reconciler.spec.model import Lifecycle

POOLS = "node_pools[]"
ERROR_STATE = "cluster_in_error_state"
RUNNING_JOBS, RECENT_JOBS, JOBS_UNKNOWN = "running_jobs", "recent_jobs", "jobs_unknown"
MAX_NODES = f"{POOLS}.scaling_spec.max_node_count"


def refine(changes: Iterable[Change], status: LiveStatus) -> tuple[Change, ...]:
    """Impacts and reasons that depend on the nodes which exist now."""
    return tuple(_refined(change, status) for change in changes)


def _refined(change: Change, status: LiveStatus) -> Change:
    if not change.field.startswith(POOLS):
        return change
    nodes = (status.nodes or {}).get(change.item, 0)
    if change.field == MAX_NODES:
        above = nodes - change.after if isinstance(change.after, int) else nodes
        if above > 0:
            reason = f"{nodes} nodes exist, {above} above the new maximum; the service chooses which go"
            return replace(change, impact=Impact.REMOVES_NODES, reason=reason)
    elif nodes and change.impact is Impact.RECREATES_NODES:
        return replace(change, reason=f"{nodes} existing nodes keep the old value until they are recreated")
    elif nodes and change.impact is Impact.REMOVES_NODES:
        return replace(change, reason=f"{nodes} existing nodes go")
    return change


def decide(lifecycle: Lifecycle, changes: tuple[Change, ...], status: LiveStatus) -> Action:
    """The action for a cluster that exists. A replace is taken only where the file allows it for that reason."""
    if lifecycle.state == "absent":
        return Action.DELETE
    if status.state == "ERROR" and "error_state" in lifecycle.replace_on:
        return Action.REPLACE
    if _immutable(changes) and "immutable_change" in lifecycle.replace_on:
        return Action.REPLACE
    return Action.UPDATE if changes else Action.NO_OP


def blockers_for(
    lifecycle: Lifecycle, action: Action, changes: tuple[Change, ...], status: LiveStatus
) -> tuple[Blocker, ...]:
    """Why apply refuses the action; empty when nothing speaks against it."""
    blockers = []
    if action in (Action.DELETE, Action.REPLACE) and lifecycle.prevent_destroy:
        blockers.append(
            Blocker("prevent_destroy", f"lifecycle.prevent_destroy is true: set it to false to allow the {action}")
        )
    if action is Action.UPDATE:
        blockers += [Blocker("immutable_field", _way_out(change)) for change in _immutable(changes)]
    if action in (Action.UPDATE, Action.NO_OP) and status.state == "ERROR":
        said = f": {text}" if (text := status.error or status.detail) else ""
        blockers.append(
            Blocker(
                ERROR_STATE,
                f"the cluster is in state ERROR{said}; delete it, or let apply replace it with "
                "lifecycle.replace_on: [error_state]",
            )
        )
    return tuple(blockers)


def _immutable(changes: Iterable[Change]) -> list[Change]:
    return [change for change in changes if change.impact is Impact.IMMUTABLE]


def _way_out(change: Change) -> str:
    what = f"{change.path} can't be changed on a live cluster"
    if change.field.startswith(POOLS):
        return (
            f"{what}; instead (1) add a pool with a new id, (2) point the partitions to it and let jobs end, "
            f"(3) remove pool {change.item}; or replace the whole cluster with lifecycle.replace_on: [immutable_change]"
        )
    return f"{what}; put the old value back, or replace the cluster with lifecycle.replace_on: [immutable_change]"
