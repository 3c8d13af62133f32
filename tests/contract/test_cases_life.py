"""Immutable fields, effects, waits, files that people write, shared ownership: pain points of the groups C, D, L and M.

Where a case's wish differs from the contract (what absence means), the contract is what is tested. The numbers are
those of the list of pain points.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.bench import Bench
from tests.contract.conftest import LONG
from tests.contract.demo import Edit, changes, edit, sent
from tests.contract.specs import PROLOG, SLURM, pool, slurm

IMAGE = "projects/example-proj/global/images"


# --- C: immutable fields, and when a change takes effect


@pytest.mark.parametrize(
    ("field", "value"),
    [("startup_script", "#!/bin/bash\n"), ("zone", "us-central1-b"), ("node_image", f"{IMAGE}/x"), ("labels", None)],
)
def test_what_existing_nodes_keep_is_said(demo: Bench, field: str, value: Any) -> None:
    """A change that needs nodes made anew is marked so, with the number of nodes that it waits for. (Case 38)"""
    demo.control.live(demo.name(), {"_nodes": {"gpu": 2}})
    edit(demo, lambda spec: pool(spec, "gpu").update({field: value or {"tier": "x"}}))
    (change,) = demo.plan()["changes"]
    if field == "labels":
        assert change["impact"] == "in_place"
    else:
        assert change["impact"] == "recreates_nodes"
        assert "2 existing nodes" in change["reason"]


def test_a_rename_is_said_to_destroy_nodes(demo: Bench) -> None:
    """A pool that vanishes while one like it appears: "looks like a rename". (Case 34)"""
    edit(
        demo,
        lambda spec: (pool(spec, "cpu").update(id="cpu2"), slurm(spec)["partitions"][0].update(node_pool_ids=["cpu2"])),
    )
    notes = [note["message"] for note in demo.plan()["notes"] if note["code"] == "looks_like_rename"]
    assert notes
    assert "cpu -> cpu2" in notes[0]


def test_a_dropped_partition_removes_nodes(demo: Bench) -> None:
    """Its jobs lose their place: as disruptive as a dropped pool."""
    edit(demo, lambda spec: slurm(spec)["partitions"].pop())
    assert [change["impact"] for change in demo.plan()["changes"]] == ["removes_nodes"]
    edit(demo, lambda spec: spec["node_pools"].pop())
    assert {change["impact"] for change in demo.plan()["changes"]} == {"removes_nodes"}


# --- D: long-running operations


def test_a_wait_that_gives_up(slow: Bench) -> None:
    """At --timeout: still running, the operation's name, the command that goes on waiting, exit 1. (Case 40)"""
    slow.write("demo", slow.small())
    outcome = slow.run("apply", "--auto-approve", "--timeout", "1s").ended(1)
    (operation,) = slow.run("operations", "list", "--format", "json").json["operations"]
    assert f"reconciler operations wait {operation['name']}" in outcome.out
    assert "pending" in outcome.out
    slow.control.advance(LONG)
    slow.settled()
    assert slow.writes() == ["POST"]


def test_a_plan_in_every_state(demo: Bench) -> None:
    """plan works whatever state the cluster is in, and says which. (Case 49)"""
    for state, codes in (
        ("ERROR", ["cluster_in_error_state"]),
        ("PROVISIONING", ["cluster_busy"]),
        ("STOPPING", ["cluster_busy"]),
        ("REPAIRING", ["unknown_live_state"]),
    ):
        demo.control.live(demo.name(), {"clusterStatus": {"state": state, "nodesStatus": None}})
        plan = demo.plan()
        assert [each["code"] for each in plan["blockers"] + plan["notes"]] == codes, state


# --- L: files people write


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda s: pool(s, "cpu")["scaling_spec"].update(maxNodesCount=8), "max_node_count"),
        (lambda s: s.update(nodePool=[]), "node_pools"),
        (lambda s: slurm(s).update(partition=[]), "partitions"),
        (lambda s: slurm(s)["partitions"][0].update(nodePoolId="cpu"), "node_pool_ids"),
    ],
    ids=["scaling_spec", "spec", "slurm_spec", "partitions"],
)
def test_a_mistyped_key_is_an_error_at_every_depth(demo: Bench, change: Edit, word: str) -> None:
    """With "did you mean", and nothing is sent. (Case 128)"""
    edit(demo, change)
    found = demo.run("validate", "--format", "json").ended(1).json["findings"]
    unknown = next(each for each in found if each["rule"] == "unknown-field")
    assert word in unknown["hint"] or "".join(part.title() for part in word.split("_"))[1:] in unknown["hint"]
    demo.apply().ended(1)
    assert demo.writes() == []


def test_yaml_words_stay_words(bench: Bench) -> None:
    """NO, OFF, 12:30:00, 010 in a config are the text that stands there. (Case 130)"""
    head = f"project: {bench.project}\nlocation: us-central1\ncluster_id: demo\n"
    config = "{OverSubscribe: NO, PreemptMode: OFF, MaxTime: 4-00:00:00, DefaultTime: 12:30:00, PriorityTier: 010}"
    bench.text(
        "clusters.d/demo.yaml",
        f"""{head}
spec:
  node_pools:
  - {{id: login, machine_spec: {{machine_type: n2}}, scaling_spec: {{min_node_count: 1, max_node_count: 1}}}}
  - {{id: cpu, machine_spec: {{machine_type: n2}}, scaling_spec: {{max_node_count: 1}}}}
  orchestrator_spec:
    slurm_spec:
      login_node_pool_id: login
      partitions: [{{id: cpu, node_pool_ids: [cpu], config: {config}}}]
""",
    )
    bench.apply().ok()
    (partition,) = bench.live()["orchestratorSpec"]["slurmSpec"]["partitions"]
    assert partition["config"] == {
        "OverSubscribe": "NO",
        "PreemptMode": "OFF",
        "MaxTime": "4-00:00:00",
        "DefaultTime": "12:30:00",
        "PriorityTier": "010",
    }
    bench.settled()


def test_a_key_given_twice(bench: Bench) -> None:
    """An error that names both lines; anchors that are merged and overridden are fine. (Case 131)"""
    path = bench.write("demo", bench.small())
    path.write_text(path.read_text().replace('"location"', '"project": "twice",\n "location"'))
    assert "too" in bench.run("validate").ended(1).out


def test_fields_of_a_later_version_are_carried_over(demo: Bench) -> None:
    """An unknown live field survives the replacement of its list; an unknown state is told. (Case 133)"""
    demo.control.live(demo.name(), {"nodePools": {"cpu": {"futureKnob": {"a": 1}}}, "clusterStatus": {"state": "NEW"}})
    edit(demo, lambda spec: pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
    notes = {note["code"]: note["message"] for note in demo.plan()["notes"]}
    assert "futureKnob" in notes["unknown_live_field"]
    assert "NEW" in notes["unknown_live_state"]
    pools = {each["id"]: each for each in sent(demo)["node_pools"]}
    assert pools["cpu"]["futureKnob"] == {"a": 1}


def test_fields_of_a_later_version_can_be_written_too(bench: Bench) -> None:
    """With allow_unknown_fields a field that this version doesn't know is passed on and compared."""
    bench.control.quirks(future_fields=["futureKnob"])
    spec = bench.small()
    pool(spec, "cpu").update(future_knob="one")
    bench.write("demo", spec)
    bench.run("plan").ended(1)
    path = bench.created("demo", spec, allow_unknown_fields=True)
    bench.settled()
    bench.edit(path, lambda each: pool(each, "cpu").update(future_knob="two"))
    (change,) = bench.plan()["changes"]
    assert (change["path"], change["before"], change["after"]) == ("node_pools[cpu].future_knob", "one", "two")
    sent(bench)


# --- M: taking over, and sharing ownership


def test_first_contact_is_read_only(bench: Bench) -> None:
    """A minimal file for a richly configured cluster: what it would take away is shown, nothing is sent. (Case 136)"""
    bench.created("demo", bench.base() | {"labels": {"a": "b"}})
    bench.write("demo", bench.small())
    paths = [path for path, *_ in changes(bench)]
    assert "labels.a" in paths
    assert "node_pools[gpu]" in paths
    assert bench.writes() == []


DEBUG_POOL = {"machineSpec": {"machineType": "n2-standard-8"}, "scalingSpec": {"maxNodeCount": 2}}
IGNORED = [
    ("node_pools[cpu].scaling_spec.max_node_count", {"nodePools": {"cpu": {"scalingSpec": {"maxNodeCount": 9}}}}),
    ("nodePools[cpu].scalingSpec", {"nodePools": {"cpu": {"scalingSpec": {"maxNodeCount": 9, "minNodeCount": 2}}}}),
    ("node_pools[*].labels", {"nodePools": {"cpu": {"labels": {"x": "y"}}, "gpu": {"labels": {"x": "y"}}}}),
    ("labels.cost-center", {"labels": {"cost-center": "42"}}),
    ("labels.cost-*", {"labels": {"cost-a": "1", "cost-b": "2"}}),
    (f"{SLURM}.prolog_bash_scripts", {"orchestratorSpec": {"slurmSpec": {"prologBashScripts": [PROLOG, PROLOG]}}}),
    (f"{SLURM}.config.max_job_count", {"orchestratorSpec": {"slurmSpec": {"config": {"MaxJobCount": "5"}}}}),
    ("node_pools[debug]", {"nodePools": {"debug": DEBUG_POOL}}),
    ("node_pools[d*]", {"nodePools": {"debug": DEBUG_POOL}}),
]


@pytest.mark.parametrize(("pattern", "live"), IGNORED, ids=[pattern for pattern, _ in IGNORED])
def test_what_others_own_is_left_to_them(bench: Bench, pattern: str, live: dict[str, Any]) -> None:
    """ignore_changes by path, by id and with wildcards: no diff, no stale plan, and kept in the payload. (Case 137)"""
    path = bench.created("demo", bench.base(), ignore_changes=[pattern])
    bench.control.live(bench.name(), live)
    assert changes(bench) == []
    owned = {key: value for key, value in bench.get().items() if key in live}
    bench.edit(path, lambda spec: spec.update(display_name="other"))
    bench.edit(
        path, lambda spec: pool(spec, "login").update(labels={"edited": "yes"}) if "labels" not in pattern else 0
    )
    bench.edit(path, lambda spec: slurm(spec).update(epilog_bash_scripts=[PROLOG]))
    bench.edit(path, lambda spec: spec["labels"].update(team="other"))
    bench.run("plan", "--out", "plan.json").ok()
    bench.run("apply", "--plan", "plan.json", "--auto-approve").ok()
    bench.settled()
    _assert_kept(owned, bench.get(), live)


def _assert_kept(before: Any, after: Any, live: Any) -> None:
    """Where `live` put something, `after` still has what `before` had."""
    if isinstance(live, dict) and isinstance(before, dict):
        for key in live:
            _assert_kept(before[key], after[key], live[key])
    elif isinstance(live, dict):
        for key, value in live.items():
            _assert_kept(*(next(x for x in side if x["id"] == key) for side in (before, after)), value)
    else:
        assert after == before


def test_an_ignored_field_can_still_be_created(bench: Bench) -> None:
    """A cluster that isn't there yet gets what its file says, ignored paths too."""
    bench.created("demo", bench.base(), ignore_changes=["labels", "node_pools[cpu].scaling_spec"])
    assert bench.get()["labels"] == {"team": "ml"}
    bench.settled()
