"""Errors of the built-in Slurm: status and content as recorded from real ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slurm_cluster import MODERN, OLD, Clock, Cluster, resource, sample, submission

from reconciler.emulator.slurm import BuiltinSlurm

RECORDED_GETS = [
    ("get_unknown", "GET", "job/999999"),
    ("get_nonnum", "GET", "job/abc"),
    ("delete_unknown", "DELETE", "job/999999"),
    ("wrong_method", "PUT", "ping"),
]


def _essence(body: Any) -> Any:
    """A body without what depends on the moment."""
    if not isinstance(body, dict):
        return body
    return {key: value for key, value in body.items() if key not in ("meta", "last_update", "last_backfill", "job_id")}


@pytest.mark.parametrize("version", [OLD, MODERN])
@pytest.mark.parametrize(("name", "method", "path"), RECORDED_GETS)
def test_unknown_things(cluster: Cluster, version: str, name: str, method: str, path: str) -> None:
    """Unknown jobs, ids that are none, and wrong methods are answered as recorded."""
    status, text = cluster.text(method, f"/slurm/{version}/{path}")
    recorded_status, recorded = sample(version, name)
    assert status == recorded_status
    if isinstance(recorded, str):
        # v0.0.38 and v0.0.42 were recorded from servers of different age.
        assert text == recorded
    else:
        assert _essence(cluster.call(method, f"/slurm/{version}/{path}")[1]) == _essence(recorded)


BODIES: list[tuple[str, str, dict[str, Any]]] = [
    ("submit_badpart", OLD, submission(version=OLD, partition="nope")),
    ("submit_badpart", MODERN, submission(partition="nope")),
    ("submit_noscript", OLD, {"job": submission(version=OLD)["job"]}),
    ("submit_noscript", MODERN, {"job": submission()["job"]}),
    ("submit_nojob", OLD, {"script": "#!/bin/sh\n"}),
    ("submit_nojob", MODERN, {"script": "#!/bin/sh\n"}),
    ("submit_unknownkey", OLD, submission(version=OLD, bogus_key=1)),
    ("submit_unknownkey", MODERN, submission(bogus_key=1)),
    ("submit_badtype", OLD, submission(version=OLD, time_limit="abc")),
    ("submit_badtype", MODERN, submission(time_limit="abc")),
    ("submit_noenv", OLD, submission(version=OLD, environment={})),
    ("submit_noenv", MODERN, submission(environment=[])),
    ("submit_nocwd", OLD, submission(version=OLD, current_working_directory=None)),
    ("submit_nocwd", MODERN, submission(current_working_directory=None)),
    ("submit_toomanynodes", OLD, submission(version=OLD, nodes=5)),
    ("submit_toomanynodes", MODERN, submission(minimum_nodes=5)),
]


@pytest.mark.parametrize(("name", "version", "body"), BODIES)
def test_submissions(cluster: Cluster, name: str, version: str, body: dict[str, Any]) -> None:
    """Faulty submissions are refused, or taken with a warning, as recorded."""
    status, answer = cluster.call("POST", f"/slurm/{version}/job/submit", body)
    recorded_status, recorded = sample(version, name)
    assert (status, "job_id" in answer) == (recorded_status, "job_id" in recorded)
    assert _essence(answer) == _essence(recorded)


@pytest.mark.parametrize("version", [OLD, MODERN])
def test_malformed_body(cluster: Cluster, version: str) -> None:
    """A body that is no JSON gets a 400 in plain text."""
    assert cluster.text("POST", f"/slurm/{version}/job/submit", '{"job": ') == sample(version, "submit_malformed")


@pytest.mark.parametrize(
    ("offered", "asked"),
    [([OLD], "v0.0.42"), (["v0.0.42"], OLD), (["v0.0.44"], "v0.0.45"), (["v0.0.42"], "v0.0.99")],
)
def test_version_that_is_not_served(cluster: Cluster, offered: list[str], asked: str) -> None:
    """Another version is 404 in plain text, in the words of the server's age."""
    cluster.slurm.configure({"versions": offered})
    expected = sample(OLD if offered == [OLD] else MODERN, "unknown_version")
    assert cluster.text("GET", f"/slurm/{asked}/ping") == expected
    assert cluster.text("GET", f"/slurm/{offered[0]}/ping")[0] == 200


@pytest.mark.parametrize("path", ["/slurm/v0.0.42/nosuch", "/slurm/v0.0.42/", "/slurm/jobs", "/slurmdb/v0.0.42/nodes"])
def test_path_that_does_not_exist(cluster: Cluster, path: str) -> None:
    """An unknown path is 404 in plain text."""
    assert cluster.text("GET", path) == sample(MODERN, "unknown_version")


@pytest.mark.parametrize("field", [{"partition": ["cpu"]}, {"minimum_nodes": {"set": True, "number": 1}}])
def test_wrong_type_is_a_success_without_a_job(cluster: Cluster, field: dict[str, Any]) -> None:
    """v0.0.42 answers 200 with a warning and no job id where a list or an object is out of place."""
    status, body = cluster.call("POST", "/slurm/v0.0.42/job/submit", submission(**field))
    assert (status, body["errors"]) == (200, [])
    assert "job_id" not in body
    assert [warning["source"] for warning in body["warnings"]] == [f"#/job/{next(iter(field))}/"]
    assert cluster.states() == {}


@pytest.mark.parametrize("value", [5, {"number": 5}, {"set": True, "number": 5}, "5"])
def test_time_limits_that_are_taken(cluster: Cluster, value: Any) -> None:
    """v0.0.42 takes minutes as a number or as an object."""
    job_id = cluster.submit(time_limit=value)
    assert cluster.job(job_id)["time_limit"] == {"set": True, "infinite": False, "number": 5}


@pytest.mark.parametrize(("value", "minutes"), [(3, 3), ("00:03:00", 3), ("1-0", 1440)])
def test_old_time_limits(cluster: Cluster, value: Any, minutes: int) -> None:
    """v0.0.38 takes minutes and Slurm's times, but no object."""
    cluster.submit(version=OLD, time_limit=value)
    assert cluster.get("jobs", OLD)["jobs"][0]["time_limit"] == minutes
    body = submission(version=OLD, time_limit={"set": True, "number": 3})
    assert cluster.call("POST", f"/slurm/{OLD}/job/submit", body)[0] == 400


def test_a_modern_body_does_not_work_in_v38(cluster: Cluster) -> None:
    """The environment as a list is refused by v0.0.38."""
    status, body = cluster.call("POST", f"/slurm/{OLD}/job/submit", submission())
    assert (status, body["errors"][0]["error"]) == (400, "environment must be a dictionary")


def test_environment_as_object_is_taken_with_a_warning(cluster: Cluster) -> None:
    """v0.0.42 expects an array but takes an object."""
    status, body = cluster.call("POST", "/slurm/v0.0.42/job/submit", submission(environment={"A": "b"}))
    assert (status, body["job_id"], len(body["warnings"])) == (200, 1, 1)


@pytest.mark.parametrize(("state", "number"), [("INACTIVE", 2070), ("Drain", 2070)])
def test_closed_partition_takes_no_jobs(cluster: Cluster, state: str, number: int) -> None:
    """INACTIVE and DRAIN partitions refuse submissions, as a real slurmctld does."""
    cluster.resource["orchestratorSpec"]["slurmSpec"]["partitions"][0]["config"] = {"sta_te": state}
    status, body = cluster.call("POST", "/slurm/v0.0.42/job/submit", submission(partition="cpu"))
    assert (status, body["errors"][0]["error_number"]) == (500, number)
    status, body = cluster.call("POST", f"/slurm/{OLD}/job/submit", submission(version=OLD, partition="cpu"))
    assert (status, body["errors"][0]["error_code"]) == (500, number)


@pytest.mark.parametrize("array", ["x", "", "0-", "5-1", "0-2000", "0-4%x", "0-4:0"])
def test_wrong_arrays(cluster: Cluster, array: str) -> None:
    """An array specification that makes no sense is 2081; an empty one is none."""
    status, body = cluster.call("POST", "/slurm/v0.0.42/job/submit", submission(array=array))
    if array:
        assert (status, body["errors"][0]["error_number"]) == (500, 2081)
    else:
        assert status == 200


def test_unknown_partition_of_the_cluster(cluster: Cluster) -> None:
    """GET of an unknown partition is 500 in v0.0.38 and 422 in v0.0.42."""
    status, body = cluster.call("GET", f"/slurm/{OLD}/partition/nope")
    assert (status, body["errors"], body["partitions"]) == (
        500,
        [{"error": "Invalid partition name specified", "errno": 2000}],
        [],
    )
    status, body = cluster.call("GET", "/slurm/v0.0.42/partition/nope")
    assert (status, body["errors"][0]["description"]) == (422, "Unable to find partition nope")


def test_cancelling_twice(cluster: Cluster, clock: Clock) -> None:
    """A finished job's DELETE is 200: silent in v0.0.38, with code 2021 in v0.0.42."""
    cluster.submit(script="sleep 1")
    clock.now += 10
    status, body = cluster.call("DELETE", f"/slurm/{OLD}/job/1")
    assert (status, body["errors"]) == (200, [])
    status, body = cluster.call("DELETE", "/slurm/v0.0.42/job/1")
    recorded = sample(MODERN, "delete_again")[1]["status"][0]
    assert (status, body["status"][0]["error"]) == (200, recorded["error"])


def test_cancelling_what_belongs_to_another(cluster: Cluster) -> None:
    """Only one's own jobs can be cancelled."""
    job_id = cluster.slurm.inject_job("demo", user_name="other", partition="cpu")
    status, body = cluster.call("DELETE", f"/slurm/{OLD}/job/{job_id}")
    assert (status, body["errors"][0]["error_number"]) == (500, 2002)
    status, body = cluster.call("DELETE", f"/slurm/v0.0.42/job/{job_id}")
    assert (status, body["status"][0]["error"]["code"]) == (200, 2002)
    assert cluster.states()[job_id] != "CANCELLED"


@pytest.mark.parametrize("version", [OLD, MODERN])
def test_history_of_an_unknown_job(cluster: Cluster, version: str) -> None:
    """slurmdb answers 200 and says that nothing was found."""
    status, body = cluster.call("GET", f"/slurmdb/{version}/job/999999")
    assert (status, _essence(body)) == (200, _essence(sample(version, "db_unknown")[1]))


def test_empty_queue_is_a_warning(cluster: Cluster) -> None:
    """v0.0.42 warns when there is no job to show."""
    assert cluster.get("jobs/")["warnings"] == [{"description": "Zero jobs to dump", "source": ""}]


ODD_FIELDS: list[tuple[str, dict[str, Any], int]] = [
    (OLD, {"name": ["x"]}, 400),
    (OLD, {"tasks": "abc"}, 400),
    (OLD, {"tasks": {}}, 400),
    (OLD, {"nodes": 2.5}, 400),
    (OLD, {"nodes": {}}, 400),
    (OLD, {"nodes": [2, 4]}, 200),
    (OLD, {"nodes": "1-2", "minimum_nodes": 9}, 200),
    (OLD, {"user_id": 0}, 400),
    (OLD, {"environment": "A=b"}, 400),
    (MODERN, {"nodes": "1-2"}, 200),
    (MODERN, {"nodes": 2}, 200),
    (MODERN, {"nodes": "many"}, 500),
    (MODERN, {"tasks": 2.0}, 200),
    (MODERN, {"tasks": 10**40}, 500),
    (MODERN, {"name": 5}, 200),
    (MODERN, {"time_limit": {"infinite": True}}, 200),
    (MODERN, {"time_limit": "00:05:00"}, 500),
    (MODERN, {"user_id": "0"}, 500),
]


@pytest.mark.parametrize(("version", "fields", "status"), ODD_FIELDS)
def test_odd_values(cluster: Cluster, version: str, fields: dict[str, Any], status: int) -> None:
    """Values of the wrong kind are converted or refused as the version does; a job is made exactly for a 200."""
    path = f"/slurm/{version}/job/submit"
    answer, body = cluster.call("POST", path, submission(version=version, **fields))
    assert (answer, "job_id" in body) == (status, status == 200)
    assert bool(cluster.states()) == (status == 200)


@pytest.mark.parametrize("body", [None, [], {}, "5", {"job": 5, "script": "x"}, {"jobs": [5], "script": "x"}])
@pytest.mark.parametrize("version", [OLD, MODERN])
def test_bodies_without_a_job(cluster: Cluster, version: str, body: object) -> None:
    """A body that describes no job makes none, and the answer says something about it."""
    _, answer = cluster.call("POST", f"/slurm/{version}/job/submit", body)
    assert "job_id" not in answer
    assert answer["errors"] or answer["warnings"]


_KEYS = ["name", "partition", "nodes", "minimum_nodes", "tasks", "cpus_per_task", "time_limit", "array", "hold", "x"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("infinite"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["set", "number"]), inner, max_size=2),
    max_leaves=4,
)


@given(version=st.sampled_from([OLD, MODERN]), fields=st.dictionaries(st.sampled_from(_KEYS), _JSON, max_size=4))
@settings(max_examples=150, deadline=None)
def test_no_body_breaks_it(version: str, fields: dict[str, Any]) -> None:
    """Whatever a body holds, there is an answer, and the queue can still be shown."""
    slurm = BuiltinSlurm()
    slurm.configure({"versions": [OLD, MODERN]})
    fresh = Cluster(slurm, resource())
    assert fresh.text("POST", f"/slurm/{version}/job/submit", submission(version=version, **fields))[0] in (
        200,
        400,
        500,
    )
    assert {fresh.text("GET", f"/slurm/{each}/jobs/")[0] for each in (OLD, MODERN)} == {200}
    slurm.close()
