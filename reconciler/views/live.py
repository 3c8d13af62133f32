"""What an answer says of a cluster, in the terms that people ask for. Nothing in an answer is relied on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.spec.reading import read_live

Resource = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pool:
    """`states` counts the pool's nodes by their state."""

    id: str
    machine: str
    model: str
    low: int
    high: int | None
    states: Mapping[str, int]
    is_login: bool


@dataclass(frozen=True, slots=True)
class Cluster:
    """The parts of a live cluster that people ask for."""

    name: str
    display_name: str
    state: str
    detail: str
    errors: tuple[str, ...]
    pools: tuple[Pool, ...]
    partitions: tuple[tuple[str, tuple[str, ...]], ...]
    default_partition: str
    events: tuple[Resource, ...]

    @classmethod
    def of(cls, resource: Resource) -> Cluster:
        """The cluster of an answer, in camelCase or snake_case."""
        live = read_live(dict(resource))
        status = mapping(live.get("cluster_status"))
        slurm = mapping(mapping(live.get("orchestrator_spec")).get("slurm_spec"))
        nodes = _mappings(member(status, "nodes_status"))
        partitions = tuple(
            (text(p.get("id")), _texts(p.get("node_pool_ids"))) for p in _mappings(slurm.get("partitions"))
        )
        first = partitions[0][0] if partitions else ""
        return cls(
            name=text(live.get("name")),
            display_name=text(live.get("display_name")),
            state=text(member(status, "state")),
            detail=text(member(status, "detail")),
            errors=tuple(_errors(status, nodes)),
            pools=tuple(_pool(pool, nodes, slurm) for pool in _mappings(live.get("node_pools"))),
            partitions=partitions,
            default_partition=text(slurm.get("default_partition_id")) or first,
            events=tuple(sorted(_mappings(live.get("cluster_events")), key=event_time, reverse=True)),
        )


def status_document(resource: Resource) -> dict[str, Any]:
    """What the status view shows, as JSON values; with all events."""
    cluster = Cluster.of(resource)
    return {
        "cluster": cluster.name,
        "state": cluster.state,
        "detail": cluster.detail,
        "errors": list(cluster.errors),
        "node_pools": [
            {"id": pool.id, "min": pool.low, "max": pool.high, "nodes": dict(pool.states)} for pool in cluster.pools
        ],
        "partitions": [{"id": name, "node_pool_ids": list(pools)} for name, pools in cluster.partitions],
        "default_partition": cluster.default_partition,
        "events": [dict(event) for event in cluster.events],
    }


def member(of: Resource, name: str) -> Any:
    """A member by its snake_case name, however it is spelled; None where there is none."""
    wanted = name.replace("_", "")
    return next((value for key, value in of.items() if key.replace("_", "").lower() == wanted), None)


def text(value: Any) -> str:
    """A value for a sentence: "" for nothing, an error's message where it has one."""
    if isinstance(value, dict):
        return text(member(value, "message")) or ", ".join(f"{key}: {text(item)}" for key, item in value.items())
    return "" if value is None else str(value)


def _pool(pool: Resource, nodes: list[Resource], slurm: Resource) -> Pool:
    name = text(pool.get("id"))
    scaling = mapping(pool.get("scaling_spec"))
    low, high = (
        value if isinstance(value, int) else None for value in map(scaling.get, ("min_node_count", "max_node_count"))
    )
    own = (text(member(node, "node_state")) for node in nodes if text(member(node, "node_pool_id")) == name)
    machine = text(mapping(pool.get("machine_spec")).get("machine_type"))
    is_login = bool(name) and name == slurm.get("login_node_pool_id")
    return Pool(name, machine, text(pool.get("provisioning_model")), low or 0, high, Counter(own), is_login)


def _errors(status: Resource, nodes: list[Resource]) -> Iterator[str]:
    if said := text(member(status, "error")):
        yield said
    for node in nodes:
        if said := text(member(node, "error")):
            yield f"node {text(member(node, 'instance_name')) or '?'}: {said}"


def event_time(event: Resource) -> str:
    """When an event was; its spelling isn't documented."""
    return text(member(event, "event_time") or member(event, "create_time") or member(event, "time"))


def mapping(value: Any) -> Resource:
    """The value where it is a mapping, else an empty one."""
    return value if isinstance(value, dict) else {}


def _mappings(value: Any) -> list[Resource]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(text, value)) if isinstance(value, list) else ()
