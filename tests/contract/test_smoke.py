"""`apply --smoke SCRIPT`: after a change, a job on each partition that it concerns; what goes wrong shows at once."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.bench import Bench, Outcome, result
from tests.contract.queue import Queue, asked, drop, move, two_partitions
from tests.contract.specs import cpu_pool, pool, slurm
from tests.faults.clock import FakeTime

SCRIPT = "#!/bin/bash\nsleep 2\n"
ENDLESS = "#!/bin/bash\nsleep inf\n"
BROKEN = "#!/bin/bash\n# emulator: fail\nexit 1\n"
NAME = "reconciler-smoke"


@pytest.fixture(autouse=True)
def _script(bench: Bench) -> None:
    bench.text("smoke.sh", SCRIPT)


def wanted(bench: Bench, *edits: Callable[[dict[str, Any]], object], **lifecycle: Any) -> None:
    """The file of the cluster, edited; the requests so far are forgotten."""
    spec = two_partitions(bench)
    for edit in edits:
        edit(spec)
    bench.write("demo", spec, **lifecycle)
    bench.control.clear_requests()


def smoke(bench: Bench, *more: str, script: str = "smoke.sh") -> Outcome:
    """Apply with a smoke check, reporting in JSON."""
    return bench.apply("--smoke", script, *more)


def checked(queue: Queue) -> dict[str, str]:
    """Partition -> the state of the smoke check's job there."""
    jobs = [queue.job(number) for number in queue.states()]
    return {job["partition"]: job["job_state"][0] for job in jobs if job["name"] == NAME}


def broken_prolog(spec: dict[str, Any]) -> None:
    slurm(spec)["prolog_bash_scripts"] = [BROKEN]


def relabel(spec: dict[str, Any]) -> None:
    spec["labels"] = {"team": "ml"}


def tune_login(spec: dict[str, Any]) -> None:
    pool(spec, "login")["labels"] = {"who": "people"}


def config(spec: dict[str, Any]) -> None:
    slurm(spec)["config"] = {"DefMemPerCPU": "100"}


def new_pool(spec: dict[str, Any]) -> None:
    spec["node_pools"].append(cpu_pool("more"))
    slurm(spec)["partitions"].append({"id": "more", "node_pool_ids": ["more"]})


CASES = [
    ("new nodes of a pool", move, {"big"}),
    ("a prolog for all", lambda spec: slurm(spec).update(prolog_bash_scripts=["#!/bin/sh\n"]), {"cpu", "big"}),
    ("a parameter for all", config, {"cpu", "big"}),
    ("a partition's own", lambda spec: slurm(spec)["partitions"][1].update(config={"MaxTime": "60"}), {"big"}),
    ("a new partition", new_pool, {"more"}),
    ("one that went", drop, set()),
    ("labels", relabel, set()),
    ("the login pool", tune_login, set()),
]


@pytest.mark.parametrize(("reason", "edit", "partitions"), CASES, ids=[case[0] for case in CASES])
def test_a_job_on_each_changed_partition(
    bench: Bench, queue: Queue, time: FakeTime, reason: str, edit: Any, partitions: set[str]
) -> None:
    """Where the change says something to jobs there is one, and it completed; elsewhere there is none."""
    wanted(bench, edit)
    done = result(smoke(bench).ok())
    assert (done["status"], done["converged"]) == ("applied", True)
    assert checked(queue) == dict.fromkeys(partitions, "COMPLETED")


def test_nothing_changed_nothing_checked(bench: Bench, queue: Queue) -> None:
    """A cluster that stays as it is gets no job."""
    wanted(bench)
    smoke(bench).ok()
    assert asked(bench) == []


def test_a_new_cluster(bench: Bench, time: FakeTime) -> None:
    """Each of its partitions."""
    bench.text("smoke.sh", SCRIPT)
    bench.write("demo", two_partitions(bench))
    smoke(bench).ok()
    assert checked(Queue(bench)) == {"cpu": "COMPLETED", "big": "COMPLETED"}


def test_a_cluster_that_went(bench: Bench, queue: Queue) -> None:
    """There is nothing to check."""
    wanted(bench, state="absent", prevent_destroy=False)
    smoke(bench, "--allow-delete").ok()
    assert [path for path in asked(bench) if "submit" in path] == []


def test_a_prolog_that_fails(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """The apply is a failure with the reason, long before the timeout; the change is in place, and no job is left."""
    wanted(bench, broken_prolog)
    begin = time.slept
    outcome = smoke(bench).ended(1)
    assert time.slept - begin < 120
    failed = result(outcome)
    assert (failed["status"], failed["converged"], failed["error"]["code"]) == ("failed", True, "smoke_check")
    message = failed["error"]["message"]
    for partition in ("cpu", "big"):
        assert f"partition {partition}: job " in message
    assert message.count("couldn't be launched, as when a prolog fails: PENDING (JobHeldUser); it was cancelled") == 2
    assert checked(queue) == {"cpu": "CANCELLED", "big": "CANCELLED"}
    assert "new cluster events: " in message  # which came after the last look at the change itself
    assert "VM_PROLOG_ERROR" in message
    assert "VM_SLURM_DRAIN" in message


def test_a_prolog_that_fails_in_words(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A table for people says the same."""
    wanted(bench, move)
    queue.switch(prolog_fails=True)
    out = bench.run("apply", "--auto-approve", "--smoke", "smoke.sh").ended(1).out
    assert "applied, but the smoke check failed: partition big: job" in out
    assert "[smoke_check]" in out


def test_a_script_that_fails(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """With its exit code."""
    bench.text("smoke.sh", "#!/bin/sh\nexit 3\n")
    wanted(bench, move)
    failed = result(smoke(bench).ended(1))
    assert "partition big: job 1 ended: FAILED (exit code 3)" in failed["error"]["message"]


@pytest.mark.parametrize(
    ("script", "told"), [(SCRIPT, "PENDING (Resources)"), (ENDLESS, "RUNNING")], ids=["pending", "running"]
)
def test_a_job_that_takes_too_long(bench: Bench, queue: Queue, time: FakeTime, script: str, told: str) -> None:
    """It is cancelled after --smoke-timeout, whether it ever began or not."""
    if script is SCRIPT:
        queue.add("big", node_count=4, tasks=32)
    bench.text("smoke.sh", script)
    wanted(bench, lambda spec: slurm(spec)["partitions"][1].update(config={"MaxTime": "60"}))
    begin = time.slept
    failed = result(smoke(bench, "--smoke-timeout", "5m").ended(1))
    assert 300 <= time.slept - begin < 420
    assert f"was cancelled after 300 s: {told}" in failed["error"]["message"]
    assert checked(queue) == {"big": "CANCELLED"}


@pytest.mark.parametrize("state", ["DOWN", "INACTIVE", "DRAIN"])
def test_a_partition_that_the_file_keeps_closed(bench: Bench, queue: Queue, state: str) -> None:
    """No job would run there, and that's no fault of the change: it is said, and not tried."""
    wanted(bench, lambda spec: slurm(spec)["partitions"][1].update(config={"State": state}))
    outcome = smoke(bench).ok()
    assert f"no smoke check on partition big: its State is {state}" in outcome.err
    assert checked(queue) == {}


def test_after_a_graceful_change(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """The partition is open again by then."""
    queue.add("big", seconds=60)
    wanted(bench, move)
    smoke(bench, "--graceful").ok()
    assert checked(queue) == {"big": "COMPLETED"}


def test_a_slurm_that_refuses(bench: Bench, queue: Queue) -> None:
    """The check has failed, with Slurm's own words."""
    wanted(bench, config)
    refused = json.dumps({"errors": [{"error": "Time limit specification required", "error_number": 8000}]})
    queue.switch(fault={"status": 500, "body": refused, "method": "POST", "times": 1})
    failed = result(smoke(bench).ended(1))
    assert "partition big: no job was made" in failed["error"]["message"]
    assert "Time limit specification required" in failed["error"]["message"]
    assert "partition cpu" not in failed["error"]["message"]  # which went well


def test_a_slurm_that_goes_away(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A job that can't be watched is named, so that somebody can look; it is tried for as long as the job may take."""
    wanted(bench, lambda spec: slurm(spec)["partitions"][1].update(config={"MaxTime": "60"}))
    queue.switch(fault={"unavailable": True, "method": "GET"})
    begin = time.slept
    failed = result(smoke(bench, "--smoke-timeout", "5m").ended(1))
    assert time.slept - begin < 420
    assert failed["error"]["message"].startswith(
        "applied, but the smoke check failed: partition big: job 1 can't be watched"
    )
    queue.switch(fault=None)


def test_no_check_after_a_failure(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A change that failed gets no job."""
    wanted(bench, config)
    bench.fault("operation_error", "patch", times=1)
    assert result(smoke(bench).ended(1))["error"]["code"] != "smoke_check"
    assert checked(queue) == {}


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("missing.sh", 1, "missing.sh"),
        ("plain.sh", 1, "the first line doesn't say what runs the script"),
        ("binary.sh", 1, "isn't UTF-8 text"),
    ],
)
def test_a_script_that_is_none(bench: Bench, queue: Queue, script: str, code: int, words: str) -> None:
    """Said before anything is sent."""
    bench.text("plain.sh", "true\n")
    bench.text("binary.sh", b"#!/bin/sh\n\xff\n")
    wanted(bench, config)
    assert words in smoke(bench, script=script).ended(code).err
    assert bench.writes() == []


def test_it_needs_the_change_to_be_over(bench: Bench, queue: Queue) -> None:
    """--no-wait can't go with it."""
    wanted(bench, config)
    assert "--no-wait and --smoke don't go together" in smoke(bench, "--no-wait").ended(64).err
    assert bench.writes() == []


def test_ctrl_c_cancels_the_job(bench: Bench, queue: Queue) -> None:
    """No job is left behind, and no further partition is tried."""
    bench.text("smoke.sh", ENDLESS)
    wanted(bench, config)
    process = bench.start("apply", "--auto-approve", "--smoke", "smoke.sh", "--format", "json")
    process.hear("job 1: RUNNING")
    process.signal(signal.SIGINT)
    assert process.end() == 130
    (failed,) = json.loads(process.out)["results"]
    message = failed["error"]["message"]
    assert "partition big: job 1 was cancelled when the run was interrupted: RUNNING" in message
    assert "partition cpu: not checked, since the run was interrupted" in message
    assert checked(queue) == {"big": "CANCELLED"}
