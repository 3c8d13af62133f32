"""SlurmSocket on a real Slurm: the job API's calls, and the configuration of an applied cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from harness import BASE, NODE, RealSlurm, wait_until

from reconciler.emulator.slurm_socket import SlurmSocket, SlurmUnavailable

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("slurm")]


class Rest:
    """Calls on the real slurmrestd, in the version that it serves."""

    def __init__(self, socket: SlurmSocket, real: RealSlurm) -> None:
        self._socket = socket
        self._real = real

    def text(self, method: str, path: str, body: object | None = None) -> tuple[int, str]:
        """Status and text."""
        return self._socket.handle("demo", {}, method, f"/slurm/{self._real.api_version}/{path}", body)

    def call(self, method: str, path: str, body: object | None = None) -> tuple[int, Any]:
        """Status and decoded body."""
        status, text = self.text(method, path, body)
        return status, json.loads(text)

    def submit(self, script: str, **job: Any) -> int:
        """Submits a job that must be taken and returns its id."""
        status, body = self.call("POST", "job/submit", self.body(script, **job))
        assert (status, body["errors"]) == (200, []), body
        return int(body["job_id"])

    def body(self, script: str, **job: Any) -> dict[str, Any]:
        """A submit body as v0.0.38 wants it."""
        fields = {"name": "my-run", "partition": "cpu", "current_working_directory": str(self._real.work_dir)}
        environment = {"PATH": "/bin:/usr/bin"}
        return {"job": {**fields, "environment": environment, **job}, "script": f"#!/bin/bash\n{script}\n"}

    def state(self, job_id: int) -> str:
        """The job's state word."""
        return str(self.call("GET", f"job/{job_id}")[1]["jobs"][0]["job_state"])

    def wait_for(self, job_id: int, state: str) -> None:
        """Waits until the job is in this state."""
        wait_until(lambda: self.state(job_id) == state, f"job {job_id} to be {state}")


@pytest.fixture
def rest(slurm: SlurmSocket, real_slurm: RealSlurm) -> Rest:
    """Calls on the real Slurm."""
    return Rest(slurm, real_slurm)


def applied(slurm: SlurmSocket, **fields: Any) -> None:
    """Applies the base cluster with some fields of its Slurm set anew."""
    spec = {**BASE["orchestratorSpec"]["slurmSpec"], **fields}
    slurm.apply_configuration({"orchestratorSpec": {"slurmSpec": spec}})


def test_submit_show_list_complete(rest: Rest, real_slurm: RealSlurm) -> None:
    """A job is submitted, shows in the list and by its id, runs its script and completes."""
    job_id = rest.submit("echo hello from $SLURM_JOB_ID")
    assert job_id in [job["job_id"] for job in rest.call("GET", "jobs/")[1]["jobs"]]
    shown = rest.call("GET", f"job/{job_id}")[1]["jobs"][0]
    assert (shown["name"], shown["partition"]) == ("my-run", "cpu")
    rest.wait_for(job_id, "COMPLETED")
    output = real_slurm.work_dir / f"slurm-{job_id}.out"
    wait_until(output.exists, "the job's output")
    assert output.read_text() == f"hello from {job_id}\n"


def test_a_job_that_fails(rest: Rest) -> None:
    """The exit code of a failed job is in the high byte, as the built-in Slurm has it."""
    job_id = rest.submit("exit 3")
    rest.wait_for(job_id, "FAILED")
    assert rest.call("GET", f"job/{job_id}")[1]["jobs"][0]["exit_code"] == 3 * 256


def test_cancel(rest: Rest) -> None:
    """A running job is cancelled; cancelling it again is a success too."""
    job_id = rest.submit("sleep 600")
    rest.wait_for(job_id, "RUNNING")
    assert rest.call("DELETE", f"job/{job_id}")[0] == 200
    rest.wait_for(job_id, "CANCELLED")
    assert rest.call("DELETE", f"job/{job_id}")[0] == 200


def test_unknown_job(rest: Rest) -> None:
    """An unknown job is error 2017, for GET and DELETE."""
    for method in ("GET", "DELETE"):
        status, body = rest.call(method, "job/999999")
        assert (status, body["errors"][0]["error_number"]) == (500, 2017)


def test_unknown_partition(rest: Rest) -> None:
    """An unknown partition is error 2000 and makes no job."""
    status, body = rest.call("POST", "job/submit", rest.body("true", partition="nope"))
    assert (status, body["errors"][0]["error_code"]) == (500, 2000)
    assert "job_id" not in body


def test_malformed_bodies(rest: Rest) -> None:
    """What is no JSON is refused in plain text, an unknown key and a modern body in JSON."""
    assert rest.text("POST", "job/submit", '{"job": ') == (400, "Unable to parse query.")
    assert rest.call("POST", "job/submit", rest.body("true", bogus_key=1))[0] == 400
    assert rest.call("POST", "job/submit", rest.body("true", environment=["PATH=/bin"]))[0] == 400


def test_version_that_is_not_served(slurm: SlurmSocket, real_slurm: RealSlurm) -> None:
    """Another API version is passed on as it is, and 404; mapped, it is answered."""
    status, text = slurm.handle("demo", {}, "GET", "/slurm/v0.0.42/ping", None)
    assert (status, text.startswith("Unable find requested URL.")) == (404, True)
    mapped = SlurmSocket(real_slurm.socket_path, api_version=real_slurm.api_version)
    assert mapped.handle("demo", {}, "GET", "/slurm/v0.0.42/ping", None)[0] == 200


def test_dead_socket(real_slurm: RealSlurm, tmp_path: Path) -> None:
    """Without a slurmrestd the call is SlurmUnavailable; the running one is not disturbed."""
    with pytest.raises(SlurmUnavailable):
        SlurmSocket(tmp_path / "nobody").handle("demo", {}, "GET", "/slurm/v0.0.42/ping", None)
    assert SlurmSocket(real_slurm.socket_path).handle("demo", {}, "GET", "/nosuch", None)[0] == 404


def test_new_partition_appears(slurm: SlurmSocket, rest: Rest, real_slurm: RealSlurm) -> None:
    """An applied partition is in sinfo at once, with its config map, and takes jobs; a dropped one is gone."""
    partitions = [{"id": "gpu", "nodePoolIds": ["gpu"], "config": {"max_time": "00:30:00"}}, {"id": "cpu"}]
    applied(slurm, partitions=partitions, config={"DefMemPerCPU": "100"})
    assert real_slurm.command("sinfo", "-h", "-o", "%P %l").splitlines() == ["gpu* 30:00", "cpu infinite"]
    assert "DefMemPerCPU            = 100" in real_slurm.command("scontrol", "show", "config")
    rest.wait_for(rest.submit("true", partition="gpu"), "COMPLETED")
    slurm.apply_configuration(BASE)
    assert real_slurm.command("sinfo", "-h", "-o", "%P").splitlines() == ["cpu*", "debug"]


def test_inactive_partition(slurm: SlurmSocket, rest: Rest) -> None:
    """INACTIVE: what runs goes on, what waits stays, and nothing new is taken (error 2070)."""
    running = rest.submit("sleep 600", tasks=4)
    rest.wait_for(running, "RUNNING")
    waiting = rest.submit("true")
    applied(slurm, partitions=[{"id": "cpu", "config": {"State": "INACTIVE"}}])
    status, body = rest.call("POST", "job/submit", rest.body("true"))
    assert (status, body["errors"][0]["error_code"]) == (500, 2070)
    rest.call("DELETE", f"job/{running}")
    rest.wait_for(running, "CANCELLED")
    assert rest.state(waiting) == "PENDING"
    slurm.apply_configuration(BASE)
    rest.wait_for(waiting, "COMPLETED")


def test_prolog_and_epilog(slurm: SlurmSocket, rest: Rest, tmp_path: Path) -> None:
    """New scripts run, in order, around the next job, as root; removed ones don't."""
    log = tmp_path / "log"
    scripts = {
        "prologBashScripts": [f"echo first $SLURM_JOB_ID >> {log}", f"echo second $(id -un) >> {log}"],
        "epilogBashScripts": [f"echo epilog >> {log}"],
    }
    applied(slurm, **scripts)
    job_id = rest.submit("true")
    rest.wait_for(job_id, "COMPLETED")
    wanted = [f"first {job_id}", "second root", "epilog"]
    wait_until(lambda: log.read_text().splitlines() == wanted, "prolog and epilog to have run")
    slurm.apply_configuration(BASE)
    rest.wait_for(rest.submit("true"), "COMPLETED")
    assert log.read_text().splitlines() == wanted


def test_failing_prolog(slurm: SlurmSocket, rest: Rest, real_slurm: RealSlurm) -> None:
    """A failing prolog drains the node and holds the job; this is what the built-in Slurm imitates."""
    applied(slurm, prologBashScripts=["true", "exit 3"])
    job_id = rest.submit("true")
    wait_until(lambda: real_slurm.node_state() == "drained", f"{NODE} to be drained")
    job = rest.call("GET", f"job/{job_id}")[1]["jobs"][0]
    assert (job["job_state"], job["state_reason"], job["state_description"]) == (
        "PENDING",
        "JobHeldUser",
        "launch failed requeued held",
    )
    node = rest.call("GET", "nodes")[1]["nodes"][0]
    assert (node["state_flags"], node["reason"]) == (["DRAIN"], "Prolog error")
