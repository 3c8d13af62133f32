"""Plans seen from a base revision: origins, and protection that can't be lifted and used in one step."""

from __future__ import annotations

from typing import Any

from reconciler.plan.base import Base, compare_with_base, removed
from reconciler.plan.model import Action
from tests.unit.plan.cases import NAME, answer, at, desired, file_spec, plan


def origins(head: dict[str, Any], base: dict[str, Any] | None, live: dict[str, Any]) -> dict[str, str]:
    files = {NAME: desired(base)} if base else {}
    made = compare_with_base(plan(head, live), NAME, Base(files), live)
    return {change.path: str(change.origin) for change in made.changes}


def test_edits_are_told_from_drift() -> None:
    """What the base wants as well, live had moved away from already (pain 67)."""
    head, base, live = file_spec(), file_spec(), answer()
    at(head, "node_pools[cpu].scaling_spec")["max_node_count"] = 6
    at(live, "nodePools[gpu].scalingSpec")["maxNodeCount"] = "9"
    assert origins(head, base, live) == {
        "node_pools[cpu].scaling_spec.max_node_count": "edit",
        "node_pools[gpu].scaling_spec.max_node_count": "drift",
    }


def test_a_new_file_is_all_edits() -> None:
    """A cluster that has no file at the base is this branch's."""
    live = answer()
    live["labels"]["x"] = "y"
    assert origins(file_spec(), None, live) == {"labels.x": "edit"}


def test_a_file_that_wanted_the_cluster_gone() -> None:
    """Against a base that says absent, everything is the branch's."""
    live = answer()
    live["labels"]["x"] = "y"
    base = Base({NAME: desired(file_spec(), state="absent")})
    made = compare_with_base(plan(file_spec(), live), NAME, base, live)
    assert [str(change.origin) for change in made.changes] == ["edit"]


def test_protection_is_lifted_and_used_in_two_steps() -> None:
    """A delete is blocked while the base still protects, or can't be read (pain 98)."""
    gone = plan(file_spec(), answer(), state="absent", prevent_destroy=False)
    protected = Base({NAME: desired(file_spec())})
    lifted = Base({NAME: desired(file_spec(), prevent_destroy=False)})
    for base, expected in ((protected, ["protected_at_base"]), (lifted, []), (Base({}), [])):
        assert [each.code for each in compare_with_base(gone, NAME, base, answer()).blockers] == expected
    unreadable = compare_with_base(gone, NAME, Base({}, frozenset({NAME})), answer())
    assert [each.code for each in unreadable.blockers] == ["protected_at_base"]
    update = plan(file_spec(), answer())
    assert compare_with_base(update, NAME, protected, answer()).blockers == ()


def removing(base: Base, **lifecycle: Any) -> list[str]:
    """The blockers of a branch that takes the pool `gpu` and its partition away."""
    head = file_spec()
    head["node_pools"] = [pool for pool in head["node_pools"] if pool["id"] != "gpu"]
    slurm = head["orchestrator_spec"]["slurm_spec"]
    slurm["partitions"] = [each for each in slurm["partitions"] if "gpu" not in each["node_pool_ids"]]
    made = plan(head, answer(), **lifecycle)
    seen = base.seen_from([desired(head, **lifecycle)])
    return [each.code for each in compare_with_base(made, NAME, seen, answer()).blockers]


def test_protection_is_not_lifted_and_a_pool_removed_in_one_step() -> None:
    """Pain 98: both in one change is blocked; a pool may go while the protection stays, or after it was lifted."""
    protected = Base({NAME: desired(file_spec())})
    assert removing(protected, prevent_destroy=False) == ["protected_at_base"]
    assert removing(Base({}, frozenset({NAME})), prevent_destroy=False) == ["protected_at_base"]
    assert removing(protected) == []
    assert removing(Base({NAME: desired(file_spec(), prevent_destroy=False)}), prevent_destroy=False) == []
    assert removing(Base({}), prevent_destroy=False) == []


def test_lifting_the_protection_is_no_harm_by_itself() -> None:
    """Nor with a change that removes nothing, nor where it was the base already that wanted the pool gone."""
    head, live = file_spec(), answer()
    head["labels"]["x"] = "y"
    live["nodePools"].append({**at(live, "nodePools[cpu]"), "id": "stray"})
    lifted = desired(head, prevent_destroy=False)
    base = Base({NAME: desired(file_spec())}).seen_from([lifted])
    made = compare_with_base(plan(head, live, prevent_destroy=False), NAME, base, live)
    assert {str(change.origin) for change in made.changes} == {"edit", "drift"}
    assert made.blockers == ()


def test_a_file_that_is_gone() -> None:
    """The cluster stays; the note says how it would be deleted (pain 82)."""
    made = removed(desired(file_spec()))
    assert made.action is Action.NO_OP
    assert made.notes[0].code == "file_removed"
    assert "state: absent" in made.notes[0].message
