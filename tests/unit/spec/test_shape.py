"""Answers whose structure isn't the resource's are told from answers with something new in them."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.spec.shape import misshapen

GOOD: list[dict[str, Any]] = [
    {},
    {"name": "demo", "futureField": [{"a": [None]}], "labels": None},
    {"nodePools": [{"id": "cpu", "futureKnob": {"a": 1}, "scalingSpec": {"minNodeCount": "2", "maxNodeCount": 4}}]},
    {"node_pools": [{"enable_public_ips": "true", "provisioning_model": 7}], "clusterStatus": "whatever"},
    {"orchestratorSpec": {"slurmSpec": {"config": {"MaxJobCount": 5, "X": True}, "prologBashScripts": ["exit 0"]}}},
]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"nodePools": "cpu"}, "a text in node_pools"),
    ({"nodePools": [None]}, "nothing in node_pools[0]"),
    ({"nodePools": [{"id": "cpu"}, {"id": ["cpu"]}]}, "a list in node_pools[1].id"),
    ({"nodePools": [{"zone": True}]}, "a boolean in node_pools[0].zone"),
    ({"nodePools": [{"scalingSpec": {"maxNodeCount": {}}}]}, "a mapping in node_pools[0].scaling_spec.max_node_count"),
    ({"labels": ["a"]}, "a list in labels"),
    ({"labels": {"a": {}}}, "a mapping in labels.a"),
    ({"displayName": 5}, "a number in display_name"),
    ({"orchestratorSpec": {"slurmSpec": []}}, "a list in orchestrator_spec.slurm_spec"),
    (
        {"orchestratorSpec": {"slurmSpec": {"epilogBashScripts": [{}]}}},
        "a mapping in orchestrator_spec.slurm_spec.epilog_bash_scripts[0]",
    ),
]


@pytest.mark.parametrize("answer", GOOD)
def test_what_is_new_is_no_fault(answer: dict[str, Any]) -> None:
    """Unknown fields and values, numbers as texts, and whatever stands in fields that only answers have."""
    assert misshapen(answer) == ""


@pytest.mark.parametrize(("answer", "phrase"), BAD)
def test_the_place_is_told(answer: dict[str, Any], phrase: str) -> None:
    """What stands where, in the names that files have."""
    assert misshapen(answer) == phrase
