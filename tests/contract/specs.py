"""Specs that tests start from, each a fresh copy."""

from __future__ import annotations

from typing import Any

SLURM = "orchestrator_spec.slurm_spec"
PROLOG = "#!/bin/bash\nexit 0\n"


def login_pool() -> dict[str, Any]:
    """The pool that people log in to."""
    return {
        "id": "login",
        "machine_spec": {"machine_type": "n2-standard-8"},
        "scaling_spec": {"min_node_count": 1, "max_node_count": 1},
        "zone": "us-central1-a",
        "enable_public_ips": True,
    }


def cpu_pool(name: str = "cpu", **fields: Any) -> dict[str, Any]:
    """A pool without accelerators."""
    return {
        "id": name,
        "machine_spec": {"machine_type": "n2-standard-8"},
        "scaling_spec": {"min_node_count": 0, "max_node_count": 4},
        "zone": "us-central1-a",
        **fields,
    }


def gpu_pool(project: str, name: str = "gpu", **fields: Any) -> dict[str, Any]:
    """A pool of reserved GPU machines."""
    return {
        "id": name,
        "machine_spec": {
            "machine_type": "a3-ultragpu-8g",
            "accelerator_type": "NVIDIA_H200_141GB",
            "accelerator_count": 8,
            "reservation_affinity": {
                "reservation_affinity_type": "SPECIFIC_RESERVATION",
                "key": "compute.googleapis.com/reservation-name",
                "values": [f"projects/{project}/zones/us-central1-a/reservations/res-a"],
            },
        },
        "provisioning_model": "RESERVATION",
        "scaling_spec": {"min_node_count": 2, "max_node_count": 4},
        "zone": "us-central1-a",
        **fields,
    }


def base(project: str) -> dict[str, Any]:
    """Three pools, two partitions, a prolog: the cluster that most cases start from."""
    return {
        "display_name": "demo",
        "labels": {"team": "ml"},
        "network": {
            "network": f"projects/{project}/global/networks/net-a",
            "subnetwork": f"projects/{project}/regions/us-central1/subnetworks/sub-a",
        },
        "node_pools": [login_pool(), cpu_pool(), gpu_pool(project)],
        "orchestrator_spec": {
            "slurm_spec": {
                "home_directory_storage": f"projects/{project}/locations/us-central1-a/instances/home-a",
                "login_node_pool_id": "login",
                "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}, {"id": "gpu", "node_pool_ids": ["gpu"]}],
                "prolog_bash_scripts": [PROLOG],
            }
        },
    }


def small(project: str) -> dict[str, Any]:
    """The least that a Slurm cluster needs."""
    return {
        "node_pools": [login_pool(), cpu_pool()],
        "orchestrator_spec": {
            "slurm_spec": {
                "home_directory_storage": f"projects/{project}/locations/us-central1-a/instances/home-a",
                "login_node_pool_id": "login",
                "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}],
            }
        },
    }


def slurm(spec: dict[str, Any]) -> dict[str, Any]:
    """The Slurm part of a spec."""
    part: dict[str, Any] = spec["orchestrator_spec"]["slurm_spec"]
    return part


def pool(spec: dict[str, Any], name: str) -> dict[str, Any]:
    """A pool of a spec."""
    return next(each for each in spec["node_pools"] if each["id"] == name)
