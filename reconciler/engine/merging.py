"""The plans of a fleet's shards put together into the fleet's one plan, and their drift reports into one report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reconciler.engine.planner import assemble
from reconciler.engine.results import Drift
from reconciler.errors import InputError
from reconciler.plan.model import Plan


def merge_plans(parts: Mapping[str, Plan]) -> Plan:
    """The plan of all clusters of the parts, which are known by their files' names. It is as old as the oldest part.

    Raises InputError where the parts can't be of one fleet: a cluster that is in two of them, other versions of the
    tool, other update modes. An error that several parts tell, such as a file that can't be read, stands there once.
    """
    _refuse_mixed({path: plan.tool_version for path, plan in parts.items()}, "made by version", "plan all with one")
    modes = {path: plan.update_mode for path, plan in parts.items() if plan.update_mode}
    _refuse_mixed(modes, "made with --update-mode", "plan all with the same")
    _refuse_twins(parts)
    plans = list(parts.values())
    merged = assemble(
        [cluster for plan in plans for cluster in plan.clusters],
        {error for plan in plans for error in plan.errors},
        created_at=min(plan.created_at for plan in plans),
    )
    return replace(merged, tool_version=plans[0].tool_version)


def merge_drift(parts: Mapping[str, Drift]) -> Drift:
    """The same for drift reports. Raises InputError."""
    plan = merge_plans({path: drift.plan for path, drift in parts.items()})
    unmanaged = {name for drift in parts.values() for name in drift.unmanaged}
    return Drift(plan, tuple(sorted(unmanaged)), any(drift.include_unmanaged for drift in parts.values()))


def _refuse_mixed(said: Mapping[str, str], what: str, hint: str) -> None:
    first = next(iter(said), "")
    for path, value in said.items():
        if value != said[first]:
            raise InputError(f"{path} was {what} {value}, and {first} with {said[first]}", hint=hint)


def _refuse_twins(parts: Mapping[str, Plan]) -> None:
    seen: dict[str, str] = {}
    for path, plan in parts.items():
        for cluster in plan.clusters:
            if cluster.cluster in seen:
                message = f"{cluster.cluster} is in {seen[cluster.cluster]} and in {path}"
                raise InputError(message, hint="merge the plans of one run's shards, each once")
            seen[cluster.cluster] = path
