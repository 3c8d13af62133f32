"""The rules on `orchestrator_spec.slurm_spec`: references, and Slurm parameters that the service keeps to itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from reconciler.emulator.errors import Violation

_SLURM = "orchestrator_spec.slurm_spec"
# Rule 9 (C). Names are compared without case and underscores.
_REFUSED = {
    "healthcheckprogram",
    "healthcheckinterval",
    "healthchecknodestate",
    "requeueexit",
    "prolog",
    "epilog",
    # The rest, and the prefixes below, belong to slurmdbd.conf.
    "allresourcesabsolute",
    "commitdelay",
    "disablecoorddbd",
    "maxquerytimerange",
    "trackslurmctlddown",
}
_REFUSED_PREFIXES = ("storage", "purge", "archive", "dbd")


def slurm_violations(resource: dict[str, Any]) -> Iterator[Violation]:
    """Rules 2 and 9."""
    spec = resource.get("orchestratorSpec", {}).get("slurmSpec", {})
    pools = {pool.get("id", ""): pool for pool in resource.get("nodePools", [])}
    yield from unique(f"{_SLURM}.partitions.id", (part.get("id", "") for part in spec.get("partitions", [])))
    yield from _login_pool(spec, pools)
    yield from _partitions(spec, pools)
    yield from _node_sets(spec, pools)
    yield from _config(spec)


def unique(field: str, ids: Iterable[str]) -> Iterator[Violation]:
    """Rule 2: ids must be there, and unique."""
    for identifier, count in Counter(ids).items():
        if not identifier:
            yield Violation(field, "required.")
        elif count > 1:
            yield Violation(field, f"'{identifier}' is not unique.")


def _missing(field: str, pool: str, pools: dict[str, Any]) -> Iterator[Violation]:
    if pool not in pools:
        yield Violation(field, f"node pool '{pool}' doesn't exist.")


def _login_pool(spec: dict[str, Any], pools: dict[str, Any]) -> Iterator[Violation]:
    login = spec.get("loginNodePoolId")
    if login is None:
        return
    field = f"{_SLURM}.login_node_pool_id"
    yield from _missing(field, login, pools)
    scaling = pools.get(login, {}).get("scalingSpec", {})
    if scaling.get("minNodeCount", 0) != scaling.get("maxNodeCount", 0):
        yield Violation(field, f"login node pool '{login}' must have min_node_count equal to max_node_count.")


def _partitions(spec: dict[str, Any], pools: dict[str, Any]) -> Iterator[Violation]:
    partitions = spec.get("partitions", [])
    for index, partition in enumerate(partitions):
        at = f"{_SLURM}.partitions[{index}]"
        for pool in partition.get("nodePoolIds", []):
            yield from _missing(f"{at}.node_pool_ids", pool, pools)
        if any(_folded(name) == "default" for name in partition.get("config", {})):
            yield Violation(f"{at}.config", "'Default' is refused; use default_partition_id.")
    default = spec.get("defaultPartitionId")
    if default is not None and default not in [partition.get("id") for partition in partitions]:
        yield Violation(f"{_SLURM}.default_partition_id", f"partition '{default}' doesn't exist.")


def _node_sets(spec: dict[str, Any], pools: dict[str, Any]) -> Iterator[Violation]:
    sets = spec.get("nodeSets", [])
    yield from unique(f"{_SLURM}.node_sets.node_pool_id", (item.get("nodePoolId", "") for item in sets))
    for index, item in enumerate(sets):
        field = f"{_SLURM}.node_sets[{index}].node_pool_id"
        pool = item.get("nodePoolId", "")
        yield from _missing(field, pool, pools)
        if pool and pool == spec.get("loginNodePoolId"):
            yield Violation(field, f"the login node pool '{pool}' can't be in node_sets.")


def _config(spec: dict[str, Any]) -> Iterator[Violation]:
    config = spec.get("config", {})
    if config and ("scheduling" in spec or "accounting" in spec):
        yield Violation(f"{_SLURM}.config", "can't be combined with scheduling or accounting.")
    for name in config:
        if _folded(name) in _REFUSED or _folded(name).startswith(_REFUSED_PREFIXES):
            yield Violation(f"{_SLURM}.config", f"'{name}' is managed by the service.")


def _folded(name: str) -> str:
    return name.replace("_", "").lower()
