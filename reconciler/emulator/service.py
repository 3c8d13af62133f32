"""The API's methods, without HTTP. Each must be called within one transaction of the store, after `settle`."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from reconciler.emulator import masks, operations, rules
from reconciler.emulator.defaults import fill_defaults, fill_pools, state_of, timestamp, with_status
from reconciler.emulator.errors import ApiError, not_found
from reconciler.emulator.names import ClusterKey, Projects
from reconciler.emulator.operations import Operation, Verb
from reconciler.emulator.paging import make_token, page_size, read_token
from reconciler.emulator.quirks import Quirks
from reconciler.emulator.render import Renderer
from reconciler.emulator.resource import read_strictly
from reconciler.emulator.routes import Call
from reconciler.emulator.settle import operation_error, settle_operation
from reconciler.emulator.store import Cluster, Store

Fault = Mapping[str, Any]
_BUSY = ("PROVISIONING", "UPDATING", "STOPPING")


class Service:
    """The emulated service on top of a store. `lro_seconds` is how long an operation takes."""

    def __init__(self, store: Store, projects: Projects, quirks: Quirks, lro_seconds: float) -> None:
        self.store = store
        self.projects = projects
        self._lro_seconds = lro_seconds
        with store.transaction():
            self._clock_offset: float = store.setting("clock_offset") or 0.0
            self.live_future_fields: set[str] = set(store.setting("future_fields") or ())
        self.quirks = quirks

    @property
    def quirks(self) -> Quirks:
        """The switches in force."""
        return self._quirks

    @quirks.setter
    def quirks(self, quirks: Quirks) -> None:
        self._quirks = quirks
        self.renderer = Renderer(quirks, self.projects)

    def now(self) -> float:
        """The service's clock, in epoch seconds."""
        return time.time() + self._clock_offset

    def advance(self, seconds: float) -> float:
        """Moves the service's clock forward, for good. Returns the new time."""
        self._clock_offset += seconds
        self.store.set_setting("clock_offset", self._clock_offset)
        return self.now()

    def remember_future_fields(self, paths: set[str]) -> None:
        """From now on requests may hold these fields, which somebody put into a live cluster."""
        if not paths <= self.live_future_fields:
            self.live_future_fields |= paths
            self.store.set_setting("future_fields", sorted(self.live_future_fields))

    def settle(self) -> list[tuple[ClusterKey, Cluster | None]]:
        """Lets every due operation take effect. Returns the clusters that it changed; None for a removed one."""
        return [(item.key, settle_operation(self.store, item)) for item in self.store.due_operations(self.now())]

    def key(self, call: Call) -> ClusterKey:
        """The cluster that a call addresses, by project id or number."""
        return ClusterKey(self.projects.number(call.project), call.location, call.cluster)

    def find(self, call: Call) -> Cluster:
        """The cluster that a call addresses. Raises ApiError NOT_FOUND."""
        cluster = self.store.cluster(self.key(call))
        if cluster is None:
            raise not_found(self.key(call).name)
        return cluster

    # --- reading

    def get(self, call: Call) -> str:
        """The cluster, rendered."""
        return self._rendered(self.find(call))

    def list_clusters(self, call: Call, query: Mapping[str, str]) -> str:
        """One page of the clusters in a location, in the order of their ids."""
        quirks, project = self.quirks, self.projects.number(call.project)
        parent = f"clusters of {project}/{call.location}"
        position = read_token(parent, query.get("page_token", ""))
        after, empty = str(position.get("after", "")), int(position.get("empty", quirks.empty_pages))
        if empty:
            return _page(quirks.list_key, [], make_token(parent, after=after, empty=empty - 1))
        size = min(page_size(query), quirks.page_cap or page_size(query))
        page = self.store.page(project, call.location, after, size, quirks.render_key)
        texts = [text or self._render_anew(key) for key, text in page.rows]
        token = make_token(parent, after=page.rows[-1][0].cluster) if page.more else ""
        return _page(quirks.list_key, texts, token)

    def poll(self, call: Call, fault: Fault) -> str:
        """One operation. `fault` may change what this poll says."""
        operation = self.store.operation(self.projects.number(call.project), call.location, call.operation)
        vanished = "operation_vanishes" in (fault.get("kind"), operation.fault.get("kind") if operation else None)
        if operation is None or vanished:
            parent = f"projects/{self.projects.number(call.project)}/locations/{call.location}"
            raise not_found(f"{parent}/operations/{call.operation}")
        answer = self._view(operation)
        instead: dict[str, dict[str, Any]] = {
            "operation_never_done": {},
            "operation_empty": {"done": True},
            "operation_error": {"done": True, "error": operation_error(fault)},
        }
        if fault.get("kind") in instead:
            answer = {"name": answer["name"], "metadata": answer["metadata"], **instead[fault["kind"]]}
        return _dump(answer)

    def list_operations(self, call: Call, query: Mapping[str, str]) -> str:
        """One page of the operations in a location, the newest first."""
        project = self.projects.number(call.project)
        parent = f"operations of {project}/{call.location}"
        before = int(read_token(parent, query.get("page_token", "")).get("before", 2**62))
        size = page_size(query)
        found = self.store.operations(project, call.location, before, size + 1)
        token = make_token(parent, before=found[size - 1][0]) if len(found) > size else ""
        visible = [item for _, item in found[:size] if item.fault.get("kind") != "operation_vanishes"]
        return _page("operations", [_dump(self._view(item)) for item in visible], token)

    # --- writing

    def create(self, call: Call, query: Mapping[str, str], body: object, fault: Fault) -> str:
        """Starts a create. Raises ApiError; ALREADY_EXISTS also while the existing cluster is in state ERROR (U)."""
        key = replace(self.key(call), cluster=query.get("model_development_cluster_id", ""))
        resource = self._read(body)
        rules.check_cluster_id(key.cluster, resource)
        if self.store.cluster(key) is not None:
            raise ApiError("ALREADY_EXISTS", f"Resource '{key.name}' already exists.")
        rules.check_resource(resource, key.location, self.quirks)
        now = timestamp(self.now())
        filled = fill_defaults(resource, key, call.project) | {"createTime": now, "updateTime": now}
        cluster = Cluster(key, call.project, with_status(filled, "PROVISIONING"))
        return self._begin(cluster, "Create", {}, operations.create_steps(filled), fault)

    def patch(self, call: Call, query: Mapping[str, str], body: object, fault: Fault) -> str:
        """Starts an update of the masked fields. Raises ApiError."""
        wanted = self._read(body)
        cluster = self._find_idle(call)
        mode = masks.check_update_mode(query.get("update_mode"))
        changes = masks.masked(wanted, masks.parse_mask(query.get("update_mask"), wanted, self.quirks))
        after = masks.apply_changes(cluster.resource, changes)
        rules.check_resource(after, call.location, self.quirks)
        filled = fill_pools(after)
        rules.check_immutable(fill_pools(cluster.resource), filled, self.projects)
        if "node_pools" in changes:
            changes["node_pools"] = filled["nodePools"]
        steps = operations.update_steps(cluster.resource, changes, mode)
        updating = replace(cluster, resource=with_status(cluster.resource, "UPDATING"))
        return self._begin(updating, "Update", {"paths": changes, "mode": mode}, steps, fault)

    def delete(self, call: Call, fault: Fault) -> str:
        """Starts a delete. Raises ApiError."""
        cluster = self._find_idle(call)
        steps = operations.delete_steps(cluster.resource)
        return self._begin(
            replace(cluster, resource=with_status(cluster.resource, "STOPPING")), "Delete", {}, steps, fault
        )

    def _read(self, body: object) -> dict[str, Any]:
        future = {*self.quirks.future_fields, *self.live_future_fields}
        return read_strictly(body, future, trim_scripts=self.quirks.normalise_scripts)

    def _find_idle(self, call: Call) -> Cluster:
        cluster = self.find(call)
        state = state_of(cluster.resource)
        if state in _BUSY:
            raise ApiError("FAILED_PRECONDITION", f"Cluster '{cluster.key.name}' is in state {state}; try again later.")
        return cluster

    def _begin(self, cluster: Cluster, verb: Verb, change: dict[str, Any], steps: list[str], fault: Fault) -> str:
        now = self.now()
        identifier = str(10**18 + secrets.randbelow(8 * 10**18))
        operation = Operation(
            identifier, cluster.key, cluster.project_id, verb, change, steps, now, now + self._lro_seconds, dict(fault)
        )
        self.store.put(cluster)
        self.store.add_operation(operation)
        return _dump(self._view(operation))

    # --- rendering

    def _view(self, operation: Operation) -> dict[str, Any]:
        return operations.view(operation, self.now(), self.renderer)

    def _rendered(self, cluster: Cluster) -> str:
        return _dump(self.renderer.render(cluster.key, cluster.project_id, cluster.resource))

    def _render_anew(self, key: ClusterKey) -> str:
        cluster = self.store.cluster(key)
        if cluster is None:
            raise not_found(key.name)
        text = self._rendered(cluster)
        self.store.keep_rendered(key, text, self.quirks.render_key)
        return text


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _page(key: str, texts: list[str], token: str) -> str:
    """A list answer; like every default, an empty list and an empty token are left out."""
    parts = [f'"{key}":[{",".join(texts)}]'] if texts else []
    parts += [f'"nextPageToken":{json.dumps(token)}'] if token else []
    return "{" + ",".join(parts) + "}"
