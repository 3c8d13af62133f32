"""Files of which a part can't be read: what rules say of the rest, and what they keep to themselves."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.spec.findings import Path
from reconciler.spec.leftout import LeftOut
from reconciler.spec.rules import check
from tests.unit.spec.rule_cases import document
from tests.unit.spec.samples import MINIMAL, SLURM, load_one

WRONG: tuple[Any, ...] = ([[]], {"a": {}}, 1.5, None)
READING = {"type", "required", "unknown-field", "name", "script-file"}


def rules(text: str) -> list[str]:
    loaded = load_one(text, checks=(check,))
    assert not loaded.clusters
    assert not loaded.readable
    return [each.rule for each in loaded.findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MINIMAL + "  labels:\n    Team: ml\n    ok: A b\n    c: []\n", ["label", "label", "type"]),
        (MINIMAL + "  labels: {Team: ml}\n  runtime_spec: []\n", ["label", "type"]),
        (MINIMAL + "  labels: {Team: ml}\nlifecycle: {prevent_destroy: 5}\n", ["label", "type"]),
        (
            MINIMAL.replace("max_node_count: 4", "x: y") + "  labels: {Team: ml}\n",
            ["required", "unknown-field", "label"],
        ),
        (MINIMAL + SLURM + "      prolog_bash_scripts: 5\n      config: {Prolog: /x}\n", ["type", "slurm-refused"]),
    ],
)
def test_rules_speak_of_what_could_be_read(text: str, expected: list[str]) -> None:
    """Whoever mends a file hears of all its faults at once."""
    assert rules(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL + SLURM + "      partitions: [{id: a, node_pool_ids: 5}]\n      login_node_pool_id: x\n",
        MINIMAL + SLURM + "      partitions: [{id: [], node_pool_ids: [cpu]}]\n      default_partition_id: a\n",
        MINIMAL + SLURM + "      partitions: [{id: a, node_pool_ids: [[]]}]\n",
        MINIMAL.replace("id: cpu", "id: cpu\n      flex_start_max_duration: 60s\n      provisioning_model: []"),
        MINIMAL.replace("n2-standard-8", "a3-ultragpu-8g, reservation_affinity: 5"),
        MINIMAL.replace("    - id: cpu", "    - text\n    - {id: [], labels: {Team: ml}}\n    - id: cpu"),
        MINIMAL + "  labels: {Team: ml}\nlifecycle: {state: gone}\n",
        MINIMAL + "  labels: {Team: ml}\nlifecycle: absent\n",
    ],
)
def test_nothing_is_said_that_may_only_seem_so(text: str) -> None:
    """What seems to be missing may be what couldn't be read; and behind an item that couldn't, items stand elsewhere."""
    assert set(rules(text)) <= READING


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


PATHS = list(_paths(document()["spec"]))


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_wrong_value_anywhere_brings_no_other_finding(wrong: Any) -> None:
    """In a file without any fault, one of a type is told alone, wherever it is."""
    told = []
    for path in PATHS:
        made = copy.deepcopy(document())
        target = made["spec"]
        for part in path[:-1]:
            target = target[part]
        target[path[-1]] = wrong
        loaded = load_one(json.dumps(made), checks=(check,))
        if loaded.readable:  # the value is of a right type there
            continue
        told += [(path, each.rule, each.message) for each in loaded.findings if each.rule not in READING]
    assert told == []


def test_what_was_left_out() -> None:
    """At it, above and below it, in either spelling; beside an item of a list too."""
    left_out = LeftOut([("spec", "nodePools", 1, "labels", "a"), ("spec", "orchestrator_spec", "x", 2)])
    for path in (("spec",), ("spec", "node_pools", 1, "labels"), ("spec", "node_pools", 1, "labels", "a", "b")):
        assert left_out.touches(path)
    assert left_out.touches(("spec", "orchestratorSpec", "x", 0))
    assert not left_out.touches(("spec", "node_pools", 0, "labels", "a"))
    assert not left_out.touches(("spec", "node_pools", 1, "labels", "b"))
    assert not LeftOut([]).touches(("spec",))
