"""Whether an answer has the resource's shape: lists, mappings and texts where the table has them.

What nobody has heard of is taken as it comes; but a text where a list of pools should be is no later version of the
service. Such an answer can be neither compared nor carried over into a payload, so it counts as none.
"""

from __future__ import annotations

from typing import Any

from reconciler.spec.fields import Kind, Many
from reconciler.spec.tree import ROOT, Node

# Which of them it is, a number or a boolean, is told where they are read; new enum values may come as numbers.
_SCALARS = frozenset({Kind.INT, Kind.INT64, Kind.BOOL, Kind.ENUM})
_SCALAR_TYPES = frozenset({int, float, bool})
# To look a member up in its class takes longer than all the rest of one value.
_SINGLE, _MESSAGE, _ANY = Many.NO, Kind.MESSAGE, Kind.ANY
_WORDS = {dict: "a mapping", list: "a list", str: "a text", bool: "a boolean", type(None): "nothing"}
_CONTAINERS = frozenset({list, dict})
_MAPS = frozenset({Kind.LABELS, Kind.SLURM})
_Wrong = tuple[str, object]  # a path below the value that was looked at, and what stands there


def misshapen(raw: dict[str, Any]) -> str:
    """The first value that is of another shape, as a phrase: `a list in node_pools[0].zone`. Empty if there is none."""
    wrong = _message(raw, ROOT)
    return f"{_WORDS.get(type(wrong[1]), 'a number')} in {wrong[0].lstrip('.')}" if wrong else ""


def _message(raw: dict[str, Any], node: Node) -> _Wrong | None:
    names = node.names
    for key, value in raw.items():
        child = names.get(key)
        if child is None or value is None or (child.is_text and type(value) is str):
            continue
        wrong = _item(value, child) if child.many is _SINGLE else _list(value, child)
        if wrong:
            return f".{child.name}{wrong[0]}", wrong[1]
    return None


def _list(value: Any, node: Node) -> _Wrong | None:
    if type(value) is not list:
        return "", value
    for index, item in enumerate(value):
        if wrong := _item(item, node):
            return f"[{index}]{wrong[0]}", wrong[1]
    return None


def _item(value: Any, node: Node) -> _Wrong | None:
    kind = node.kind
    if kind is _MESSAGE:
        return _message(value, node) if type(value) is dict else ("", value)
    if kind in _MAPS:
        return _map(value)
    if kind is _ANY or isinstance(value, str) or (kind in _SCALARS and type(value) in _SCALAR_TYPES):
        return None
    return "", value


def _map(value: Any) -> _Wrong | None:
    if type(value) is not dict:
        return "", value
    wrong = next(((key, item) for key, item in value.items() if type(item) in _CONTAINERS), None)
    return wrong and (f".{wrong[0]}" if wrong[0].isprintable() else ".(a key)", wrong[1])
