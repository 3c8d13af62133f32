"""What the service fills in by itself: absent inputs, and the output-only state of a cluster."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reconciler.emulator.names import ClusterKey

GPU_FAMILIES = ("a3-", "a4-", "a4x-")
LONGEST_FLEX_START = "604800s"
_IMAGES = "projects/cluster-images/global/images/slurm-"


def is_gpu_family(pool: dict[str, Any]) -> bool:
    """Whether the pool's machine type belongs to a GPU family (rule 6)."""
    return str(pool.get("machineSpec", {}).get("machineType", "")).startswith(GPU_FAMILIES)


def fill_defaults(resource: dict[str, Any], key: ClusterKey, project_id: str) -> dict[str, Any]:
    """The resource with every service-filled field that it leaves out (T)."""
    network = {
        "network": f"projects/{project_id}/global/networks/default",
        "subnetwork": f"projects/{project_id}/regions/{key.location}/subnetworks/default",
    }
    account = f"{key.project}-compute@developer.gserviceaccount.com"
    return {
        **fill_pools(resource),
        "network": {**network, **resource.get("network", {})},
        "runtimeSpec": {"serviceAccount": account, **resource.get("runtimeSpec", {})},
    }


def fill_pools(resource: dict[str, Any]) -> dict[str, Any]:
    """The resource with every service-filled field of its node pools: what a replaced list gets again, at defaults."""
    return {**resource, "nodePools": [_fill_pool(pool) for pool in resource.get("nodePools", [])]}


def _fill_pool(pool: dict[str, Any]) -> dict[str, Any]:
    gpu = is_gpu_family(pool)
    disk = {"bootDiskType": "hyperdisk-balanced" if gpu else "pd-ssd", "bootDiskSizeGb": 100}
    reserved = "reservationAffinity" in pool.get("machineSpec", {})
    filled = {
        **pool,
        "bootDisk": {**disk, **pool.get("bootDisk", {})},
        "nodeImage": pool.get("nodeImage", _IMAGES + ("gpu" if gpu else "cpu")),
        "provisioningModel": pool.get("provisioningModel", "RESERVATION" if reserved else "ON_DEMAND"),
    }
    filled.pop("effectiveFlexStartMaxDuration", None)
    if filled["provisioningModel"] == "FLEX_START":
        filled["effectiveFlexStartMaxDuration"] = pool.get("flexStartMaxDuration", LONGEST_FLEX_START)
    return filled


def with_status(resource: dict[str, Any], state: str, error: str | None = None) -> dict[str, Any]:
    """The resource with its cluster state set; everything else in `clusterStatus` stays, but for the error."""
    status = {**resource.get("clusterStatus", {}), "state": state}
    status.pop("error", None)
    if error:
        status["error"] = error
    return {**resource, "clusterStatus": status}


def state_of(resource: dict[str, Any]) -> str:
    """The cluster's state; empty when it has none."""
    state: str = resource.get("clusterStatus", {}).get("state", "")
    return state


def settle_nodes(resource: dict[str, Any], cluster: str) -> dict[str, Any]:
    """Brings `nodesStatus` in step with the pools: nodes that exist stay while min and max allow them."""
    status = resource.get("clusterStatus", {})
    existing = status.get("nodesStatus", [])
    nodes: list[dict[str, Any]] = []
    for pool in sorted(resource.get("nodePools", []), key=lambda pool: str(pool.get("id"))):
        own = [node for node in existing if node.get("nodePoolId") == pool.get("id")]
        scaling = pool.get("scalingSpec", {})
        low = scaling.get("minNodeCount", 0)
        count = max(low, min(len(own), scaling.get("maxNodeCount", low)))
        nodes += own[:count]
        nodes += make_nodes(resource, cluster, str(pool.get("id", "")), count)[len(own) :]
    return {**resource, "clusterStatus": {**status, "nodesStatus": nodes}}


def make_nodes(
    resource: dict[str, Any], cluster: str, pool: str, count: int, state: str = "RUNNING"
) -> list[dict[str, Any]]:
    """`count` entries of `nodesStatus` for one pool."""
    login = resource.get("orchestratorSpec", {}).get("slurmSpec", {}).get("loginNodePoolId")
    kind = "LOGIN" if pool == login else "WORKER"
    return [
        {"nodePoolId": pool, "nodePoolType": kind, "nodeState": state, "instanceName": f"{cluster}-{pool}-{index}"}
        for index in range(count)
    ]


def timestamp(seconds: float) -> str:
    """Epoch seconds as the API writes them."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
