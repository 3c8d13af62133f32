"""Rules on ids: there, unique, and naming what exists (pain 107)."""

from __future__ import annotations

import pytest

from tests.unit.spec.rule_cases import GONE, SLURM, Broken, Fine, assert_broken, assert_fine, label, problems

PARTITION = f"{SLURM}.partitions.0"
POOL = {"machine_spec": {"machine_type": "n2-standard-8"}, "scaling_spec": {"max_node_count": 1}}

BROKEN = [
    Broken(
        "an empty list of pools would remove them all",
        "no-node-pools",
        {"spec.node_pools": [], "spec.orchestrator_spec": {}, "spec.lustre_export_config": {}},
        "spec.node_pools",
        ("at least one",),
    ),
    Broken(
        "an empty pool id",
        "empty-id",
        {"spec.node_pools.5": {"id": "", **POOL}},
        "spec.node_pools.5.id",
        ('""', "node pool"),
    ),
    Broken(
        "two pools of one id",
        "duplicate-id",
        {"spec.node_pools.5": {"id": "cpu", **POOL}},
        "spec.node_pools.5.id",
        ('"cpu"', "node_pools[1]"),
    ),
    Broken(
        "two partitions of one id",
        "duplicate-id",
        {f"{SLURM}.partitions.2": {"id": "gpu", "node_pool_ids": ["gpu"]}},
        f"{SLURM}.partitions.2.id",
        ('"gpu"', "partitions[1]"),
    ),
    Broken(
        "two node sets of one pool",
        "duplicate-id",
        {f"{SLURM}.node_sets.1": {"node_pool_id": "cpu"}},
        f"{SLURM}.node_sets.1.node_pool_id",
        ('"cpu"', "node_sets[0]"),
    ),
    Broken(
        "a partition of a pool mistyped",
        "unknown-node-pool",
        {f"{SLURM}.partitions.1.node_pool_ids.3": "gpuu"},
        f"{SLURM}.partitions.1.node_pool_ids.3",
        ('"gpuu"', 'did you mean "gpu"?'),
    ),
    Broken(
        "a login pool that isn't there",
        "unknown-node-pool",
        {f"{SLURM}.login_node_pool_id": "zzz", f"{SLURM}.partitions.0.node_pool_ids.1": "login"},
        f"{SLURM}.login_node_pool_id",
        ('"zzz"', "known: login, cpu, gpu"),
    ),
    Broken(
        "a node set of a pool that isn't there",
        "unknown-node-pool",
        {f"{SLURM}.node_sets.0.node_pool_id": "gone"},
        f"{SLURM}.node_sets.0.node_pool_id",
        ('"gone"',),
    ),
    Broken(
        "a default partition mistyped",
        "unknown-partition",
        {f"{SLURM}.default_partition_id": "cpus"},
        f"{SLURM}.default_partition_id",
        ('"cpus"', 'did you mean "cpu"?'),
    ),
    Broken(
        "a partition with no pools",
        "partition-without-pools",
        {f"{SLURM}.partitions.2": {"id": "none", "node_pool_ids": []}},
        f"{SLURM}.partitions.2.node_pool_ids",
        ('"none"',),
    ),
    Broken(
        "a pool in no partition",
        "unused-node-pool",
        {"spec.node_pools.5": {"id": "spare", **POOL}},
        "spec.node_pools.5.id",
        ('"spare"', "node_pool_ids"),
    ),
    Broken(
        "the login pool in a node set",
        "login-pool-in-node-sets",
        {f"{SLURM}.node_sets.0.node_pool_id": "login"},
        f"{SLURM}.node_sets.0.node_pool_id",
        ('"login"',),
    ),
    Broken(
        "a login pool that scales",
        "login-pool-size",
        {"spec.node_pools.0.scaling_spec": {"max_node_count": 2}},
        "spec.node_pools.0.scaling_spec",
        ('"login"', "min_node_count 0", "max_node_count 2"),
    ),
]

FINE = [
    Fine("one id for a pool and a partition is no repetition", {f"{PARTITION}.id": "cpu"}),
    Fine("without Slurm pools need no partition", {"spec.orchestrator_spec": {}}),
    Fine("no default partition: the first is it", {f"{SLURM}.default_partition_id": GONE}),
    Fine("no login pool", {f"{SLURM}.login_node_pool_id": GONE, f"{PARTITION}.node_pool_ids": ["cpu", "login"]}),
    Fine("a node set whose pool couldn't be read", {f"{SLURM}.node_sets.0.node_pool_id": GONE}),
    Fine("a pool may be in two partitions", {f"{SLURM}.partitions.1.node_pool_ids.3": "cpu"}),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)


def test_a_removed_pool_is_named_wherever_it_is_missed() -> None:
    """Pain 107: a pool goes and its partition stays."""
    found = problems({"spec.node_pools.1": {"id": "cpu2", **POOL}, "spec.lustre_export_config": {}})
    rules = [(problem.rule, problem.path[-2:]) for problem in found]
    assert ("unknown-node-pool", ("node_pool_ids", 0)) in rules
    assert ("unknown-node-pool", (0, "node_pool_id")) in rules


def test_nothing_is_guessed_about_pools_without_an_id() -> None:
    """A pool whose id couldn't be read may be the one that is referred to."""
    found = problems({"spec.node_pools.1.id": GONE})
    assert [problem.rule for problem in found] == []


def test_known_ids_are_named_once() -> None:
    """Where an id is there twice, too."""
    found = problems({"spec.node_pools.2.id": "cpu", f"{SLURM}.node_sets": [], f"{SLURM}.login_node_pool_id": "zzz"})
    assert next(each.hint for each in found if each.rule == "unknown-node-pool") == "known: login, cpu, flex, a4x"
