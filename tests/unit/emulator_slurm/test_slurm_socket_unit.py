"""SlurmSocket against a small HTTP server on a unix socket, and the configuration files it writes."""

from __future__ import annotations

import json
import stat
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any

import pytest

from reconciler.emulator import slurm_files
from reconciler.emulator.slurm_socket import SlurmSocket, SlurmUnavailable


class _Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked; status 418 so that nothing can be mistaken for a default."""

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        seen = {
            "method": self.command,
            "path": self.path,
            "type": self.headers.get("Content-Type"),
            "body": self.rfile.read(length).decode(),
        }
        payload = json.dumps(seen).encode()
        self.send_response(418)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_DELETE = _answer

    def address_string(self) -> str:
        """Unix sockets have no client address."""
        return "unix"

    def log_message(self, *_: object) -> None:
        """Stays silent."""


@pytest.fixture
def echo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The path of a socket with an echoing server behind it."""
    path = tmp_path_factory.mktemp("s") / "socket"
    with ThreadingUnixStreamServer(str(path), _Echo) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield path
        server.shutdown()
        thread.join()


def call(slurm: SlurmSocket, method: str, path: str, body: object | None = None) -> tuple[int, Any]:
    """Status and decoded echo."""
    status, text = slurm.handle("demo", {}, method, path, body)
    return status, json.loads(text)


def test_passes_through(echo: Path) -> None:
    """Method, path and body arrive as they are, with exactly the one content type slurmrestd takes."""
    status, seen = call(SlurmSocket(echo), "POST", "/slurm/v0.0.42/job/submit", {"job": {"name": "ä"}})
    assert (status, seen["method"], seen["path"], seen["type"]) == (
        418,
        "POST",
        "/slurm/v0.0.42/job/submit",
        "application/json",
    )
    assert json.loads(seen["body"]) == {"job": {"name": "ä"}}
    assert call(SlurmSocket(echo), "DELETE", "/slurm/v0.0.42/job/1")[1]["type"] is None
    assert call(SlurmSocket(echo), "POST", "/slurm/v0.0.42/job/submit", '{"job"')[1]["body"] == '{"job"'


def test_version_mapping(echo: Path) -> None:
    """The version in the path is replaced only when asked for."""
    mapped = SlurmSocket(echo, api_version="v0.0.38")
    assert call(mapped, "GET", "/slurmdb/v0.0.42/job/1")[1]["path"] == "/slurmdb/v0.0.38/job/1"
    assert call(mapped, "GET", "/openapi/v3")[1]["path"] == "/openapi/v3"
    assert call(SlurmSocket(echo), "GET", "/slurm/v0.0.42/ping")[1]["path"] == "/slurm/v0.0.42/ping"


def test_dead_socket(tmp_path: Path) -> None:
    """A socket that is missing, or no server's, is SlurmUnavailable."""
    (tmp_path / "file").touch()
    for name in ("missing", "file"):
        with pytest.raises(SlurmUnavailable, match=name):
            SlurmSocket(tmp_path / name).handle("demo", {}, "GET", "/slurm/v0.0.42/ping", None)


def test_answer_that_is_no_http(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A server that hangs up without an answer is SlurmUnavailable."""

    class HangUp(BaseHTTPRequestHandler):
        def handle(self) -> None:
            """Closes the connection."""

    path = tmp_path_factory.mktemp("s") / "socket"
    with ThreadingUnixStreamServer(str(path), HangUp) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with pytest.raises(SlurmUnavailable):
            SlurmSocket(path).handle("demo", {}, "GET", "/slurm/v0.0.42/ping", None)
        server.shutdown()
        thread.join()


RESOURCE = {
    "orchestratorSpec": {
        "slurmSpec": {
            "partitions": [
                {"id": "cpu", "nodePoolIds": ["cpu"], "config": {"max_time": "01:00:00", "State": "INACTIVE"}},
                {"id": "gpu", "nodePoolIds": ["gpu"], "config": {"Default": "YES", "AllowQos": "a b\nState=DOWN"}},
            ],
            "defaultPartitionId": "gpu",
            "config": {"DefMemPerCPU": "100", "slurmctld_port": "1", "Preempt_Mode": "OFF"},
            "prologBashScripts": ['echo "$1" one', "exit 3", "echo never"],
        }
    }
}


def test_configuration_files(tmp_path: Path) -> None:
    """Partitions and settings are written as slurm.conf lines; what the host must own is left out."""
    slurm_files.write_configuration(tmp_path, RESOURCE)
    assert (tmp_path / "partitions.conf").read_text().splitlines()[1:] == [
        "PartitionName=cpu Nodes=ALL Default=NO maxtime=01:00:00 State=INACTIVE",
        'PartitionName=gpu Nodes=ALL Default=YES AllowQos="a b State=DOWN"',
    ]
    assert (tmp_path / "settings.conf").read_text().splitlines()[1:] == ["DefMemPerCPU=100", "PreemptMode=OFF"]


def test_scripts_run_in_order_up_to_the_first_failure(tmp_path: Path) -> None:
    """The wrapper runs each script and ends with the first failing one's exit code; none is success."""
    slurm_files.write_configuration(tmp_path, RESOURCE)
    prolog = tmp_path / "prolog.sh"
    assert stat.S_IMODE(prolog.stat().st_mode) == 0o755
    result = subprocess.run([prolog], capture_output=True, text=True)
    assert (result.returncode, result.stdout.split()) == (3, ["one"])
    assert subprocess.run([tmp_path / "epilog.sh"]).returncode == 0


def test_removed_scripts_go_away(tmp_path: Path) -> None:
    """A prolog that is no longer there does not run, and old script folders don't pile up."""
    for _ in range(4):
        slurm_files.write_configuration(tmp_path, RESOURCE)
    assert len(list(tmp_path.glob("prolog.*/"))) == 2
    slurm_files.write_configuration(tmp_path, {})
    assert subprocess.run([tmp_path / "prolog.sh"]).returncode == 0


def test_failing_reconfiguration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reconfiguration that fails, or finds no scontrol, raises; the hook for the app only logs it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    slurm = SlurmSocket(tmp_path / "socket", tmp_path)
    with pytest.raises(SlurmUnavailable, match="scontrol"):
        slurm.apply_configuration(RESOURCE)
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\necho no such controller >&2\nexit 1\n")
    scontrol.chmod(0o755)
    with pytest.raises(SlurmUnavailable, match="no such controller"):
        slurm.apply_configuration(RESOURCE)
    slurm.on_cluster_changed("demo", RESOURCE)
    slurm.on_cluster_changed("demo", None)
    assert "cpu" in (tmp_path / "partitions.conf").read_text()


def test_without_a_directory_nothing_is_applied(tmp_path: Path) -> None:
    """Without a configuration directory a changed cluster changes nothing."""
    SlurmSocket(tmp_path / "socket").on_cluster_changed("demo", RESOURCE)
    assert list(tmp_path.iterdir()) == []
