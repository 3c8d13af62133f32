"""A cluster as a file wants it, and as the service answers it; the starting point of most cases."""

from __future__ import annotations

import copy
from typing import Any

from reconciler.plan.build import plan_cluster
from reconciler.plan.model import ClusterPlan
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_file

NAME = ClusterName("example-proj", "us-central1", "demo")
NUMBER = "123456789012"
SLURM = "orchestrator_spec.slurm_spec"

_FILE: dict[str, Any] = {
    "display_name": "demo",
    "labels": {"team": "ml"},
    "network": {
        "network": "projects/example-proj/global/networks/net-a",
        "subnetwork": "projects/example-proj/regions/us-central1/subnetworks/sub-a",
    },
    "node_pools": [
        {
            "id": "login",
            "zone": "us-central1-a",
            "machine_spec": {"machine_type": "n2-standard-8"},
            "scaling_spec": {"min_node_count": 1, "max_node_count": 1},
            "enable_public_ips": True,
        },
        {
            "id": "cpu",
            "zone": "us-central1-a",
            "machine_spec": {"machine_type": "n2-standard-8"},
            "scaling_spec": {"min_node_count": 0, "max_node_count": 4},
        },
        {
            "id": "gpu",
            "zone": "us-central1-a",
            "machine_spec": {
                "machine_type": "a3-ultragpu-8g",
                "reservation_affinity": {
                    "reservation_affinity_type": "SPECIFIC_RESERVATION",
                    "values": ["projects/example-proj/zones/us-central1-a/reservations/res-a"],
                },
            },
            "provisioning_model": "RESERVATION",
            "scaling_spec": {"min_node_count": 2, "max_node_count": 4},
        },
    ],
    "orchestrator_spec": {
        "slurm_spec": {
            "home_directory_storage": "projects/example-proj/locations/us-central1-a/instances/home-a",
            "login_node_pool_id": "login",
            "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}, {"id": "gpu", "node_pool_ids": ["gpu"]}],
            "prolog_bash_scripts": ["#!/bin/bash\nexit 0\n"],
        }
    },
}


def file_spec() -> dict[str, Any]:
    """What the file says, to be edited by a case."""
    return copy.deepcopy(_FILE)


def answer() -> dict[str, Any]:
    """What GET answers for it: camelCase, zeros left out, numbers as strings, the service's own values filled in."""

    def pool(spec: dict[str, Any]) -> dict[str, Any]:
        scaling = {
            "minNodeCount": str(spec["scaling_spec"]["min_node_count"]),
            "maxNodeCount": str(spec["scaling_spec"]["max_node_count"]),
        }
        return {
            "id": spec["id"],
            "zone": spec["zone"],
            "machineSpec": _camel(spec["machine_spec"]),
            "provisioningModel": spec.get("provisioning_model", "ON_DEMAND"),
            "scalingSpec": {key: count for key, count in scaling.items() if count != "0"},
            **({"enablePublicIps": True} if spec.get("enable_public_ips") else {}),
            "bootDisk": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": "100"},
            "nodeImage": f"projects/{NUMBER}/global/images/slurm-a-v12",
        }

    slurm = _FILE["orchestrator_spec"]["slurm_spec"]
    pools = sorted(_FILE["node_pools"], key=lambda each: str(each["id"]))
    return copy.deepcopy(
        {
            "name": f"projects/{NUMBER}/locations/us-central1/modelDevelopmentClusters/demo",
            "displayName": "demo",
            "labels": {"team": "ml"},
            "network": {
                "network": f"projects/{NUMBER}/global/networks/net-a",
                "subnetwork": "https://www.googleapis.com/compute/v1/" + _FILE["network"]["subnetwork"],
            },
            "nodePools": [pool(each) for each in pools],
            "orchestratorSpec": {"slurmSpec": _camel(slurm)},
            "clusterStatus": {"state": "RUNNING", "nodesStatus": [{"nodePoolId": "gpu"}, {"nodePoolId": "gpu"}]},
            "clusterEvents": [{"type": "VM_SLURM_DRAIN"}],
            "updateTime": "2026-11-30T00:00:00Z",
        }
    )


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {_camel_name(key): _camel(item) for key, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def desired(spec: dict[str, Any], **lifecycle: Any) -> Desired:
    """A cluster as wanted; the spec is read as a file's is, and must be readable."""

    def refuse(problem: object) -> None:
        raise AssertionError(problem)

    life = Lifecycle(**lifecycle)
    typed = read_file(spec, ("spec",), lambda _: None, refuse, allow_unknown=life.allow_unknown_fields)
    return Desired(NAME, "clusters.d/demo.yaml", life, typed)


def plan(spec: dict[str, Any], live: dict[str, Any] | None, **lifecycle: Any) -> ClusterPlan:
    """The plan for the file against the answer."""
    return plan_cluster(desired(spec, **lifecycle), live)


def at(value: Any, path: str) -> Any:
    """The value at a dotted path; `nodePools[gpu]` picks a list's item by id."""
    for part in path.split("."):
        name, _, key = part.rstrip("]").partition("[")
        value = value[name]
        if key:
            value = next(item for item in value if item["id"] == key)
    return value
