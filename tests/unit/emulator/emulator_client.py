"""A client that speaks plain HTTP to an emulator, and a cluster to send."""

from __future__ import annotations

from typing import Any

import requests

from reconciler.emulator.control import Control

LRO_SECONDS = 600.0
LOCATION = "us-central1"


def base_resource() -> dict[str, Any]:
    """A cluster that the service accepts."""
    return {
        "display_name": "demo",
        "labels": {"team": "ml"},
        "network": {
            "network": "projects/example-net/global/networks/net-a",
            "subnetwork": "projects/example-net/regions/us-central1/subnetworks/sub-a",
        },
        "node_pools": [
            {
                "id": "login",
                "machine_spec": {"machine_type": "n2-standard-8"},
                "scaling_spec": {"min_node_count": 1, "max_node_count": 1},
                "zone": "us-central1-a",
                "enable_public_ips": True,
            },
            {
                "id": "cpu",
                "machine_spec": {"machine_type": "n2-standard-8"},
                "scaling_spec": {"min_node_count": 0, "max_node_count": 4},
                "zone": "us-central1-a",
            },
            {
                "id": "gpu",
                "machine_spec": {
                    "machine_type": "a3-ultragpu-8g",
                    "accelerator_type": "NVIDIA_H200_141GB",
                    "accelerator_count": 8,
                    "reservation_affinity": {
                        "reservation_affinity_type": "SPECIFIC_RESERVATION",
                        "key": "compute.googleapis.com/reservation-name",
                        "values": ["projects/example-net/zones/us-central1-a/reservations/res-a"],
                    },
                },
                "provisioning_model": "RESERVATION",
                "scaling_spec": {"min_node_count": 2, "max_node_count": 4},
                "zone": "us-central1-a",
            },
        ],
        "orchestrator_spec": {
            "slurm_spec": {
                "home_directory_storage": "projects/example-net/locations/us-central1-a/instances/home-a",
                "login_node_pool_id": "login",
                "partitions": [{"id": "gpu", "node_pool_ids": ["gpu"]}, {"id": "cpu", "node_pool_ids": ["cpu"]}],
                "prolog_bash_scripts": ["#!/bin/bash\nexit 0\n"],
            }
        },
    }


class Client:
    """Plain HTTP against one project of an emulator; operations end when `finish` moves the clock."""

    def __init__(self, url: str, session: requests.Session, project: str) -> None:
        self.url = url
        self.session = session
        self.project = project
        self.control = Control(url)
        self.base = f"{url}/v1beta1/projects/{project}/locations/{LOCATION}/modelDevelopmentClusters"

    def name(self, cluster: str = "demo") -> str:
        """The control endpoint's name of a cluster."""
        return f"{self.project}/{LOCATION}/{cluster}"

    def create(self, cluster: str = "demo", body: Any = None) -> requests.Response:
        """POST; the answer, whatever it is."""
        params = {"model_development_cluster_id": cluster}
        return self.session.post(self.base, params=params, json=base_resource() if body is None else body)

    def get(self, cluster: str = "demo") -> requests.Response:
        """GET."""
        return self.session.get(f"{self.base}/{cluster}")

    def patch(self, mask: str | None, body: Any, cluster: str = "demo", **params: str) -> requests.Response:
        """PATCH; no mask for None."""
        query = params if mask is None else {"updateMask": mask, **params}
        return self.session.patch(f"{self.base}/{cluster}", params=query, json=body)

    def delete(self, cluster: str = "demo") -> requests.Response:
        """DELETE."""
        return self.session.delete(f"{self.base}/{cluster}")

    def poll(self, operation: requests.Response | str, version: str = "v1") -> requests.Response:
        """GET of an operation, given by its name or by the answer that started it."""
        name = operation if isinstance(operation, str) else operation.json()["name"]
        return self.session.get(f"{self.url}/{version}/{name}")

    def finish(self) -> None:
        """Lets every running operation come to its end."""
        self.control.advance(LRO_SECONDS)

    def running(self, cluster: str = "demo", body: Any = None) -> dict[str, Any]:
        """Creates a cluster, waits, and returns it."""
        answer = self.create(cluster, body)
        assert answer.status_code == 200, answer.text
        self.finish()
        resource: dict[str, Any] = self.get(cluster).json()
        return resource

    def updated(self, mask: str, body: Any, **params: str) -> dict[str, Any]:
        """Updates the cluster, waits, and returns it."""
        answer = self.patch(mask, body, **params)
        assert answer.status_code == 200, answer.text
        self.finish()
        resource: dict[str, Any] = self.get().json()
        return resource


def violations(answer: requests.Response) -> dict[str, str]:
    """Field -> description, of an INVALID_ARGUMENT answer."""
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["code"] == 400
    assert error["status"] == "INVALID_ARGUMENT"
    return {item["field"]: item["description"] for item in error["details"][0]["fieldViolations"]}
