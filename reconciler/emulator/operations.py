"""Long-running operations: what one is, how far it has come, and how the API shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from reconciler.emulator.defaults import timestamp
from reconciler.emulator.masks import get_path
from reconciler.emulator.names import ClusterKey
from reconciler.emulator.render import Renderer

Verb = Literal["Create", "Update", "Delete"]
_TYPES = "type.googleapis.com/google.cloud.aiplatform.v1beta1."
_EMPTY = "type.googleapis.com/google.protobuf.Empty"
_DONE = {"Create": "Cluster created", "Update": "Cluster updated", "Delete": "Cluster deleted"}


@dataclass(frozen=True)
class Operation:
    """One accepted write. It takes effect at `due` (epoch seconds), whether or not anybody looks.

    `change` is the new resource of a create, or the masked values of an update (mask path -> value).
    `fault` is the fault that goes with it, if any. Once settled, `result` holds `response` (a stored resource), `error`
    or nothing at all.
    """

    id: str
    key: ClusterKey
    project_id: str
    verb: Verb
    change: dict[str, Any]
    steps: list[str]
    started: float
    due: float
    fault: dict[str, Any] = field(default_factory=dict)
    settled: bool = False
    result: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """The operation's name: always with the project's number (C)."""
        return f"projects/{self.key.project}/locations/{self.key.location}/operations/{self.id}"

    @property
    def done(self) -> bool:
        """Whether a poll says `done`."""
        return self.settled and self.fault.get("kind") != "operation_never_done"


def create_steps(resource: dict[str, Any]) -> list[str]:
    """What a create reports while it runs."""
    return ["Validating the request", *_pool_steps("Creating", _pool_ids(resource)), "Installing Slurm"]


def delete_steps(resource: dict[str, Any]) -> list[str]:
    """What a delete reports while it runs."""
    return ["Stopping jobs", *_pool_steps("Deleting", _pool_ids(resource)), "Releasing addresses"]


def update_steps(live: dict[str, Any], changes: dict[str, Any], mode: str) -> list[str]:
    """What an update reports while it runs: the pools that change, then the Slurm configuration."""
    steps = ["Validating the request"]
    if "node_pools" in changes:
        old = {pool.get("id"): pool for pool in live.get("nodePools", [])}
        new = {pool["id"]: pool for pool in changes["node_pools"] or []}
        touched = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        steps += _pool_steps("Updating", touched)
    changed = [path for path, value in changes.items() if get_path(live, path) != value]
    if any(path.startswith("orchestrator_spec") for path in changed):
        steps.append("Writing the Slurm configuration")
    if mode == "USER_AND_SERVICE":
        steps.append("Refreshing service-managed scripts")
    return steps


def _pool_ids(resource: dict[str, Any]) -> list[str]:
    return sorted(str(pool.get("id")) for pool in resource.get("nodePools", []))


def _pool_steps(doing: str, pools: list[str]) -> list[str]:
    return [f"{doing} node pool {pool} ({index} of {len(pools)})" for index, pool in enumerate(pools, 1)]


def view(operation: Operation, now: float, renderer: Renderer) -> dict[str, Any]:
    """The operation as the API answers it at a given time."""
    metadata = {
        "@type": f"{_TYPES}{operation.verb}ModelDevelopmentClusterOperationMetadata",
        "genericMetadata": {
            "createTime": timestamp(operation.started),
            "updateTime": timestamp(operation.due if operation.settled else max(now, operation.started)),
        },
        "progressMessage": _progress(operation, now),
    }
    answer: dict[str, Any] = {"name": operation.name, "metadata": metadata}
    if operation.done:
        answer["done"] = True
        answer.update(_result(operation, renderer))
    return answer


def _progress(operation: Operation, now: float) -> str:
    if operation.done:
        return "Failed" if "error" in (operation.result or {}) else _DONE[operation.verb]
    length = max(operation.due - operation.started, 1e-9)
    position = int((now - operation.started) / length * len(operation.steps))
    return operation.steps[max(0, min(position, len(operation.steps) - 1))]


def _result(operation: Operation, renderer: Renderer) -> dict[str, Any]:
    result = operation.result or {}
    if "response" not in result:
        return result
    if operation.verb == "Delete":
        return {"response": {"@type": _EMPTY}}
    resource = renderer.render(operation.key, operation.project_id, result["response"])
    return {"response": {"@type": f"{_TYPES}ModelDevelopmentCluster", **resource}}
