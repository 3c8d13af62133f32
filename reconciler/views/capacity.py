"""Capacity in words: `a4: 2-2 -> 4-4 nodes, +16 NVIDIA_B200`."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.plan.capacity import totals
from reconciler.plan.model import Capacity, ClusterPlan, Range
from reconciler.views.safe import safe


def capacity_line(change: Capacity) -> str:
    """One pool's change, or one total's: nodes at least and at most, and what that is in accelerators."""
    name = f"{safe(change.pool)}: " if change.pool else ""
    nodes = f"{name}{_nodes(change.before)} -> {_nodes(change.after)} nodes"
    if not change.per_node:
        return f"{nodes} of {safe(change.machine_type)}" if change.machine_type else nodes
    low = (change.after.low - change.before.low) * change.per_node
    high = (change.after.high - change.before.high) * change.per_node
    count = f"{high:+,}" if low == high else f"{low:+,} at least, {high:+,} at most"
    return f"{nodes}, {count} {safe(change.accelerator)}"


def capacity_summary(clusters: Iterable[ClusterPlan]) -> str:
    """What a whole plan means in machines: of the types whose number changes, all nodes of the clusters that change."""
    lines = [capacity_line(total) for total in totals(clusters)]
    return f"Capacity: {'; '.join(lines)}" if lines else ""


def _nodes(counts: Range) -> str:
    return f"{counts.low:,}-{counts.high:,}"
