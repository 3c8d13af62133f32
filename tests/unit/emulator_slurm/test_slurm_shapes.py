"""The built-in Slurm's answers have the shape of those recorded from real ones."""

from __future__ import annotations

from typing import Any

import pytest
from slurm_cluster import MODERN, OLD, Clock, Cluster, sample, shape

VERSIONS = [OLD, MODERN]


def assert_same_shape(answer: Any, recorded: Any) -> None:
    """Same keys and kinds, except below lists that are empty on one side and where one side is null."""
    mine, theirs = shape(answer), shape(recorded)
    empty = [path for one in (mine, theirs) for path in one if path.endswith("[]") and not _has_below(one, path)]
    null = [path for one in (mine, theirs) for path, kind in one.items() if kind == "NoneType"]

    def known(path: str) -> bool:
        return any(path == hole or path.startswith((f"{hole}.", f"{hole}[")) for hole in (*empty, *null))

    assert {key: kind for key, kind in mine.items() if not known(key)} == {
        key: kind for key, kind in theirs.items() if not known(key)
    }


def _has_below(paths: dict[str, str], path: str) -> bool:
    return any(other != path and other.startswith(path) for other in paths)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("ping", "ping"),
        ("partitions", "partitions/"),
        ("partition1", "partition/cpu"),
        ("nodes", "nodes/"),
    ],
)
def test_cluster_answers(cluster: Cluster, version: str, name: str, path: str) -> None:
    """Ping, partitions and nodes look as recorded."""
    status, body = cluster.call("GET", f"/slurm/{version}/{path}")
    assert status == 200
    assert_same_shape(body, sample(version, name)[1])


@pytest.mark.parametrize("version", VERSIONS)
def test_job_answers(cluster: Cluster, clock: Clock, version: str) -> None:
    """A job looks as recorded when it is submitted, pending, running and done, and in the history."""
    body = cluster.call("POST", f"/slurm/{version}/job/submit", _body(version))[1]
    assert_same_shape(body, sample(version, "submit")[1])
    job = f"/slurm/{version}/job/{body['job_id']}"
    for seconds, name in ((0, "get_t0"), (1, "get_running"), (10, "get_done")):
        clock.now += seconds
        assert_same_shape(cluster.call("GET", job)[1], sample(version, name)[1])
    history = cluster.call("GET", job.replace("/slurm/", "/slurmdb/"))[1]
    assert_same_shape(history, sample(version, "db_job")[1])


@pytest.mark.parametrize("version", VERSIONS)
def test_cancelled_answers(cluster: Cluster, clock: Clock, version: str) -> None:
    """Cancelling a running job, and the job afterwards, look as recorded."""
    cluster.submit(script="sleep 60")
    clock.now += 1
    job = f"/slurm/{version}/job/1"
    assert_same_shape(cluster.call("DELETE", job)[1], sample(version, "delete")[1])
    for seconds, name in ((0, "get_after_delete_t0"), (5, "get_cancelled")):
        clock.now += seconds
        answer, recorded = cluster.call("GET", job)[1], sample(version, name)[1]
        assert_same_shape(answer, recorded)
        assert answer["jobs"][0]["job_state"] == recorded["jobs"][0]["job_state"]
    answer, recorded = cluster.call("GET", job)[1]["jobs"][0], sample(version, "get_cancelled")[1]["jobs"][0]
    assert answer["exit_code"] == recorded["exit_code"]
    history = cluster.call("GET", job.replace("/slurm/", "/slurmdb/"))[1]["jobs"][0]
    recorded_history = sample(version, "db_cancelled")[1]["jobs"][0]
    assert history["state"] == recorded_history["state"]
    assert history["exit_code"] == recorded_history["exit_code"]
    assert history["kill_request_user"] == "researcher"


def test_v39_has_plain_times_and_a_state_word(cluster: Cluster) -> None:
    """v0.0.39 wraps numbers but writes states, times and exit codes plainly."""
    cluster.submit()
    job = cluster.get("jobs", "v0.0.39")["jobs"][0]
    assert job["job_state"] == "PENDING"
    assert isinstance(job["submit_time"], int)
    assert job["exit_code"] == 0
    assert job["node_count"] == {"set": True, "infinite": False, "number": 1}


@pytest.mark.parametrize("version", ["v0.0.40", "v0.0.41", "v0.0.43", "v0.0.44"])
def test_neighbours_of_v42_are_modern(cluster: Cluster, version: str) -> None:
    """All versions from v0.0.40 on write lists of states and say which data parser wrote them."""
    cluster.submit()
    body = cluster.get("jobs/", version)
    assert body["jobs"][0]["job_state"] == ["PENDING"]
    assert body["meta"]["plugin"]["data_parser"] == f"data_parser/{version}"


def _body(version: str) -> dict[str, Any]:
    environment: Any = {"PATH": "/bin"} if version == OLD else ["PATH=/bin"]
    job = {"name": "my-run", "partition": "cpu", "current_working_directory": "/tmp", "tasks_per_node": 1}
    return {"job": {**job, "time_limit": 120, "environment": environment}, "script": "#!/bin/bash\nsleep 5\n"}
