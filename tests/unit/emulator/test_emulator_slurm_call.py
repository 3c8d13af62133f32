"""callSlurmRestApi: the envelope, the built-in Slurm, and one behind a socket."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import requests
from emulator_client import Client, violations

from reconciler.emulator.server import Emulator, EmulatorConfig

JOB = {
    "job": {
        "name": "my-run",
        "partition": "cpu",
        "current_working_directory": "/home/user",
        "environment": ["PATH=/bin:/usr/bin"],
        "time_limit": {"set": True, "number": 120},
    },
    "script": "#!/bin/bash\necho hello\n",
}
SUBMIT = {"method": "HTTP_METHOD_POST", "path": "/slurm/v0.0.42/job/submit", "body": JOB}
JOBS = {"method": "HTTP_METHOD_GET", "path": "/slurm/v0.0.42/jobs/"}


def call(client: Client, envelope: Any, cluster: str = "demo") -> requests.Response:
    """One call of the Slurm job API."""
    data = envelope if isinstance(envelope, bytes) else json.dumps(envelope)
    return client.session.post(f"{client.base}/{cluster}:callSlurmRestApi", data=data)


def test_a_job_can_be_submitted_and_listed(client: Client) -> None:
    """Status and body text as S1 shows them."""
    client.running()
    answer = call(client, SUBMIT).json()
    assert answer["status"] == 200
    job_id = json.loads(answer["body"])["job_id"]
    jobs = json.loads(call(client, JOBS).json()["body"])["jobs"]
    assert [job["job_id"] for job in jobs] == [job_id]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"method": "GET"}, "method"),
        ({"method": None}, "method"),
        ({"path": "/proc/self"}, "path"),
        ({"path": "slurm/v0.0.42/jobs"}, "path"),
        ({"path": 3}, "path"),
        ({"body": {"a": 1}}, "body"),
        ({"method": "HTTP_METHOD_DELETE", "body": {}}, "body"),
        ({"method": "HTTP_METHOD_POST"}, "body"),
        ({"method": "HTTP_METHOD_POST", "body": "text"}, "body"),
    ],
)
def test_a_bad_envelope_is_an_invalid_argument(client: Client, change: dict[str, Any], field: str) -> None:
    """The method, the path, and a body with POST alone (S1)."""
    client.running()
    assert list(violations(call(client, {**JOBS, **change}))) == [field]


@pytest.mark.parametrize("envelope", [b"[]", b"{", b"", json.dumps({**JOBS, "extra": 1}).encode()])
def test_anything_else_is_an_invalid_argument_too(client: Client, envelope: bytes) -> None:
    """Broken JSON, other types, unknown names."""
    client.running()
    answer = call(client, envelope)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_the_request_must_stay_below_the_limit(client: Client) -> None:
    """The whole request counts, to the byte."""
    client.running()
    client.control.quirks(slurm_request_limit=2000)
    text = json.dumps(SUBMIT).encode()
    assert call(client, text + b" " * (1999 - len(text))).status_code == 200
    assert call(client, text + b" " * (2000 - len(text))).json()["error"]["status"] == "INVALID_ARGUMENT"


def test_an_unknown_cluster_is_not_found_and_a_stopped_one_unavailable(client: Client) -> None:
    """NOT_FOUND and UNAVAILABLE (S1)."""
    assert call(client, JOBS).json()["error"]["status"] == "NOT_FOUND"
    client.create()
    answer = call(client, JOBS)
    assert (answer.status_code, answer.json()["error"]["status"]) == (503, "UNAVAILABLE")


def test_the_built_in_slurm_has_switches(client: Client) -> None:
    """They are set through the control endpoint; its faults become UNAVAILABLE."""
    client.running()
    client.control.slurm(fault={"unavailable": True, "times": 1})
    assert call(client, JOBS).status_code == 503
    assert call(client, JOBS).status_code == 200


def test_slurms_events_reach_the_cluster(client: Client) -> None:
    """A failing prolog shows in `clusterEvents`."""
    client.running()
    client.control.live(client.name(), {"_nodes": {"cpu": 2}})
    client.control.slurm(prolog_fails=True)
    try:
        call(client, SUBMIT)
        client.control.advance(60)
        call(client, JOBS)
    finally:
        client.control.slurm(prolog_fails=False)
    assert "VM_PROLOG_ERROR" in {event["type"] for event in client.get().json()["clusterEvents"]}


class _Slurmrestd(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"path": self.path}).encode()
        self.send_response(202)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "local"

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def slurmrestd(tmp_path: Path) -> Iterator[Path]:
    """A socket behind which something answers HTTP."""
    path = tmp_path / "s"
    with socketserver.ThreadingUnixStreamServer(str(path), _Slurmrestd) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield path
        server.shutdown()
        thread.join()


def test_a_real_slurm_is_reached_through_its_socket(slurmrestd: Path) -> None:
    """Status and text are passed through."""
    config = EmulatorConfig(slurm_socket=slurmrestd)
    with Emulator(config) as emulator, requests.Session() as session:
        client = Client(emulator.url, session, "acme-ml")
        client.running()
        answer = call(client, JOBS).json()
        assert (answer["status"], json.loads(answer["body"])) == (202, {"path": JOBS["path"]})
        assert "only the built-in" in session.post(f"{emulator.url}/_emulator/slurm", json={}).text


def test_a_dead_socket_is_unavailable(tmp_path: Path) -> None:
    """UNAVAILABLE, as when the cluster can't be reached."""
    config = EmulatorConfig(slurm_socket=tmp_path / "nothing")
    with Emulator(config) as emulator, requests.Session() as session:
        client = Client(emulator.url, session, "acme-ml")
        client.running()
        assert call(client, JOBS).status_code == 503
