"""A bench whose time is a double: runs that wait for hours end at once, and the emulator's log tells what they sent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import requests

from reconciler.emulator.control import ControlError
from tests.contract.bench import LOCATION, Bench, Outcome
from tests.contract.specs import cpu_pool, login_pool
from tests.faults.clock import FakeTime

# A token that must be seen nowhere but by the service.
CANARY = "canary-token-5b0d6b1fa2c94c6d"
# One answer must be there by then, where one never comes; real seconds, since sockets know no others.
IMPATIENT = 0.4
LRO_SECONDS = 1.5


class Rig(Bench):
    """A repository, a project of its own, the emulator and the command line, under one clock.

    Every command runs with `--verbose` and a token, and fails the test where the token comes out.
    """

    def __init__(self, root: Path, url: str, project: str, monkeypatch: pytest.MonkeyPatch, time: FakeTime) -> None:
        super().__init__(root, url, project, monkeypatch)
        self.time = time
        self._monkeypatch = monkeypatch
        time.install(monkeypatch)
        monkeypatch.setenv("RECONCILER_ACCESS_TOKEN", CANARY)

    def run(self, *arguments: str | Path, typed: str | None = None) -> Outcome:
        """Run a command to its end."""
        outcome = super().run("--verbose", *arguments, typed=typed)
        assert CANARY not in outcome.out + outcome.err, "the token is shown"
        return outcome

    def impatient(self) -> None:
        """Don't wait long for answers that never come."""
        self._monkeypatch.setenv("RECONCILER_REQUEST_TIMEOUT", str(IMPATIENT))

    def stored(self, cluster: str) -> dict[str, Any] | None:
        """The stored resource of a cluster; None where there is none."""
        try:
            return self.control.get(self.name(cluster))
        except ControlError:
            return None


def operations(bench: Bench) -> Counter[str]:
    """Create, Update, Delete: how many operations of each the service ever began. Each is a write with effect."""
    place = f"projects/{bench.project}/locations/{LOCATION}"
    answer = requests.get(f"{bench.url}/v1/{place}/operations", params={"pageSize": "1000"}, timeout=30)
    assert answer.status_code == 200, answer.text
    types = (operation["metadata"]["@type"] for operation in answer.json().get("operations", []))
    return Counter(each.rpartition(".")[2].partition("ModelDevelopment")[0] for each in types)


def spec(**labels: str) -> dict[str, Any]:
    """A small cluster that names nothing of its project, so that a stored one fits any."""
    return {
        "labels": {"team": "ml", **labels},
        "node_pools": [login_pool(), cpu_pool()],
        "orchestrator_spec": {
            "slurm_spec": {
                "home_directory_storage": "projects/storage/locations/us-central1-a/instances/home-a",
                "login_node_pool_id": "login",
                "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}],
            }
        },
    }
