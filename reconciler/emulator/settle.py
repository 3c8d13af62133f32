"""What an operation does when its time has come: success, failure, or something in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reconciler.emulator.defaults import settle_nodes, timestamp, with_status
from reconciler.emulator.masks import apply_changes, get_path
from reconciler.emulator.operations import Operation
from reconciler.emulator.store import Cluster, Store


def settle_operation(store: Store, operation: Operation) -> Cluster | None:
    """Lets a due operation take effect, once. Returns the cluster as it is then; None when it is gone."""
    cluster = store.cluster(operation.key)
    fault = operation.fault
    if cluster is None:
        gone = {"error": {"code": 5, "message": f"Cluster '{operation.key.name}' is gone."}}
        store.settle(operation, {"response": {}} if operation.verb == "Delete" else gone)
        return None
    if fault.get("kind") == "operation_never_done" and not fault.get("effect"):
        store.settle(operation, {})
        return cluster
    if fault.get("kind") == "operation_error":
        after = _failed(operation, cluster)
        store.put(after)
        store.settle(operation, {"error": operation_error(fault)})
        return after
    return _succeeded(store, operation, cluster)


def operation_error(fault: Mapping[str, Any]) -> dict[str, Any]:
    """The `error` of a failed operation: a google.rpc.Status."""
    error = {"code": fault.get("code", 13), "message": fault.get("message", "The operation failed.")}
    return error | ({"details": fault["details"]} if "details" in fault else {})


def _succeeded(store: Store, operation: Operation, cluster: Cluster) -> Cluster | None:
    fault = operation.fault
    ignored = fault.get("kind") == "accept_but_ignore"
    after: Cluster | None
    match operation.verb:
        case "Create":
            after = None if ignored else _created(operation, cluster)
        case "Update":
            after = _updated(operation, cluster, _skipped_paths(operation))
        case "Delete":
            after = _in_state(cluster, "RUNNING") if ignored else None
    if after is None:
        store.remove(operation.key)
    else:
        store.put(after)
    answer = {"response": (after or cluster).resource}
    store.settle(operation, {} if fault.get("kind") == "operation_empty" else answer)
    return after


def _created(operation: Operation, cluster: Cluster) -> Cluster:
    resource = settle_nodes(with_status(cluster.resource, "RUNNING"), cluster.key.cluster)
    now = timestamp(operation.due)
    return replace(cluster, resource={**resource, "startTime": now, "updateTime": now})


def _updated(operation: Operation, cluster: Cluster, skipped: set[str]) -> Cluster:
    changes = {path: value for path, value in operation.change["paths"].items() if path not in skipped}
    resource = apply_changes(cluster.resource, changes)
    resource = settle_nodes(with_status(resource, "RUNNING"), cluster.key.cluster)
    resource["updateTime"] = timestamp(operation.due)
    refreshes = cluster.refreshes + (operation.change["mode"] == "USER_AND_SERVICE")
    return replace(cluster, resource=resource, refreshes=refreshes)


def _skipped_paths(operation: Operation) -> set[str]:
    if operation.fault.get("kind") != "accept_but_ignore":
        return set()
    return set(operation.fault.get("paths") or operation.change["paths"])


def _in_state(cluster: Cluster, state: str, error: str | None = None) -> Cluster:
    return replace(cluster, resource=with_status(cluster.resource, state, error))


def _failed(operation: Operation, cluster: Cluster) -> Cluster:
    """A failed create or delete leaves an ERROR cluster (U); a failed update the old one, or with parts of the new."""
    fault = operation.fault
    state = fault.get("state", "RUNNING" if operation.verb == "Update" else "ERROR")
    if operation.verb == "Update" and fault.get("partial"):
        changes = _first_part(operation.change["paths"], cluster.resource)
        partial = replace(operation, change={**operation.change, "paths": changes}, fault={})
        cluster = _updated(partial, cluster, set())
    message = operation_error(fault)["message"] if state == "ERROR" else None
    return _in_state(cluster, state, message)


def _first_part(changes: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    """What a partial failure gets done: all paths but the last one; of a single list, its first changed item."""
    if len(changes) != 1:
        return {path: changes[path] for path in sorted(changes)[:-1]}
    ((path, wanted),) = changes.items()
    before = get_path(live, path)
    if not isinstance(wanted, list) or not isinstance(before, list) or len(wanted) != len(before):
        return {}
    first = next((index for index, item in enumerate(wanted) if item not in before), len(wanted))
    return {path: [*wanted[: first + 1], *before[first + 1 :]]}
