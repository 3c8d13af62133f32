"""Live clusters that no file of ours would describe like that: rules broken, values of other types, answers unreadable."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from reconciler.spec.findings import Severity
from reconciler.spec.rules import RULES
from tests.contract.bench import Bench
from tests.contract.specs import pool, slurm
from tests.unit.spec.rule_cases import Broken, document
from tests.unit.spec.test_hints import CASES

OUT = "clusters.d/demo.yaml"
# Two things of one name can't be told apart, so a file with them can't be compared with anything.
NEVER_WAIVED = {"duplicate-id", "empty-id", "slurm-same-parameter"}
# Equal by meaning to what breaks no rule, or nothing that YAML can hold.
NOT_IN_THE_FILE = {"a slash is no name", "an empty label key"}
_ERRORS = {rule.id for rule in RULES if rule.severity is Severity.ERROR} - NEVER_WAIVED


def _of_the_spec(case: Broken) -> bool:
    return all(path.startswith("spec.") for path in case.changes) and case.reason not in NOT_IN_THE_FILE


LIVE = {case.rule: case for case in reversed(CASES) if case.rule in _ERRORS and _of_the_spec(case)}


@pytest.mark.parametrize("rule", sorted(LIVE))
def test_a_live_cluster_that_breaks_a_rule_can_be_taken_over(bench: Bench, rule: str) -> None:
    """The service took it, so the rule isn't the service's: the first plan is empty and says what it let pass."""
    bench.control.put(bench.name(), document(LIVE[rule].changes)["spec"])
    bench.run("import", bench.name(), "--out", OUT).ok()
    plan = bench.plan("--detailed-exitcode")
    assert (plan["action"], plan["changes"], plan["blockers"]) == ("no_op", [], [])
    assert "rule_waived" in {note["code"] for note in plan["notes"]}
    assert f"[{rule}]" in bench.run("validate").ended(1).out


def test_a_broken_rule_of_a_cluster_in_error(bench: Bench) -> None:
    """The plan works in every state: the blocker is about the cluster, and the rule is let pass as ever."""
    spec = bench.base()
    pool(spec, "cpu")["scaling_spec"] = {"min_node_count": 5, "max_node_count": 2}
    bench.control.put(bench.name(), spec)
    bench.control.live(bench.name(), {"clusterStatus": {"state": "ERROR", "error": "no capacity"}})
    bench.run("import", bench.name(), "--out", OUT).ok()
    plan = bench.plan()
    assert (plan["action"], [each["code"] for each in plan["blockers"]]) == ("no_op", ["cluster_in_error_state"])
    assert "rule_waived" in {note["code"] for note in plan["notes"]}


def test_what_is_let_pass_may_not_be_changed(bench: Bench) -> None:
    """A rule is waived for what is there, not for what would be sent: with an edit beside it the file is refused."""
    spec = bench.base()
    pool(spec, "cpu")["scaling_spec"] = {"min_node_count": 5, "max_node_count": 2}
    bench.control.put(bench.name(), spec)
    bench.run("import", bench.name(), "--out", OUT).ok()
    bench.run("plan", "--detailed-exitcode").ok()
    bench.apply().ok()
    bench.edit_yaml(OUT, lambda document: document["spec"].update(labels={"team": "other"}))
    outcome = bench.run("plan", "--format", "json").ended(1)
    (error,) = outcome.json["errors"]
    assert (error["code"], outcome.json["clusters"]) == ("invalid_input", [])
    bench.apply().ended(1)
    assert bench.writes() == []


def _answering(bench: Bench, body: dict[str, Any], cluster: str = "demo") -> None:
    """Let GET answer this for a cluster."""
    bench.control.faults(
        [{"match": {"kind": "get", "cluster": cluster}, "fault": {"kind": "wrong_type", "body": body}}]
    )


def _full(bench: Bench) -> dict[str, Any]:
    """A live cluster with something of every kind, as GET answers it."""
    spec = bench.base()
    slurm(spec).update(config={"MaxJobCount": "5"}, node_sets=[{"node_pool_id": "cpu", "config": {"Weight": "1"}}])
    pool(spec, "cpu").update(
        labels={"a": "b"},
        startup_script="#!/bin/bash\n",
        lustres=["projects/p/locations/us-central1-a/instances/l"],
        enable_public_ips=True,
        confidential_instance_config={"a": 1},
    )
    bench.control.put(bench.name(), spec)
    return bench.get()


def _with(answer: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The answer with another value at a dotted path, where a number is a place in a list."""
    made = target = copy.deepcopy(answer)
    *way, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for part in way:
        target = target[part]  # type: ignore[index]  # a list's place or a mapping's name
    target[last] = value  # type: ignore[index]
    return made


GPU, CPU = "nodePools.1", "nodePools.0"
SLURM = "orchestratorSpec.slurmSpec"
ODD: dict[str, list[Any]] = {
    "labels": [None],
    "labels.team": [None, True, 5, 1.5, 1e300, 2**70, "on", "null", "1e3"],
    "network": [None],
    f"{CPU}.labels.a": [None, False],
    f"{CPU}.startupScript": [None],
    f"{CPU}.enablePublicIps": ["true", "FALSE", False, None],
    f"{CPU}.confidentialInstanceConfig": [[1], "x", 1e300, {"a": None}, [[]], True],
    f"{GPU}.machineSpec.acceleratorType": [0, 17, -1, True, "FUTURE", "X_UNSPECIFIED"],
    f"{GPU}.provisioningModel": [0, 17, "FUTURE"],
    f"{GPU}.scalingSpec.maxNodeCount": ["7", 7.0, 0, "-1", None],
    SLURM: [None],
    f"{SLURM}.config.MaxJobCount": [5, True, None, 1.5],
    f"{SLURM}.nodeSets.0.config": [{}, None],
    f"{SLURM}.prologBashScripts.0": ["", "\n", "\x00", "a\r", "\r\r\n", "a\x85b", "\ufeff#!"],
    "clusterStatus": [None, 5, "RUNNING", [], {"state": {"a": 1}, "nodesStatus": 7}],
    "clusterEvents": [None, 5, {}, [None, 7, {"type": []}]],
    "updateTime": [None, ""],
    "futureKnob": [None, 5, "x", [{"a": [None]}]],
}
COMPARED = [(path, value) for path, values in ODD.items() for value in values]


@pytest.mark.parametrize(("path", "value"), COMPARED, ids=lambda each: repr(each)[:30])
def test_what_is_odd_and_can_be_said_is_taken_over(bench: Bench, path: str, value: Any) -> None:
    """Nulls, numbers and booleans for texts, texts for numbers, values nobody knows: the first plan is empty."""
    _answering(bench, _with(_full(bench), path, value))
    bench.run("import", bench.name(), "--out", OUT).ok()
    plan = bench.plan("--detailed-exitcode")
    assert (plan["action"], plan["changes"], plan["blockers"]) == ("no_op", [], [])
    for command in (["get"], ["status"]):
        bench.run(*command, bench.name()).ok()


UNSAYABLE: list[tuple[str, Any, str]] = [
    (f"{GPU}.scalingSpec.maxNodeCount", "many", 'max_node_count: expected a whole number, got "many"'),
    (f"{GPU}.scalingSpec.maxNodeCount", 1.5, "max_node_count: expected a whole number"),
    (f"{GPU}.scalingSpec.minNodeCount", 2**70, "min_node_count: the number is out of the range of 64-bit integers"),
    (f"{GPU}.scalingSpec.minNodeCount", True, "min_node_count: expected a whole number, got true"),
    (f"{CPU}.enablePublicIps", "maybe", 'enable_public_ips: expected true or false, got "maybe"'),
    (f"{CPU}.enablePublicIps", 1, "enable_public_ips: expected true or false"),
    (f"{CPU}.id", None, "node_pools[] can't be said"),
]


@pytest.mark.parametrize(("path", "value", "said"), UNSAYABLE, ids=lambda each: repr(each)[:30])
def test_what_no_file_can_say_is_not_written(bench: Bench, path: str, value: Any, said: str) -> None:
    """A file whose first plan isn't empty would be a trap; the error names the field."""
    _answering(bench, _with(_full(bench), path, value))
    outcome = bench.run("import", bench.name(), "--out", OUT, "--extract-scripts", "scripts").ended(1)
    assert "no cluster file can say what the service answers" in outcome.err
    assert said in outcome.err
    assert not (bench.root / OUT).exists()
    assert not (bench.root / "scripts").exists()


MISSHAPEN: list[tuple[str, Any, str]] = [
    (CPU, "none", "a text in node_pools[0]"),
    ("nodePools", {}, "a mapping in node_pools"),
    (f"{CPU}.zone", ["a"], "a list in node_pools[0].zone"),
    ("updateTime", 5, "a number in update_time"),
    ("labels.team", {"a": 1}, "a mapping in labels.team"),
    (f"{SLURM}.partitions", 7, "a number in orchestrator_spec.slurm_spec.partitions"),
    (f"{SLURM}.prologBashScripts", [None], "nothing in orchestrator_spec.slurm_spec.prolog_bash_scripts[0]"),
    ("name", "projects/p/locations/us-central1/modelDevelopmentClusters/other", "isn't this cluster"),
]


@pytest.mark.parametrize(("path", "value", "said"), MISSHAPEN, ids=lambda each: repr(each)[:30])
def test_one_unreadable_cluster_is_its_own_trouble(bench: Bench, path: str, value: Any, said: str) -> None:
    """The others are planned and applied; the error names the one, and what stands where in its answer."""
    for cluster in ("demo", "other"):
        bench.created(cluster, bench.base())
        bench.edit(bench.root / f"clusters.d/{cluster}.yaml", lambda spec: spec.update(labels={"team": "changed"}))
    _answering(bench, _with(bench.get(), path, value))
    outcome = bench.run("plan", "--format", "json").ended(1)
    (error,) = outcome.json["errors"]
    assert (error["cluster"], error["source"]) == (bench.name(), "clusters.d/demo.yaml")
    assert said in error["message"]
    assert [(each["cluster"], each["action"]) for each in outcome.json["clusters"]] == [(bench.name("other"), "update")]
    results = {each["cluster"]: each["status"] for each in bench.apply().ended(1).json["results"]}
    assert results == {bench.name(): "failed", bench.name("other"): "applied"}
    assert bench.live("other")["labels"] == {"team": "changed"}
