"""Runs that make each kind of request, and what the service must have done by the end of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

from tests.contract.bench import Bench, Outcome
from tests.contract.specs import pool
from tests.faults.rig import Rig, operations, spec

OCCURRENCES = ("first", "middle", "last", "all")
THREE = ("one", "three", "two")
# Six are looked up together, in the list of operations.
SIX = ("five", "four", "one", "six", "three", "two")


@dataclass(frozen=True)
class Scenario:
    """A run of `apply` that makes `count` requests of this `kind`, or more, where nothing goes wrong.

    `done` are the operations that it takes, no more and no less. `extra` are further options of the command.
    """

    name: str
    kind: str
    count: int
    clusters: tuple[str, ...]
    done: Counter[str]
    prepare: Callable[[Rig, str], None]
    extra: tuple[str, ...] = ()

    @property
    def occurrences(self) -> tuple[str, ...]:
        """Which of its requests a fault can meet: of two, none is in the middle."""
        return OCCURRENCES if self.count > 2 else ("first", "last", "all")

    def ready(self, rig: Rig) -> None:
        """Make files and live clusters."""
        for cluster in self.clusters:
            self.prepare(rig, cluster)
        if self.kind == "list":
            rig.control.quirks(page_cap=1)
        rig.control.clear_requests()

    def run(self, rig: Rig) -> Outcome:
        """Apply, with a timeout that a fault may use up."""
        return rig.apply("--timeout", "300s", *self.extra)

    def proven(self, rig: Rig) -> None:
        """Everything is there, and nothing was done twice."""
        assert operations(rig) == self.done


def new(bench: Bench, cluster: str) -> None:
    """A file for a cluster that isn't there."""
    bench.write(cluster, spec())


def changed(bench: Bench, cluster: str) -> None:
    """A cluster whose file has another label."""
    bench.control.put(bench.name(cluster), spec())
    bench.write(cluster, spec(changed="yes"))


def unwanted(bench: Bench, cluster: str) -> None:
    """A cluster whose file wants it absent."""
    bench.control.put(bench.name(cluster), spec())
    bench.write(cluster, spec(), state="absent", prevent_destroy=False)


def running_jobs(rig: Rig, cluster: str) -> None:
    """A change that recreates nodes, and a job that runs on them for a while."""
    wanted = spec()
    live = spec()
    pool(live, "cpu")["scaling_spec"] = {"min_node_count": 2, "max_node_count": 4}
    pool(wanted, "cpu").update(zone="us-central1-b", scaling_spec={"min_node_count": 2, "max_node_count": 4})
    rig.control.put(rig.name(cluster), live)
    rig.write(cluster, wanted, running_jobs="wait")
    submit(rig, cluster, seconds=5)
    rig.time.sleep(1)  # it has started by then


def submit(rig: Rig, cluster: str, seconds: float, name: str = "work") -> None:
    """Put a job into the queue that runs for so long."""
    job = {"name": name, "current_working_directory": "/tmp", "environment": ["PATH=/bin"]}
    body: dict[str, Any] = {"job": job, "script": f"#!/bin/bash\nsleep {seconds}\n"}
    call = {"method": "HTTP_METHOD_POST", "path": "/slurm/v0.0.42/job/submit", "body": body}
    answer = requests.post(f"{rig.url}/v1beta1/{rig.name(cluster)}:callSlurmRestApi", json=call, timeout=30)
    assert answer.json()["status"] == 200, answer.text


_UPDATE = Counter({"Update": 1})
SCENARIOS = (
    Scenario("list", "list", 3, THREE, Counter({"Update": 3}), changed),
    Scenario("get", "get", 3, ("one",), _UPDATE, changed),
    Scenario("create", "create", 3, THREE, Counter({"Create": 3}), new),
    Scenario("patch", "patch", 3, THREE, Counter({"Update": 3}), changed),
    Scenario("delete", "delete", 3, THREE, Counter({"Delete": 3}), unwanted, ("--allow-delete",)),
    Scenario("poll", "poll", 4, ("one",), _UPDATE, changed),
    Scenario("operations", "operations_list", 2, SIX, Counter({"Update": 6}), changed),
    Scenario("slurm", "slurm", 7, ("one",), _UPDATE, running_jobs),
)
