"""How a cluster looks to its Slurm: nodes and partitions, read from the resource (camelCase API form)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.emulator.slurm_files import default_partition, parameter_key, slurm_spec

# A change of these recreates a pool's nodes (api-facts, "Update semantics"; S2 and C).
_BUILD_FIELDS = (
    "machineSpec", "provisioningModel", "zone", "bootDisk", "nodeImage", "startupScript", "filestores", "lustres",
)  # fmt: skip
_CPUS_PER_GPU = 26
_UNLIMITED = {"infinite", "unlimited", "-1"}
_PROLOG_FAILS = re.compile(r"^\s*#\s*emulator:\s*fail\b", re.MULTILINE)


@dataclass(frozen=True)
class Node:
    """A node of a pool. ``static`` nodes (up to min_node_count) are always powered up."""

    name: str
    pool: str
    cpus: int
    static: bool

    @property
    def memory_mb(self) -> int:
        """Memory in MiB."""
        return self.cpus * 4000


@dataclass(frozen=True)
class Partition:
    """A partition; ``max_minutes`` and ``max_nodes`` are None where it sets no limit."""

    name: str
    nodes: tuple[str, ...]
    state: str = "UP"
    is_default: bool = False
    max_minutes: int | None = None
    max_nodes: int | None = None


@dataclass(frozen=True)
class ClusterView:
    """Nodes and partitions by name, each pool's build (equal as long as its nodes stay), and the prolog's fate."""

    nodes: Mapping[str, Node]
    partitions: Mapping[str, Partition]
    builds: Mapping[str, str]
    prolog_fails: bool = False

    @property
    def default_partition(self) -> Partition | None:
        """Where jobs go that name no partition."""
        return next((partition for partition in self.partitions.values() if partition.is_default), None)

    def partitions_of(self, node: str) -> list[str]:
        """The names of the partitions that a node belongs to."""
        return [partition.name for partition in self.partitions.values() if node in partition.nodes]


def slurm_part(resource: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a cluster that its Slurm depends on."""
    return {"nodePools": resource.get("nodePools") or [], "orchestratorSpec": {"slurmSpec": dict(slurm_spec(resource))}}


def view_of(resource: Mapping[str, Any]) -> ClusterView:
    """The view that a cluster gives; unknown pools of a partition count as empty."""
    spec = slurm_spec(resource)
    pools = {pool["id"]: pool for pool in resource.get("nodePools") or []}
    used = [pool for partition in spec.get("partitions") or [] for pool in partition.get("nodePoolIds") or []]
    nodes = [node for name in dict.fromkeys(used) if name in pools for node in _nodes(pools[name])]
    return ClusterView(
        nodes={node.name: node for node in nodes},
        partitions={partition.name: partition for partition in _partitions(spec, nodes)},
        builds={name: _build(pool) for name, pool in pools.items()},
        prolog_fails=any(_PROLOG_FAILS.search(text) for text in spec.get("prologBashScripts") or []),
    )


def parse_minutes(text: str) -> int | None:
    """A slurm.conf or sbatch time (``60``, ``1:00:00``, ``2-12``) in minutes, rounded up; None = no limit.

    Raises ValueError when it is none of Slurm's spellings.
    """
    if text.strip().lower() in _UNLIMITED:
        return None
    found = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text.strip())
    if found is None:
        raise ValueError(f"no Slurm time: {text!r}")
    days, first, second, third = (None if part is None else int(part) for part in found.groups())
    if days is not None:
        hours, minutes, seconds = first or 0, second or 0, third or 0
    elif third is not None:
        hours, minutes, seconds = first or 0, second or 0, third
    else:
        hours, minutes, seconds = 0, first or 0, second or 0
    return (days or 0) * 1440 + hours * 60 + minutes + (seconds > 0)


def hostlist(names: Iterable[str]) -> str:
    """Node names as Slurm writes them: ``cpu-[0-2,5]``."""
    groups: dict[str, list[int]] = {}
    for name in names:
        prefix, _, number = name.rpartition("-")
        groups.setdefault(prefix, []).append(int(number))
    return ",".join(_bracketed(prefix, sorted(numbers)) for prefix, numbers in groups.items())


def number_ranges(numbers: list[int]) -> str:
    """Sorted numbers as Slurm writes them: ``0-2,5``."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in ranges)


def _bracketed(prefix: str, numbers: list[int]) -> str:
    return f"{prefix}-{numbers[0]}" if len(numbers) == 1 else f"{prefix}-[{number_ranges(numbers)}]"


def _nodes(pool: Mapping[str, Any]) -> list[Node]:
    scaling = pool.get("scalingSpec") or {}
    least, most = int(scaling.get("minNodeCount") or 0), int(scaling.get("maxNodeCount") or 0)
    cpus = _cpus((pool.get("machineSpec") or {}).get("machineType") or "")
    return [Node(f"{pool['id']}-{index}", pool["id"], cpus, static=index < least) for index in range(max(least, most))]


def _cpus(machine_type: str) -> int:
    found = re.search(r"-(\d+)(g?)$", machine_type)
    if found is None:
        return 4
    return int(found[1]) * (_CPUS_PER_GPU if found[2] else 1)


def _partitions(spec: Mapping[str, Any], nodes: list[Node]) -> Iterable[Partition]:
    default = default_partition(spec)
    for partition in spec.get("partitions") or []:
        config = {parameter_key(name): str(value) for name, value in (partition.get("config") or {}).items()}
        pools = partition.get("nodePoolIds") or []
        yield Partition(
            name=partition["id"],
            nodes=tuple(node.name for node in nodes if node.pool in pools),
            state=config.get("state", "UP").upper(),
            is_default=partition["id"] == default,
            max_minutes=_limit(config.get("maxtime"), parse_minutes),
            max_nodes=_limit(config.get("maxnodes"), lambda text: None if text.lower() in _UNLIMITED else int(text)),
        )


def _limit(text: str | None, parse: Any) -> int | None:
    """A limit from a config map; one that Slurm could not read counts as none, as the service accepts it too."""
    try:
        return None if text is None else parse(text)
    except ValueError:
        return None


def _build(pool: Mapping[str, Any]) -> str:
    return json.dumps([pool.get(field) for field in _BUILD_FIELDS], sort_keys=True)
