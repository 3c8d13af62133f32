"""The JSON Schemas: committed ones are in step, and they say what the tool does."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from reconciler.plan.model import (
    Action,
    Blocker,
    Change,
    ClusterPlan,
    Job,
    Note,
    Origin,
    Plan,
    PlanError,
    Request,
    summarise,
)
from reconciler.plan.schema import plan_schema
from reconciler.spec.fields import FIELDS, Impact
from reconciler.spec.findings import Problem, Severity
from reconciler.spec.reading import read_file
from reconciler.spec.schema import cluster_schema
from reconciler.spec.tree import camel
from reconciler.spec.yamlnodes import compose
from reconciler.spec.yamlvalues import Values
from reconciler.views.json import plan_document
from tests.unit.spec.rule_cases import document

ROOT = Path(__file__).parents[3]
CLUSTER = Draft202012Validator(cluster_schema(), format_checker=FormatChecker())
PLAN = Draft202012Validator(plan_schema())
EXAMPLES = sorted(path for path in (ROOT / "clusters.d").rglob("*.y*ml") if not path.name.startswith("_"))

# The update payload of the service's documentation (S2), as it stands there but for trailing commas.
DOCUMENTED = """
{"display_name": "DISPLAY_NAME",
 "network": {"network": "projects/P/global/networks/N", "subnetwork": "projects/P/regions/R/subnetworks/S"},
 "node_pools": [
   {"id": "cpu", "machine_spec": {"machine_type": "n2-standard-8"},
    "scaling_spec": {"min_node_count": 1, "max_node_count": "2"}, "zone": "ZONE", "enable_public_ips": "true",
    "boot_disk": {"boot_disk_type": "pd-standard", "boot_disk_size_gb": 120}},
   {"id": "login", "machineSpec": {"machineType": "n2-standard-8"},
    "scalingSpec": {"min_node_count": 1, "maxNodeCount": 1}}],
 "orchestrator_spec": {"slurm_spec": {
   "home_directory_storage": "projects/P/locations/Z/instances/F",
   "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}], "login_node_pool_id": "login"}}}
"""


@pytest.mark.parametrize(("name", "made"), [("cluster", cluster_schema()), ("plan", plan_schema())])
def test_committed_schemas_are_in_step(name: str, made: dict[str, Any]) -> None:
    """`docs/generate.py` writes them."""
    text = (ROOT / "schemas" / f"{name}.schema.json").read_text("utf-8")
    assert text == json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    Draft202012Validator.check_schema(json.loads(text))


def test_every_field_is_there_in_both_spellings() -> None:
    """With what it means and where that is known from."""
    definitions = cluster_schema()["$defs"]
    for row in FIELDS:
        place = row.path.replace("[]", "")
        assert row.doc in definitions[place]["description"]
        assert f"({row.source})" in definitions[place]["description"]
        parent = definitions.get(place.rpartition(".")[0], cluster_schema()["properties"]["spec"])
        properties = parent.get("items", parent)["properties"]
        assert properties[row.name] == properties[camel(row.name)]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path) -> None:
    """As they stand, without the defaults of their folder."""
    assert EXAMPLES
    for node in compose(path.read_bytes(), str(path)):
        raw = Values(lambda finding: pytest.fail(str(finding))).of(node)
        assert list(CLUSTER.iter_errors(raw)) == []


def test_a_full_valid_document_is_valid() -> None:
    """The document that breaks no rule breaks no schema."""
    assert list(CLUSTER.iter_errors(document())) == []


def test_the_documented_payload_is_valid() -> None:
    """A payload can be pasted in as it is."""
    assert list(CLUSTER.iter_errors({"cluster_id": "a", "spec": json.loads(DOCUMENTED)})) == []


VALID: list[tuple[str, dict[str, Any]]] = [
    ("an empty spec: the defaults may have it all", {}),
    ("output fields are ignored", {"clusterStatus": {"state": "RUNNING"}, "create_time": "x", "name": "y"}),
    ("null is absent", {"labels": None, "network": None, "lustre_export_config": {"days_of_week": None}}),
    ("plain scalars in string fields", {"labels": {"a": 1, "b": True, "c": 1.5}, "displayName": 12}),
    ("scripts from files", {"orchestrator_spec": {"slurm_spec": {"prolog_bash_scripts": ["x", {"file": "../a.sh"}]}}}),
    ("new values of open enums", {"node_pools": [{
        "id": 1, "machine_spec": {"machine_type": "n", "accelerator_type": "NVIDIA_X"}, "scaling_spec": {
            "max_node_count": "+4"}, "provisioning_model": None, "confidential_instance_config": {"a": [1]}}]}),
    ("durations", {"nodePools": [{
        "id": "a", "machine_spec": {"machine_type": "n"}, "flexStartMaxDuration": "604800.000s",
        "scaling_spec": {"max_node_count": 1}, "enable_public_ips": "TRUE"}]}),
]  # fmt: skip

INVALID: list[tuple[str, dict[str, Any]]] = [
    ("an unknown field", {"node_pool": []}),
    ("an unknown field below", {"orchestrator_spec": {"slurm_spec": {"partition": []}}}),
    ("a field in two spellings", {"display_name": "a", "displayName": "a"}),
    ("a list that is none", {"node_pools": {}}),
    ("a pool without what it needs", {"node_pools": [{"id": "a", "machine_spec": {"machine_type": "n"}}]}),
    ("a partition without pools", {"orchestrator_spec": {"slurm_spec": {"partitions": [{"id": "a"}]}}}),
    ("a number in words", {"lustre_export_config": {"start_time": {"hours": "four"}}}),
    ("half a number", {"lustre_export_config": {"start_time": {"hours": 1.5}}}),
    ("a boolean in words", {"node_pools": [{
        "id": "a", "machine_spec": {"machine_type": "n"}, "scaling_spec": {"max_node_count": 1},
        "enable_public_ips": "yes"}]}),
    ("a duration in days", {"node_pools": [{
        "id": "a", "machine_spec": {"machine_type": "n"}, "scaling_spec": {"max_node_count": 1},
        "flex_start_max_duration": "7d"}]}),
    ("a script that is neither text nor a file", {"orchestrator_spec": {"slurm_spec": {
        "prolog_bash_scripts": [{"path": "a"}]}}}),
    ("a label that is a list", {"labels": {"a": []}}),
    ("a parameter that is a mapping", {"orchestrator_spec": {"slurm_spec": {"config": {"a": {}}}}}),
]  # fmt: skip


def reads(spec: dict[str, Any]) -> bool:
    """Whether the tool itself reads a spec without errors, but for what defaults may add."""
    found: list[Problem] = []
    # The loader puts scripts' texts in place of {file: …} before a spec is read.
    scripts = spec.get("orchestrator_spec", {}).get("slurm_spec", {}).get("prolog_bash_scripts", [])
    plain = copy.deepcopy(spec)
    if scripts:
        plain["orchestrator_spec"]["slurm_spec"]["prolog_bash_scripts"] = [
            "text" if isinstance(script, dict) and set(script) == {"file"} else script for script in scripts
        ]
    read_file(plain, ("spec",), lambda _: "text", found.append, allow_unknown=False)
    return not [
        problem
        for problem in found
        if problem.severity is Severity.ERROR and not (problem.rule == "required" and problem.path == ("spec",))
    ]


@pytest.mark.parametrize(("reason", "spec"), VALID, ids=[reason for reason, _ in VALID])
def test_valid(reason: str, spec: dict[str, Any]) -> None:
    """What the tool reads, the schema takes."""
    assert reads(spec)
    assert list(CLUSTER.iter_errors({"cluster_id": "a", "spec": spec})) == []


@pytest.mark.parametrize(("reason", "spec"), INVALID, ids=[reason for reason, _ in INVALID])
def test_invalid(reason: str, spec: dict[str, Any]) -> None:
    """What the tool refuses to read, the schema refuses."""
    assert not reads(spec)
    assert not CLUSTER.is_valid({"cluster_id": "a", "spec": spec})


STRANGERS: list[tuple[str, dict[str, Any]]] = [
    ("at the top", {"future_knob": {"a": [1]}}),
    ("beside what is known", {"displayName": "a", "futureKnob": None}),
    ("in a message", {"orchestrator_spec": {"slurm_spec": {"future_knob": 1}}}),
    ("in a list's item", {"node_pools": [{
        "id": "a", "machine_spec": {"machine_type": "n"}, "scaling_spec": {"max_node_count": 1}, "future_knob": True}]}),
    ("below a list's item", {"nodePools": [{
        "id": "a", "machineSpec": {"machineType": "n", "future_knob": {}}, "scalingSpec": {"maxNodeCount": 1}}]}),
    ("in another spelling's message", {"orchestratorSpec": {"slurmSpec": {"partitions": [{
        "id": "p", "nodePoolIds": ["a"], "futureKnob": "x"}]}}}),
]  # fmt: skip


@pytest.mark.parametrize(("where", "spec"), STRANGERS, ids=[where for where, _ in STRANGERS])
def test_unknown_fields_are_valid_where_they_are_allowed(where: str, spec: dict[str, Any]) -> None:
    """An editor marks them just where the tool refuses them: unless `lifecycle.allow_unknown_fields` is true."""
    found: list[Problem] = []
    read_file(copy.deepcopy(spec), ("spec",), lambda _: None, found.append, allow_unknown=True)
    assert [problem for problem in found if problem.rule != "required"] == []
    raw = {"cluster_id": "a", "spec": spec}
    assert list(CLUSTER.iter_errors(raw | {"lifecycle": {"allow_unknown_fields": True}})) == [], where
    refusing: list[Any] = [
        None,
        {},
        {"allow_unknown_fields": False},
        {"allow_unknown_fields": None},
        {"state": "present"},
    ]
    assert not any(CLUSTER.is_valid(raw | {"lifecycle": lifecycle}) for lifecycle in refusing)
    assert not CLUSTER.is_valid(raw)


@pytest.mark.parametrize(("reason", "spec"), INVALID, ids=[reason for reason, _ in INVALID])
def test_what_is_known_stays_checked_where_unknown_fields_are_allowed(reason: str, spec: dict[str, Any]) -> None:
    """The switch lets in what isn't known, and nothing that is known and wrong."""
    raw = {"cluster_id": "a", "spec": spec, "lifecycle": {"allow_unknown_fields": True}}
    assert CLUSTER.is_valid(raw) is reason.startswith("an unknown field")


ENVELOPES = [
    ("no id", {}, False),
    ("an id that can't be", {"cluster_id": "A"}, False),
    ("an unknown key", {"cluster_id": "a", "cluster": "b"}, False),
    ("a project's number", {"cluster_id": "a", "project": 123, "location": "us-central1"}, True),
    ("nothing but the id", {"cluster_id": "a", "spec": None, "lifecycle": None}, True),
    ("a lifecycle of the contract", {"cluster_id": "a", "lifecycle": {
        "state": "absent", "prevent_destroy": False, "replace_on": ["error_state"], "running_jobs": "wait",
        "ignore_changes": ["labels"], "allow_unknown_fields": True,
        "paused": {"reason": "x", "until": "2026-12-24T08:00:00Z"},
        "maintenance_window": {"days": ["sat"], "start": "02:00", "hours": 4, "time_zone": "Europe/Zurich"}}}, True),
    ("nulls", {"cluster_id": "a", "lifecycle": {"state": None, "paused": None, "maintenance_window": None}}, True),
    ("a state that is none", {"cluster_id": "a", "lifecycle": {"state": "gone"}}, False),
    ("an unknown setting", {"cluster_id": "a", "lifecycle": {"protect": True}}, False),
    ("a pause without a reason", {"cluster_id": "a", "lifecycle": {"paused": {}}}, False),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "raw", "valid"), ENVELOPES, ids=[case[0] for case in ENVELOPES])
def test_what_stands_around_the_spec(reason: str, raw: dict[str, Any], valid: bool) -> None:
    """Project and location may come from defaults; the lifecycle is the model's."""
    assert CLUSTER.is_valid(raw) is valid


def a_plan() -> dict[str, Any]:
    """One plan with something of everything, as it is written."""
    request = Request("PATCH", "/v1beta1/x", {"updateMask": "labels"}, {"labels": {}})
    changes = (
        Change("labels.a", None, "b", "labels", Impact.IN_PLACE, Origin.EDIT, "because"),
        Change("network.network", "a", "b", "", Impact.IMMUTABLE),
    )
    clusters = (
        ClusterPlan("a", "a.yaml", Action.UPDATE, changes, request, (Blocker("x", "y"),), (Note("x", "y"),),
                    (Job(1, "u", "p", "RUNNING", "n", 2),), "sha256:1", "sha256:2"),
        ClusterPlan("b", "b.yaml", Action.DELETE, request=Request("DELETE", "/v1beta1/b", {}, None)),
        ClusterPlan("c", "c.yaml", Action.NO_OP),
    )  # fmt: skip
    made = Plan("1", "2026-01-01T00:00:00Z", clusters, (PlanError("d.yaml", "x", "y"),), summary=summarise(clusters))
    written: dict[str, Any] = json.loads(json.dumps(plan_document(made)))
    return written


def test_a_written_plan_is_valid() -> None:
    """The schema describes what `--format json` writes."""
    assert list(PLAN.iter_errors(a_plan())) == []


BROKEN_PLANS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("another version", lambda plan: plan.update(format_version="2")),
    ("an unknown member", lambda plan: plan.update(more=1)),
    ("an action that is none", lambda plan: plan["clusters"][0].update(action="destroy")),
    ("an unknown impact", lambda plan: plan["clusters"][0]["changes"][0].update(impact="none")),
    ("an unknown origin", lambda plan: plan["clusters"][0]["changes"][0].update(origin=None)),
    ("a member of the value alone", lambda plan: plan["clusters"][0]["changes"][0].update(field="labels")),
    ("a number for a mask", lambda plan: plan["clusters"][0]["changes"][0].update(mask=1)),
    ("a cluster without its changes", lambda plan: plan["clusters"][0].pop("changes")),
    ("a summary that lacks a count", lambda plan: plan["summary"].pop("no_op")),
]


@pytest.mark.parametrize(("reason", "damage"), BROKEN_PLANS, ids=[reason for reason, _ in BROKEN_PLANS])
def test_a_damaged_plan_is_not(reason: str, damage: Callable[[dict[str, Any]], object]) -> None:
    """Nothing may be missing, and nothing may be there that isn't known."""
    plan = a_plan()
    damage(plan)
    assert not PLAN.is_valid(plan)
