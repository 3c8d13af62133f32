"""State that lasts: kill -9, restarts, seeds, and the blocking server with its signals."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from emulator_client import Client, base_resource

from reconciler.emulator.control import Control
from reconciler.emulator.seed import SeedError
from reconciler.emulator.server import Emulator, EmulatorConfig

PROGRAM = """
import sys
from pathlib import Path
from reconciler.emulator.server import EmulatorConfig, serve
config = EmulatorConfig(state_dir=Path(sys.argv[1]), lro_seconds=float(sys.argv[2]))
serve(config, lambda url: print(url, flush=True))
print("stopped", flush=True)
"""


@contextmanager
def process(state: Path, lro_seconds: float = 600) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """An emulator in a process of its own."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(state), str(lro_seconds)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server,
        requests.Session() as session,
    ):
        assert server.stdout is not None
        try:
            yield server, Client(server.stdout.readline().strip(), session, "acme-ml")
        finally:
            server.kill()


def test_every_accepted_write_survives_a_kill(tmp_path: Path) -> None:
    """SIGKILL right after the answers; clusters, operations and the clock are all there again."""
    with process(tmp_path) as (server, client):
        first, second = client.create("one").json(), client.create("two").json()
        client.control.advance(600)
        third = client.session.patch(f"{client.base}/one?updateMask=labels", json={"labels": {"a": "b"}}).json()
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    with process(tmp_path) as (_, client):
        assert [client.poll(item["name"]).json().get("done") for item in (first, second, third)] == [True, True, None]
        assert client.get("one").json()["clusterStatus"]["state"] == "UPDATING"
        client.finish()
        assert client.get("one").json()["labels"] == {"a": "b"}
        assert client.create("two").status_code == 409


def test_a_kill_amid_a_burst_of_writes_loses_none(tmp_path: Path) -> None:
    """Whatever was answered with 200 is there; what is there has an operation, and nothing is half there."""
    accepted: dict[str, str] = {}

    def create(client: Client, number: int) -> None:
        with contextlib.suppress(requests.ConnectionError):
            answer = client.create(f"c{number}")
            accepted[f"c{number}"] = answer.json()["name"]

    with process(tmp_path) as (server, client), ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(create, client, number) for number in range(200)]
        while len(accepted) < 30:
            pass
        os.kill(server.pid, signal.SIGKILL)
        wait(futures)
    with process(tmp_path) as (_, client):
        client.finish()
        page = client.session.get(client.base, params={"pageSize": 1000}).json()["modelDevelopmentClusters"]
        found = {item["name"].rsplit("/", 1)[1]: item["clusterStatus"]["state"] for item in page}
        assert set(accepted) <= set(found)
        assert set(found.values()) == {"RUNNING"}
        assert all("response" in client.poll(name).json() for name in accepted.values())


def test_an_operation_goes_on_while_nobody_is_there(tmp_path: Path) -> None:
    """Its end comes from stored times, not from a running process."""
    with process(tmp_path, lro_seconds=0.2) as (server, client):
        operation = client.create().json()["name"]
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    with process(tmp_path, lro_seconds=600) as (_, client):
        client.control.advance(1)
        assert client.poll(operation).json()["response"]["clusterStatus"]["state"] == "RUNNING"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_server_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    """`serve` returns, without a word on standard error."""
    with process(tmp_path) as (server, client):
        assert client.session.get(client.base).json() == {}
        server.send_signal(number)
        output, errors = server.communicate(timeout=30)
        assert (server.returncode, output, errors) == (0, "stopped\n", "")


def test_a_port_in_use_is_an_os_error(tmp_path: Path) -> None:
    """The caller learns of it at once, and nothing is left open."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config = EmulatorConfig(port=taken.getsockname()[1], state_dir=tmp_path)
        with pytest.raises(OSError, match="in use"), Emulator(config):
            pass
    with Emulator(config) as emulator:
        assert emulator.url == f"http://127.0.0.1:{config.port}"


def test_a_broken_state_is_an_os_error(tmp_path: Path) -> None:
    """It names the file."""
    (tmp_path / "emulator.sqlite3").write_bytes(b"no database, " * 500)
    with pytest.raises(OSError, match=r"emulator\.sqlite3"), Emulator(EmulatorConfig(state_dir=tmp_path)):
        pass


def test_without_a_state_dir_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The private folder goes with the emulator."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Emulator(EmulatorConfig()):
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def live(tmp_path: Path, *seeds: Path, **options: Any) -> list[dict[str, Any]]:
    """The clusters of acme-ml that an emulator with these seeds lists."""
    with Emulator(EmulatorConfig(seeds=seeds, **options)) as emulator, requests.Session() as session:
        client = Client(emulator.url, session, "acme-ml")
        clusters: list[dict[str, Any]] = session.get(client.base).json().get("modelDevelopmentClusters", [])
        return clusters


API_NAME = "projects/acme-ml/locations/us-central1/modelDevelopmentClusters/"


def test_seeds_in_the_api_form(tmp_path: Path) -> None:
    """JSON, one or a list; output-only fields are kept, absent ones filled."""
    seed = tmp_path / "seed.json"
    resources = [{**base_resource(), "name": API_NAME + name} for name in ("one", "two")]
    resources[1]["clusterStatus"] = {"state": "ERROR", "error": "no capacity"}
    seed.write_text(json.dumps(resources), encoding="utf-8")
    one, two = live(tmp_path, seed)
    assert (one["clusterStatus"]["state"], two["clusterStatus"]["state"]) == ("RUNNING", "ERROR")
    assert one["nodePools"][0]["bootDisk"]["bootDiskType"] == "pd-ssd"
    assert len(one["clusterStatus"]["nodesStatus"]) == 3


def test_seeds_as_cluster_files(tmp_path: Path) -> None:
    """YAML 1.2, several documents, scripts from files."""
    (tmp_path / "prolog.sh").write_text("#!/bin/bash\nexit 0\n", encoding="utf-8")
    seed = tmp_path / "seed.yaml"
    seed.write_text(
        """
project: acme-ml
location: us-central1
cluster_id: one
lifecycle: {prevent_destroy: false}
spec:
  labels: {on: yes}
  orchestrator_spec:
    slurm_spec:
      prolog_bash_scripts: [{file: prolog.sh}]
      config: {OverSubscribe: NO, DefaultTime: 12:30:00, Date: 2026-01-01}
---
project: acme-ml
location: us-central1
cluster_id: two
spec:
  node_pools:
  - &pool {id: cpu, scaling_spec: {max_node_count: 010}}
  - {<<: *pool, id: more}
---
""",
        encoding="utf-8",
    )
    one, two = live(tmp_path, seed)
    slurm = one["orchestratorSpec"]["slurmSpec"]
    assert one["labels"] == {"on": "yes"}
    assert slurm["prologBashScripts"] == ["#!/bin/bash\nexit 0\n"]
    assert slurm["config"] == {"OverSubscribe": "NO", "DefaultTime": "12:30:00", "Date": "2026-01-01"}
    assert [(pool["id"], pool["scalingSpec"]) for pool in two["nodePools"]] == [
        ("cpu", {"maxNodeCount": "10"}),
        ("more", {"maxNodeCount": "10"}),
    ]


def test_seeds_leave_known_clusters_alone(tmp_path: Path) -> None:
    """A restart with the same seed doesn't undo what happened since."""
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps({"name": API_NAME + "one", "displayName": "first"}), encoding="utf-8")
    config = EmulatorConfig(state_dir=tmp_path / "state", seeds=(seed,))
    with Emulator(config) as emulator:
        Control(emulator.url).live("acme-ml/us-central1/one", {"displayName": "second"})
    with Emulator(config) as emulator:
        assert Control(emulator.url).get("acme-ml/us-central1/one")["displayName"] == "second"


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "- 3",
        "{}",
        "name: somewhere",
        "{cluster_id: x, spec: {}}",
        "\x00",
        "&a [*a]",
        "{3: x}",
        "{project: p, location: l, cluster_id: c, spec: {node_pools: 3}}",
        "spec: {a: [{file: nowhere}]}",
    ],
)
def test_a_bad_seed_names_its_file(tmp_path: Path, text: str) -> None:
    """SeedError, and nothing is left open."""
    seed = tmp_path / "seed.yaml"
    seed.write_text(text, encoding="utf-8")
    with pytest.raises(SeedError, match=r"seed\.yaml"), Emulator(EmulatorConfig(seeds=(seed,))):
        pass


def test_project_numbers_can_be_configured(tmp_path: Path) -> None:
    """A number given for a project is the one that names show."""
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps({"name": API_NAME + "one"}), encoding="utf-8")
    (one,) = live(tmp_path, seed, project_numbers={"acme-ml": "123456789012"})
    assert one["name"].startswith("projects/123456789012/")
