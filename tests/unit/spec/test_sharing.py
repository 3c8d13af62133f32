"""Equal parts of specs are one object, and nothing else can be told of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from reconciler.spec.scripts import ScriptText
from reconciler.spec.sharing import Sharing


def spec(**more: Any) -> dict[str, Any]:
    return {"pools": [{"id": "".join(["l", "ogin"]), "disk": {"size": 100, "type": "".join(["p", "d"])}}], **more}


def test_equal_parts_are_one_object() -> None:
    """Down to the texts, and of parents that differ."""
    first, second = spec(name="a"), spec(name="b")
    sharing = Sharing()
    sharing.of(first)
    sharing.of(second)
    assert first["pools"] is second["pools"]
    assert (first, second) == (spec(name="a"), spec(name="b"))


def test_equal_wholes_are_one_object() -> None:
    """Whoever takes the answer has the first of them."""
    sharing = Sharing()
    first = sharing.of(spec())
    assert sharing.of(spec()) is first


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": True}, {"x": 1}),
        ({"x": 1}, {"x": 1.0}),
        ({"x": False}, {"x": 0}),
        ({"x": None}, {"x": ""}),
        ({"x": [1]}, {"x": [True]}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x": {}}, {"x": []}),
    ],
)
def test_what_only_looks_equal_stays_apart(one: Any, other: Any) -> None:
    """Types, and the order of keys, are as they were."""
    sharing = Sharing()
    before = copy.deepcopy(other)
    sharing.of(one)
    after = sharing.of(other)
    assert after is not one
    assert repr(after) == repr(before)


def test_scripts_keep_their_places() -> None:
    """Two texts that are equal stand in two files: what is wrong with one is told at its own place."""
    first, second = ({"script": ScriptText("exit 0", file, 1)} for file in ("a.yaml", "b.yaml"))
    sharing = Sharing()
    sharing.of(first)
    sharing.of(second)
    assert (first["script"].file, second["script"].file) == ("a.yaml", "b.yaml")
