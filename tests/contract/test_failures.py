"""What the service may do to an apply: lost answers, failed operations, changes that are accepted and not made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.contract.bench import Bench, result
from tests.contract.conftest import LONG
from tests.contract.specs import PROLOG, SLURM, pool, slurm

Fault = dict[str, Any]


def _raise_max(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=6)


def _relabel(spec: dict[str, Any]) -> None:
    spec.update(labels={"team": "infra"})


@pytest.fixture
def edited(bench: Bench) -> Path:
    """A cluster with an edit that is one PATCH."""
    path = bench.created("demo", bench.base())
    bench.edit(path, _raise_max)
    return path


# --- polls


POLLS = [
    [{"kind": "status", "code": 503}, {"kind": "reset"}, {"kind": "status", "code": 429, "headers": {"Retry-After": "1"}}],
    [{"kind": "html", "code": 502}, {"kind": "truncate"}, {"kind": "empty", "code": 200}],
    [{"kind": "status", "code": 500}, {"kind": "status", "code": 504}, {"kind": "wrong_type", "body": [1]}],
]  # fmt: skip


@pytest.mark.parametrize("faults", POLLS, ids=lambda faults: "-".join(str(f.get("code", f["kind"])) for f in faults))
def test_failed_polls_decide_nothing(bench: Bench, edited: Path, faults: list[Fault]) -> None:
    """Unavailable, reset, throttled, garbled: only the operation's own end counts. (Cases 44, 50)"""
    bench.control.faults([{"match": {"kind": "poll"}, "fault": fault, "times": 1} for fault in faults])
    assert result(bench.apply().ok())["status"] == "applied"
    assert len(bench.requests("poll")) > len(faults)
    assert bench.writes() == ["PATCH"]


def test_an_operation_that_nobody_knows_any_more(bench: Bench, edited: Path) -> None:
    """A 404 for the operation isn't a failure of the change: the cluster tells."""
    bench.fault("operation_vanishes", "patch")
    assert result(bench.apply().ok())["status"] == "applied"
    assert bench.writes() == ["PATCH"]


def test_an_operation_that_ends_without_a_word(bench: Bench, edited: Path) -> None:
    """Done with neither response nor error: not taken for a success."""
    bench.fault("operation_empty", "patch")
    outcome = bench.apply()
    assert bench.live()["nodePools"] != []
    assert (outcome.code, result(outcome)["status"]) in ((0, "applied"), (1, "failed"))


@pytest.mark.parametrize("code", [401, 403])
def test_a_poll_that_is_refused_says_nothing_of_the_operation(bench: Bench, edited: Path, code: int) -> None:
    """No longer allowed to look: pending, with the way back, never "failed". (Case 53)"""
    bench.fault("status", "poll", code=code)
    pending = result(bench.apply().ended(1))
    assert pending["status"] == "pending"
    assert pending["operation"] in pending["error"]["hint"]
    bench.control.clear_faults()
    bench.settled()
    assert bench.writes() == ["PATCH"]


# --- writes


# Each with whether the write had an effect all the same; an answer that is cut short is one to a write that had.
LOST: list[tuple[Fault, bool]] = [
    *(
        ({**fault, "effect": effect}, effect)
        for effect in (True, False)
        for fault in (
            {"kind": "reset"},
            {"kind": "status", "code": 503},
            {"kind": "html", "code": 502},
            {"kind": "empty", "code": 200},
            {"kind": "wrong_type"},
        )
    ),
    ({"kind": "truncate"}, True),
]


@pytest.mark.parametrize("request_", ["create", "patch", "delete"])
@pytest.mark.parametrize(
    ("fault", "effect"), LOST, ids=[f"{fault['kind']}-{'done' if effect else 'in vain'}" for fault, effect in LOST]
)
def test_a_lost_answer_is_resolved_by_looking(bench: Bench, request_: str, fault: Fault, effect: bool) -> None:
    """Whether or not the write had an effect: it is looked for, and repeated only in vain. Nothing is made twice."""
    if request_ == "create":
        bench.write("demo", bench.small())
    else:
        path = bench.created("demo", bench.base(), prevent_destroy=False)
        bench.edit(path, _raise_max)
    bench.fault(**fault, request=request_, times=1)
    if request_ == "delete":
        bench.run("delete", "demo", "--auto-approve").ok()
    else:
        assert result(bench.apply().ok())["status"] == "applied"
        bench.settled()
    assert len(bench.requests(request_)) == (1 if effect else 2)


def test_a_write_that_never_gets_an_answer(bench: Bench, edited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts within the retry budget, then an error that says so; the run can simply be repeated."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "2s")
    bench.fault("reset", "patch")
    failed = result(bench.apply().ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("failed", "ambiguous")
    assert 0 < len(bench.requests("patch")) < 10
    bench.control.clear_faults()
    bench.apply().ok()
    bench.settled()


REFUSALS: list[Fault] = [
    {"code": 400, "status": "INVALID_ARGUMENT", "message": "node_pools is odd"},
    {"code": 403, "status": "PERMISSION_DENIED", "message": "not yours"},
    {"code": 404, "status": "NOT_FOUND", "message": "no such cluster"},
    {"code": 409, "status": "ABORTED", "message": "etag mismatch"},
    {"code": 501, "status": "UNIMPLEMENTED", "message": "not here"},
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal["status"])
def test_a_refusal_is_final(bench: Bench, edited: Path, refusal: Fault) -> None:
    """No second attempt at what was refused; status, message, method and URL are told. (Cases 46, 134)"""
    bench.fault("status", "patch", **refusal)
    failed = result(bench.apply().ended(1))
    assert failed["error"]["code"] == refusal["status"].lower()
    for word in (refusal["message"], str(refusal["code"]), "PATCH", bench.name()):
        assert word in failed["error"]["message"]
    assert bench.writes() == ["PATCH"]


def test_a_missing_permission_is_named(bench: Bench, edited: Path) -> None:
    """A 403 says which permission to ask for. (Case 46)"""
    bench.fault("status", "patch", code=403, status="PERMISSION_DENIED")
    assert "aiplatform.modelDevelopmentClusters.update" in result(bench.apply().ended(1))["error"]["hint"]


def test_the_field_that_the_service_refuses_is_named(bench: Bench, edited: Path) -> None:
    """Field violations in an answer's details are told. (Case 134)"""
    violation = {"field": "node_pools[0].zone", "description": "is closed"}
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]}]
    bench.fault("status", "patch", code=400, status="INVALID_ARGUMENT", message="Invalid argument.", details=details)
    message = result(bench.apply().ended(1))["error"]["message"]
    assert "node_pools[0].zone: is closed" in message
    assert "updateMask=node_pools" in message


def test_one_mask_path_at_a_time_is_one_clear_error(bench: Bench) -> None:
    """A service that refuses two paths in one call: nothing is changed, and it is said why. (Case 25)"""
    path = bench.created("demo", bench.base())
    bench.control.quirks(single_mask_path=True)
    bench.edit(path, _raise_max)
    bench.edit(path, _relabel)
    before = bench.get()
    failed = result(bench.apply().ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("failed", "invalid_argument")
    assert "exactly one path" in failed["error"]["message"]
    assert bench.get() == before


# --- operations


def test_a_failed_operation_tells_what_is_in_place(bench: Bench) -> None:
    """An operation that ends with an error, half done: its code and message, and both halves by path. (Case 47)"""
    path = bench.created("demo", bench.base())
    bench.edit(path, _raise_max)
    bench.edit(path, lambda spec: slurm(spec).update(prolog_bash_scripts=[PROLOG, PROLOG]))
    message = "not enough resources in the zone"
    bench.fault("operation_error", "patch", times=1, code=8, message=message, partial=True, state="ERROR")
    failed = result(bench.apply().ended(1))
    assert failed["status"] == "failed"
    assert failed["error"]["code"] == "resource_exhausted"
    said = failed["error"]["message"]
    assert message in said
    assert "the cluster is ERROR" in said
    in_place, not_in_place = said.split("not in place: ")
    assert "in place: node_pools[cpu].scaling_spec.max_node_count" in in_place
    assert f"{SLURM}.prolog_bash_scripts" in not_in_place


def test_the_rest_is_what_the_next_plan_shows(bench: Bench) -> None:
    """After a half-done update the next apply makes the other half. (Case 52)"""
    path = bench.created("demo", bench.base())
    bench.edit(path, _raise_max)
    bench.edit(path, lambda spec: slurm(spec).update(prolog_bash_scripts=[]))
    bench.fault("operation_error", "patch", times=1, partial=True)
    bench.apply().ended(1)
    assert {change["mask"] for change in bench.plan()["changes"]} == {f"{SLURM}.prolog_bash_scripts"}
    bench.apply().ok()
    bench.settled()


def test_a_failed_create(bench: Bench) -> None:
    """The ERROR cluster that is left behind is named as one, in this run and in the next."""
    bench.write("demo", bench.small())
    bench.fault("operation_error", "create", code=8, message="stockout")
    assert "the cluster is ERROR: stockout" in result(bench.apply().ended(1))["error"]["message"]
    assert [blocker["code"] for blocker in bench.plan()["blockers"]] == ["cluster_in_error_state"]
    assert bench.writes() == ["POST"]


# --- accepted but not applied


def test_accepted_but_not_applied(bench: Bench) -> None:
    """200, a good end, and nothing changed: a failure that names the mask. (Cases 22, 37)"""
    path = bench.created("demo", bench.base())
    bench.edit(path, lambda spec: slurm(spec)["partitions"][1].update(config={"MaxTime": "60"}))
    bench.fault("accept_but_ignore", "patch")
    failed = result(bench.apply().ended(1))
    assert (failed["status"], failed["converged"]) == ("failed", False)
    assert failed["error"]["code"] == "not_converged"
    assert f"accepted but not applied: {SLURM}.partitions" in failed["error"]["message"]
    assert bench.writes() == ["PATCH"]


def test_only_what_was_left_out_is_named(bench: Bench) -> None:
    """Of two masked paths one is made: the other is the one named, with the value that is there."""
    path = bench.created("demo", bench.base())
    bench.edit(path, _raise_max)
    bench.edit(path, _relabel)
    bench.fault("accept_but_ignore", "patch", paths=["labels"])
    message = result(bench.apply().ended(1))["error"]["message"]
    assert "accepted but not applied: labels" in message
    assert "'ml'" in message
    assert "node_pools" not in message.split("accepted")[1]


def test_a_value_that_the_service_stores_otherwise(bench: Bench) -> None:
    """A service that trims scripts never converges: said at once, instead of sent again every few minutes. (Case 140)"""
    path = bench.created("demo", bench.base())
    bench.control.quirks(normalise_scripts=True)
    bench.edit(path, lambda spec: slurm(spec).update(prolog_bash_scripts=["#!/bin/bash\ntrue   \n\n\n"]))
    assert "prolog_bash_scripts" in result(bench.apply().ended(1))["error"]["message"]


@pytest.mark.parametrize("request_", ["create", "delete"])
def test_a_create_or_delete_that_does_nothing(bench: Bench, request_: str) -> None:
    """Those are proved by a fresh GET too."""
    if request_ == "create":
        bench.write("demo", bench.small())
        bench.fault("accept_but_ignore", "create")
        failed = result(bench.apply().ended(1))
    else:
        bench.created("demo", bench.small(), prevent_destroy=False)
        bench.fault("accept_but_ignore", "delete")
        failed = result(bench.run("delete", "demo", "--auto-approve", "--format", "json").ended(1))
    assert failed["error"]["code"] == "not_converged"


# --- races


def test_busy_when_the_write_arrives(bench: Bench, edited: Path) -> None:
    """FAILED_PRECONDITION between look and write: looked at again, then sent again. (Case 43)"""
    bench.fault("status", "patch", times=1, code=400, status="FAILED_PRECONDITION", message="is UPDATING")
    assert result(bench.apply().ok())["status"] == "applied"
    assert bench.writes() == ["PATCH", "PATCH"]
    bench.settled()


def test_created_by_somebody_else_meanwhile(bench: Bench) -> None:
    """ALREADY_EXISTS isn't overwritten: an error, and the next plan compares with what is there."""
    bench.write("demo", bench.small())
    bench.fault("status", "create", times=1, code=409, status="ALREADY_EXISTS", message="Resource already exists.")
    failed = result(bench.apply().ended(1))
    assert failed["error"]["code"] == "already_exists"
    assert bench.writes() == ["POST"]


def test_a_busy_cluster_is_waited_for(slow: Bench) -> None:
    """UPDATING by somebody else: apply waits, plans what is there then, and does that. (Cases 41, 43)"""
    slow.control.put(slow.name(), slow.base())
    path = slow.write("demo", slow.base())
    slow.edit(path, _raise_max)
    slow.control.live(slow.name(), {"clusterStatus": {"state": "UPDATING", "detail": "refreshing nodes"}})
    assert any(note["code"] == "cluster_busy" for note in slow.plan()["notes"])
    process = slow.start("apply", "--auto-approve", "--format", "json")
    process.hear("waiting: UPDATING: refreshing nodes")
    slow.control.live(slow.name(), {"clusterStatus": {"state": "RUNNING"}, "labels": {"team": "other"}})
    process.hear("/operations/")
    slow.control.advance(LONG)
    assert process.end() == 0
    assert json.loads(process.out)["results"][0]["status"] == "applied"
    assert [sent["query"]["updateMask"] for sent in slow.requests("patch")] == ["labels,node_pools"]


def test_busy_for_too_long(bench: Bench, edited: Path) -> None:
    """A cluster that stays busy isn't waited for beyond --timeout; nothing is sent."""
    bench.control.live(bench.name(), {"clusterStatus": {"state": "PROVISIONING"}})
    outcome = bench.apply("--timeout", "0s").ended(1)
    assert "still PROVISIONING" in result(outcome)["error"]["message"]
    assert bench.writes() == []
