"""What the tests of the built-in Slurm share: a clock, a cluster, and calls on it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.emulator.slurm import BuiltinSlurm

SAMPLES = Path(__file__).parent / "samples"
MODERN = "v0.0.42"
OLD = "v0.0.38"


class Clock:
    """Seconds since the epoch, moved by hand; its `sleep` only notes how long."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def pool(name: str, nodes: int = 4, **fields: Any) -> dict[str, Any]:
    """A node pool whose nodes have 4 CPUs."""
    scaling = {"minNodeCount": nodes, "maxNodeCount": nodes}
    return {"id": name, "machineSpec": {"machineType": "n2-standard-4"}, "scalingSpec": scaling, **fields}


def resource(**config: dict[str, str]) -> dict[str, Any]:
    """A cluster with the partitions cpu (default) and gpu; keyword arguments are their config maps."""
    partitions = [{"id": name, "nodePoolIds": [name], "config": config.get(name, {})} for name in ("cpu", "gpu")]
    slurm_spec = {"partitions": partitions, "loginNodePoolId": "login"}
    return {
        "nodePools": [pool("cpu"), pool("gpu", 2), pool("login", 1)],
        "orchestratorSpec": {"slurmSpec": slurm_spec},
    }


@dataclass
class Cluster:
    """Calls on one cluster of a built-in Slurm."""

    slurm: BuiltinSlurm
    resource: dict[str, Any]
    name: str = "demo"
    submitted: list[int] = field(default_factory=list)

    def text(self, method: str, path: str, body: object | None = None) -> tuple[int, str]:
        """Status and text of a call."""
        return self.slurm.handle(self.name, self.resource, method, path, body)

    def call(self, method: str, path: str, body: object | None = None) -> tuple[int, Any]:
        """Status and decoded body of a call."""
        status, text = self.text(method, path, body)
        return status, json.loads(text)

    def get(self, path: str, version: str = MODERN) -> Any:
        """The decoded body of a successful GET below /slurm/."""
        status, body = self.call("GET", f"/slurm/{version}/{path}")
        assert status == 200, body
        return body

    def submit(self, script: str = "#!/bin/bash\nsleep 5\n", version: str = MODERN, **job: Any) -> int:
        """Submits a job that must be taken and returns its id."""
        status, body = self.call("POST", f"/slurm/{version}/job/submit", submission(script, version, **job))
        assert status == 200, body
        return int(body["job_id"])

    def job(self, job_id: int) -> Any:
        """A live job in v0.0.42."""
        return next(job for job in self.get(f"job/{job_id}")["jobs"] if job["job_id"] == job_id)

    def states(self) -> dict[int, str]:
        """State words of all live jobs."""
        return {job["job_id"]: " ".join(job["job_state"]) for job in self.get("jobs/")["jobs"]}


def submission(script: str = "#!/bin/bash\nsleep 5\n", version: str = MODERN, **job: Any) -> dict[str, Any]:
    """A submit body as that version wants it; a None leaves a key out."""
    environment: Any = {"PATH": "/bin"} if version == OLD else ["PATH=/bin"]
    fields = {"name": "my-run", "current_working_directory": "/tmp", "environment": environment, **job}
    return {"job": {key: value for key, value in fields.items() if value is not None}, "script": script}


def sample(version: str, name: str) -> tuple[int, Any]:
    """Status and body of a recorded answer."""
    recorded = json.loads((SAMPLES / version / f"{name}.json").read_text())
    return recorded["status"], recorded["body"]


def shape(value: Any, path: str = "") -> dict[str, str]:
    """Every path of a JSON value with the kind of what is there; of a list only the first element counts."""
    if isinstance(value, dict):
        return {key: kind for name, item in value.items() for key, kind in shape(item, f"{path}.{name}").items()}
    if isinstance(value, list):
        return {f"{path}[]": "list", **(shape(value[0], f"{path}[]") if value else {})}
    return {path: type(value).__name__}
