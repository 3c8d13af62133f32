"""The built-in Slurm's switches: faults, settings, jobs put in by hand, failing prologs."""

from __future__ import annotations

from typing import Any

import pytest
from slurm_cluster import Clock, Cluster, resource, submission

from reconciler.emulator.slurm_replies import SlurmUnavailable


@pytest.mark.parametrize(
    "answer", [(500, "internal error"), (502, "<html><body>Bad Gateway</body></html>"), (200, ""), (401, "")]
)
def test_foreign_answers(cluster: Cluster, answer: tuple[int, str]) -> None:
    """A fault's status and body stand in for Slurm's answer until it is taken back."""
    cluster.slurm.configure({"fault": {"status": answer[0], "body": answer[1]}})
    assert cluster.text("GET", "/slurm/v0.0.42/jobs/") == answer
    cluster.slurm.configure({"fault": None})
    assert cluster.get("jobs/")["jobs"] == []


def test_hanging(cluster: Cluster, clock: Clock) -> None:
    """A hanging Slurm answers late, and then as ever."""
    cluster.slurm.configure({"fault": {"hang_seconds": 20}})
    assert cluster.get("jobs/")["jobs"] == []
    assert clock.slept == [20]


def test_fault_for_some_calls(cluster: Cluster) -> None:
    """A fault can be meant for one method and a number of calls."""
    cluster.slurm.configure({"fault": {"unavailable": True, "method": "POST", "times": 1}})
    assert cluster.get("jobs/")["jobs"] == []
    with pytest.raises(SlurmUnavailable):
        cluster.text("POST", "/slurm/v0.0.42/job/submit", submission())
    assert cluster.states() == {}
    assert cluster.submit() == 1


def test_lost_answer(cluster: Cluster) -> None:
    """A submission can be carried out although its answer is lost."""
    cluster.slurm.configure({"fault": {"unavailable": True, "after": True, "method": "POST", "times": 1}})
    with pytest.raises(SlurmUnavailable):
        cluster.text("POST", "/slurm/v0.0.42/job/submit", submission())
    assert cluster.states() == {1: "PENDING"}


@pytest.mark.parametrize(
    "changes",
    [
        {"nonsense": 1},
        {"versions": []},
        {"versions": ["v0.0.99"]},
        {"versions": "v0.0.42"},
        {"min_job_age": -1},
        {"min_job_age": "60"},
        {"user": 5},
        {"prolog_fails": "yes"},
        {"fault": {"status": "500"}},
        {"fault": {"nonsense": 1}},
        {"fault": 7},
        {"inject_jobs": [{"cluster": "demo", "nonsense": 1}]},
        {"inject_jobs": [{"cluster": "demo", "array": "x"}]},
        {"inject_jobs": [{"cluster": "demo", "array": 5}]},
        {"inject_jobs": [{"cluster": "demo", "node_count": "2"}]},
        {"inject_jobs": {"cluster": "demo"}},
        {"resume_nodes": "demo"},
    ],
)
def test_wrong_settings(cluster: Cluster, changes: dict[str, Any]) -> None:
    """Unknown switches and wrong values are ValueErrors and change nothing."""
    before = cluster.slurm.settings
    with pytest.raises(ValueError, match=r"."):
        cluster.slurm.configure(changes)
    assert cluster.slurm.settings == before
    assert cluster.states() == {}


def test_another_user(cluster: Cluster) -> None:
    """Jobs belong to the user that is set."""
    cluster.slurm.configure({"user": "someone"})
    assert cluster.job(cluster.submit())["user_name"] == "someone"


def test_injected_jobs(cluster: Cluster, clock: Clock) -> None:
    """Jobs put in by hand show as they are given, and then go their way."""
    cluster.get("jobs/")
    running = cluster.slurm.inject_job(
        "demo", state="RUNNING", partition="gpu", user_name="other", name="train", node_count=2, seconds=30
    )
    cluster.slurm.configure({"inject_jobs": [{"cluster": "demo", "state": "COMPLETED", "name": "old"}]})
    array = cluster.slurm.inject_job("demo", array="0-99%3", seconds=1000)
    leader = cluster.slurm.inject_job("demo", components=[{"partition": "cpu"}, {"partition": "gpu"}], held=True)
    job = cluster.job(running)
    assert (job["job_state"], job["user_name"], job["nodes"]) == (["RUNNING"], "other", "gpu-[0-1]")
    clock.now += 1
    states = cluster.states()
    assert (states[running + 1], states[array], states[leader], states[leader + 1]) == (
        "COMPLETED",
        "PENDING",
        "PENDING",
        "PENDING",
    )
    assert list(states.values()).count("RUNNING") == 4
    assert cluster.job(array)["array_task_string"] == "3-99%3"
    clock.now += 60
    assert cluster.states()[running] == "COMPLETED"


def test_injected_before_the_cluster_was_seen(cluster: Cluster, clock: Clock) -> None:
    """A job can be put in before the first call; it starts once its partition is known."""
    job_id = cluster.slurm.inject_job("demo", partition="gpu")
    assert cluster.states() == {job_id: "PENDING"}
    clock.now += 1
    assert cluster.states() == {job_id: "RUNNING"}


def test_failing_prolog(cluster: Cluster, clock: Clock) -> None:
    """A failing prolog drains the node, holds the job and is an event; resumed nodes work again."""
    events: list[tuple[str, dict[str, Any]]] = []
    cluster.slurm.on_event = lambda name, event: events.append((name, event))
    cluster.slurm.configure({"prolog_fails": True})
    job_id = cluster.submit()
    clock.now += 1
    job = cluster.job(job_id)
    assert (job["job_state"], job["state_reason"], job["restart_cnt"]) == (["PENDING"], "JobHeldUser", 1)
    assert job["state_description"] == "launch failed requeued held"
    node = next(node for node in cluster.get("nodes/")["nodes"] if node["name"] == "cpu-0")
    assert (node["state"], node["reason"]) == (["IDLE", "DRAIN"], "Prolog error")
    old = cluster.get("nodes/", "v0.0.38")["nodes"][0]
    assert (old["state"], old["state_flags"], old["reason"]) == ("idle", ["DRAIN"], "Prolog error")
    assert [(name, event["type"], event["instanceName"]) for name, event in events] == [
        ("demo", "VM_PROLOG_ERROR", "cpu-0"),
        ("demo", "VM_SLURM_DRAIN", "cpu-0"),
    ]
    cluster.slurm.configure({"prolog_fails": False, "resume_nodes": ["demo"]})
    good = cluster.submit(script="sleep 10")
    clock.now += 1
    assert (cluster.states()[good], cluster.job(good)["nodes"]) == ("RUNNING", "cpu-0")


def test_recreated_nodes_are_fresh(cluster: Cluster, clock: Clock) -> None:
    """Nodes that a change recreates are not drained any more."""
    cluster.slurm.configure({"prolog_fails": True})
    cluster.submit(array="0-3")
    clock.now += 1
    assert [node["state"][-1] for node in cluster.get("nodes/")["nodes"]] == ["DRAIN"] * 4 + ["IDLE"] * 2
    cluster.resource["nodePools"][0]["startupScript"] = "true"
    assert {node["state"][-1] for node in cluster.get("nodes/")["nodes"]} == {"IDLE"}


def test_prolog_script_that_fails(cluster: Cluster, clock: Clock) -> None:
    """A prolog script with a comment for the emulator fails; without it, it doesn't."""
    cluster.resource["orchestratorSpec"]["slurmSpec"]["prologBashScripts"] = ["true", "set -e\n# emulator: fail\n"]
    bad = cluster.submit()
    clock.now += 1
    assert cluster.job(bad)["state_reason"] == "JobHeldUser"
    cluster.resource = resource()
    good = cluster.submit()
    clock.now += 1
    assert cluster.states()[good] == "RUNNING"


def test_all_nodes_drained(cluster: Cluster, clock: Clock) -> None:
    """With too few nodes left a submission is taken, with a warning, and waits."""
    cluster.slurm.configure({"prolog_fails": True})
    cluster.submit(partition="gpu", array="0-9")
    clock.now += 1
    status, body = cluster.call("POST", "/slurm/v0.0.42/job/submit", submission(partition="gpu"))
    assert (status, "Required node not available" in body["warnings"][0]["description"]) == (200, True)
    assert cluster.job(body["job_id"])["job_state"] == ["PENDING"]
