"""One edit of one leaf, anywhere in a spec: changed, taken away, or put where there was none."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hypothesis import assume
from hypothesis import strategies as st

from reconciler.spec.fields import Kind, Many
from reconciler.spec.tree import ROOT, Node


class Leaf(NamedTuple):
    """A place in a spec: what holds it, under which key, its field, and whether items are known by it."""

    holder: Any
    key: Any
    node: Node
    is_key: bool


def _paths(node: Node) -> Iterator[str]:
    for child in node.children.values():
        if not child.row.output and (child.kind is not Kind.MESSAGE or child.many is not Many.NO):
            yield child.path
        if not child.row.output:
            yield from _paths(child)


PATHS = tuple(_paths(ROOT))


@st.composite
def edited(draw: st.DrawFn, spec: dict[str, Any], path: str) -> dict[str, Any]:
    """The spec with one leaf of that field edited."""
    spec = copy.deepcopy(spec)
    leaves = [leaf for leaf in _leaves(spec, ROOT) if leaf.node.path == path]
    assume(leaves)
    holder, key, node, is_key = draw(st.sampled_from(leaves))
    if holder.get(key) and not is_key and draw(st.integers(0, 3)) == 0:
        del holder[key]
    else:
        holder[key] = _other(draw, holder.get(key), node)
    return spec


def _leaves(value: dict[str, Any], node: Node) -> Iterator[Leaf]:
    for name, child in node.children.items():
        if child.row.output:
            continue
        if child.kind is not Kind.MESSAGE or child.many is not Many.NO:
            yield Leaf(value, name, child, name == node.row.key)
        if child.kind is Kind.MESSAGE and child.many is not Many.NO:
            for item in value.get(name, ()):
                yield from _leaves(item, child)
        elif child.kind is Kind.MESSAGE:
            yield from _leaves(value.setdefault(name, {}), child)


def _other(draw: st.DrawFn, value: Any, node: Node) -> Any:
    """Another value of the field."""
    if node.many is Many.NO:
        return OTHERS[node.kind](draw, value, node)
    items = list(value or [])
    if node.kind is Kind.MESSAGE:
        change = draw(st.sampled_from(["drop", "reverse", "copy"]))
        if items and change == "drop":
            items.pop(draw(st.integers(0, len(items) - 1)))
        elif items and change == "copy":
            items.append({**copy.deepcopy(items[0]), node.row.key: f"{items[0][node.row.key]}0"})
        return items[::-1] if change == "reverse" else items
    if items and draw(st.booleans()):
        index = draw(st.integers(0, len(items) - 1))
        return items[:index] + items[index + 1 :] if draw(st.booleans()) else items[::-1]
    return [*items, OTHERS[node.kind](draw, "", node)]


def _entry(draw: st.DrawFn, value: Any, _: Node) -> dict[str, str]:
    entries = dict(value or {})
    key = draw(st.sampled_from([*entries, "added"]))
    if key in entries and draw(st.booleans()):
        del entries[key]
    else:
        entries[key] = f"{entries.get(key, '')}7"
    return entries


def _word(_: st.DrawFn, value: Any, __: Node) -> str:
    return f"{value or ''}x"


def _enum(draw: st.DrawFn, value: Any, node: Node) -> Any:
    return draw(st.sampled_from([each for each in node.row.values or ("ONE", "TWO") if each != value]))


Other = Callable[[st.DrawFn, Any, Node], Any]
OTHERS: dict[Kind, Other] = {
    Kind.STRING: _word,
    Kind.RESOURCE: lambda d, v, n: _word(d, v or "projects/p/locations/l/instances/", n),
    Kind.IMAGE: lambda d, v, n: _word(d, v or "projects/p/global/images/", n),
    Kind.SCRIPT: lambda d, v, n: (v or "#!/usr/bin/python3\n") + d(st.sampled_from(["# more\n", "\n\n", " "])),
    Kind.INT: lambda d, v, n: (v or 0) + d(st.integers(-1, 2)),
    Kind.INT64: lambda d, v, n: (v or 0) + d(st.integers(-1, 2)),
    Kind.BOOL: lambda d, v, n: not v,
    Kind.ENUM: _enum,
    Kind.DURATION: lambda d, v, n: d(st.sampled_from(["31s", "31.0s", "604800.000s"])),
    Kind.LABELS: _entry,
    Kind.SLURM: _entry,
    Kind.ANY: lambda d, v, n: {"changed": d(st.booleans()) or "no"},
}
