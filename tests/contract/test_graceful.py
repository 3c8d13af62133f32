"""`apply --graceful`: nothing new starts, jobs end, the change is made, jobs start again; killed anywhere, it goes on."""

from __future__ import annotations

import json
import signal
import time as real_time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.cloud.clusters import Clusters
from tests.contract.bench import Bench, Outcome, result
from tests.contract.conftest import LONG
from tests.contract.process import Process
from tests.contract.queue import DEFAULTS, Queue, drop, move, two_partitions
from tests.contract.specs import pool, slurm
from tests.faults.clock import FakeTime
from tests.faults.rig import operations

PARTITIONS = "orchestrator_spec.slurm_spec.partitions"
PATIENCE = 60.0  # seconds after which something hangs
HELD = {"State": "INACTIVE"}


def partition(spec: dict[str, Any], name: str = "big") -> dict[str, Any]:
    """A partition of a spec."""
    return next(each for each in slurm(spec)["partitions"] if each["id"] == name)


def config(bench: Bench, name: str = "big") -> dict[str, str]:
    """A live partition's config map."""
    listed = bench.live()["orchestratorSpec"]["slurmSpec"]["partitions"]
    return dict(next(each for each in listed if each["id"] == name).get("config", {}))


def hold(bench: Bench, name: str = "big", **entry: str) -> None:
    """Set a live partition's State by hand, as a run that was killed leaves it."""
    bench.control.live(
        bench.name(),
        {"orchestratorSpec": {"slurmSpec": {"partitions": {name: {"config": entry or HELD}}}}},
    )


def wanted(bench: Bench, *edits: Callable[[dict[str, Any]], object], **lifecycle: Any) -> Path:
    """The file of the cluster, edited; the requests so far are forgotten."""
    spec = two_partitions(bench)
    for edit in edits:
        edit(spec)
    path = bench.write("demo", spec, **lifecycle)
    bench.control.clear_requests()
    return path


def gracefully(bench: Bench, *more: str) -> Outcome:
    """Apply so, reporting in JSON."""
    return bench.apply("--graceful", *more)


def patches(bench: Bench) -> list[tuple[str, str]]:
    """The mask and the mode of each PATCH so far."""
    return [(each["query"]["updateMask"], each["query"]["updateMode"]) for each in bench.requests("patch")]


def notes(plan: dict[str, Any], code: str = "partition_held") -> list[str]:
    """What a plan's notes with this code say."""
    return [note["message"] for note in plan["notes"] if note["code"] == code]


# --- the steps


def test_the_steps(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Hold, wait, change, release: three calls, of which the first and the last set the one partition's State alone."""
    job = queue.add("big", seconds=600)
    wanted(bench, move)
    begin = time.slept
    gracefully(bench).ok()
    assert time.slept - begin > 500
    assert queue.states()[job] == "COMPLETED"
    assert patches(bench) == [
        (PARTITIONS, "USER_ONLY"),
        ("node_pools", "USER_AND_SERVICE"),
        (PARTITIONS, "USER_ONLY"),
    ]
    first, change, last = (entry["body"] for entry in bench.requests("patch"))
    assert partition(first) == {"id": "big", "node_pool_ids": ["big"], "config": HELD}
    assert partition(first, "cpu") == partition(last, "cpu") == {"id": "cpu", "node_pool_ids": ["cpu"]}
    assert "config" not in partition(last)
    assert pool(first, "big")["zone"] == "us-central1-a"
    assert pool(change, "big")["zone"] == "us-central1-b"
    bench.settled()


def test_nothing_starts_and_nothing_is_lost(slow: Bench) -> None:
    """While jobs are waited for, nothing new is taken and what is queued stays; afterwards it runs."""
    slow.control.put(slow.name(), two_partitions(slow))
    queue = Queue(slow)
    running = queue.add("big", node_count=4, tasks=32)  # all there is
    waiting = queue.add("big", "PENDING", user_name="bob")
    wanted(slow, move)
    process = slow.start("apply", "--graceful", "--auto-approve")
    advance(slow, process, "waiting for jobs: 1 job would be hurt")
    assert config(slow) == HELD
    slow.text("new.sh", "#!/bin/sh\ntrue\n")
    refused = slow.run("jobs", "submit", "demo", "new.sh", "--partition", "big", "--cwd", "/w", "--format", "json")
    assert refused.ended(1).json["error"]["code"] == "slurm_2070"
    assert slow.run("jobs", "submit", "demo", "new.sh", "--partition", "cpu", "--cwd", "/w").ok()
    assert queue.states()[waiting] == "PENDING"
    queue.cancel(running)
    assert finish(slow, process) == 0
    assert config(slow) == {}
    assert queue.states()[waiting] == "RUNNING"
    queue.cancel(waiting)


def test_in_place_changes_need_no_steps(bench: Bench, queue: Queue) -> None:
    """One call, with the jobs running on."""
    job = queue.add("big")
    wanted(bench, lambda spec: partition(spec).update(config={"MaxTime": "60"}))
    gracefully(bench).ok()
    assert patches(bench) == [(PARTITIONS, "USER_AND_SERVICE")]
    assert queue.states() == {job: "RUNNING"}


def test_no_jobs_no_wait(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """An idle partition is held all the same: something might start."""
    wanted(bench, move)
    gracefully(bench).ok()
    assert len(patches(bench)) == 3


def test_the_hold_must_reach_the_controller(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A controller that still shows the partition UP starts jobs: it is asked until it shows otherwise. (S2: 15 s)"""
    wanted(bench, move)
    still = {"partitions": [{"name": name, "partition": {"state": ["UP"]}} for name in ("cpu", "big")]}
    answer = {"status": 200, "body": json.dumps(still)}
    bench.fault("wrong_type", "slurm", after=2, times=2, body=answer)  # after the looks at the queue
    outcome = gracefully(bench).ok()
    assert "the controller doesn't show yet that it starts no more jobs in big" in outcome.err
    paths = [entry["body"]["path"] for entry in bench.requests("slurm")]
    assert paths.count("/slurm/v0.0.42/partitions") == 3


def test_other_parts_of_the_partition(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A change of the partition itself goes with the change, and fields that nobody knows stay."""
    bench.control.live(
        bench.name(), {"orchestratorSpec": {"slurmSpec": {"partitions": {"big": {"futureField": {"aB": 1}}}}}}
    )
    wanted(bench, move, lambda spec: partition(spec).update(config={"MaxTime": "60"}))
    gracefully(bench).ok()
    assert config(bench) == {"MaxTime": "60"}
    live = bench.live()["orchestratorSpec"]["slurmSpec"]["partitions"]
    assert next(each for each in live if each["id"] == "big")["futureField"] == {"aB": 1}
    bench.settled()


def test_waits_in_spite_of_block(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """`lifecycle.running_jobs: block` refuses an apply, and a graceful one waits: it's what the option says."""
    queue.add("big", seconds=60)
    wanted(bench, move, running_jobs="block")
    bench.apply().ended(1)
    outcome = gracefully(bench).ok()
    assert "apply waits until they are gone" in outcome.err


def test_it_is_made_of_waits(bench: Bench, queue: Queue) -> None:
    """--no-wait can't go with it."""
    wanted(bench, move)
    assert "--no-wait and --graceful don't go together" in gracefully(bench, "--no-wait").ended(64).err
    assert bench.writes() == []


# --- the file's own wish


@pytest.mark.parametrize("spelled", ["State", "state"])
@pytest.mark.parametrize("state", ["DOWN", "DRAIN", "UP"])
def test_the_files_own_state_comes_back(bench: Bench, queue: Queue, state: str, spelled: str) -> None:
    """What the file says of the State is what is there at the end, as it spells it."""
    bench.edit(
        wanted(bench),
        lambda spec: partition(spec).update(config={spelled: state, "MaxTime": "60"}),
    )
    bench.apply().ok()
    wanted(bench, move, lambda spec: partition(spec).update(config={spelled: state, "MaxTime": "60"}))
    gracefully(bench).ok()
    assert len(patches(bench)) == 3
    assert config(bench) == {spelled: state, "MaxTime": "60"}
    bench.settled()


def test_a_file_that_wants_it_held(bench: Bench, queue: Queue) -> None:
    """INACTIVE as the file's own wish is no temporary state: it needs no steps, stays, and isn't noted."""
    keep = {"state": "inactive"}
    bench.edit(wanted(bench), lambda spec: partition(spec).update(config=keep))
    bench.apply().ok()
    assert notes(bench.plan()) == []
    wanted(bench, move, lambda spec: partition(spec).update(config=keep))
    gracefully(bench).ok()
    assert patches(bench) == [("node_pools", "USER_AND_SERVICE")]
    assert config(bench) == keep
    bench.settled()


def test_a_new_wish_in_the_same_change(bench: Bench, queue: Queue) -> None:
    """A State that changes along with the nodes is what comes out."""
    wanted(bench, move, lambda spec: partition(spec).update(config={"State": "DOWN"}))
    gracefully(bench).ok()
    assert config(bench) == {"State": "DOWN"}
    bench.settled()


# --- what goes for good


def test_a_partition_that_goes(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """It is held, its jobs end, their records fade, and it goes."""
    job = queue.add("big", seconds=60)
    wanted(bench, drop)
    gracefully(bench).ok()
    assert queue.states().get(job) in (None, "COMPLETED")
    assert patches(bench) == [(PARTITIONS, "USER_ONLY"), (f"node_pools,{PARTITIONS}", "USER_AND_SERVICE")]
    bench.settled()


def test_a_partition_that_goes_with_jobs_in_its_queue(bench: Bench, queue: Queue) -> None:
    """No wait would save them: blocked, and nothing is sent."""
    queue.add("big", "PENDING", held=True)
    wanted(bench, drop)
    failed = result(gracefully(bench).ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("blocked", "running_jobs")
    assert bench.writes() == []


def test_a_job_that_was_queued_at_the_last_moment(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """One that came between the look and the hold is found after it: it isn't lost, and the partition opens again."""
    wanted(bench, drop)
    job = queue.add("big", "PENDING", held=True)
    # Before the hold, both looks at the queue find it empty.
    bench.fault("wrong_type", "slurm", times=2, body={"status": 200, "body": '{"jobs": []}'})
    failed = result(gracefully(bench).ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("blocked", "running_jobs")
    assert "no longer held: big" in failed["error"]["message"]
    assert config(bench) == {}
    assert queue.states() == {job: "PENDING"}


@pytest.mark.parametrize("lost", [None, 0, 1, 2], ids=["", "hold lost", "delete lost", "create lost"])
def test_a_replace(bench: Bench, queue: Queue, time: FakeTime, lost: int | None) -> None:
    """All partitions are held, jobs end, and the cluster is made anew, with its partitions open."""
    queue.add("cpu", seconds=600)

    def other_machines(spec: dict[str, Any]) -> None:
        pool(spec, "big")["machine_spec"]["machine_type"] = "n2-standard-16"

    wanted(bench, other_machines, replace_on=["immutable_change"], prevent_destroy=False)
    if lost is not None:
        bench.fault("reset", ("patch", "delete", "create")[lost], times=1)
    gracefully(bench, "--allow-replace").ok()
    assert operations(bench) == Counter({"Create": 2, "Update": 1, "Delete": 1})
    assert (config(bench), config(bench, "cpu")) == ({}, {})
    bench.settled()


def test_a_delete(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Jobs end, and then the cluster goes."""
    queue.add("cpu", seconds=600)
    wanted(bench, state="absent", prevent_destroy=False)
    gracefully(bench, "--allow-delete").ok()
    assert bench.writes() == ["PATCH", "DELETE"]


# --- answers that are lost


@pytest.mark.parametrize("effect", [True, False], ids=["taken", "lost"])
@pytest.mark.parametrize("number", [0, 1, 2], ids=["hold", "change", "release"])
def test_a_lost_answer(bench: Bench, queue: Queue, time: FakeTime, number: int, effect: bool) -> None:
    """A call whose answer never came is made just once more if nothing came of it, and not if it took effect."""
    queue.add("big", seconds=60)
    wanted(bench, move)
    begun = operations(bench)
    bench.fault("reset", "patch", after=number, times=1, effect=effect)
    gracefully(bench).ok()
    assert operations(bench) - begun == Counter({"Update": 3})
    bench.settled()


def test_a_lost_answer_and_another_hand(
    bench: Bench, queue: Queue, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change isn't sent again over what somebody else has done meanwhile."""
    wanted(bench, move)
    bench.fault("reset", "patch", after=1, times=1)
    meddle(bench, monkeypatch, after=2)
    failed = result(gracefully(bench).ended(1))
    assert failed["error"]["code"] == "stale"
    assert bench.live()["labels"] == {"by": "hand"}
    assert config(bench) == {}


# --- giving up


def test_the_jobs_outlast_the_patience(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """After --jobs-timeout the partition is opened again: a cluster isn't left closed overnight."""
    job = queue.add("big")
    wanted(bench, move)
    failed = result(gracefully(bench, "--jobs-timeout", "10m").ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("blocked", "running_jobs")
    assert f"after 600 s, 1 job would be hurt: {job}" in failed["error"]["message"]
    assert failed["error"]["message"].endswith("; no longer held: big")
    assert patches(bench) == [(PARTITIONS, "USER_ONLY")] * 2
    assert config(bench) == {}
    assert queue.states() == {job: "RUNNING"}
    assert notes(bench.plan()) == []


def test_giving_up_puts_back_what_was_there(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """A State that somebody had set by hand is a difference before and after, and the file's other wishes wait."""
    hold(bench, State="DOWN", MaxTime="5")
    queue.add("big")
    wanted(bench, move, lambda spec: partition(spec).update(config={"MaxTime": "60"}))
    gracefully(bench, "--jobs-timeout", "1m").ended(1)
    assert config(bench) == {"State": "DOWN", "MaxTime": "5"}


def test_giving_up_what_an_earlier_run_had_held(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """What was there before that one isn't known any more: the file's wish is."""
    wanted(bench, lambda spec: partition(spec).update(config={"state": "DRAIN"}))
    bench.apply().ok()
    hold(bench, state="INACTIVE")
    queue.add("big")
    wanted(bench, move, lambda spec: partition(spec).update(config={"state": "DRAIN"}))
    gracefully(bench, "--jobs-timeout", "1m").ended(1)
    assert config(bench) == {"state": "DRAIN"}


def test_a_partition_that_was_to_go_opens_again(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Held by a killed run, dropped by the file, and its jobs don't end: it opens."""
    hold(bench)
    queue.add("big")
    wanted(bench, drop)
    gracefully(bench, "--jobs-timeout", "1m").ended(1)
    assert config(bench) == {}


def test_a_slurm_that_stops_answering(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Nobody knows when its jobs end: after the timeout the partition is opened again."""
    queue.add("big", seconds=60)
    wanted(bench, move)
    bench.fault("status", "slurm", after=2, code=403, status="PERMISSION_DENIED")
    failed = result(gracefully(bench, "--jobs-timeout", "10m").ended(1))
    assert failed["status"] == "blocked"
    assert "it isn't known which jobs run there" in failed["error"]["message"]
    assert config(bench) == {}


def test_a_state_of_another_hand_during_the_wait(
    bench: Bench, queue: Queue, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody takes the partition down while it is held: that stays, and nothing more is sent."""
    queue.add("big", seconds=60)
    wanted(bench, move)
    look = Clusters.get

    def after_the_wait(*arguments: Any) -> Any:
        if len(bench.writes()) == 1 and not list(queue.states().values()).count("RUNNING"):
            hold(bench, State="DOWN")
        return look(*arguments)

    monkeypatch.setattr(Clusters, "get", after_the_wait)
    failed = result(gracefully(bench).ended(1))
    assert failed["error"]["code"] == "stale"
    assert "State of big was changed by another hand" in failed["error"]["message"]
    assert config(bench) == {"State": "DOWN"}
    assert len(bench.writes()) == 1


def test_an_import_of_what_is_held(bench: Bench, queue: Queue) -> None:
    """The file has it as it is live, and the one who takes it over is told that it may be a leftover."""
    hold(bench)
    imported = bench.run("import", f"{bench.project}/us-central1/demo").ok()
    assert "State: INACTIVE" in imported.out
    assert "partitions big have State: INACTIVE" in imported.err
    hold(bench, State="UP")
    assert "INACTIVE" not in bench.run("import", f"{bench.project}/us-central1/demo").ok().err


@pytest.mark.parametrize("spelled", ["inactive", "Inactive"])
def test_a_wish_in_the_words_of_the_hold(bench: Bench, queue: Queue, time: FakeTime, spelled: str) -> None:
    """Who wants the partition inactive anyway gets it, as it is spelled; a plan in between calls that no leftover."""
    wanted(bench, move, lambda spec: partition(spec).update(config={"State": spelled}))
    gracefully(bench).ok()
    assert config(bench) == {"State": spelled}
    hold(bench)
    assert notes(bench.plan()) == []
    bench.apply().ok()
    bench.settled()


def test_another_hand_during_the_wait(
    bench: Bench, queue: Queue, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster isn't what the plan was made from any more: refused, and jobs start again."""
    queue.add("big", seconds=60)
    wanted(bench, move)
    meddle(bench, monkeypatch, after=1)
    failed = result(gracefully(bench).ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("failed", "stale")
    assert "labels" in failed["error"]["message"]
    assert failed["error"]["message"].endswith("; no longer held: big")
    assert bench.live()["labels"] == {"by": "hand"}
    assert config(bench) == {}


def test_a_change_that_fails(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """The change's operation fails: it is told, and the partition is opened again."""
    wanted(bench, move)
    bench.fault("operation_error", "patch", after=1, times=1, code=8, message="no capacity in the zone")
    failed = result(gracefully(bench).ended(1))
    assert failed["status"] == "failed"
    assert "no capacity in the zone" in failed["error"]["message"]
    assert "not in place: node_pools[big].zone" in failed["error"]["message"]
    assert failed["error"]["message"].endswith("; no longer held: big")
    assert config(bench) == {}
    gracefully(bench).ok()
    bench.settled()


def test_a_partition_that_cant_be_opened(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Held for good is the worst: it is said, the next plan says it, and an apply opens it."""
    job = queue.add("big")
    wanted(bench, move)
    bench.fault("status", "patch", after=1, code=403, status="PERMISSION_DENIED", message="not for you")
    failed = result(gracefully(bench, "--jobs-timeout", "1m").ended(1))
    assert failed["error"]["code"] == "running_jobs"
    assert "still held by State: INACTIVE: big (" in failed["error"]["message"]
    assert "not for you" in failed["error"]["message"]
    bench.control.clear_faults()
    assert len(notes(bench.plan())) == 1
    queue.cancel(job)
    bench.apply().ok()
    assert config(bench) == {}


def test_a_release_that_fails(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """The change is made and the partition still held: it is said, and a plain apply opens it."""
    wanted(bench, move)
    bench.fault("operation_error", "patch", after=2, times=1, message="out of order")
    failed = result(gracefully(bench).ended(1))
    assert "held by State: INACTIVE until the same command is run again: big" in failed["error"]["message"]
    (change,) = bench.plan()["changes"]
    assert (change["path"], change["before"]) == (f"{PARTITIONS}[big].config.State", "INACTIVE")
    bench.apply().ok()
    assert config(bench) == {}
    bench.settled()


def test_a_hold_that_is_refused(bench: Bench, queue: Queue, time: FakeTime) -> None:
    """Nothing was held, so nothing is said of it."""
    wanted(bench, move)
    bench.fault("status", "patch", code=403, status="PERMISSION_DENIED", message="not for you")
    failed = result(gracefully(bench).ended(1))
    assert "not for you" in failed["error"]["message"]
    assert "held" not in failed["error"]["message"]
    assert "start again" not in failed["error"]["message"]
    assert len(bench.writes()) == 1


# --- ignore_changes


@pytest.mark.parametrize(
    "ignored",
    [PARTITIONS, f"{PARTITIONS}[*].config", f"{PARTITIONS}[big].config", f"{PARTITIONS}[big].config.State", "*.state"],
)
def test_a_state_that_belongs_to_others(bench: Bench, queue: Queue, ignored: str) -> None:
    """Held for a moment, it couldn't be told from others' wish after a kill: refused, and nothing is sent."""
    ignored = ignored.replace("*.state", f"{PARTITIONS}[*].config.state")

    def move_both(spec: dict[str, Any]) -> None:
        move(spec)
        pool(spec, "cpu")["zone"] = "us-central1-b"

    wanted(bench, move_both, ignore_changes=[ignored])
    failed = result(gracefully(bench).ended(1))
    assert "lifecycle.ignore_changes covers the partitions' State" in failed["error"]["message"]
    assert bench.writes() == []


@pytest.mark.parametrize("ignored", [f"{PARTITIONS}[big].config.MaxTime", f"{PARTITIONS}[cpu].config", "labels"])
def test_others_may_have_the_rest(bench: Bench, queue: Queue, ignored: str) -> None:
    """What else is ignored stays as it is."""
    hold(bench, MaxTime="7", State="UP")
    wanted(bench, move, lambda spec: partition(spec).update(config={"MaxTime": "60"}), ignore_changes=[ignored])
    gracefully(bench).ok()
    assert config(bench) == {"MaxTime": "7" if "MaxTime" in ignored else "60"}


def test_others_that_hold_a_partition(bench: Bench, queue: Queue) -> None:
    """Somebody whose it is holds the partition: the change needs no hold, leaves it, and the plan says so."""
    hold(bench)
    wanted(bench, move, ignore_changes=[f"{PARTITIONS}[*].config"])
    (note,) = notes(bench.plan())
    assert note == "held by State: INACTIVE: big; lifecycle.ignore_changes leaves that as it is"
    gracefully(bench).ok()
    assert patches(bench) == [("node_pools", "USER_AND_SERVICE")]
    assert config(bench) == HELD


# --- what a plan shows in between


def test_the_plan_in_between(bench: Bench, queue: Queue) -> None:
    """What is left, and that it may be left from a graceful change."""
    hold(bench)
    wanted(bench, move)
    plan = bench.plan()
    assert [change["path"] for change in plan["changes"]] == ["node_pools[big].zone", f"{PARTITIONS}[big].config.State"]
    (note,) = notes(plan)
    assert note.startswith("held by State: INACTIVE: big, which the file doesn't say: perhaps an 'apply --graceful'")
    assert "[partition_held]" in bench.run("plan").ok().out
    assert "partition_held" in bench.run("drift").ended(2).out


def test_a_plain_apply_opens(bench: Bench, queue: Queue) -> None:
    """After a kill before the release: one call, and the partition's jobs start."""
    waiting = queue.add("big", "PENDING")
    hold(bench)
    wanted(bench)
    bench.apply().ok()
    assert bench.writes() == ["PATCH"]
    queue.switch(pending_seconds=0)
    assert queue.states() == {waiting: "RUNNING"}


def test_a_change_that_was_taken_back(bench: Bench, queue: Queue) -> None:
    """The way out of a killed run that nobody wants to go on with: the old file, applied, opens the partition."""
    queue.add("big")
    hold(bench)
    wanted(bench, move)
    bench.apply().ended(1)  # the change is still refused while the job runs
    assert config(bench) == HELD
    wanted(bench)
    bench.apply().ok()
    assert config(bench) == {}


def test_a_partition_that_goes_is_shown_as_held(bench: Bench, queue: Queue) -> None:
    """Also where it is to go."""
    hold(bench)
    wanted(bench, drop)
    assert len(notes(bench.plan())) == 1
    gracefully(bench).ok()
    assert patches(bench) == [(f"node_pools,{PARTITIONS}", "USER_AND_SERVICE")]


# --- interrupted and killed


def meddle(bench: Bench, monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
    """Somebody else labels the cluster once so many calls were sent."""
    send = Clusters.send
    count = iter(range(1, 100))

    def then_label(*arguments: Any) -> Any:
        try:
            return send(*arguments)
        finally:
            if next(count) == after:
                bench.control.live(bench.name(), {"labels": {"by": "hand"}})

    monkeypatch.setattr(Clusters, "send", then_label)


def until(happened: Callable[[], bool], process: Process, then: Callable[[], object] = lambda: None) -> None:
    """Wait until this is so; `then` is done in between."""
    deadline = real_time.monotonic() + PATIENCE
    while not happened():
        assert real_time.monotonic() < deadline, f"{process.out}\n{process.err}"
        then()
        real_time.sleep(0.1)


def advance(bench: Bench, process: Process, words: str) -> None:
    """Let operations end until the process says this."""
    until(lambda: words in process.err, process, lambda: bench.control.advance(LONG))


def finish(bench: Bench, process: Process) -> int:
    """Let operations end until the process does; its exit code."""
    until(lambda: process._popen.poll() is not None, process, lambda: bench.control.advance(LONG))
    return process.end()


def applies(bench: Bench) -> Process:
    """A graceful apply in a process of its own."""
    return bench.start("apply", "--graceful", "--auto-approve", "--format", "json")


@pytest.fixture
def underway(slow: Bench) -> Iterator[tuple[Queue, int]]:
    """A cluster whose partition big has a State of the file's own, and a job; its file moves the pool."""

    def down(spec: dict[str, Any]) -> None:
        partition(spec).update(config={"state": "DRAIN"})

    live = two_partitions(slow)
    down(live)
    slow.control.put(slow.name(), live)
    queue = Queue(slow)
    job = queue.add("big")
    wanted(slow, down, move)
    yield queue, job
    queue.switch(**DEFAULTS)


def test_ctrl_c_leaves_it_held(slow: Bench, underway: tuple[Queue, int]) -> None:
    """Ctrl-C during the wait: nothing more is sent, what is held is said, and the next run goes on from there."""
    queue, job = underway
    process = applies(slow)
    advance(slow, process, "waiting for jobs: 1 job would be hurt")
    process.signal(signal.SIGINT)
    assert process.end() == 130
    (held,) = json.loads(process.out)["results"]
    assert (held["status"], held["error"]["hint"]) == ("pending", "run the same command again")
    assert "held by State: INACTIVE until the same command is run again: big" in held["error"]["message"]
    assert config(slow) == HELD
    queue.cancel(job)
    assert finish(slow, applies(slow)) == 0
    assert len(slow.writes()) == 3
    assert config(slow) == {"state": "DRAIN"}


def test_ctrl_c_before_anything_was_sent(slow: Bench, underway: tuple[Queue, int]) -> None:
    """Nothing is held, so nothing is said of it."""
    slow.fault("hang", "slurm", seconds=100_000)
    process = applies(slow)
    until(lambda: bool(slow.requests("slurm")), process)
    process.signal(signal.SIGINT)
    assert process.end() == 130
    assert "held" not in process.out + process.err
    assert slow.writes() == []


def at_the_hold(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    until(lambda: len(slow.writes()) == 1, process)


def at_the_hold_named(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    process.hear("/operations/")


def at_the_wait(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    advance(slow, process, "waiting for jobs: 1 job would be hurt")


def at_the_change(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    at_the_wait(slow, queue, job, process)
    queue.cancel(job)
    until(lambda: len(slow.writes()) == 2, process)


def at_the_release(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    at_the_change(slow, queue, job, process)
    until(lambda: len(slow.writes()) == 3, process, lambda: slow.control.advance(LONG))


def at_the_proof(slow: Bench, queue: Queue, job: int, process: Process) -> None:
    at_the_release(slow, queue, job, process)
    slow.fault("hang", "get", seconds=100_000)
    slow.control.clear_requests()
    until(lambda: bool(slow.requests("get")), process, lambda: slow.control.advance(LONG))


STEPS = [at_the_hold, at_the_hold_named, at_the_wait, at_the_change, at_the_release, at_the_proof]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__.removeprefix("at_the_"))
def test_killed_at_a_step(slow: Bench, underway: tuple[Queue, int], step: Callable[..., None]) -> None:
    """kill -9 at each step, and run again: three operations in all, and the file's own State is back."""
    queue, job = underway
    begun = operations(slow)
    process = applies(slow)
    step(slow, queue, job, process)
    process.kill()
    slow.control.clear_faults()
    slow.control.advance(LONG)
    is_held = config(slow) == HELD
    assert bool(notes(slow.plan())) == is_held
    if queue.states().get(job) == "RUNNING":
        queue.cancel(job)
    assert finish(slow, applies(slow)) == 0
    assert operations(slow) - begun == Counter({"Update": 3})
    assert config(slow) == {"state": "DRAIN"}
    slow.settled()


@pytest.mark.parametrize("number", [0, 1, 2], ids=["hold", "change", "release"])
@pytest.mark.parametrize("kind", ["hang", "slow_drip"], ids=["before it is taken", "before it is answered"])
def test_killed_in_a_call(slow: Bench, underway: tuple[Queue, int], number: int, kind: str) -> None:
    """kill -9 while a call is under way, taken by the service or not: run again, it converges all the same."""
    queue, job = underway
    begun = operations(slow)
    slow.fault(kind, "patch", after=number, times=1, seconds=100_000)
    process = applies(slow)
    if number:
        at_the_wait(slow, queue, job, process)
        queue.cancel(job)
    until(lambda: len(slow.writes()) == number + 1, process, lambda: slow.control.advance(LONG))
    process.kill()
    slow.control.clear_faults()
    slow.control.advance(LONG)
    if not number:
        queue.cancel(job)
    assert finish(slow, applies(slow)) == 0
    assert operations(slow) - begun == Counter({"Update": 3})
    assert config(slow) == {"state": "DRAIN"}
    slow.settled()


def test_killed_again_and_again(slow: Bench, underway: tuple[Queue, int]) -> None:
    """Held, killed; waiting, killed; changing, killed; releasing, killed: each run goes on where the last one was."""
    queue, job = underway
    begun = operations(slow)
    for step in (at_the_hold, at_the_wait):
        process = applies(slow)
        step(slow, queue, job, process)
        process.kill()
        slow.control.advance(LONG)
    queue.cancel(job)
    for count in (2, 3):
        process = applies(slow)
        until(lambda count=count: len(slow.writes()) == count, process, lambda: slow.control.advance(LONG))
        process.kill()
        slow.control.advance(LONG)
    assert finish(slow, applies(slow)) == 0
    assert operations(slow) - begun == Counter({"Update": 3})
    assert config(slow) == {"state": "DRAIN"}


def test_killed_and_then_out_of_patience(slow: Bench, underway: tuple[Queue, int]) -> None:
    """The job outlasts the second run, which opens what the first one had held: as the file says."""
    queue, job = underway
    process = applies(slow)
    at_the_wait(slow, queue, job, process)
    process.kill()
    again = slow.start("apply", "--graceful", "--auto-approve", "--jobs-timeout", "0", "--format", "json")
    assert finish(slow, again) == 1
    assert json.loads(again.out)["results"][0]["error"]["message"].endswith("; no longer held: big")
    assert config(slow) == {"state": "DRAIN"}
    queue.cancel(job)
