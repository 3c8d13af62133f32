"""Long waits and credentials: groups D and E of what users of such tools trip over, by their numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from reconciler.cloud import exchange
from reconciler.errors import AuthError
from tests.contract.bench import Outcome, result
from tests.contract.specs import pool, slurm
from tests.faults.deaths import Killed, dies_at
from tests.faults.rig import Rig, operations, spec
from tests.faults.scenarios import changed, new, unwanted

UPDATED_ONCE = {"Update": 1}


def _faults(rig: Rig, kind: str, *faults: dict[str, Any]) -> None:
    """One after the other, each for one request; the last one for good if it says so."""
    rules = [{"match": {"kind": kind}, "fault": fault, "times": 1} for fault in faults]
    rig.control.faults(rules)


def _always(rig: Rig, request: str, **fault: Any) -> None:
    """The same for all requests of a kind."""
    rig.control.faults([{"match": {"kind": request}, "fault": fault}])


def _taken_up(rig: Rig, pending: dict[str, Any]) -> None:
    """The command that a pending result names waits to the end, and nothing is left to do or sent again."""
    rig.control.clear_faults()
    command = pending["error"]["hint"]
    assert command == f"reconciler operations wait {pending['operation']}"
    rig.run(*command.split()[1:]).ok()
    rig.apply().ok()
    assert operations(rig) == UPDATED_ONCE


# --- D


def test_d40_a_wait_is_bounded_and_says_how_to_go_on(rig: Rig) -> None:
    """At --timeout: pending, the operation's name, the command that goes on; two hours where nothing is said."""
    changed(rig, "one")
    _always(rig, "poll", kind="operation_never_done")
    begin = rig.time.slept
    pending = result(rig.apply().ended(1))
    assert pending["status"] == "pending"
    assert 7199 < rig.time.slept - begin < 7200 + 120
    _taken_up(rig, pending)


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "operation_never_done"},
        {"kind": "status", "code": 503},
        {"kind": "status", "code": 429, "headers": {"retry-after": "600"}},
        {"kind": "reset"},
        {"kind": "truncate"},
        {"kind": "html", "code": 502},
    ],
    ids=lambda fault: str(fault.get("code", fault["kind"])),
)
def test_d40_whatever_the_polls_answer(rig: Rig, fault: dict[str, Any]) -> None:
    """The whole wait is bounded, and its end is pending, not failed."""
    changed(rig, "one")
    _always(rig, "poll", **fault)
    begin = rig.time.slept
    pending = result(rig.apply("--timeout", "1h").ended(1))
    assert pending["status"] == "pending"
    assert rig.time.slept - begin < 3600 + 120
    _taken_up(rig, pending)


def test_d40_a_cluster_that_stays_busy_is_pending_too(rig: Rig) -> None:
    """What somebody else began isn't waited for beyond --timeout either, and nothing is sent."""
    changed(rig, "one")
    rig.control.live(rig.name("one"), {"clusterStatus": {"state": "UPDATING"}})
    begin = rig.time.slept
    pending = result(rig.apply("--timeout", "1h").ended(1))
    assert pending["status"] == "pending"
    assert rig.time.slept - begin < 3600 + 120
    assert rig.writes() == []


def test_d41_a_killed_run_is_simply_run_again(rig: Rig) -> None:
    """The next run sees what the last one began, waits for it, and sends no second PATCH."""
    changed(rig, "one")
    with pytest.raises(Killed), dies_at(2, answered=True):  # look, look, PATCH
        rig.apply()
    assert rig.writes() == ["PATCH"]
    outcome = rig.apply().ok()
    assert "UPDATING" in outcome.err
    assert result(outcome)["status"] == "no_op"
    assert operations(rig) == UPDATED_ONCE


def test_d43_an_operation_that_starts_between_look_and_write(rig: Rig) -> None:
    """The refusal is no failure: wait for the other, look again, and go on if it's still as approved."""
    changed(rig, "one")
    _faults(rig, "patch", {"kind": "status", "code": 400, "status": "FAILED_PRECONDITION", "message": "busy"})
    assert result(rig.apply().ok())["status"] == "applied"
    assert operations(rig) == UPDATED_ONCE


def test_d43_a_refusal_that_stays_is_told(rig: Rig) -> None:
    """A precondition that isn't about another operation ends the run within the minute."""
    changed(rig, "one")
    _always(rig, "patch", kind="status", code=400, status="FAILED_PRECONDITION", message="quota")
    begin = rig.time.slept
    failed = result(rig.apply().ended(1))
    assert failed["error"]["code"] == "failed_precondition"
    assert "quota" in failed["error"]["message"]
    assert rig.time.slept - begin < 60


def test_d44_one_bad_poll_decides_nothing(rig: Rig) -> None:
    """Running, 503, reset, 429 with Retry-After, done: applied."""
    changed(rig, "one")
    throttled = {"kind": "status", "code": 429, "headers": {"retry-after": "2"}}
    _faults(
        rig, "poll", {"kind": "operation_never_done"}, {"kind": "status", "code": 503}, {"kind": "reset"}, throttled
    )
    assert result(rig.apply().ok())["status"] == "applied"
    assert len(rig.control.requests("poll")) >= 5
    assert operations(rig) == UPDATED_ONCE


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "html", "code": 404},
        {"kind": "html", "code": 403},
        {"kind": "html", "code": 501},
        {"kind": "redirect", "code": 302, "location": "http://192.0.2.1/login"},
    ],
    ids=lambda fault: str(fault["code"]),
)
def test_d44_what_is_not_the_apis_decides_nothing(rig: Rig, fault: dict[str, Any]) -> None:
    """A proxy that is restarted shows its pages for some polls; the wait goes on to the operation's end."""
    changed(rig, "one")
    _faults(rig, "poll", fault, fault, fault)
    assert result(rig.apply().ok())["status"] == "applied"
    assert operations(rig) == UPDATED_ONCE
    _always(rig, "poll", **fault)
    changed(rig, "two")
    assert result(rig.apply("--cluster", "two").ended(1))["status"] == "pending"


@pytest.mark.parametrize("code", [400, 403, 404, 409])
def test_d46_permanent_errors_end_at_once(rig: Rig, code: int) -> None:
    """No second attempt, no pause."""
    changed(rig, "one")
    _always(rig, "patch", kind="status", code=code)
    begin = rig.time.slept
    result(rig.apply().ended(1))
    assert rig.writes() == ["PATCH"]
    assert rig.time.slept - begin < 1


def test_d47_a_failure_tells_what_is_in_place(rig: Rig) -> None:
    """The operation's code and message, what is applied and what isn't, the cluster's state."""
    rig.control.put(rig.name("one"), spec())
    wanted = spec(team="infra")
    pool(wanted, "cpu")["scaling_spec"]["max_node_count"] = 6
    slurm(wanted)["config"] = {"MaxJobCount": "5000"}
    rig.write("one", wanted)
    error = {"kind": "operation_error", "code": 8, "message": "no capacity in us-central1-a", "partial": True}
    _faults(rig, "patch", error)
    failed = result(rig.apply().ended(1))
    assert failed["error"]["code"] == "resource_exhausted"
    said = failed["error"]["message"]
    assert "no capacity in us-central1-a" in said
    in_place, _, missing = said.partition("not in place: ")
    assert "labels.team" in in_place
    assert "config" in missing
    rig.apply().ok()


def test_d49_a_plan_works_in_every_state(rig: Rig) -> None:
    """Half made, broken, without nodes, in a state that nobody has heard of."""
    changed(rig, "one")
    for status in (
        {"state": "ERROR", "error": {"message": "stockout"}},
        {"state": "PROVISIONING"},
        {"state": "REPAIRING"},
    ):
        rig.control.live(rig.name("one"), {"clusterStatus": {"nodesStatus": None, "error": None, **status}})
        outcome = rig.run("plan")
        assert str(status["state"]) in outcome.out
    rig.control.remove(rig.name("one"))
    assert "create" in rig.run("plan").ok().out


def test_d50_polls_are_paced(rig: Rig) -> None:
    """The interval grows to half a minute, and throttled polls never end the wait."""
    changed(rig, "one")
    rig.control.faults(
        [
            {"match": {"kind": "poll"}, "fault": {"kind": "status", "code": 429}, "after": at, "times": 1}
            for at in range(2, 200, 3)
        ]
    )
    _always(rig, "poll", kind="operation_never_done")
    pending = result(rig.apply("--timeout", "1h").ended(1))
    polls = len(rig.control.requests("poll"))
    assert 3600 / 45 < polls < 3600 / 20
    _taken_up(rig, pending)


def test_d52_nothing_is_rolled_back_but_by_a_plan(rig: Rig) -> None:
    """After a half-done update the old file's plan is the reverse of what was done, and it can be applied."""
    rig.control.put(rig.name("one"), spec())
    wanted = spec(team="infra")
    slurm(wanted)["config"] = {"MaxJobCount": "5000"}
    rig.write("one", wanted)
    _faults(rig, "patch", {"kind": "operation_error", "code": 13, "message": "no", "partial": True})
    rig.apply().ended(1)
    rig.write("one", spec())
    (change,) = rig.plan()["changes"]
    assert (change["path"], change["before"], change["after"]) == ("labels.team", "infra", "ml")
    rig.apply().ok()
    assert rig.live("one")["labels"] == spec()["labels"]


def test_an_operation_that_vanishes_is_resolved_by_the_cluster(rig: Rig) -> None:
    """404 for the operation while the cluster is still UPDATING: it's waited for by its state."""
    changed(rig, "one")
    _always(rig, "poll", kind="status", code=404, status="NOT_FOUND")
    outcome = rig.apply().ok()
    assert result(outcome)["status"] == "applied"
    assert "UPDATING" in outcome.err
    assert operations(rig) == UPDATED_ONCE


def test_an_operation_that_vanishes_with_its_cluster_busy_for_ever(rig: Rig) -> None:
    """That wait is bounded as well: pending, not failed."""
    changed(rig, "one")
    _faults(rig, "patch", {"kind": "operation_never_done"})
    _always(rig, "poll", kind="status", code=404, status="NOT_FOUND")
    begin = rig.time.slept
    pending = result(rig.apply("--timeout", "1h").ended(1))
    assert pending["status"] == "pending"
    assert rig.time.slept - begin < 3600 + 120


@pytest.mark.parametrize(("prepare", "kind"), [(new, "create"), (changed, "patch"), (unwanted, "delete")])
def test_done_without_response_or_error(rig: Rig, prepare: Callable[[Rig, str], None], kind: str) -> None:
    """Nobody knows what happened: an error, and the next run finds out."""
    prepare(rig, "one")
    _faults(rig, kind, {"kind": "operation_empty"})
    failed = result(rig.apply("--allow-delete").ended(1))
    assert failed["status"] == "failed"
    assert "without a response and without an error" in failed["error"]["message"]
    rig.apply("--allow-delete").ok()
    assert operations(rig).total() == 1


def test_a_late_write_is_not_sent_twice(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATCH that arrives after we gave up on its answer: time is given to it before it's looked for. Real time."""
    changed(rig, "one")
    sleep = rig.time.sleep

    def really(seconds: float) -> None:
        time.sleep(min(seconds, 2.0))
        sleep(seconds)

    monkeypatch.setattr(rig.time, "sleep", really)
    rig.impatient()
    _faults(rig, "patch", {"kind": "hang", "seconds": 1.0})
    rig.apply().ok()
    assert rig.writes() == ["PATCH"]
    assert operations(rig) == UPDATED_ONCE


# --- E


class Renewed:
    """Credentials that can be renewed `renewals` times, and what they were asked for."""

    universe = "googleapis.com"

    def __init__(self, renewals: int) -> None:
        self._left = renewals
        self.refreshed = 0

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer token-{self.refreshed}-0123456789abcdef"}

    def refresh(self, rejected: Mapping[str, str]) -> bool:
        if not self._left:
            raise AuthError("the job that this token was made for has ended", hint="authenticate again")
        self._left -= 1
        self.refreshed += 1
        return True


@pytest.fixture
def with_credentials(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Renewed]:
    """Put credentials in place of those of the environment."""

    def use(renewals: int) -> Renewed:
        credentials = Renewed(renewals)
        monkeypatch.setattr(exchange, "credentials_for", lambda *_: credentials)
        return credentials

    return use


DENIED = {"kind": "status", "code": 401, "status": "UNAUTHENTICATED"}


@pytest.mark.parametrize("kind", ["get", "patch", "poll"])
def test_e53_a_token_that_expires_is_renewed(rig: Rig, kind: str, with_credentials: Callable[[int], Renewed]) -> None:
    """401 in the middle: renewed, repeated once, and nobody notices; a write too, for it was refused."""
    changed(rig, "one")
    credentials = with_credentials(5)
    _faults(rig, kind, DENIED)
    assert result(rig.apply().ok())["status"] == "applied"
    assert credentials.refreshed == 1
    assert operations(rig) == UPDATED_ONCE


@pytest.mark.parametrize("renewals", [0, 1], ids=["can't be renewed", "is refused again"])
def test_e53_a_wait_without_credentials_is_pending(
    rig: Rig, renewals: int, with_credentials: Callable[[int], Renewed]
) -> None:
    """The operation goes on and nobody says that it failed: its name, and the command for later."""
    changed(rig, "one")
    with_credentials(renewals)
    rig.control.faults([{"match": {"kind": "poll"}, "fault": DENIED, "after": 2}])
    outcome = rig.apply().ended(1)
    pending = result(outcome)
    assert pending["status"] == "pending"
    if not renewals:
        assert "the job that this token was made for has ended" in outcome.out
    _taken_up(rig, pending)


def test_e53_a_wait_for_somebody_elses_operation(rig: Rig, with_credentials: Callable[[int], Renewed]) -> None:
    """While the cluster is busy with what another run began: pending too, with what to do."""
    changed(rig, "one")
    rig.control.live(rig.name("one"), {"clusterStatus": {"state": "UPDATING"}})
    with_credentials(0)
    rig.control.faults([{"match": {"kind": "get"}, "fault": DENIED, "after": 3}])
    pending = result(rig.apply().ended(1))
    assert pending["status"] == "pending"
    assert pending["error"]["hint"] == "run the same command again"
    assert rig.writes() == []


def test_e53_credentials_that_end_before_the_proof(rig: Rig, with_credentials: Callable[[int], Renewed]) -> None:
    """The operation succeeded and the last look is refused: not proven, so pending, and never failed."""
    changed(rig, "one")
    with_credentials(0)
    rig.control.faults([{"match": {"kind": "get"}, "fault": DENIED, "after": 2}])
    pending = result(rig.apply().ended(1))
    assert (pending["status"], pending["converged"]) == ("pending", False)
    assert "the change was made" in pending["error"]["message"]
    rig.control.clear_faults()
    rig.apply().ok()
    assert operations(rig) == UPDATED_ONCE


def test_e56_a_refresh_that_fails_is_no_server_error(rig: Rig, with_credentials: Callable[[int], Renewed]) -> None:
    """A class of its own, at once, with what to do."""
    changed(rig, "one")
    with_credentials(0)
    _always(rig, "get", **DENIED)
    begin = rig.time.slept
    outcome = rig.run("apply", "--auto-approve", "--format", "json").ended(1)
    (failed,) = outcome.json["results"]
    assert failed["error"]["code"] == "credentials"
    assert rig.time.slept - begin < 2
    assert "authenticate again" in outcome.out + outcome.err


def test_the_clocks_have_names(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Request timeout, retry budget and operation wait are settings, and the errors that they cause tell them apart."""
    changed(rig, "one")
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "20s")
    monkeypatch.setenv("RECONCILER_OPERATION_TIMEOUT", "40s")
    _always(rig, "get", kind="status", code=503)
    begin = rig.time.slept
    assert _error(rig.apply()) == "unavailable"
    assert rig.time.slept - begin < 20
    rig.control.clear_faults()
    _always(rig, "poll", kind="operation_never_done")
    begin = rig.time.slept
    assert _error(rig.apply()) == "pending"
    assert 39 < rig.time.slept - begin < 60


@pytest.mark.parametrize("name", ["REQUEST_TIMEOUT", "RETRY_BUDGET", "QUEUE_BUDGET", "OPERATION_TIMEOUT"])
def test_a_clock_that_makes_no_sense(rig: Rig, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Usage errors that name the variable."""
    for value in ("soon", "-1", "nan", "inf", "1e9999", "0x10", "٣"):
        monkeypatch.setenv(f"RECONCILER_{name}", value)
        outcome = rig.run("plan").ended(64)
        assert name in outcome.err.upper().replace("-", "_")


def _error(outcome: Outcome) -> str:
    return str(result(outcome.ended(1))["error"]["code"])
