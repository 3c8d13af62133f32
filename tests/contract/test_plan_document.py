"""What a plan says (contract section 3), in JSON, text and Markdown, over all the kinds of actions there are."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from tests.contract.bench import LOCATION, Bench
from tests.contract.specs import pool, slurm

KINDS = {"a": "no_op", "b": "create", "c": "update", "d": "replace", "e": "delete", "f": "update"}


def _raise_max(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=6)


@pytest.fixture
def all_kinds(bench: Bench) -> Bench:
    """A cluster for every action, and one that is blocked."""
    for cluster in "acdef":
        bench.write(cluster, bench.small())
    bench.apply().ok()
    bench.write("b", bench.small())
    bench.edit(bench.root / "clusters.d/c.yaml", _raise_max)
    replaceable = bench.write("d", bench.small(), prevent_destroy=False, replace_on=["immutable_change"])
    bench.write("e", None, state="absent", prevent_destroy=False)
    for path in (replaceable, bench.root / "clusters.d/f.yaml"):
        bench.edit(path, lambda spec: pool(spec, "cpu").update(provisioning_model="SPOT"))
    return bench


def test_all_actions(all_kinds: Bench) -> None:
    """Each cluster has its action, its request and its blockers; the summary counts them; the schema holds."""
    document = all_kinds.run("plan", "--format", "json").ended(1).json
    jsonschema.validate(document, all_kinds.run("schema", "plan").ok().json)
    clusters = {each["cluster"].rpartition("/")[2]: each for each in document["clusters"]}
    assert {name: each["action"] for name, each in clusters.items()} == KINDS
    assert {name: (each["request"] or {}).get("method") for name, each in clusters.items()} == {
        "a": None, "b": "POST", "c": "PATCH", "d": "POST", "e": "DELETE", "f": "PATCH",
    }  # fmt: skip
    assert [name for name, each in clusters.items() if each["blockers"]] == ["f"]
    assert document["summary"] == {"create": 1, "update": 2, "replace": 1, "delete": 1, "no_op": 1, "blocked": 1}
    assert [clusters[name]["live_fingerprint"] is None for name in "ab"] == [False, True]


def test_the_requests_are_those_of_the_documentation(all_kinds: Bench) -> None:
    """Paths, query names and masks, and the create of a replace."""
    clusters = {
        each["cluster"].rpartition("/")[2]: each["request"]
        for each in all_kinds.run("plan", "--format", "json").json["clusters"]
    }
    parent = f"/v1beta1/projects/{all_kinds.project}/locations/{LOCATION}/modelDevelopmentClusters"
    for name in "bd":
        assert clusters[name]["path"] == parent
        assert clusters[name]["query"] == {"model_development_cluster_id": name}
    assert clusters["c"]["path"] == f"{parent}/c"
    assert clusters["c"]["query"] == {"updateMask": "node_pools", "updateMode": "USER_AND_SERVICE"}
    assert (clusters["e"]["path"], clusters["e"]["body"]) == (f"{parent}/e", None)
    assert {pool["id"] for pool in clusters["c"]["body"]["node_pools"]} == {"login", "cpu"}


def test_what_the_plan_announces_is_what_apply_sends(all_kinds: Bench) -> None:
    """Every write, with method, path, query and body, in a plan file and on the wire."""
    planned = all_kinds.run("plan", "--format", "json").json["clusters"]
    wanted = {(r["method"], r["path"]): r for each in planned if (r := each["request"]) and not each["blockers"]}
    all_kinds.control.clear_requests()
    all_kinds.apply("--allow-delete", "--allow-replace", "--parallelism", "1").ended(1)
    sent = all_kinds.requests("create", "patch", "delete")
    # The delete of a replace isn't in the plan's request: that is the create.
    assert len(sent) == len([each for each in planned if each["request"] and not each["blockers"]]) + 1
    for entry in sent:
        if request := wanted.get((entry["method"], entry["path"])):
            same = [each for each in sent if (each["method"], each["path"]) == (entry["method"], entry["path"])]
            assert (request["query"], request["body"]) in [(each["query"], each["body"]) for each in same]


def test_two_plans_of_the_same_inputs_are_equal(all_kinds: Bench) -> None:
    """But for created_at, whatever the order of answers and files."""
    plans = []
    for quirks in ({}, {"pool_order": "reversed"}, {"page_cap": 1}):
        all_kinds.control.quirks(**quirks)
        plans.append(all_kinds.run("plan", "--format", "json").json)
    assert [each.pop("created_at").endswith("Z") for each in plans] == [True] * 3
    assert plans[0] == plans[1] == plans[2]


def test_the_text_view(all_kinds: Bench) -> None:
    """What is to be done, cluster by cluster, blockers, and one line that counts it all. (Case 70)"""
    text = all_kinds.run("plan").ended(1).out
    for word in ("(create)", "(update)", "(replace)", "(delete)", "[immutable_field]", "max_node_count: 4 -> 6"):
        assert word in text
    assert "Plan: 1 to create, 2 to update, 1 to replace, 1 to delete, 1 unchanged (1 blocked)" in text


@pytest.mark.parametrize("full", [False, True])
def test_markdown_stays_within_its_limit(bench: Bench, full: bool) -> None:
    """65,000 characters unless --full, with totals, removals and blockers kept. (Cases 73, 101)"""
    for number in range(3):
        path = bench.created(f"c{number}", bench.small())
        script = "#!/bin/bash\n" + "\n".join(f"echo {line} ``` @someone </details>" for line in range(2000))
        bench.edit(path, lambda spec, script=script: slurm(spec).update(prolog_bash_scripts=[script]))
    bench.edit(bench.root / "clusters.d/c1.yaml", lambda spec: slurm(spec)["partitions"].clear())
    bench.edit(bench.root / "clusters.d/c2.yaml", lambda spec: pool(spec, "cpu").update(provisioning_model="SPOT"))
    text = bench.run("plan", "--format", "markdown", *(["--full"] if full else [])).ended(1).out
    assert (len(text) <= 65_000) is not full
    for word in ("3 to update", "c2", "immutable_field"):
        assert word in text


def test_notes_and_reasons_are_text_for_people(bench: Bench) -> None:
    """Every change says what it does; every note has a code and a message."""
    path = bench.created("demo", bench.base())
    bench.control.live(bench.name(), {"futureTop": 1, "_nodes": {"gpu": 4}})
    bench.edit(path, lambda spec: pool(spec, "gpu")["scaling_spec"].update(max_node_count=2))
    plan = bench.plan()
    assert all(note["code"] and note["message"] for note in plan["notes"])
    assert {"unknown_live_field", "update_mode"} <= {note["code"] for note in plan["notes"]}
    (change,) = plan["changes"]
    assert change["impact"] == "removes_nodes"
    assert change["reason"]
