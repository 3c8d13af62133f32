"""`plan --out` and `apply --plan`: what was reviewed is what is applied, or nothing is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.contract.bench import Bench, Outcome, result
from tests.contract.process import until
from tests.contract.specs import cpu_pool, pool, slurm

OUT = "plan.json"


def _raise_max(spec: dict[str, Any], count: int = 6) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=count)


@pytest.fixture
def reviewed(bench: Bench) -> Path:
    """A cluster with one pending edit, planned into plan.json; the cluster file."""
    path = bench.created("demo", bench.base())
    bench.edit(path, _raise_max)
    bench.run("plan", "--out", OUT).ok()
    return path


def _apply(bench: Bench, *more: str) -> Outcome:
    return bench.run("apply", "--plan", OUT, "--auto-approve", "--format", "json", *more)


def _refused(bench: Bench, code: str) -> str:
    """The message of a refusal; nothing may have been sent."""
    error = _apply(bench).ended(1).json["error"]
    assert error["code"] == code
    assert bench.writes() == []
    return str(error["message"])


def test_a_fresh_plan_is_applied(bench: Bench, reviewed: Path) -> None:
    """What the file holds is sent, and nothing is left after it."""
    planned = json.loads((bench.root / OUT).read_text())["clusters"][0]["request"]
    assert result(_apply(bench).ok())["status"] == "applied"
    (sent,) = bench.requests("patch")
    assert (sent["query"], sent["body"]) == (planned["query"], planned["body"])
    bench.settled()


def test_out_is_what_json_shows(bench: Bench, reviewed: Path) -> None:
    """The plan file and --format json are the same document, valid by the schema that `schema plan` prints."""
    shown = bench.run("plan", "--format", "json", "--out", OUT).ok()
    assert (bench.root / OUT).read_text() == shown.out
    jsonschema.validate(shown.json, bench.run("schema", "plan").ok().json)


def test_a_plan_is_applied_once(bench: Bench, reviewed: Path) -> None:
    """After it was applied the plan is stale: the cluster is no longer what it was made from."""
    _apply(bench).ok()
    bench.control.clear_requests()
    assert "the live cluster has changed" in _refused(bench, "stale")


def test_an_empty_plan_is_applied_to_nothing(bench: Bench) -> None:
    """A plan without changes goes through and sends nothing."""
    bench.created("demo", bench.base())
    bench.run("plan", "--out", OUT).ok()
    assert result(_apply(bench).ok())["status"] == "no_op"
    assert bench.writes() == []


FILE_EDITS: list[tuple[str, Callable[[Bench, Path], object]]] = [
    ("another value", lambda b, p: b.edit(p, lambda s: _raise_max(s, 8))),
    ("one more field", lambda b, p: b.edit(p, lambda s: s.update(labels={"team": "other"}))),
    ("the edit taken back", lambda b, p: b.edit(p, lambda s: _raise_max(s, 4))),
    ("another lifecycle", lambda b, p: b.write("demo", json.loads(p.read_text())["spec"], prevent_destroy=False)),
    ("wanted absent", lambda b, p: b.write("demo", None, state="absent", prevent_destroy=False)),
    ("gone", lambda b, p: p.unlink()),
    ("broken", lambda b, p: p.write_text("spec: [")),
]


@pytest.mark.parametrize("edit", [edit for _, edit in FILE_EDITS], ids=[name for name, _ in FILE_EDITS])
def test_a_file_that_moved_on_makes_it_stale(bench: Bench, reviewed: Path, edit: Callable[..., object]) -> None:
    """A cluster file that isn't what was planned from: refused, nothing sent. (Case 61)"""
    edit(bench, reviewed)
    message = _refused(bench, "stale")
    assert "demo" in message
    assert "file" in message


LIVE_EDITS: list[tuple[str, dict[str, Any], str]] = [
    ("the planned field", {"nodePools": {"cpu": {"scalingSpec": {"maxNodeCount": 5}}}}, "max_node_count"),
    ("another field", {"labels": {"team": "other"}}, "labels.team"),
    ("a pool more", {"nodePools": {"new": cpu_pool("new")}}, "node_pools[new]"),
    ("a script gone", {"orchestratorSpec": {"slurmSpec": {"prologBashScripts": []}}}, "prolog_bash_scripts[0]"),
]


@pytest.mark.parametrize(("edit", "said"), [row[1:] for row in LIVE_EDITS], ids=[row[0] for row in LIVE_EDITS])
def test_a_live_cluster_that_moved_on_makes_it_stale(
    bench: Bench, reviewed: Path, edit: dict[str, Any], said: str
) -> None:
    """A live cluster that isn't what was planned from: refused with what moved, nothing sent. (Case 61)"""
    bench.control.live(bench.name(), edit)
    assert said in _refused(bench, "stale")


@pytest.mark.parametrize(
    "edit",
    [
        {"_nodes": {"cpu": 3, "gpu": {"count": 2, "state": "ERROR"}}},
        {"updateTime": "2030-01-01T00:00:00Z"},
        {"clusterEvents": [{"type": "VM_SLURM_DRAIN"}]},
        {"clusterStatus": {"detail": "all is well"}},
        {"labels": {"goog-managed": "x"}},
        {"nodePools": {"cpu": {"futureKnob": {"a": 1}}}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_what_nobody_manages_makes_no_plan_stale(bench: Bench, reviewed: Path, edit: dict[str, Any]) -> None:
    """Node states, times, events, the service's labels and unknown fields may move between plan and apply. (Case 62)"""
    bench.control.live(bench.name(), edit)
    assert result(_apply(bench).ok())["status"] == "applied"
    bench.settled()


def test_nothing_is_sent_if_one_of_several_is_stale(bench: Bench) -> None:
    """A plan is applied whole or not at all."""
    for cluster in ("one", "two"):
        bench.edit(bench.created(cluster, bench.small()), _raise_max)
    bench.run("plan", "--out", OUT).ok()
    bench.control.live(bench.name("two"), {"labels": {"team": "other"}})
    assert "two" in _refused(bench, "stale")


def test_the_last_look_is_right_before_each_request(bench: Bench, reviewed: Path) -> None:
    """What moves after the plan was checked is still seen before the write."""
    # The first GET is the check of the plan file; from the second on the cluster is another one.
    bench.fault("hang", "get", after=1, times=1, seconds=2)
    process = bench.start("apply", "--plan", OUT, "--auto-approve", "--format", "json")
    until(lambda: len(bench.requests("get")) >= 2)
    bench.control.live(bench.name(), {"labels": {"team": "other"}})
    assert process.end() == 1
    (refused,) = json.loads(process.out)["results"]
    assert (refused["status"], refused["error"]["code"]) == ("failed", "stale")
    assert bench.writes() == []


def test_a_plan_of_another_project_is_refused(bench: Bench, reviewed: Path) -> None:
    """A plan for clusters that these files don't describe does nothing to anybody's."""
    text = (bench.root / OUT).read_text()
    (bench.root / OUT).write_text(text.replace(bench.project, "someone-else"))
    assert "someone-else" in _refused(bench, "stale")
    assert not [entry for entry in bench.control.requests() if entry["method"] != "GET"]


def test_a_plan_whose_request_was_edited_sends_what_was_planned(bench: Bench, reviewed: Path) -> None:
    """The request in the file is for people: what is sent is made again from file and live cluster."""
    document = json.loads((bench.root / OUT).read_text())
    document["clusters"][0]["request"]["body"]["node_pools"] = []
    (bench.root / OUT).write_text(json.dumps(document))
    _apply(bench)
    assert all(sent["body"]["node_pools"] for sent in bench.requests("patch"))
    assert len(bench.live()["nodePools"]) == 3


def _document(**changes: Any) -> Callable[[str], str]:
    return lambda text: json.dumps({**json.loads(text), **changes})


GARBAGE: list[tuple[str, Callable[[str], str | bytes]]] = [
    ("empty", lambda _: ""),
    ("text", lambda _: "not a plan"),
    ("binary", lambda _: b"\x00\xff\xfe\x80"),
    ("truncated", lambda text: text[: len(text) // 2]),
    ("a list", lambda _: "[]"),
    ("null", lambda _: "null"),
    ("deep", lambda _: "[" * 5000 + "]" * 5000),
    ("no clusters", lambda text: '{"format_version": "1"}'),
    ("a cluster file", lambda _: '{"project": "p", "location": "l", "cluster_id": "c", "spec": {}}'),
    ("version 2", _document(format_version="2")),
    ("version 1 as a number", _document(format_version=1)),
    ("no version", lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "format_version"})),
    ("clusters of another type", _document(clusters={"demo": {}})),
    ("a cluster without its name", _document(clusters=[{"action": "update"}])),
    ("an unknown action", lambda text: text.replace('"action": "update"', '"action": "explode"')),
    ("an unknown member", _document(extra=True)),
    ("infinity", lambda text: text.replace('"after": 6', '"after": 1e400')),
]


@pytest.mark.parametrize("spoil", [spoil for _, spoil in GARBAGE], ids=[name for name, _ in GARBAGE])
def test_what_is_no_plan_is_refused(bench: Bench, reviewed: Path, spoil: Callable[[str], str | bytes]) -> None:
    """A damaged file, or one of another format version: a clear error, and not a request that writes."""
    path = bench.root / OUT
    spoiled = spoil(path.read_text())
    path.write_bytes(spoiled if isinstance(spoiled, bytes) else spoiled.encode())
    outcome = _apply(bench).ended(1)
    assert outcome.json["error"]["message"]
    assert "Traceback" not in outcome.err
    assert bench.writes() == []


def test_a_missing_plan_file_names_itself(bench: Bench, reviewed: Path) -> None:
    """So does a folder in its place."""
    for path in ("none.json", "clusters.d"):
        assert path in bench.run("apply", "--plan", path, "--auto-approve").ended(1).err


def test_an_unwritable_plan_file_is_an_error(bench: Bench) -> None:
    """--out into a folder that isn't there: exit 1 and the path."""
    bench.write("demo", bench.base())
    assert "no/such" in bench.run("plan", "--out", "no/such/plan.json").ended(1).err


def test_the_update_mode_that_was_reviewed_is_the_one_sent(bench: Bench) -> None:
    """`plan --update-mode` holds for `apply --plan` unless that says otherwise. (Cases 17, 61)"""
    path = bench.created("demo", bench.base())
    for count, more, mode in ((5, (), "USER_ONLY"), (6, ("--update-mode", "USER_AND_SERVICE"), "USER_AND_SERVICE")):
        bench.edit(path, lambda spec, count=count: _raise_max(spec, count))
        bench.run("plan", "--out", OUT, "--update-mode", "USER_ONLY").ok()
        _apply(bench, *more).ok()
        assert bench.requests("patch")[-1]["query"]["updateMode"] == mode


def test_a_plan_with_a_blocked_cluster_applies_the_others(bench: Bench) -> None:
    """Blockers are looked at again when the plan is applied; the others go on, and the exit code says so."""
    bench.edit(bench.created("one", bench.small()), _raise_max)
    two = bench.created("two", bench.small())
    bench.edit(two, lambda spec: slurm(spec).update(home_directory_storage="projects/p/locations/l/instances/other"))
    bench.run("plan", "--out", OUT).ended(1)
    statuses = {each["cluster"]: each["status"] for each in _apply(bench).ended(1).json["results"]}
    assert statuses == {bench.name("one"): "applied", bench.name("two"): "blocked"}


def _unreadable(bench: Bench, cluster: str, **more: Any) -> None:
    fault = {"kind": "status", "code": 403, "status": "PERMISSION_DENIED", "message": "not yours"}
    bench.control.faults([{"match": {"kind": "get", "cluster": cluster}, "fault": fault, **more}])


@pytest.fixture
def pair(bench: Bench) -> Bench:
    """Two clusters, each with an edit."""
    for cluster in ("one", "two"):
        bench.edit(bench.created(cluster, bench.small()), _raise_max)
    return bench


def test_what_wasnt_planned_is_told_again(pair: Bench) -> None:
    """A plan with errors is applied as far as it goes: what it leaves out is a failure, and exit 1."""
    _unreadable(pair, "two", times=1)
    pair.text("clusters.d/bad.yaml", "project: [")
    pair.run("plan", "--out", OUT).ended(1)
    outcome = _apply(pair).ended(1).json
    results = {each["cluster"]: each for each in outcome["results"]}
    assert {name: each["status"] for name, each in results.items()} == {
        pair.name("one"): "applied",
        pair.name("two"): "failed",
    }
    left_out = results[pair.name("two")]["error"]
    assert left_out["code"] == "permission_denied"
    assert left_out["message"].startswith(f"not in {OUT}: ")
    assert [error["source"] for error in outcome["errors"]] == ["clusters.d/bad.yaml"]
    assert [entry["cluster"] for entry in pair.requests("patch")] == ["one"]


def test_what_wasnt_planned_and_isnt_asked_for(pair: Bench) -> None:
    """Narrowed to other clusters, an apply has nothing to do with it."""
    _unreadable(pair, "two", times=1)
    pair.run("plan", "--out", OUT).ended(1)
    assert result(_apply(pair, "--cluster", "one").ok())["status"] == "applied"


def test_one_that_cant_be_read_any_more_stops_no_other(pair: Bench) -> None:
    """That is its own failure; the plan of the others still holds."""
    pair.run("plan", "--out", OUT).ok()
    _unreadable(pair, "two")
    statuses = {each["cluster"]: each["status"] for each in _apply(pair).ended(1).json["results"]}
    assert statuses == {pair.name("one"): "applied", pair.name("two"): "failed"}
