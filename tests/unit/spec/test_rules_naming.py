"""Rules on names: cluster, project, location, display name, labels."""

from __future__ import annotations

import pytest

from tests.unit.spec.rule_cases import GONE, Broken, Fine, assert_broken, assert_fine, label

LONG = "x" * 65

BROKEN = [
    *(
        Broken(f"cluster id {name!r}", "cluster-id", {"cluster_id": name}, "cluster_id", (f'"{name}"', "10"))
        for name in ("", "a2345678901", "1a", "Abc", "a_b", "é", "a\n")
    ),
    Broken(
        "a trailing hyphen is wrong with and without Slurm",
        "cluster-id",
        {"cluster_id": "a-", "spec.orchestrator_spec": {}},
        "cluster_id",
        ('"a-"',),
    ),
    Broken(
        "Slurm clusters have no hyphens",
        "cluster-id-hyphen",
        {"cluster_id": "a4-train"},
        "cluster_id",
        ('"a4-train"', '"a4train"'),
    ),
    Broken("a project's display name", "project", {"project": "Acme ML"}, "project", ('"Acme ML"', "id")),
    Broken(
        "a zone for a region",
        "location",
        {"location": "us-central1-a", "spec.node_pools.0.zone": GONE},
        "location",
        ('"us-central1-a"', '"us-central1"'),
    ),
    Broken("no region", "location", {"location": "US", "spec.node_pools.0.zone": GONE}, "location", ('"US"',)),
    Broken(
        "a region mistyped",
        "unknown-region",
        {"location": "us-centrall1", "spec.node_pools.0.zone": GONE},
        "location",
        ('did you mean "us-central1"?',),
    ),
    Broken(
        "a region nobody heard of",
        "unknown-region",
        {"location": "moon1", "spec.node_pools.0.zone": GONE},
        "location",
        ('"moon1"', "europe-north1"),
    ),
    *(
        Broken(
            f"display name {name}",
            "display-name",
            {"spec.display_name": name},
            "spec.display_name",
            (f'"{name}"',),
        )
        for name in ("a2345678901", "My cluster", "a-b")
    ),
    Broken(
        "a display name that both sources refuse",
        "display-name-length",
        {"spec.display_name": "ü" * 129},
        "spec.display_name",
        ("129", "128"),
    ),
    Broken("a capital in a label", "label", {"spec.labels": {"Team": "ml"}}, "spec.labels.Team", ('"Team"', "'T'")),
    Broken("a space in a label", "label", {"spec.labels": {"a": "b c"}}, "spec.labels.a", ('value "b c"', "' '")),
    Broken("a long label key", "label", {"spec.labels": {LONG: ""}}, f"spec.labels.{LONG}", ("65", "64")),
    Broken("a long label value", "label", {"spec.labels": {"a": "é" * 65}}, "spec.labels.a", ("65", "64")),
    Broken("an empty label key", "label", {"spec.labels": {"": "a"}}, "spec.labels.", ('""',)),
    Broken(
        "a node pool's label",
        "label",
        {"spec.node_pools.1.labels": {"a": "B"}},
        "spec.node_pools.1.labels.a",
        ('"B"',),
    ),
    Broken(
        "a label of the service's",
        "goog-label",
        {"spec.labels": {"goog-x": "1"}},
        "spec.labels.goog-x",
        ('"goog-x"', "never touched", "remove"),
    ),
]

FINE = [
    Fine("ten characters", {"cluster_id": "a234567890"}),
    Fine("one character", {"cluster_id": "a"}),
    Fine("a hyphen without Slurm", {"cluster_id": "a-b", "spec.orchestrator_spec": {}}),
    Fine("a project number", {"project": "123456789012"}),
    Fine("a domain's project", {"project": "example.com:acme"}),
    Fine("no display name", {"spec.display_name": GONE}),
    Fine("labels of 64", {"spec.labels": {"x" * 64: "é" * 64}}),
    Fine("marks are part of words", {"spec.labels": {"हिन्दी": "ไทย_1-2"}}),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)
