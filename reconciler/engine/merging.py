"""The plans of a fleet's shards put together into the fleet's one plan, and their drift reports into one report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reconciler.engine.planning import assemble
from reconciler.engine.results import Drift
from reconciler.errors import InputError
from reconciler.plan.model import Plan

_ONE_RUN = "merge the plans of one run's shards, each once"


def merge_plans(parts: Mapping[str, Plan]) -> Plan:
    """The plan of all clusters of the parts, which are known by their files' names. It is as old as the oldest part.

    Raises InputError where the parts can't be of one fleet: a cluster that is in two of them, other versions of the
    tool, other update modes, shards that don't make up a whole. An error that several parts tell, such as a file that
    can't be read, stands there once.
    """
    _refuse_mixed({path: plan.tool_version for path, plan in parts.items()}, "made by version", "plan all with one")
    modes = {path: plan.update_mode for path, plan in parts.items() if plan.update_mode}
    _refuse_mixed(modes, "made with --update-mode", "plan all with the same")
    _refuse_twins(parts)
    _refuse_incomplete({path: plan.shard for path, plan in parts.items()})
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


def _refuse_incomplete(shards: Mapping[str, str]) -> None:
    """Parts that say which shard they are must be all of N, each once. Plans made with `--cluster` say nothing."""
    if not any(shards.values()):
        return
    known: dict[str, str] = {}
    for path, shard in shards.items():
        if not shard:
            raise InputError(f"{path} is no shard's, and others are", hint=_ONE_RUN)
        if shard in known:
            raise InputError(f"{path} is shard {shard}, and so is {known[shard]}", hint=_ONE_RUN)
        known[shard] = path
    counts = {path: shard.partition("/")[2] for path, shard in shards.items()}
    _refuse_mixed(counts, "made as a shard of", "plan all with the same number")
    count = next(iter(counts.values()))
    if missing := [each for index in range(1, int(count) + 1) if (each := f"{index}/{count}") not in known]:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise InputError(f"shard {shown} is missing", hint="did every shard end, and leave its file?")


def _refuse_twins(parts: Mapping[str, Plan]) -> None:
    seen: dict[str, str] = {}
    for path, plan in parts.items():
        for cluster in plan.clusters:
            if cluster.cluster in seen:
                message = f"{cluster.cluster} is in {seen[cluster.cluster]} and in {path}"
                raise InputError(message, hint=_ONE_RUN)
            seen[cluster.cluster] = path
