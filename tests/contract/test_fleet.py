"""Several clusters: each on its own, none held up or hidden by another; drift over all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.bench import LOCATION, Bench, Outcome
from tests.contract.specs import pool

FLEET = ("one", "two", "three")


def _raise_max(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=6)


@pytest.fixture
def fleet(bench: Bench) -> Bench:
    """Three clusters, each with an edit."""
    for cluster in FLEET:
        bench.write(cluster, bench.small())
    bench.apply().ok()
    for cluster in FLEET:
        bench.edit(bench.root / f"clusters.d/{cluster}.yaml", _raise_max)
    bench.control.clear_requests()
    return bench


def _statuses(outcome: Outcome) -> dict[str, str]:
    return {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}


def _deny(bench: Bench, kind: str, cluster: str) -> None:
    fault = {"kind": "status", "code": 403, "status": "PERMISSION_DENIED", "message": "not yours"}
    bench.control.faults([{"match": {"kind": kind, "cluster": cluster}, "fault": fault}])


def test_one_that_may_not_be_read(fleet: Bench) -> None:
    """A 403 for one cluster: the others are planned, the one is an error beside them, exit 1. (Case 71)"""
    _deny(fleet, "list", "*")  # so that each is asked for by itself
    _deny(fleet, "get", "two")
    plan = fleet.run("plan", "--format", "json").ended(1).json
    assert [each["action"] for each in plan["clusters"]] == ["update", "update"]
    (error,) = plan["errors"]
    assert (error["cluster"], error["code"]) == (fleet.name("two"), "permission_denied")
    assert _statuses(fleet.apply().ended(1)) == {"one": "applied", "three": "applied", "two": "failed"}
    assert fleet.run("drift").ended(1).out


def test_one_that_may_not_be_written(fleet: Bench) -> None:
    """A refused PATCH of one cluster stops no other."""
    _deny(fleet, "patch", "one")
    assert _statuses(fleet.apply("--parallelism", "1").ended(1)) == {
        "one": "failed",
        "three": "applied",
        "two": "applied",
    }


def test_one_whose_operation_fails(fleet: Bench) -> None:
    """Nor does an operation that ends badly."""
    fault = {"kind": "operation_error", "message": "stockout", "code": 8}
    fleet.control.faults([{"match": {"kind": "patch", "cluster": "two"}, "fault": fault}])
    assert _statuses(fleet.apply().ended(1)) == {"one": "applied", "three": "applied", "two": "failed"}


def test_one_bad_file(fleet: Bench) -> None:
    """A broken file is an error with its place, and the other clusters are planned, drifted and applied."""
    (fleet.root / "clusters.d/two.yaml").write_text("spec: {")
    for command in ("plan", "drift"):
        document = fleet.run(command, "--format", "json").ended(1).json
        assert len(document["clusters"]) == 2
        assert [error["source"] for error in document["errors"]] == ["clusters.d/two.yaml"]
    outcome = fleet.apply().ended(1)
    assert _statuses(outcome) == {"one": "applied", "three": "applied"}
    assert [error["source"] for error in outcome.json["errors"]] == ["clusters.d/two.yaml"]


def test_one_that_is_blocked(fleet: Bench) -> None:
    """A blocked cluster is exit 1 and told; the others are done."""
    fleet.edit(fleet.root / "clusters.d/two.yaml", lambda spec: pool(spec, "cpu").update(provisioning_model="SPOT"))
    assert fleet.run("plan", "--format", "json").ended(1).json["summary"] == {
        "create": 0, "update": 3, "replace": 0, "delete": 0, "no_op": 0, "blocked": 1,
    }  # fmt: skip
    assert _statuses(fleet.apply().ended(1)) == {"one": "applied", "three": "applied", "two": "blocked"}


def test_two_files_for_one_cluster(fleet: Bench) -> None:
    """Neither is used, each names the other, and the rest goes on."""
    fleet.text("clusters.d/zwei.yaml", (fleet.root / "clusters.d/two.yaml").read_text())
    outcome = fleet.run("plan", "--format", "json").ended(1)
    assert {error["source"] for error in outcome.json["errors"]} == {"clusters.d/two.yaml", "clusters.d/zwei.yaml"}
    assert "zwei.yaml:" in outcome.err
    assert len(outcome.json["clusters"]) == 2


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        (["one"], ["one"]),
        (["t*"], ["three", "two"]),
        (["one", "t?o"], ["one", "two"]),
        (["{project}/us-central1/*"], ["one", "three", "two"]),
        (["*/us-central1/two"], ["two"]),
    ],
)
def test_narrowed_to_some(fleet: Bench, patterns: list[str], chosen: list[str]) -> None:
    """--cluster takes ids and globs, several times; what it leaves out isn't touched."""
    options = [part for pattern in patterns for part in ("--cluster", pattern.format(project=fleet.project))]
    planned = fleet.run("plan", "--format", "json", *options).ok().json["clusters"]
    assert [each["cluster"].rpartition("/")[2] for each in planned] == chosen
    assert sorted(_statuses(fleet.apply(*options).ok())) == chosen
    assert len(fleet.writes()) == len(chosen)


def test_narrowed_past_a_bad_file(fleet: Bench) -> None:
    """A file that describes another cluster isn't in the way of the chosen one."""
    path = fleet.root / "clusters.d/two.yaml"
    path.write_text(path.read_text().replace('"spec"', '"specs"'))
    assert _statuses(fleet.apply("--cluster", "one").ok()) == {"one": "applied"}


def test_paths_choose_too(fleet: Bench) -> None:
    """PATHS are files or folders, in any number."""
    fleet.write("four", fleet.small(), folder="more/deep")
    planned = fleet.run("plan", "--format", "json", "clusters.d/one.yaml", "more").ok().json["clusters"]
    assert [(each["source"], each["action"]) for each in planned] == [
        ("more/deep/four.yaml", "create"),
        ("clusters.d/one.yaml", "update"),
    ]


@pytest.mark.parametrize("quirks", [{}, {"page_cap": 1}, {"page_cap": 2, "empty_pages": 2}, {"list_key": "clusters"}])
def test_pages_of_all_kinds(fleet: Bench, quirks: dict[str, Any]) -> None:
    """Short pages, empty pages with a token, S2's name of the list: every cluster is seen, none is created twice."""
    fleet.control.quirks(**quirks)
    assert len(fleet.run("list", "--format", "json").ok().json["clusters"]) == 3
    assert {each["action"] for each in fleet.run("plan", "--format", "json").ok().json["clusters"]} == {"update"}


def test_a_cluster_that_the_list_leaves_out_is_not_absent(fleet: Bench) -> None:
    """A list that shows too little never leads to a create: absence is proved by GET."""
    fleet.fault("wrong_type", "list", body={"modelDevelopmentClusters": []})
    assert {each["action"] for each in fleet.run("plan", "--format", "json").ok().json["clusters"]} == {"update"}


@pytest.mark.parametrize("fault", ["html", "truncate", "empty", "wrong_type"])
def test_a_broken_answer_is_not_an_absent_cluster(fleet: Bench, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTML, half a JSON text or nothing: an error with URL and status, exit 1, and no create. (Contract 5.3)"""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0s")
    fleet.fault(fault, "get")
    outcome = fleet.run("apply", "--cluster", "one", "--auto-approve", "--format", "json").ended(1)
    (failed,) = outcome.json["results"]
    assert fleet.name("one") in failed["error"]["message"]
    assert fleet.writes() == []


def test_a_404_of_something_else_is_not_an_absent_cluster(fleet: Bench) -> None:
    """A proxy's 404 page says nothing about a cluster."""
    fleet.fault("html", "get", code=404)
    fleet.run("plan", "--cluster", "one").ended(1)
    assert fleet.apply("--cluster", "one").ended(1)
    assert fleet.writes() == []


# --- drift


def test_drift_shows_what_plan_shows(fleet: Bench) -> None:
    """The drift report carries each difference: path, live value, wanted value. (Case 68)"""
    fleet.apply().ok()
    fleet.control.live(fleet.name("two"), {"labels": {"by": "hand"}})
    document = fleet.run("drift", "--format", "json").ended(2).json
    (drifted,) = [each for each in document["clusters"] if each["action"] != "no_op"]
    (change,) = drifted["changes"]
    assert (change["path"], change["before"], change["after"]) == ("labels.by", "hand", None)
    assert document["unmanaged"] == []
    assert "labels.by" in fleet.run("drift").ended(2).out
    assert "labels.by" in fleet.run("drift", "--format", "markdown").ended(2).out


def test_drift_sends_nothing(fleet: Bench) -> None:
    """Drift is report-only. (Case 103)"""
    fleet.run("drift").ended(2)
    assert fleet.writes() == []


def test_unmanaged_clusters(fleet: Bench) -> None:
    """Live clusters that no file knows are named, and count as drift, only with --include-unmanaged."""
    fleet.apply().ok()
    fleet.control.put(fleet.name("stray"), {"displayName": "stray"})
    fleet.run("drift").ended(0)
    assert "stray" in fleet.run("drift", "--include-unmanaged").ended(2).out
    document = fleet.run("drift", "--include-unmanaged", "--format", "json").ended(2).json
    assert document["unmanaged"] == [fleet.name("stray")]


def test_a_bad_file_makes_its_cluster_no_stray(fleet: Bench) -> None:
    """A cluster whose file can't be used is managed all the same."""
    path = fleet.root / "clusters.d/two.yaml"
    path.write_text(path.read_text().replace('"spec"', '"specs"'))
    document = fleet.run("drift", "--include-unmanaged", "--format", "json").ended(1).json
    assert document["unmanaged"] == []


def test_several_documents_in_a_file(bench: Bench) -> None:
    """A file may hold several clusters, and each is planned for itself."""
    documents = [
        f'{{"project": "{bench.project}", "location": "{LOCATION}", "cluster_id": "{cluster}", '
        f'"lifecycle": {{"state": "absent"}}}}'
        for cluster in FLEET
    ]
    bench.text("clusters.d/all.yaml", "\n---\n".join(documents))
    plan = bench.run("plan", "--format", "json").ok().json
    assert plan["summary"]["no_op"] == 3


def test_parallel_and_one_by_one_end_alike(bench: Bench) -> None:
    """--parallelism changes nothing but the time it takes; results are in the order of the plan."""
    for number in range(6):
        bench.write(f"c{number}", bench.small())
    outcome = bench.apply("--parallelism", "3").ok()
    assert list(_statuses(outcome)) == [f"c{number}" for number in range(6)]
    bench.settled()
