"""What is there: clusters, one cluster's state, operations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconciler.views.live import Cluster, Pool, Resource, event_time, mapping, member, text
from reconciler.views.safe import safe
from reconciler.views.table import table
from reconciler.views.terminal import Paint, painter
from reconciler.views.values import yaml_text
from reconciler.views.wording import plural, short_name

_STATE_STYLES = {"RUNNING": "green", "ERROR": "bold red"}
EVENTS_SHOWN = 20


def clusters_text(clusters: Iterable[Resource]) -> str:
    """A table of clusters."""
    rows = [_cluster_row(Cluster.of(resource)) for resource in clusters]
    if not rows:
        return "No clusters.\n"
    head = ("CLUSTER", "STATE", "POOLS", "NODES", "MAX", "PARTITIONS", "DISPLAY NAME")
    return "\n".join(table(head, rows)) + "\n"


def resource_text(resource: Resource) -> str:
    """A resource as YAML, as the service gave it."""
    return yaml_text(dict(resource))


def operations_text(operations: Iterable[Resource]) -> str:
    """A table of operations: what they are, how far, and what went wrong."""
    rows = [_operation_row(operation) for operation in operations]
    if not rows:
        return "No operations.\n"
    return "\n".join(table(("OPERATION", "STATE", "STARTED", "UPDATED", "PROGRESS"), rows)) + "\n"


def status_text(resource: Resource, *, colour: bool = False, events: int = EVENTS_SHOWN) -> str:
    """A cluster's state, pools with their nodes, partitions, recent events (newest first) and errors."""
    cluster = Cluster.of(resource)
    blocks = _status_blocks(cluster, painter(colour=colour), events)
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _cluster_row(cluster: Cluster) -> tuple[str | int | None, ...]:
    nodes = sum(sum(pool.states.values()) for pool in cluster.pools)
    most = sum(pool.high or 0 for pool in cluster.pools)
    name = short_name(cluster.name)
    return name, cluster.state, len(cluster.pools), nodes, most, len(cluster.partitions), cluster.display_name


def _operation_row(operation: Resource) -> tuple[str, ...]:
    metadata = mapping(operation.get("metadata"))
    generic = mapping(member(metadata, "generic_metadata"))
    error = operation.get("error")
    state = "failed" if error else "done" if operation.get("done") else "running"
    progress = text(error) or text(member(metadata, "progress_message"))
    times = (text(member(generic, name)) for name in ("create_time", "update_time"))
    return text(operation.get("name")), state, *times, progress


def _status_blocks(cluster: Cluster, paint: Paint, events: int) -> Iterator[list[str]]:
    state = paint(_STATE_STYLES.get(cluster.state, "yellow"), safe(cluster.state or "unknown"))
    shown = f" ({safe(cluster.display_name)})" if cluster.display_name else ""
    detail = f": {safe(cluster.detail)}" if cluster.detail else ""
    yield [f"{paint('bold', safe(short_name(cluster.name)))}{shown} is {state}{detail}"]
    yield [f"{paint('bold red', 'error:')} {safe(error)}" for error in cluster.errors]
    if cluster.pools:
        head = ("POOL", "MACHINE", "MODEL", "NODES", "MIN", "MAX", "STATES")
        yield table(head, [_pool_row(pool) for pool in cluster.pools])
    if cluster.partitions:
        rows = [
            (name + ("*" if name == cluster.default_partition else ""), ", ".join(pools))
            for name, pools in cluster.partitions
        ]
        yield [*table(("PARTITION", "POOLS"), rows), "* where jobs go that name none"]
    if cluster.events:
        recent = cluster.events[:events]
        more = len(cluster.events) - len(recent)
        lines = table(("TIME", "EVENT", "WHERE", "MESSAGE"), [_event_row(event) for event in recent])
        yield [*lines, *([f"and {plural(more, 'older event')}"] if more else [])]


def _pool_row(pool: Pool) -> tuple[str | int | None, ...]:
    nodes = sum(pool.states.values())
    states = ", ".join(f"{count} {state}" for state, count in sorted(pool.states.items()))
    short = f"; {pool.low - nodes} below the minimum" if nodes < pool.low else ""
    name = f"{pool.id} (login)" if pool.is_login else pool.id
    return name, pool.machine, pool.model, nodes, pool.low, pool.high, (states or "none") + short


def _event_row(event: Resource) -> tuple[str, ...]:
    kind = text(member(event, "event_type") or member(event, "type"))
    where = text(member(event, "instance_name") or member(event, "node_pool_id") or member(event, "node"))
    said = text(member(event, "message") or member(event, "detail") or member(event, "description"))
    return event_time(event), kind, where, said
