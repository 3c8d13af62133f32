"""Edits of live clusters by hand, around the API: "someone changed it in the console"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reconciler.emulator.defaults import make_nodes, settle_nodes, timestamp
from reconciler.emulator.errors import ApiError, invalid_field
from reconciler.emulator.fields import CLUSTER, Message, Node, Repeated
from reconciler.emulator.names import ClusterKey
from reconciler.emulator.resource import Reader
from reconciler.emulator.service import Service
from reconciler.emulator.store import Cluster

NODES = "_nodes"
_KEPT_EVENTS = 100


def put_live(service: Service, key: ClusterKey, project_id: str, body: object) -> Cluster:
    """Makes a resource, taken as it is, the live one: no rules, no defaults but a state, times and nodes."""
    existing = service.store.cluster(key)
    now = timestamp(service.now())
    resource = {"createTime": now, "updateTime": now, **_read(service, body)}
    resource["clusterStatus"] = {"state": "RUNNING", **resource.get("clusterStatus", {})}
    if resource["clusterStatus"]["state"] == "RUNNING" and "nodesStatus" not in resource["clusterStatus"]:
        resource = settle_nodes(resource, key.cluster)
    cluster = Cluster(key, project_id, resource, existing.refreshes if existing else 0)
    service.store.put(cluster)
    return cluster


def patch_live(service: Service, cluster: Cluster, patch: object) -> Cluster:
    """Merges a patch (RFC 7386, names as the API answers them) into a live cluster.

    An object in place of a list whose items have ids merges by id: `{"nodePools": {"cpu": {"zone": "…"}}}`; null
    removes the item. `_nodes` sets the nodes of a pool: `{"cpu": 4}` or `{"cpu": {"count": 1, "state": "ERROR"}}`.
    """
    if not isinstance(patch, dict):
        raise ApiError("INVALID_ARGUMENT", "A live edit is a JSON object.")
    nodes = patch.get(NODES, {})
    merged = _merge(CLUSTER, cluster.resource, {name: value for name, value in patch.items() if name != NODES})
    resource = _read(service, merged)
    for pool, wanted in nodes.items():
        resource = _set_nodes(resource, cluster.key.cluster, pool, wanted)
    edited = replace(cluster, resource=resource)
    service.store.put(edited)
    return edited


def add_event(service: Service, name: str, event: dict[str, Any]) -> None:
    """Appends to the `clusterEvents` of the cluster with this full name; the service keeps the last 100 (T)."""
    cluster = service.store.cluster(ClusterKey.parse(name))
    if cluster is not None:
        events = [*cluster.resource.get("clusterEvents", []), event][-_KEPT_EVENTS:]
        service.store.put(replace(cluster, resource={**cluster.resource, "clusterEvents": events}))


def _read(service: Service, body: object) -> dict[str, Any]:
    reader = Reader(service.live_future_fields, lenient=True)
    resource = reader.read(body)
    if reader.violations:
        raise invalid_field(reader.violations[0].field, reader.violations[0].description)
    service.remember_future_fields(reader.discovered)
    if "clusterEvents" in resource:
        resource["clusterEvents"] = resource["clusterEvents"][-_KEPT_EVENTS:]
    return resource


def _merge(node: Node | None, old: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    if isinstance(node, Repeated) and node.by:
        return _merge_by_id(node, old if isinstance(old, list) else [], patch)
    merged = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        child = node.child(name) if isinstance(node, Message) else None
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = _merge(child, merged.get(name), value)
    return merged


def _merge_by_id(node: Repeated, old: list[Any], patch: dict[str, Any]) -> list[Any]:
    items = {item.get(node.by, ""): item for item in old}
    for identifier, change in patch.items():
        if change is None:
            items.pop(identifier, None)
        else:
            items[identifier] = _merge(node.item, items.get(identifier, {node.by: identifier}), change)
    return list(items.values())


def _set_nodes(resource: dict[str, Any], cluster: str, pool: str, wanted: Any) -> dict[str, Any]:
    options = wanted if isinstance(wanted, dict) else {"count": wanted}
    status = resource.get("clusterStatus", {})
    others = [node for node in status.get("nodesStatus", []) if node.get("nodePoolId") != pool]
    count = options.get("count")
    if not isinstance(count, int):
        raise invalid_field(f"{NODES}.{pool}", "a number of nodes, or an object with a count.")
    nodes = make_nodes(resource, cluster, pool, count, options.get("state", "RUNNING"))
    return {**resource, "clusterStatus": {**status, "nodesStatus": others + nodes}}
