"""The same spec in other spellings: snake_case and camelCase mixed, numbers and booleans as strings."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from reconciler.spec.fields import Kind, Many
from reconciler.spec.tree import ROOT, Node, camel


@st.composite
def respelled(draw: st.DrawFn, spec: dict[str, Any]) -> dict[str, Any]:
    """A spec that means the same."""
    return _message(draw, spec, ROOT)


def _message(draw: st.DrawFn, value: dict[str, Any], node: Node) -> dict[str, Any]:
    out = {}
    for name, item in value.items():
        child = node.children[name]
        out[camel(name) if draw(st.booleans()) else name] = _value(draw, item, child)
    return out


def _value(draw: st.DrawFn, value: Any, node: Node) -> Any:
    if node.many is not Many.NO and isinstance(value, list):
        return [_item(draw, item, node) for item in value]
    return _item(draw, value, node)


def _item(draw: st.DrawFn, value: Any, node: Node) -> Any:
    if node.kind is Kind.MESSAGE:
        return _message(draw, value, node)
    if node.kind in (Kind.INT, Kind.INT64, Kind.BOOL) and draw(st.booleans()):
        return str(value).lower()
    return value
