"""What a change touches in Slurm."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.touched import concerned, is_disruptive, partitions_of, touched
from reconciler.spec.reading import read_live
from tests.unit.plan.cases import SLURM, answer, at, file_spec, plan


def of(spec: dict[str, Any], live: dict[str, Any], **lifecycle: Any) -> tuple[set[str], set[str], set[str]]:
    made = plan(spec, live, **lifecycle)
    assert is_disruptive(made.action, made.changes) == bool(touched(made.action, made.changes, read_live(live)))
    what = touched(made.action, made.changes, read_live(live))
    return set(what.partitions), set(what.going), set(concerned(made.changes, read_live(live)))


def _drop_gpu(spec: dict[str, Any]) -> None:
    spec["node_pools"].pop()
    spec["orchestrator_spec"]["slurm_spec"]["partitions"].pop()


CASES = [
    ("a label touches nothing", lambda f: f["labels"].update(a="b"), set(), set(), set()),
    ("a pool that grows", lambda f: at(f, "node_pools[gpu].scaling_spec").update(max_node_count=9), set(), set(), {"gpu"}),
    ("nodes made anew", lambda f: at(f, "node_pools[gpu]").update(zone="us-central1-b"), {"gpu"}, set(), {"gpu"}),
    ("a partition's config", lambda f: f["orchestrator_spec"]["slurm_spec"]["partitions"][0].update(
        config={"MaxTime": "1"}), set(), set(), {"cpu"}),
    ("a node set", lambda f: f["orchestrator_spec"]["slurm_spec"].update(
        node_sets=[{"node_pool_id": "cpu", "config": {"Weight": "2"}}]), set(), set(), {"cpu"}),
    ("a prolog", lambda f: f["orchestrator_spec"]["slurm_spec"].update(prolog_bash_scripts=[]), set(), set(), {"cpu", "gpu"}),
    ("a partition that goes, with its pool", _drop_gpu, {"gpu"}, {"gpu"}, {"gpu"}),
    ("home storage", lambda f: f["orchestrator_spec"]["slurm_spec"].update(
        home_directory_storage="projects/p/locations/l/instances/i"), {"cpu", "gpu"}, set(), {"cpu", "gpu"}),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "edit", "hurt", "going", "worth"), CASES, ids=[case[0] for case in CASES])
def test_what_is_touched(reason: str, edit: Any, hurt: set[str], going: set[str], worth: set[str]) -> None:
    """Partitions whose running jobs could be hurt, those that go, and those worth a smoke check."""
    spec = file_spec()
    edit(spec)
    assert of(spec, answer()) == (hurt, going, worth), reason


def test_delete_and_replace_touch_all() -> None:
    """Every partition goes."""
    assert of(file_spec(), answer(), state="absent") == ({"cpu", "gpu"}, {"cpu", "gpu"}, set())


@pytest.mark.parametrize(
    "spec", [{}, {"orchestrator_spec": 1}, {"orchestrator_spec": {"slurm_spec": {"partitions": 1}}}]
)
def test_partitions_of_any_shape(spec: dict[str, Any]) -> None:
    """What isn't a list of partitions has none."""
    assert partitions_of(spec) == []
    assert SLURM
