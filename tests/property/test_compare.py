"""Every edit of a leaf, in a file or by hand on the live cluster, is planned or refused, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from deepdiff import DeepDiff
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.plan.build import plan_cluster
from reconciler.plan.canonical import desired_form
from reconciler.plan.diff import diff
from reconciler.plan.model import Action
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_file
from tests.contract.bench import LOCATION, Bench
from tests.property.leaves import PATHS, edited
from tests.property.oracle import normal
from tests.property.spelling import respelled
from tests.property.strategies import edits, joined, parts, shapes

QUIRKS = st.fixed_dictionaries(
    {
        "int64": st.sampled_from(["mixed", "all", "none"]),
        "cluster_name": st.sampled_from(["number"]),
        "resource_names": st.sampled_from(["number", "id", "url"]),
        "durations": st.sampled_from(["plain", "decimal"]),
        "pool_order": st.sampled_from(["sorted", "reversed", "kept"]),
    }
)


def _read(spec: dict[str, Any], project: str) -> tuple[Desired, list[Any]]:
    """The spec as a file's is read, and what is wrong with it."""
    problems: list[Any] = []
    typed = read_file(spec, ("spec",), lambda _: None, problems.append, allow_unknown=False)
    return Desired(ClusterName(project, LOCATION, "demo"), "demo.yaml", Lifecycle(), typed), problems


def _judged(bench: Bench, file: dict[str, Any], answer: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the plan has changes, or the file is refused; and whether the oracle sees a difference."""
    desired, problems = _read(file, bench.project)
    plan = plan_cluster(desired, answer)
    assert (plan.action is Action.NO_OP) is not bool(plan.changes)
    wanted, live = normal(file, answer, bench.project, bench.number)
    return bool(problems or plan.changes), bool(DeepDiff(wanted, live))


@pytest.fixture(scope="module")
def bench(new_bench: Callable[[], Bench]) -> Bench:
    """One project for all examples: each puts its own cluster there."""
    return new_bench()


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
@settings(max_examples=4)
def test_no_edit_of_a_field_is_missed_and_none_is_made_up(bench: Bench, path: str, data: st.DataObject) -> None:
    """The plan has changes just when file and answer differ in meaning, whichever side was edited. (Case 19)"""
    bench.control.quirks(**data.draw(QUIRKS))
    shape = data.draw(shapes(bench.project))
    spec = joined(data.draw(parts(shape)), shape)
    other = data.draw(edited(spec, path))
    side = data.draw(st.sampled_from(["file", "live", "neither"]))
    file, live = {"file": (other, spec), "live": (spec, other), "neither": (spec, spec)}[side]
    bench.control.put(bench.name(), live)
    planned, differs = _judged(bench, data.draw(respelled(file)), bench.get())
    assert planned == differs
    if side == "neither":
        assert not planned


@given(data=st.data())
@settings(max_examples=100)
def test_the_diff_is_empty_just_when_the_forms_are_equal(data: st.DataObject) -> None:
    """What DeepDiff says of the comparison forms is what the diff says."""
    shape = data.draw(shapes("example-proj"))
    drawn = data.draw(parts(shape))
    spec = joined(drawn, shape)
    way = data.draw(st.sampled_from(["edit", "leaf", "respelled"]))
    other = {
        "edit": lambda: joined(data.draw(edits(shape, drawn)), shape),
        "leaf": lambda: data.draw(edited(spec, data.draw(st.sampled_from(PATHS)))),
        "respelled": lambda: data.draw(respelled(spec)),
    }[way]()
    forms = [desired_form(_read(each, "example-proj")[0].spec, {}) for each in (spec, other)]
    changes = diff(*forms)
    assert bool(changes) == bool(DeepDiff(*forms))
    assert way != "respelled" or not changes
