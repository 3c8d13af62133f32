"""What becomes of jobs in the built-in Slurm as time passes and the cluster changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from slurm_cluster import OLD, Clock, Cluster, pool, resource

from reconciler.emulator.slurm import BuiltinSlurm


def test_pending_running_completed(cluster: Cluster, clock: Clock) -> None:
    """A job waits a moment, runs as long as its script sleeps, and completes."""
    job_id = cluster.submit(script="#!/bin/bash\necho hello\nsleep 5\n", time_limit=1)
    assert cluster.states() == {job_id: "PENDING"}
    clock.now += 1
    job = cluster.job(job_id)
    assert (job["job_state"], job["nodes"], job["partition"]) == (["RUNNING"], "cpu-0", "cpu")
    start, end = job["start_time"]["number"], job["end_time"]["number"]
    assert end - start == 60, "the end of a running job is the forecast by its limit"
    clock.now += 10
    job = cluster.job(job_id)
    assert (job["job_state"], job["end_time"]["number"] - start) == (["COMPLETED"], 5)


@pytest.mark.parametrize(
    ("script", "state", "code"),
    [
        ("exit 3", "FAILED", 3),
        ("# emulator: seconds=2 state=FAILED", "FAILED", 1),
        ("# emulator: seconds=2, state=NODE_FAIL", "NODE_FAIL", 0),
        ("# emulator: nonsense seconds=abc exit=7", "FAILED", 7),
        ("sleep 1\nexit 0", "COMPLETED", 0),
        ("true", "COMPLETED", 0),
    ],
)
def test_ends(cluster: Cluster, clock: Clock, script: str, state: str, code: int) -> None:
    """A script's exit line, or a comment for the emulator, decides how its job ends."""
    job_id = cluster.submit(script=f"#!/bin/bash\n{script}\n")
    clock.now += 30
    job = cluster.job(job_id)
    assert (job["job_state"], job["exit_code"]["return_code"]["number"]) == ([state], code)
    assert cluster.get(f"job/{job_id}", OLD)["jobs"][0]["exit_code"] == code * 256


@pytest.mark.parametrize("script", ["sleep 2m", "sleep infinity", "# emulator: seconds=inf", "sleep 60\nsleep 30.5"])
def test_time_limit_ends_a_job(cluster: Cluster, clock: Clock, script: str) -> None:
    """A script that sleeps beyond the job's limit ends as TIMEOUT at the limit."""
    job_id = cluster.submit(script=script, time_limit=1)
    clock.now += 59
    assert cluster.states() == {job_id: "RUNNING"}
    clock.now += 5
    job = cluster.job(job_id)
    assert (job["job_state"], job["end_time"]["number"] - job["start_time"]["number"]) == (["TIMEOUT"], 60)


def test_job_without_limit_never_ends(cluster: Cluster, clock: Clock) -> None:
    """Without a time limit the limit is infinite and an endless script runs on."""
    job_id = cluster.submit(script="sleep infinity")
    clock.now += 90 * 86400
    job = cluster.job(job_id)
    assert job["job_state"] == ["RUNNING"]
    assert job["time_limit"] == {"set": False, "infinite": True, "number": 0}
    assert cluster.get("jobs", OLD)["jobs"][0]["time_limit"] is None


def test_cancel_a_running_job(cluster: Cluster, clock: Clock) -> None:
    """A cancelled job shows COMPLETING for a moment, in both ways of writing states."""
    job_id = cluster.submit(script="sleep 60")
    clock.now += 1
    assert cluster.call("DELETE", f"/slurm/v0.0.42/job/{job_id}")[1]["status"] == []
    assert cluster.states() == {job_id: "CANCELLED COMPLETING"}
    assert cluster.get("jobs", OLD)["jobs"][0]["job_state"] == "COMPLETING"
    clock.now += 1
    assert cluster.states() == {job_id: "CANCELLED"}
    assert cluster.get("jobs", OLD)["jobs"][0]["exit_code"] == 15


def test_cancel_a_pending_job(cluster: Cluster) -> None:
    """A job that has not begun is CANCELLED at once, with success as its exit."""
    job_id = cluster.submit(script="sleep 60")
    cluster.call("DELETE", f"/slurm/v0.0.42/job/{job_id}")
    job = cluster.job(job_id)
    assert (job["job_state"], job["exit_code"]["status"], job["nodes"]) == (["CANCELLED"], ["SUCCESS"], "")


def test_finished_jobs_are_forgotten_by_the_queue_only(cluster: Cluster, clock: Clock) -> None:
    """After MinJobAge a job is 404 in the live queue and still in the history."""
    cluster.slurm.configure({"min_job_age": 60})
    job_id = cluster.submit(script="sleep 1")
    clock.now += 30
    assert cluster.states() == {job_id: "COMPLETED"}
    clock.now += 60
    assert cluster.states() == {}
    assert cluster.call("GET", f"/slurm/v0.0.42/job/{job_id}")[0] == 404
    history = cluster.call("GET", f"/slurmdb/v0.0.42/job/{job_id}")[1]["jobs"][0]
    assert (history["state"]["current"], history["time"]["elapsed"]) == (["COMPLETED"], 1)
    assert [job["job_id"] for job in cluster.call("GET", "/slurmdb/v0.0.38/jobs/")[1]["jobs"]] == [job_id]


def test_accounting_lags(cluster: Cluster, clock: Clock) -> None:
    """A new job may not be in the history yet."""
    cluster.slurm.configure({"accounting_lag": 3})
    job_id = cluster.submit()
    assert cluster.call("GET", f"/slurmdb/v0.0.42/job/{job_id}")[1]["jobs"] == []
    clock.now += 3
    assert len(cluster.call("GET", f"/slurmdb/v0.0.42/job/{job_id}")[1]["jobs"]) == 1


def test_inactive_partition_starts_nothing_new(cluster: Cluster, clock: Clock) -> None:
    """Jobs queued before a partition becomes INACTIVE wait, running ones go on, and UP starts the waiting ones."""
    running = cluster.submit(script="sleep 60", minimum_nodes=4)
    clock.now += 1
    waiting = cluster.submit(script="sleep 5")
    cluster.resource = resource(cpu={"State": "inactive"})
    cluster.slurm.on_cluster_changed("demo", cluster.resource)
    clock.now += 30
    assert cluster.states() == {running: "RUNNING", waiting: "PENDING"}
    assert cluster.job(waiting)["state_reason"] == "PartitionInactive"
    assert cluster.get("partition/cpu")["partitions"][0]["partition"]["state"] == ["INACTIVE"]
    clock.now += 60
    assert cluster.states() == {running: "COMPLETED", waiting: "PENDING"}
    cluster.resource = resource()
    assert cluster.states()[waiting] == "RUNNING"


def test_down_partition_queues(cluster: Cluster, clock: Clock) -> None:
    """A DOWN partition takes jobs and starts none."""
    cluster.resource = resource(gpu={"STATE": "Down"})
    job_id = cluster.submit(partition="gpu")
    clock.now += 30
    job = cluster.job(job_id)
    assert (job["job_state"], job["state_reason"]) == (["PENDING"], "PartitionDown")


def test_full_partition(cluster: Cluster, clock: Clock) -> None:
    """Jobs wait for free nodes in order, and start when others end."""
    first = cluster.submit(script="sleep 10", partition="gpu", minimum_nodes=2, cpus_per_task=4)
    second = cluster.submit(script="sleep 10", partition="gpu", minimum_nodes=2, cpus_per_task=4)
    third = cluster.submit(script="sleep 10", partition="gpu")
    other = cluster.submit(script="sleep 100", partition="cpu")
    clock.now += 5
    assert cluster.states() == {first: "RUNNING", second: "PENDING", third: "PENDING", other: "RUNNING"}
    reasons = [cluster.job(job_id)["state_reason"] for job_id in (second, third)]
    assert reasons == ["Resources", "Priority"]
    assert [node["state"][0] for node in cluster.get("nodes/")["nodes"]][-2:] == ["ALLOCATED", "ALLOCATED"]
    clock.now += 7
    assert cluster.states()[second] == "RUNNING"
    clock.now += 100
    starts = [cluster.job(job_id)["start_time"]["number"] for job_id in (first, second, third)]
    assert [later - starts[0] for later in starts] == [0, 10, 20], "time between two looks is not lost"


@pytest.mark.parametrize(
    ("config", "job", "reason"),
    [
        ({}, {"minimum_nodes": 5}, "PartitionConfig"),
        ({}, {"tasks": 1, "cpus_per_task": 8, "minimum_nodes": 1}, "PartitionConfig"),
        ({"MaxTime": "1:00:00"}, {"time_limit": 61}, "PartitionTimeLimit"),
        ({"max_nodes": "1"}, {"minimum_nodes": 2}, "PartitionNodeLimit"),
        ({}, {"hold": True}, "JobHeldUser"),
    ],
)
def test_jobs_that_cannot_start(
    cluster: Cluster, clock: Clock, config: dict[str, str], job: dict[str, Any], reason: str
) -> None:
    """A job that its partition can't run as it is gets an id, and waits with Slurm's reason."""
    cluster.resource = resource(cpu=config)
    job_id = cluster.submit(**job)
    clock.now += 10
    shown = cluster.job(job_id)
    assert (shown["job_state"], shown["state_reason"]) == (["PENDING"], reason)


def test_partition_limit_becomes_the_jobs(cluster: Cluster, clock: Clock) -> None:
    """A job without a limit gets its partition's when it starts."""
    cluster.resource = resource(cpu={"MaxTime": "60"})
    job_id = cluster.submit(script="sleep infinity")
    clock.now += 1
    assert cluster.job(job_id)["time_limit"]["number"] == 60


def test_array(cluster: Cluster, clock: Clock) -> None:
    """An array is one waiting job until its tasks start, no more of them at once than its limit."""
    leader = cluster.submit(script="sleep 10", array="0-3%2")
    assert cluster.job(leader)["array_task_string"] == "0-3%2"
    clock.now += 1
    tasks = [(job["job_id"], job["array_task_id"]["number"]) for job in _by_state(cluster, "RUNNING")]
    assert tasks == [(leader + 1, 0), (leader + 2, 1)]
    rest = cluster.job(leader)
    assert (rest["array_task_string"], rest["state_reason"]) == ("2-3%2", "JobArrayTaskLimit")
    assert len(cluster.get(f"job/{leader}")["jobs"]) == 3
    assert [job["job_id"] for job in cluster.get(f"job/{leader}_1")["jobs"]] == [leader + 2]
    clock.now += 60
    done = {job["array_task_id"]["number"]: job["job_id"] for job in _by_state(cluster, "COMPLETED")}
    assert done == {0: leader + 1, 1: leader + 2, 2: leader + 3, 3: leader}


def test_cancelling_an_array(cluster: Cluster, clock: Clock) -> None:
    """DELETE of one task leaves the others; DELETE of the array's id ends all."""
    leader = cluster.submit(script="sleep 100", array="1,3,5-7:2%2")
    clock.now += 1
    cluster.call("DELETE", f"/slurm/v0.0.42/job/{leader}_1")
    clock.now += 1
    assert sorted(cluster.states().values()) == ["CANCELLED", "PENDING", "RUNNING", "RUNNING"]
    cluster.call("DELETE", f"/slurm/v0.0.42/job/{leader}")
    clock.now += 1
    assert set(cluster.states().values()) == {"CANCELLED"}


def test_heterogeneous_job(cluster: Cluster, clock: Clock) -> None:
    """The components of a heterogeneous job share a leader and start together."""
    fields = {"environment": ["A=b"], "current_working_directory": "/tmp"}
    components = [{"partition": "cpu", **fields}, {"partition": "gpu", "minimum_nodes": 2, **fields}]
    blocker = cluster.submit(script="sleep 20", partition="gpu", cpus_per_task=4)
    clock.now += 1
    body = {"jobs": components, "script": "#!/bin/sh\nsleep 5\n"}
    leader = cluster.call("POST", "/slurm/v0.0.42/job/submit", body)[1]["job_id"]
    clock.now += 10
    assert cluster.states() == {blocker: "RUNNING", leader: "PENDING", leader + 1: "PENDING"}
    clock.now += 13
    jobs = cluster.get(f"job/{leader}")["jobs"]
    assert [(job["job_state"], job["het_job_offset"]["number"], job["het_job_id_set"]) for job in jobs] == [
        (["RUNNING"], 0, f"{leader}-{leader + 1}"),
        (["RUNNING"], 1, f"{leader}-{leader + 1}"),
    ]


def _by_state(cluster: Cluster, state: str) -> list[Any]:
    return [job for job in cluster.get("jobs/")["jobs"] if job["job_state"] == [state]]


@pytest.mark.parametrize("change", ["partition", "pool", "shrink", "image"])
def test_disruptive_changes_kill_jobs(cluster: Cluster, clock: Clock, change: str) -> None:
    """Jobs on what a change removes or recreates end as NODE_FAIL; others go on."""
    hit = cluster.submit(script="sleep 100", partition="gpu", minimum_nodes=2)
    spared = cluster.submit(script="sleep 100", partition="cpu")
    clock.now += 1
    changed = resource()
    pools, slurm_spec = changed["nodePools"], changed["orchestratorSpec"]["slurmSpec"]
    if change == "partition":
        del slurm_spec["partitions"][1]
    elif change == "pool":
        del pools[1]
    elif change == "shrink":
        pools[1] = pool("gpu", 1)
    else:
        pools[1]["nodeImage"] = "another"
    cluster.resource = changed
    cluster.slurm.on_cluster_changed("demo", changed)
    assert cluster.states() == {hit: "NODE_FAIL", spared: "RUNNING"}
    assert cluster.job(hit)["state_reason"] == "NodeDown"


def test_in_place_changes_hurt_nobody(cluster: Cluster, clock: Clock) -> None:
    """Growing a pool, labels and config maps leave running jobs alone."""
    job_id = cluster.submit(script="sleep 100", partition="gpu", minimum_nodes=2)
    clock.now += 1
    cluster.resource = resource(gpu={"MaxTime": "2-00:00:00"})
    cluster.resource["nodePools"][1] = pool("gpu", 6, labels={"a": "b"})
    assert cluster.states() == {job_id: "RUNNING"}
    assert cluster.get("partition/gpu")["partitions"][0]["nodes"]["configured"] == "gpu-[0-5]"


def test_clusters_are_apart_and_deleted_ones_forgotten(cluster: Cluster) -> None:
    """Each cluster has its own queue and ids from 1; deleting one starts it over."""
    other = Cluster(cluster.slurm, resource(), name="other")
    assert (cluster.submit(), cluster.submit(), other.submit()) == (1, 2, 1)
    cluster.slurm.on_cluster_changed("demo", None)
    assert (cluster.states(), cluster.submit(), other.states()) == ({}, 1, {1: "PENDING"})


def test_state_survives_a_kill(tmp_path: Path, clock: Clock) -> None:
    """Another process with the same file goes on where the first was, without any shutdown."""
    first = Cluster(BuiltinSlurm(tmp_path / "state.db", clock), resource())
    job_id = first.submit(script="sleep 10")
    clock.now += 5
    second = Cluster(BuiltinSlurm(tmp_path / "state.db", clock), resource())
    assert second.states() == {job_id: "RUNNING"}
    clock.now += 10
    assert second.states() == {job_id: "COMPLETED"}
    assert second.submit() == job_id + 1
    first.slurm.close()
    second.slurm.close()


def test_clock_that_goes_back(cluster: Cluster, clock: Clock) -> None:
    """A clock that is set back breaks nothing."""
    job_id = cluster.submit(script="sleep 10")
    clock.now += 5
    assert cluster.states() == {job_id: "RUNNING"}
    clock.now -= 1000
    assert cluster.states() == {job_id: "RUNNING"}


def test_cluster_without_pools_or_partitions(cluster: Cluster) -> None:
    """A cluster that has nothing yet answers, and takes no jobs."""
    cluster.resource = {}
    assert cluster.get("partitions/")["partitions"] == []
    assert cluster.get("nodes/")["nodes"] == []
    body = {"job": {"environment": ["A=b"], "current_working_directory": "/tmp"}, "script": "#!/bin/sh\n"}
    assert cluster.call("POST", "/slurm/v0.0.42/job/submit", body)[1]["errors"][0]["error_number"] == 2000


def test_autoscaled_nodes(cluster: Cluster) -> None:
    """Nodes beyond a pool's minimum are cloud nodes that sleep until a job needs them."""
    cluster.resource["nodePools"][1]["scalingSpec"] = {"minNodeCount": "0", "maxNodeCount": "2"}
    states = {node["name"]: node["state"] for node in cluster.get("nodes/")["nodes"]}
    assert (states["cpu-0"], states["gpu-0"]) == (["IDLE"], ["IDLE", "CLOUD", "POWERED_DOWN"])
    assert "login-0" not in states
