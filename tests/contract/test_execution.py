"""The turns that a change may take: pauses, windows, Ctrl-C between any two steps, and proofs that can't be had."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli import applying
from reconciler.cloud.clusters import Clusters
from reconciler.engine.interrupt import Interrupt
from tests.contract.bench import Bench, Outcome, result
from tests.contract.specs import pool
from tests.faults.clock import FakeTime

Edit = Callable[[dict[str, Any]], object]


@pytest.fixture
def time(time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """Time passes by sleeping alone, for pauses and windows, too."""
    monkeypatch.setattr(applying, "now", lambda: datetime.fromtimestamp(time.wall(), UTC))
    return time


def grow(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=6)


def move(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["zone"] = "us-central1-b"


def other_machines(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["machine_spec"]["machine_type"] = "n2-standard-16"


def wanted(bench: Bench, edit: Edit, **lifecycle: Any) -> Path:
    """A cluster `demo` that is there, and its file, edited."""
    bench.created("demo", bench.small())
    spec = bench.small()
    edit(spec)
    return bench.write("demo", spec, **lifecycle)


def interrupt(monkeypatch: pytest.MonkeyPatch, time: FakeTime, when: Callable[[float], bool]) -> None:
    """Ctrl-C in the first pause of which this is so, told its length."""

    def sleep(stop: Interrupt, seconds: float) -> bool:
        time.sleep(seconds)
        if when(seconds):
            stop.set()
        return bool(stop)

    monkeypatch.setattr(Interrupt, "sleep", sleep)


# --- pauses and windows


def test_a_paused_cluster_is_skipped(bench: Bench, time: FakeTime) -> None:
    """With the reason; and no longer than until it ends."""
    until = datetime.fromtimestamp(time.wall() + 3600, UTC).replace(microsecond=0)
    wanted(bench, grow, paused={"reason": "benchmarks run", "until": until.isoformat()})
    skipped = result(bench.apply().ok())
    assert skipped["status"] == "skipped"
    assert "benchmarks run" in skipped["reason"]
    assert bench.writes() == []
    time.sleep(3601)
    assert result(bench.apply().ok())["status"] == "applied"


def window(time: FakeTime, opens_in: timedelta) -> dict[str, Any]:
    """A window of two hours that opens then."""
    begin = datetime.fromtimestamp(time.wall(), UTC) + opens_in
    return {"days": [begin.strftime("%a").lower()], "start": begin.strftime("%H:%M"), "hours": 2, "time_zone": "UTC"}


def test_a_closed_window(bench: Bench, time: FakeTime) -> None:
    """A disruptive change is skipped until it opens, and the time is told; one in place isn't held up."""
    closed = window(time, timedelta(hours=5))
    path = wanted(bench, move, maintenance_window=closed)
    skipped = result(bench.apply().ok())
    assert skipped["status"] == "skipped"
    assert "it opens at " in skipped["reason"]
    assert bench.writes() == []
    spec = bench.small()
    grow(spec)
    path = bench.write("demo", spec, maintenance_window=closed)
    assert path.exists()
    assert result(bench.apply().ok())["status"] == "applied"


def test_a_window_is_waited_for(bench: Bench, time: FakeTime) -> None:
    """With --wait-for-window the change is made when it opens."""
    wanted(bench, move, maintenance_window=window(time, timedelta(hours=1)))
    begin = time.slept
    outcome = bench.apply("--wait-for-window").ok()
    assert result(outcome)["status"] == "applied"
    assert 3500 < time.slept - begin < 3700
    assert "waiting for the maintenance window" in outcome.err


def test_ctrl_c_before_a_window_opens(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was sent."""
    wanted(bench, move, maintenance_window=window(time, timedelta(hours=1)))
    interrupt(monkeypatch, time, lambda seconds: seconds > 60)
    skipped = result(bench.apply("--wait-for-window").ended(130))
    assert (skipped["status"], skipped["error"]["code"]) == ("skipped", "interrupted")
    assert bench.writes() == []


# --- Ctrl-C


def test_ctrl_c_before_anything_is_sent(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said so."""
    wanted(bench, grow)
    interrupt(monkeypatch, time, lambda seconds: seconds == 0)
    skipped = result(bench.apply().ended(130))
    assert (skipped["status"], skipped["error"]["code"]) == ("skipped", "interrupted")
    assert bench.writes() == []


def test_ctrl_c_after_a_lost_answer(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows whether it took effect: pending, and the next run finds out."""
    wanted(bench, grow)
    bench.fault("reset", "patch", times=1, effect=True)
    interrupt(monkeypatch, time, lambda seconds: seconds > 1)
    pending = result(bench.apply().ended(130))
    assert pending["status"] == "pending"
    assert "isn't known whether PATCH took effect" in pending["error"]["message"]
    monkeypatch.undo()
    monkeypatch.setenv("RECONCILER_ENDPOINT", bench.url)
    bench.apply().ok()
    assert bench.writes() == ["PATCH"]


def test_ctrl_c_before_the_proof(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made, and not looked at again: that isn't a success."""
    wanted(bench, grow)
    bench.fault("accept_but_ignore", "patch", times=1)
    interrupt(monkeypatch, time, lambda seconds: seconds == 0.5 and bool(bench.writes()))
    pending = result(bench.apply().ended(130))
    assert (pending["status"], pending["converged"]) == ("pending", False)
    assert "not looked at again: interrupted" in pending["error"]["message"]


class Held:
    """A service whose writes are answered when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()
        send = Clusters.send

        def wait(*arguments: Any) -> Any:
            self.reached.set()
            self.released.wait(60)
            return send(*arguments)

        monkeypatch.setattr(Clusters, "send", wait)


def test_ctrl_c_and_no_answer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that can't end in time leaves all the same, and tells of every cluster what it knows."""
    wanted(bench, grow)
    bench.created("calm", bench.small())
    held = Held(monkeypatch)
    monkeypatch.setitem(Interrupt.watch.__kwdefaults__ or {}, "grace", 0.1)
    ended = threading.Event()
    watch = Interrupt.watch

    def watched(stop: Interrupt, work: Callable[[], None], **options: Any) -> bool:
        def and_tell() -> None:
            work()
            ended.set()

        threading.Thread(target=lambda: (held.reached.wait(60), stop.set()), daemon=True).start()
        return watch(stop, and_tell, **options)

    monkeypatch.setattr(Interrupt, "watch", watched)
    outcome: Outcome = bench.apply().ended(130)
    held.released.set()
    assert outcome.json["interrupted"]
    statuses = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert statuses["calm"] == "no_op"
    assert statuses["demo"] in ("pending", "skipped")
    assert ended.wait(60)


# --- proofs


def test_credentials_that_end_before_the_proof(bench: Bench, time: FakeTime) -> None:
    """The change was made: it hasn't failed, and it isn't proven."""
    wanted(bench, grow)
    bench.control.clear_requests()
    bench.fault("status", "get", after=2, code=401, status="UNAUTHENTICATED")
    pending = result(bench.apply().ended(1))
    assert pending["status"] == "pending"
    assert "the change was made, and not looked at again" in pending["error"]["message"]


def test_a_failure_of_a_cluster_that_cant_be_read(bench: Bench, time: FakeTime) -> None:
    """The operation's error is told, without what is in place."""
    wanted(bench, grow)
    bench.control.clear_requests()
    bench.fault("operation_error", "patch", times=1, message="out of order")
    bench.fault("status", "get", after=2, code=403, status="PERMISSION_DENIED")
    message = result(bench.apply().ended(1))["error"]["message"]
    assert "out of order" in message
    assert "what is in place isn't known" in message


def test_a_failure_that_took_the_cluster_along(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gone by the time that one looks."""
    wanted(bench, grow)
    bench.fault("operation_error", "patch", times=1, message="out of order")
    look = Clusters.get
    monkeypatch.setattr(Clusters, "get", lambda *given: None if bench.writes() else look(*given))
    message = result(bench.apply().ended(1))["error"]["message"]
    assert "out of order" in message
    assert message.endswith("the cluster doesn't exist")


def test_what_cant_be_made_anew(bench: Bench, time: FakeTime) -> None:
    """A replace whose create is refused has deleted the cluster, and says so; the next apply makes it."""
    wanted(bench, other_machines, replace_on=["immutable_change"], prevent_destroy=False)
    bench.fault("status", "create", times=1, code=403, status="PERMISSION_DENIED", message="no more quota")
    failed = result(bench.apply("--allow-replace").ended(1))
    assert failed["error"]["code"] == "permission_denied"
    assert "it is deleted, and making it anew was refused" in failed["error"]["message"]
    assert "no more quota" in failed["error"]["message"]
    assert result(bench.apply().ok())["action"] == "create"


def test_another_cluster_in_the_place_of_a_lost_create(
    bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody made one of that name meanwhile, otherwise: it isn't taken for ours, and not written over."""
    bench.write("demo", bench.small())
    bench.fault("reset", "create", times=1)
    send = Clusters.send

    def then_another(*arguments: Any) -> Any:
        try:
            return send(*arguments)
        finally:
            bench.control.put(bench.name(), {**bench.small(), "labels": {"by": "hand"}})

    monkeypatch.setattr(Clusters, "send", then_another)
    failed = result(bench.apply().ended(1))
    assert failed["error"]["code"] == "not_converged"
    assert bench.writes() == ["POST"]
    assert bench.live()["labels"] == {"by": "hand"}


def test_an_update_of_what_is_gone(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deleted by somebody after the last look: the service says so, and nothing is made instead."""
    wanted(bench, grow)
    send = Clusters.send

    def after_a_delete(*arguments: Any) -> Any:
        bench.control.remove(bench.name())
        return send(*arguments)

    monkeypatch.setattr(Clusters, "send", after_a_delete)
    assert result(bench.apply().ended(1))["error"]["code"] == "not_found"
    assert bench.writes() == ["PATCH"]


def test_a_delete_of_what_is_gone(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is as it was to be."""
    bench.created("demo", bench.small())
    bench.write("demo", bench.small(), state="absent", prevent_destroy=False)
    send = Clusters.send

    def after_a_delete(*arguments: Any) -> Any:
        bench.control.remove(bench.name())
        return send(*arguments)

    monkeypatch.setattr(Clusters, "send", after_a_delete)
    gone = result(bench.apply("--allow-delete").ok())
    assert (gone["status"], gone["converged"]) == ("applied", True)


def test_ctrl_c_before_a_graceful_change(bench: Bench, time: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is held, and nothing is said of it."""
    wanted(bench, move)
    interrupt(monkeypatch, time, lambda seconds: seconds == 0)
    skipped = result(bench.apply("--graceful").ended(130))
    assert skipped["status"] == "skipped"
    assert "held" not in skipped["error"]["message"]
    assert bench.writes() == []


def test_an_operation_that_is_not_waited_for(bench: Bench) -> None:
    """--no-wait: pending, exit 0, and the operation is named with the command that waits."""
    wanted(bench, grow)
    pending = result(bench.apply("--no-wait").ok())
    assert (pending["status"], pending["error"]["code"]) == ("pending", "pending")
    assert pending["operation"] in pending["error"]["hint"]
    assert json.dumps(pending)
