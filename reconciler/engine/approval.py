"""What was approved, and whether it still holds: the stale checks around apply (contract section 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reconciler.plan.model import Action, Blocker, ClusterPlan, Plan


def is_same(approved: ClusterPlan, fresh: ClusterPlan) -> bool:
    """Whether what would be done now is what was approved. Bodies aren't compared: what they carry over may move."""
    return _essence(approved) == _essence(fresh)


def _essence(plan: ClusterPlan) -> tuple[object, ...]:
    return plan.cluster, plan.action, _changes(plan), plan.live_fingerprint, plan.desired_fingerprint


def _changes(plan: ClusterPlan) -> dict[str, tuple[Any, ...]]:
    return {change.path: (change.before, change.after, change.mask, change.impact) for change in plan.changes}


def difference(approved: ClusterPlan, fresh: ClusterPlan) -> str:
    """In words, what moved between approval and now."""
    if approved.desired_fingerprint != fresh.desired_fingerprint:
        return "its file has changed since the plan was made"
    if approved.live_fingerprint != fresh.live_fingerprint:
        was = {change.path for change in approved.changes}
        now = {change.path for change in fresh.changes}
        paths = sorted(was ^ now) or sorted(now)
        shown = ", ".join(paths[:5]) + (", ..." if len(paths) > 5 else "")
        return "the live cluster has changed since the plan was made" + (f": {shown}" if shown else "")
    if approved.action is not fresh.action:
        return f"the action was {approved.action} and is {fresh.action} now"
    from deepdiff import DeepDiff  # a quarter of the tool's start-up, for a refusal

    then, now_ = _changes(approved), _changes(fresh)
    others = sorted(map(str, DeepDiff(then, now_).affected_root_keys))
    told = (f"{path} ({_told(then.get(path))} in the plan, {_told(now_.get(path))} now)" for path in others)
    return f"the changes are others: {', '.join(told)}"


def _told(change: tuple[Any, ...] | None) -> str:
    if change is None:
        return "none"
    before, after, mask, impact = change
    return f"{before!r} -> {after!r}, {impact}, mask {mask}"


def stale(approved: Plan, fresh: Plan) -> dict[str, str]:
    """Cluster -> what moved, for every cluster of either plan that isn't as it was approved. Empty: go on."""
    now = {plan.cluster: plan for plan in fresh.clusters}
    then = {plan.cluster: plan for plan in approved.clusters}
    moved = dict.fromkeys(then.keys() - now.keys(), "nothing is planned for it any more, or its file can't be used")
    moved |= {name: f"{now[name].action} wasn't in the plan" for name in now.keys() - then.keys()}
    for name in then.keys() & now.keys():
        if not is_same(then[name], now[name]):
            moved[name] = difference(then[name], now[name])
    return moved


def with_changes(plan: Plan) -> Plan:
    """The plan without the clusters that stay as they are, which a review doesn't depend on."""
    return replace(plan, clusters=tuple(each for each in plan.clusters if each.action is not Action.NO_OP))


def not_allowed(plan: ClusterPlan, *, allow_delete: bool, allow_replace: bool) -> Blocker | None:
    """Deletes and replaces want a word on the command line too, besides what the file says."""
    if plan.action is Action.DELETE and not allow_delete:
        return Blocker("delete_not_allowed", "say --allow-delete to let apply delete clusters")
    if plan.action is Action.REPLACE and not allow_replace:
        return Blocker("replace_not_allowed", "say --allow-replace to let apply delete and create clusters anew")
    return None
