"""Running jobs as a guard: what a disruptive change would hurt is listed, and `lifecycle.running_jobs` decides."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.cli import applying
from reconciler.engine.jobs_wait import JobsWait
from tests.contract.bench import Bench, Outcome, result
from tests.contract.queue import Queue, asked, drop, move, two_partitions
from tests.contract.specs import cpu_pool, pool, slurm
from tests.faults.clock import FakeTime

Edit = Callable[[dict[str, Any]], object]
HTML = "<!DOCTYPE html><html><body>Bad Gateway</body></html>"


def edited(bench: Bench, edit: Edit, **lifecycle: Any) -> None:
    """The file of the cluster, with an edit and a lifecycle."""
    spec = two_partitions(bench)
    edit(spec)
    bench.write("demo", spec, **lifecycle)
    bench.control.clear_requests()


def codes(plan: dict[str, Any], what: str = "blockers") -> list[str]:
    """The codes of a plan's blockers or notes."""
    return [each["code"] for each in plan[what]]


def said(plan: dict[str, Any], code: str) -> str:
    """What a blocker or a note with this code says."""
    return next(str(each["message"]) for each in (*plan["blockers"], *plan["notes"]) if each["code"] == code)


def shrink(spec: dict[str, Any]) -> None:
    """Fewer nodes at most than there are."""
    pool(spec, "big")["scaling_spec"] = {"min_node_count": 1, "max_node_count": 1}


def drop_partition(spec: dict[str, Any]) -> None:
    """The partition goes, its pool stays."""
    slurm(spec)["partitions"].pop()


def rename(spec: dict[str, Any]) -> None:
    """Another partition over the same pool."""
    slurm(spec)["partitions"][1]["id"] = "large"


def relabel(spec: dict[str, Any]) -> None:
    spec["labels"] = {"team": "ml"}


def grow(spec: dict[str, Any]) -> None:
    pool(spec, "big")["scaling_spec"]["max_node_count"] = 8


def tune(spec: dict[str, Any]) -> None:
    slurm(spec)["partitions"][1]["config"] = {"MaxTime": "60"}


def add_partition(spec: dict[str, Any]) -> None:
    spec["node_pools"].append(cpu_pool("more"))
    slurm(spec)["partitions"].append({"id": "more", "node_pool_ids": ["more"]})


def prolog(spec: dict[str, Any]) -> None:
    slurm(spec)["prolog_bash_scripts"] = ["#!/bin/bash\nexit 0\n"]


# --- what is listed, and what it does


@pytest.mark.parametrize("edit", [move, shrink, drop, drop_partition, rename], ids=lambda edit: edit.__name__)
def test_a_running_job_blocks(bench: Bench, queue: Queue, edit: Edit) -> None:
    """A change that costs nodes or a partition is refused while a job runs there, and nothing is sent. (I95, J104, J113)"""
    job = queue.add("big", node_count=2)
    edited(bench, edit)
    plan = bench.plan()
    assert codes(plan) == ["running_jobs"]
    assert plan["jobs"] == [
        {"job_id": job, "user": "ann", "partition": "big", "state": "RUNNING", "name": "train", "nodes": 2}
    ]
    outcome = bench.apply().ended(1)
    assert (result(outcome)["status"], result(outcome)["error"]["code"]) == ("blocked", "running_jobs")
    assert bench.writes() == []
    bench.run("plan").ended(1)


@pytest.mark.parametrize("edit", [move, shrink, drop, drop_partition, rename], ids=lambda edit: edit.__name__)
def test_jobs_elsewhere_are_left_out(bench: Bench, queue: Queue, edit: Edit) -> None:
    """A job in a partition that isn't touched neither blocks nor shows: what counts is who is hurt. (I95)"""
    queue.add("cpu")
    edited(bench, edit)
    plan = bench.plan()
    assert (codes(plan), plan["jobs"]) == ([], [])
    bench.apply().ok()
    bench.settled()


@pytest.mark.parametrize("edit", [relabel, grow, tune, add_partition, prolog], ids=lambda edit: edit.__name__)
def test_changes_in_place_ask_nothing(bench: Bench, queue: Queue, edit: Edit) -> None:
    """No request goes to Slurm, a Slurm that is down stands in nobody's way, and the jobs run on."""
    job = queue.add("big")
    queue.switch(fault={"unavailable": True})
    edited(bench, edit)
    assert bench.plan()["jobs"] == []
    bench.apply().ok()
    assert asked(bench) == []
    queue.switch(fault=None)
    assert queue.states() == {job: "RUNNING"}


def test_a_pool_among_several_of_a_partition(bench: Bench) -> None:
    """A pool that goes touches the partitions over it, also where they have other pools. (J106)"""
    spec = two_partitions(bench)
    slurm(spec)["partitions"][0]["node_pool_ids"] = ["cpu", "big"]
    del slurm(spec)["partitions"][1]
    path = bench.created("demo", spec)
    Queue(bench).add("cpu")
    bench.edit(path, lambda wanted: wanted["node_pools"].pop())
    bench.edit(path, lambda wanted: slurm(wanted)["partitions"][0].update(node_pool_ids=["cpu"]))
    assert codes(bench.plan()) == ["running_jobs"]


def test_fewer_nodes_than_there_are(bench: Bench, queue: Queue) -> None:
    """Counts and jobs, and that the choice of nodes is the service's. (J113)"""
    bench.control.live(bench.name(), {"_nodes": {"big": 4}})
    queue.add("big", node_count=3)
    edited(bench, lambda spec: pool(spec, "big")["scaling_spec"].update(max_node_count=2))
    plan = bench.plan()
    (change,) = plan["changes"]
    assert change["impact"] == "removes_nodes"
    assert change["reason"] == "4 nodes exist, 2 above the new maximum; the service chooses which go"
    assert said(plan, "running_jobs").startswith("1 job would be hurt")


def test_the_text_and_the_markdown_list_jobs(bench: Bench, queue: Queue) -> None:
    """Id, user, partition, state, nodes and name stand in both."""
    job = queue.add("big", node_count=2, name="train it")
    edited(bench, move)
    text = bench.run("plan").ended(1).out
    assert "touches 1 job:" in text
    row = next(line.split() for line in text.splitlines() if "train it" in line)
    assert row == [str(job), "ann", "big", "RUNNING", "2", "train", "it"]
    markdown = bench.run("plan", "--format", "markdown").ended(1).out
    assert f"| {job} | `ann` | `big` | `RUNNING` | 2 | `train it` |" in markdown
    assert "1 job would be hurt" in markdown


def test_when_they_end(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """The latest time limit is told, and which jobs have none and so may never end."""
    start = float(int(time.wall()))
    queue.add("big", time_limit=60, start_time=start)
    queue.add("big", time_limit=30, start_time=start)
    endless = queue.add("big")
    edited(bench, move)
    message = said(bench.plan(), "running_jobs")
    assert f"without a time limit, so perhaps without an end: {endless};" in message
    end = datetime.fromtimestamp(start + 3600, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert f"the latest time limit ends at {end}" in message


def test_tasks_of_arrays_and_components_are_counted(bench: Bench, queue: Queue) -> None:
    """3 of 100 tasks run, 97 wait; a heterogeneous job counts once for each of its parts. (K125)"""
    array = queue.add("big", "PENDING", array="0-99%3", user_name="bob")
    queue.switch(pending_seconds=0)
    assert list(queue.states().values()).count("RUNNING") == 3
    edited(bench, move)
    message = said(bench.plan(), "running_jobs")
    assert message.startswith(f"3 jobs would be hurt: {array}_0 (bob, big, RUNNING since ")
    assert "still queued: 97 jobs" in message
    edited(bench, drop)
    message = said(bench.plan(), "running_jobs")
    assert message.startswith("3 running and 97 pending jobs would be hurt")
    assert f"{array}_[3-99%3] (bob, big, PENDING)" in message
    leader = queue.add("cpu", components=[{"partition": "cpu"}, {"partition": "big"}])
    edited(bench, move)
    assert f"{leader}+1 (ann, big, RUNNING since " in said(bench.plan(), "running_jobs")
    assert f"{leader}+0" not in said(bench.plan(), "running_jobs")


@pytest.mark.parametrize("state", ["SUSPENDED", "RUNNING"])
def test_what_holds_nodes_is_hurt(bench: Bench, queue: Queue, state: str) -> None:
    """A suspended job loses its nodes just as a running one."""
    queue.add("big", state)
    edited(bench, move)
    assert codes(bench.plan()) == ["running_jobs"]


# --- what waits


def test_queued_jobs_outlive_new_nodes(bench: Bench, queue: Queue) -> None:
    """A job that waits is listed, speaks against nothing, and runs on the new nodes."""
    job = queue.add("big", "PENDING", held=True)
    edited(bench, move)
    plan = bench.plan()
    assert codes(plan) == []
    assert [each["state"] for each in plan["jobs"]] == ["PENDING"]
    bench.apply().ok()
    assert queue.states() == {job: "PENDING"}


@pytest.mark.parametrize("policy", ["block", "wait"])
@pytest.mark.parametrize("edit", [drop, drop_partition], ids=lambda edit: edit.__name__)
def test_queued_jobs_keep_their_partition(bench: Bench, queue: Queue, edit: Edit, policy: str) -> None:
    """A partition with jobs in its queue stays: no wait would save them. (J106)"""
    queue.add("big", "PENDING", held=True)
    edited(bench, edit, running_jobs=policy)
    plan = bench.plan()
    assert codes(plan) == ["running_jobs"]
    if policy == "wait":
        assert "in partitions that go: move or cancel them" in said(plan, "running_jobs")
    assert result(bench.apply().ended(1))["status"] == "blocked"
    assert bench.writes() == []


def test_a_job_that_names_several_partitions(bench: Bench, queue: Queue) -> None:
    """It is in the queue of each of them."""
    queue.add("cpu,big", "PENDING", held=True)
    edited(bench, drop)
    assert codes(bench.plan()) == ["running_jobs"]


def test_records_of_jobs_that_ended(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """While the controller has records that name a partition, it isn't dropped; five minutes later it is. (J106)"""
    job = queue.add("big", seconds=10)
    time.sleep(60)
    edited(bench, drop)
    plan = bench.plan()
    assert codes(plan) == ["recent_jobs"]
    assert str(job) in said(plan, "recent_jobs")
    bench.apply().ended(1)
    time.sleep(300)
    assert codes(bench.plan()) == []
    bench.apply().ok()


def test_records_are_waited_for(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """With `wait` apply goes on once they are gone."""
    queue.add("big", seconds=10)
    edited(bench, drop, running_jobs="wait")
    begin = time.slept
    bench.apply().ok()
    assert 300 < time.slept - begin < 420
    assert bench.writes() == ["PATCH"]


def test_records_of_jobs_on_a_pool(bench: Bench, time: FakeTime) -> None:
    """The same where a pool goes, and its partition stays with another. (J106)"""
    spec = two_partitions(bench)
    slurm(spec)["partitions"][1]["node_pool_ids"] = ["cpu", "big"]
    path = bench.created("demo", spec)
    Queue(bench).add("big", seconds=10)
    time.sleep(60)
    bench.edit(path, lambda wanted: wanted["node_pools"].pop())
    bench.edit(path, lambda wanted: slurm(wanted)["partitions"][1].update(node_pool_ids=["cpu"]))
    assert codes(bench.plan()) == ["recent_jobs"]
    time.sleep(300)
    bench.apply().ok()


@pytest.mark.parametrize("partition", ["gone", "", "BIG", "big2"])
def test_a_job_in_a_partition_that_is_not_known(bench: Bench, queue: Queue, partition: str) -> None:
    """It runs somewhere, and nobody knows where; so it may be hurt."""
    queue.add(partition)
    edited(bench, move)
    assert codes(bench.plan()) == ["running_jobs"]
    bench.write("demo", two_partitions(bench), state="absent", prevent_destroy=False)
    assert codes(bench.plan()) == ["running_jobs"]


def test_a_controller_that_hides_jobs(bench: Bench) -> None:
    """With PrivateData: jobs the queue is one's own, and whom a change hurts isn't known."""
    spec = two_partitions(bench)
    slurm(spec)["config"] = {"PrivateData": "jobs"}
    path = bench.created("demo", spec)
    bench.edit(path, move)
    plan = bench.plan()
    assert codes(plan) == ["jobs_unknown"]
    assert "PrivateData" in said(plan, "jobs_unknown")
    bench.apply("--graceful").ended(1)
    assert bench.writes() == []


def test_records_of_jobs_dont_matter_elsewhere(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """New nodes for a pool don't wait for the records of jobs that ended there."""
    queue.add("big", seconds=10)
    time.sleep(60)
    edited(bench, move)
    bench.apply().ok()


# --- delete and replace


def test_a_delete(bench: Bench, queue: Queue) -> None:
    """Every job of the cluster stands against it, running or queued, and so it does against `delete`."""
    queue.add("cpu", "PENDING", held=True)
    queue.add("big")
    bench.write("demo", two_partitions(bench), state="absent", prevent_destroy=False)
    plan = bench.plan()
    assert (plan["action"], codes(plan), len(plan["jobs"])) == ("delete", ["running_jobs"], 2)
    bench.apply("--allow-delete").ended(1)
    assert "[running_jobs]" in bench.run("delete", "demo", "--auto-approve").ended(1).out
    assert bench.writes() == []
    bench.write("demo", two_partitions(bench), state="absent", prevent_destroy=False, running_jobs="warn")
    bench.apply("--allow-delete").ok()


def test_a_replace(bench: Bench, queue: Queue) -> None:
    """Every job of the cluster stands against it; none, and it goes through."""
    job = queue.add("cpu")
    spec = two_partitions(bench)
    pool(spec, "big")["machine_spec"]["machine_type"] = "n2-standard-16"
    bench.write("demo", spec, replace_on=["immutable_change"], prevent_destroy=False)
    plan = bench.plan()
    assert (plan["action"], codes(plan)) == ("replace", ["running_jobs"])
    bench.apply("--allow-replace").ended(1)
    assert bench.writes() == []
    queue.cancel(job)
    bench.apply("--allow-replace").ok()
    assert bench.writes() == ["DELETE", "POST"]


def test_a_failed_create_has_no_jobs(bench: Bench) -> None:
    """A cluster that never ran is replaced without asking its Slurm, which can't answer."""
    bench.write("demo", bench.small(), replace_on=["error_state"], prevent_destroy=False)
    bench.fault("operation_error", "create", times=1)
    bench.apply().ended(1)
    plan = bench.plan()
    assert (plan["action"], codes(plan)) == ("replace", [])
    bench.apply("--allow-replace").ok()
    assert asked(bench) == []


# --- warn and wait


def test_warn_goes_through(bench: Bench, queue: Queue) -> None:
    """The jobs are noted, the change is made, and the job is lost."""
    job = queue.add("big")
    edited(bench, move, running_jobs="warn")
    plan = bench.plan()
    assert (codes(plan), len(plan["jobs"])) == ([], 1)
    assert "apply goes through with it" in said(plan, "running_jobs")
    bench.apply().ok()
    assert queue.states() == {job: "NODE_FAIL"}


def test_wait_waits(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Apply polls until the job has ended, says for which, and then changes; the job completes."""
    job = queue.add("big", seconds=900)
    edited(bench, move, running_jobs="wait")
    assert "apply waits until they are gone" in said(bench.plan(), "running_jobs")
    begin = time.slept
    outcome = bench.apply().ok()
    assert time.slept - begin >= 900 - 10
    assert f"waiting for jobs: 1 job would be hurt: {job}" in outcome.err
    assert queue.states()[job] == "COMPLETED"
    assert bench.writes() == ["PATCH"]


def test_wait_ends(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """After --jobs-timeout the change is refused, with the jobs that run still; nothing was sent."""
    job = queue.add("big")
    edited(bench, move, running_jobs="wait")
    begin = time.slept
    outcome = bench.apply("--jobs-timeout", "15m").ended(1)
    assert 900 - 61 <= time.slept - begin <= 900
    assert (result(outcome)["status"], result(outcome)["error"]["code"]) == ("blocked", "running_jobs")
    assert f"after 900 s, 1 job would be hurt: {job}" in result(outcome)["error"]["message"]
    assert "without a time limit" in result(outcome)["error"]["message"]
    assert bench.writes() == []


def test_wait_outlives_a_slurm_that_restarts(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A Slurm that doesn't answer in the middle of the wait is asked again."""
    queue.add("big", seconds=600)
    edited(bench, move, running_jobs="wait")
    bench.fault("status", "slurm", after=2, times=1, code=403, status="PERMISSION_DENIED")
    outcome = bench.apply().ok()
    assert "waiting for jobs: it isn't known which jobs run there" in outcome.err


def test_wait_sees_jobs_that_start_meanwhile(
    bench: Bench, queue: Queue, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that starts between the last poll and the change is waited for, too."""
    queue.add("big", seconds=100)
    edited(bench, move, running_jobs="wait")
    late: list[int] = []
    until_clear = JobsWait.until_clear

    def then_one_starts(*arguments: Any, **options: Any) -> None:
        until_clear(*arguments, **options)
        if not late:
            late.append(queue.add("big", seconds=100))

    monkeypatch.setattr(JobsWait, "until_clear", then_one_starts)
    bench.apply().ok()
    assert queue.states()[late[0]] == "COMPLETED"


def test_a_wait_is_interrupted(bench: Bench, queue: Queue) -> None:
    """Ctrl-C while jobs are waited for: nothing was sent, and it says so."""
    queue.add("big")
    edited(bench, move, running_jobs="wait")
    process = bench.start("apply", "--auto-approve", "--format", "json")
    process.hear("waiting for jobs")
    process.signal(signal.SIGINT)
    assert process.end() == 130
    (skipped,) = json.loads(process.out)["results"]
    assert (skipped["status"], skipped["error"]["code"]) == ("skipped", "interrupted")
    assert "interrupted while waiting for jobs" in skipped["error"]["message"]
    assert bench.writes() == []


def test_a_window_that_closes_during_the_wait(
    bench: Bench, queue: Queue, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that end after the maintenance window has closed: the change isn't made then."""
    monkeypatch.setattr(applying, "now", lambda: datetime.fromtimestamp(time.wall(), UTC))
    queue.add("big", seconds=1800)
    begin = datetime.fromtimestamp(time.wall() - 3000, UTC)
    window = {"days": [begin.strftime("%a").lower()], "start": begin.strftime("%H:%M"), "hours": 1, "time_zone": "UTC"}
    edited(bench, move, running_jobs="wait", maintenance_window=window)
    outcome = bench.apply().ended(1)
    assert (result(outcome)["status"], result(outcome)["error"]["code"]) == ("blocked", "maintenance_window")
    assert bench.writes() == []


# --- between plan and apply


def test_a_job_that_starts_between_plan_and_apply(bench: Bench, queue: Queue) -> None:
    """The plan was free of jobs; by the time it is applied, one runs: it is noticed, and nothing is sent. (J104)"""
    edited(bench, move)
    bench.run("plan", "--out", "plan.json").ok()
    job = queue.add("big")
    outcome = bench.apply("--plan", "plan.json").ended(1)
    assert (result(outcome)["status"], result(outcome)["error"]["code"]) == ("blocked", "running_jobs")
    assert str(job) in result(outcome)["error"]["message"]
    assert bench.writes() == []


def test_a_job_that_starts_while_somebody_approves(bench: Bench, queue: Queue) -> None:
    """Between the question and the answer, too."""
    edited(bench, move)
    terminal = bench.at_terminal("apply")
    terminal.hear("Apply this plan?")
    queue.add("big")
    terminal.type("yes\n")
    assert terminal.end() == 1
    assert "1 job would be hurt" in " ".join(terminal.out.split())
    assert bench.writes() == []


def test_a_job_that_ended_between_plan_and_apply(bench: Bench, queue: Queue) -> None:
    """A reviewed plan isn't stale for jobs that come and go."""
    job = queue.add("big")
    edited(bench, move)
    bench.run("plan", "--out", "plan.json").ended(1)
    queue.cancel(job)
    bench.apply("--plan", "plan.json").ok()


# --- nobody knows

UNKNOWN: list[tuple[str, dict[str, Any], str]] = [
    ("answers 500", {"status": 500, "body": "out of order"}, "500: out of order"),
    ("answers 500 in JSON", {"status": 500, "body": '{"errors": [{"error": "Unspecified error"}]}'}, "Unspecified"),
    ("answers HTML", {"status": 200, "body": HTML}, "Bad Gateway"),
    ("answers nothing", {"status": 200, "body": ""}, "Slurm answered 200"),
    ("has errors beside jobs", {"status": 200, "body": '{"jobs": [], "errors": [{"error": "half"}]}'}, "half"),
    ("lists no jobs", {"status": 200, "body": "{}"}, "without a list of jobs"),
    ("refuses the login", {"status": 401, "body": "Authentication failure"}, "401"),
    ("isn't reached", {"unavailable": True}, "can't be reached"),
    ("hangs", {"hang_seconds": 30}, "no answer in time"),
]


def unknown(bench: Bench, words: str) -> None:
    """The change is blocked, since nobody knows, and the reason is there."""
    plan = bench.plan()
    assert codes(plan) == ["jobs_unknown"]
    message = said(plan, "jobs_unknown")
    assert message.startswith("it isn't known which jobs run there: ")
    assert words in message
    outcome = bench.apply().ended(1)
    assert (result(outcome)["status"], result(outcome)["error"]["code"]) == ("blocked", "jobs_unknown")
    assert bench.writes() == []


@pytest.mark.parametrize(("reason", "fault", "words"), UNKNOWN, ids=[reason for reason, *_ in UNKNOWN])
@pytest.mark.parametrize("policy", ["block", "wait"])
def test_a_slurm_that_cant_be_asked(
    bench: Bench,
    queue: Queue,
    monkeypatch: pytest.MonkeyPatch,
    policy: str,
    reason: str,
    fault: dict[str, Any],
    words: str,
) -> None:
    """A Slurm that hangs, errs, or answers what is no queue blocks the change: nobody knows whom it would hurt."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0")
    monkeypatch.setenv("RECONCILER_REQUEST_TIMEOUT", "0.5")
    edited(bench, move, running_jobs=policy)
    queue.switch(fault=fault)
    unknown(bench, words)


@pytest.mark.parametrize(
    ("code", "status"), [(403, "PERMISSION_DENIED"), (404, "NOT_FOUND"), (400, "INVALID_ARGUMENT")]
)
def test_a_service_that_refuses_to_ask(bench: Bench, queue: Queue, code: int, status: str) -> None:
    """Whoever may not call Slurm doesn't know either; the refusal is quoted."""
    edited(bench, move)
    bench.fault("status", "slurm", code=code, status=status, message="not for you")
    unknown(bench, "not for you")


def test_warn_goes_through_the_unknown(bench: Bench, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """Noted, and made."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0")
    queue.switch(fault={"unavailable": True})
    edited(bench, move, running_jobs="warn")
    plan = bench.plan()
    assert codes(plan) == []
    assert "isn't known which jobs run there" in said(plan, "jobs_unknown")
    bench.apply().ok()
    assert bench.writes() == ["PATCH"]


def test_one_unknown_cluster_holds_up_no_other(bench: Bench, queue: Queue) -> None:
    """Each cluster's Slurm is its own."""
    bench.created("other", two_partitions(bench))
    for name in ("demo", "other"):
        spec = two_partitions(bench)
        move(spec)
        bench.write(name, spec)
    rule = {"match": {"kind": "slurm", "cluster": "demo"}, "fault": {"kind": "status", "code": 403, "status": "X"}}
    bench.control.faults([rule])
    outcome = bench.apply().ended(1)
    statuses = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert statuses == {"demo": "blocked", "other": "applied"}


def test_one_request_for_each_cluster(bench: Bench, queue: Queue) -> None:
    """A plan asks a cluster's Slurm once, for its queue."""
    edited(bench, lambda spec: (move(spec), shrink(spec)))
    outcome: Outcome = bench.run("plan")
    assert outcome.code == 0
    assert asked(bench) == ["/slurm/v0.0.42/jobs/"]
