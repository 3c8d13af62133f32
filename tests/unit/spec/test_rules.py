"""The registry of rules, and what holds for all of them."""

from __future__ import annotations

import re

import pytest

from reconciler.spec.findings import Severity
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.rules import RULES, check
from tests.unit.spec.rule_cases import problems

WARNINGS = {
    "unknown-region",
    "display-name",
    "goog-label",
    "unused-node-pool",
    "unknown-value",
    "accelerator-count",
    "image-name",
    "service-account",
    "slurm-unknown-parameter",
    "slurm-preempt",
    "secret-in-parameter",
    "secret-in-script",
    "slurm-command-in-script",
    "kill-by-user",
}


def test_the_starting_point_breaks_no_rule() -> None:
    """A full, valid spec has no findings."""
    assert problems() == []


def test_ids_are_stable_words() -> None:
    """Every rule has an id of its own, in kebab-case, a sentence and a source."""
    ids = [rule.id for rule in RULES]
    assert len(set(ids)) == len(ids)
    assert [rule.id for rule in RULES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.id)] == []
    assert [rule.id for rule in RULES if not rule.meaning.endswith(".") or not rule.source] == []


def test_only_these_are_warnings() -> None:
    """Whatever the service would refuse is an error; a warning alone never fails a validation."""
    assert {rule.id for rule in RULES if rule.severity is Severity.WARNING} == WARNINGS


NAME = ClusterName("acme-ml", "us-central1", "a")
SPARSE = [
    {},
    {"node_pools": [{}]},
    {"node_pools": [{"machine_spec": {}, "scaling_spec": {}, "boot_disk": {}}], "lustre_export_config": {}},
    {"orchestrator_spec": {}, "network": {}, "runtime_spec": {}},
    {"orchestrator_spec": {"slurm_spec": {"partitions": [{}], "node_sets": [{}], "login_node_pool_id": "x"}}},
    {"node_pools": [{}], "orchestrator_spec": {"slurm_spec": {"login_node_pool_id": "x", "default_partition_id": ""}}},
]


@pytest.mark.parametrize("spec", SPARSE, ids=str)
def test_what_the_reader_left_out_is_no_trouble(spec: dict[str, object]) -> None:
    """Rules speak of what is there; what is missing was reported when the file was read."""
    assert list(check(Desired(NAME, "a.yaml", Lifecycle(), spec))) == []


def test_a_cluster_to_delete_needs_no_sound_spec() -> None:
    """With state: absent nothing of the spec is sent, so only name and lifecycle are judged."""
    found = problems(
        {"lifecycle.state": "absent", "spec.node_pools": [], "cluster_id": "A", "lifecycle.ignore_changes": ["x"]}
    )
    assert [problem.rule for problem in found] == ["cluster-id", "ignore-changes"]
