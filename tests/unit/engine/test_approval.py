"""Whether what was approved still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reconciler.engine.approval import difference, is_same, not_allowed, stale, with_changes
from reconciler.plan.model import Action, Blocker, Change, ClusterPlan, Job, Note, Plan, Request
from reconciler.spec.fields import Impact

CHANGE = Change("labels.team", "a", "b", "labels", Impact.IN_PLACE)
APPROVED = ClusterPlan(
    "p/c", "c.yaml", Action.UPDATE, (CHANGE,), live_fingerprint="sha256:l", desired_fingerprint="sha256:d"
)


def plan(*clusters: ClusterPlan) -> Plan:
    return Plan("1", "2026-12-01T00:00:00Z", clusters)


@pytest.mark.parametrize(
    "moved",
    [
        {"notes": (Note("a", "b"),)},
        {"blockers": (Blocker("a", "b"),)},
        {"jobs": (Job(1, "u", "p", "RUNNING", "n", 1),)},
        {"request": Request("PATCH", "/x", {}, {"carried": "over"})},
        {"source": "elsewhere.yaml"},
        {"changes": (replace(CHANGE, reason="other words"),)},
    ],
)
def test_what_makes_no_difference(moved: dict[str, Any]) -> None:
    """Jobs come and go, notes are for people, and what a body carries over may move."""
    assert is_same(APPROVED, replace(APPROVED, **moved))


MOVES: list[tuple[dict[str, Any], str]] = [
    ({"desired_fingerprint": "sha256:x"}, "its file has changed since the plan was made"),
    ({"live_fingerprint": "sha256:x"}, "the live cluster has changed since the plan was made: labels.team"),
    ({"live_fingerprint": None, "changes": ()}, "the live cluster has changed since the plan was made: labels.team"),
    ({"action": Action.REPLACE}, "the action was update and is replace now"),
    ({"changes": (replace(CHANGE, impact=Impact.IMMUTABLE),)}, "the changes are others: "),
    ({"changes": (replace(CHANGE, before="x"),)}, "the changes are others: "),
    ({"changes": (CHANGE, replace(CHANGE, path="b"))}, "the changes are others: "),
]


@pytest.mark.parametrize(("moved", "words"), MOVES, ids=[words for _, words in MOVES])
def test_what_makes_a_difference(moved: dict[str, Any], words: str) -> None:
    """And what it says to people."""
    fresh = replace(APPROVED, **moved)
    assert not is_same(APPROVED, fresh)
    assert difference(APPROVED, fresh).startswith(words)


def test_many_paths_are_cut_short() -> None:
    """Five are named; where none is another, those of now."""
    changes = tuple(replace(CHANGE, path=f"p{n}") for n in range(9))
    moved = replace(APPROVED, live_fingerprint="x", changes=(CHANGE, *changes))
    assert difference(APPROVED, moved).endswith(": p0, p1, p2, p3, p4, ...")
    assert difference(replace(APPROVED, changes=()), replace(APPROVED, changes=(), live_fingerprint="x")) == (
        "the live cluster has changed since the plan was made"
    )


def test_stale() -> None:
    """Each cluster that isn't as it was approved, and one that only either plan has."""
    other, moved = replace(APPROVED, cluster="p/other"), replace(APPROVED, live_fingerprint="x")
    assert stale(plan(APPROVED, other), plan(other, APPROVED)) == {}
    assert stale(plan(APPROVED), plan(moved)).keys() == {"p/c"}
    assert stale(plan(APPROVED, other), plan(APPROVED)) == {
        "p/other": "nothing is planned for it any more, or its file can't be used"
    }
    assert stale(plan(APPROVED), plan(APPROVED, other)) == {"p/other": "update wasn't in the plan"}


def test_with_changes() -> None:
    """A review doesn't depend on clusters that stay as they are."""
    same = replace(APPROVED, cluster="p/same", action=Action.NO_OP, changes=())
    assert with_changes(plan(APPROVED, same)).clusters == (APPROVED,)


@pytest.mark.parametrize(
    ("action", "delete", "replaces", "code"),
    [
        (Action.DELETE, False, True, "delete_not_allowed"),
        (Action.DELETE, True, False, None),
        (Action.REPLACE, True, False, "replace_not_allowed"),
        (Action.REPLACE, False, True, None),
        (Action.UPDATE, False, False, None),
    ],
)
def test_not_allowed(action: Action, delete: bool, replaces: bool, code: str | None) -> None:
    """Deletes and replaces want a word on the command line; each its own."""
    refused = not_allowed(replace(APPROVED, action=action), allow_delete=delete, allow_replace=replaces)
    assert (refused and refused.code) == code
