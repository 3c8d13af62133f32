"""Raw mappings to the typed form: the unknown, the absent, and the same thing twice."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.spec.reading import read_live
from tests.unit.spec.samples import MINIMAL, load_one, told

UNKNOWN_ALLOWED = "lifecycle: {allow_unknown_fields: true}\n"


def test_null_in_an_answer_is_absent() -> None:
    """At every depth, for texts, messages and lists alike; only of a field that nobody knows null may mean something."""
    answer = {
        "displayName": None,
        "labels": None,
        "futureKnob": None,
        "nodePools": [{"id": "a", "bootDisk": None, "scalingSpec": {"minNodeCount": None, "maxNodeCount": "2"}}],
        "orchestratorSpec": {"slurmSpec": {"partitions": None}},
    }
    assert read_live(answer) == {
        "futureKnob": None,
        "node_pools": [{"id": "a", "scaling_spec": {"max_node_count": 2}}],
        "orchestrator_spec": {"slurm_spec": {}},
    }


@pytest.mark.parametrize(
    ("value", "read"),
    [("many", "many"), ({"a": 1}, {"a": 1}), ([1], [1]), (2.5, 2.5), ("7", 7), (True, True), ("9" * 30, "9" * 30)],
)
def test_a_value_of_an_answer_that_is_not_of_its_kind_stays(value: Any, read: Any) -> None:
    """Answers are never refused."""
    answer = {"nodePools": [{"scalingSpec": {"maxNodeCount": value}}]}
    assert read_live(answer) == {"node_pools": [{"scaling_spec": {"max_node_count": read}}]}


def test_what_text_can_stand_for_is_text() -> None:
    """Values of maps of strings, and enums that have no name yet: a file can say them, so the two can be compared."""
    answer = {
        "labels": {"a": True, "b": 5, "c": None, "d": "x"},
        "nodePools": [{"machineSpec": {"acceleratorType": 17}, "labels": {"a": [1]}}],
        "orchestratorSpec": {"slurmSpec": {"config": {"MaxJobCount": 1000}}},
        "lustreExportConfig": {"daysOfWeek": [1, "FRIDAY"]},
    }
    assert read_live(answer) == {
        "labels": {"a": "true", "b": "5", "d": "x"},
        "node_pools": [{"machine_spec": {"accelerator_type": "17"}, "labels": {"a": [1]}}],
        "orchestrator_spec": {"slurm_spec": {"config": {"MaxJobCount": "1000"}}},
        "lustre_export_config": {"days_of_week": ["1", "FRIDAY"]},
    }


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("  future_knob: 1\n  futureKnob: 2\n", "two-spellings: futureKnob and future_knob are the same field"),
        ("  futureKnob: 1\n  future_knob: 1\n", "two-spellings: future_knob and futureKnob are the same field"),
        ("  futureKnob: 1\n  otherKnob: 1\n", None),
        ("  futureKnob: {a_b: 1, aB: 2}\n", None),
    ],
)
def test_an_unknown_field_in_two_spellings(spec: str, message: str | None) -> None:
    """Unknown or not, the API would take both for the same; what lies below an unknown field may be data."""
    found = told(load_one(UNKNOWN_ALLOWED + MINIMAL + spec).findings)
    assert found == ([f"clusters.d/a.yaml:11:3 {message}"] if message else [])
