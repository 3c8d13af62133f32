"""The queue of a cluster's built-in Slurm, filled and emptied by hand, and changes that touch it."""

from __future__ import annotations

import json
from typing import Any

import requests

from tests.contract.bench import Bench
from tests.contract.specs import cpu_pool, pool, slurm

USER = "researcher"  # whose jobs the built-in Slurm lets one cancel
DEFAULTS: dict[str, Any] = {
    "pending_seconds": 0.5,
    "completing_seconds": 0.5,
    "min_job_age": 300.0,
    "prolog_fails": False,
    "fault": None,
}


class Queue:
    """The jobs of one cluster."""

    def __init__(self, bench: Bench, cluster: str = "demo") -> None:
        self._bench = bench
        self._cluster = cluster

    def switch(self, **switches: Any) -> None:
        """Set switches of the built-in Slurm, which hold for all its clusters."""
        self._bench.control.slurm(**switches)

    def add(self, partition: str, state: str = "RUNNING", **fields: Any) -> int:
        """Put a job there, which runs without an end unless `seconds` or `time_limit` say otherwise; its id."""
        before = self.states().keys()
        job = {"cluster": self._bench.get(self._cluster)["name"], "partition": partition, "state": state}
        self.switch(inject_jobs=[{**job, "seconds": None, "name": "train", "user_name": "ann", **fields}])
        return min(self.states().keys() - before)

    def cancel(self, job: int) -> None:
        """End a job, as its user."""
        record = next(each for each in self._jobs() if each["job_id"] == job)
        self.switch(user=record["user_name"], completing_seconds=0)
        self._call("DELETE", f"job/{job}")
        self.switch(user=USER)

    def states(self) -> dict[int, str]:
        """Job id -> state, of all that the controller knows."""
        return {job["job_id"]: job["job_state"][0] for job in self._jobs()}

    def job(self, job: int) -> dict[str, Any]:
        """A job's record."""
        return next(each for each in self._jobs() if each["job_id"] == job)

    def _jobs(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._call("GET", "jobs")["jobs"]
        return listed

    def _call(self, method: str, path: str) -> Any:
        call = {"method": f"HTTP_METHOD_{method}", "path": f"/slurm/v0.0.42/{path}"}
        url = f"{self._bench.url}/v1beta1/{self._bench.name(self._cluster)}:callSlurmRestApi"
        # As somebody else: not in the log of what the command line sent.
        answer = requests.post(url, json=call, timeout=30, headers={"user-agent": "test"})
        assert answer.status_code == 200, answer.text
        reply = answer.json()
        assert reply["status"] == 200, reply
        return json.loads(reply["body"])


def asked(bench: Bench) -> list[str]:
    """The Slurm paths that the command line asked for."""
    ours = (entry for entry in bench.requests("slurm") if entry["headers"].get("user-agent") != "test")
    return [entry["body"]["path"] for entry in ours]


def two_partitions(bench: Bench) -> dict[str, Any]:
    """Pools cpu and big, and a partition of the same name over each."""
    spec = bench.small()
    spec["node_pools"].append(cpu_pool("big", scaling_spec={"min_node_count": 2, "max_node_count": 4}))
    slurm(spec)["partitions"].append({"id": "big", "node_pool_ids": ["big"]})
    return spec


def move(spec: dict[str, Any]) -> None:
    """Nodes of the pool big are made anew elsewhere."""
    pool(spec, "big")["zone"] = "us-central1-b"


def drop(spec: dict[str, Any]) -> None:
    """The partition big goes, and its pool."""
    spec["node_pools"] = [each for each in spec["node_pools"] if each["id"] != "big"]
    partitions = slurm(spec)["partitions"]
    partitions[:] = [each for each in partitions if each["id"] != "big"]
