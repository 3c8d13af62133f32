"""What differs between two comparison forms, as changes that carry their mask path and impact from the field table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from reconciler.plan.canonical import FIRST, Canonical, SlurmKey, UnknownKey
from reconciler.plan.model import Change
from reconciler.spec.fields import Kind, Many
from reconciler.spec.tree import ROOT, Node, snake


def diff(live: Canonical, desired: Canonical) -> list[Change]:
    """The changes that lead from live to desired, in the order of the field table, then by id and key."""
    return [] if live == desired else list(_message(live, desired, ROOT, ""))


def _message(before: Canonical, after: Canonical, node: Node, path: str) -> Iterator[Change]:
    for name, child in node.children.items():
        old, new = before.get(name), after.get(name)
        if old != new:
            yield from _value(old, new, child, _join(path, name))
        old, new = before.get(name + FIRST), after.get(name + FIRST)
        if old != new and old and new:
            default = before.get(child.row.first_is) or old
            moves = f"default moves: {default} -> {new}" if default != new else f"the default stays {new}"
            yield _change(_join(path, name), old, new, child, reason=f"{moves} (the first of the list)")
    # `after` first: a field that both have is named as the file spells it.
    for key in sorted({key for key in dict.fromkeys((*after, *before)) if isinstance(key, UnknownKey)}):
        if before.get(key) != after.get(key):
            where = _join(path, key.spelling)
            change = _change(where, before.get(key), after.get(key), node)
            yield replace(change, mask=node.mask or _join(node.path, snake(key.spelling)), field=where)


def _value(old: Any, new: Any, node: Node, path: str) -> Iterator[Change]:
    if node.many is Many.KEYED and _mappings(old, new):
        yield from _keyed(old or {}, new or {}, node, path)
    elif node.many is Many.ORDERED and _texts(old) and _texts(new):
        yield from _ordered(old or [], new or [], node, path)
    elif node.many is Many.NO and node.kind is Kind.MESSAGE and _mappings(old, new):
        yield from _message(old or {}, new or {}, node, path)
    elif node.many is Many.NO and node.kind in (Kind.LABELS, Kind.SLURM) and _mappings(old, new):
        yield from _entries(old or {}, new or {}, node, path)
    else:
        yield _change(path, old, new, node)


def _texts(side: Any) -> bool:
    return side is None or (isinstance(side, list) and all(isinstance(item, str) for item in side))


def _mappings(*sides: Any) -> bool:
    return all(side is None or isinstance(side, dict) for side in sides)


def _keyed(old: dict[str, Any], new: dict[str, Any], node: Node, path: str) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        where = f"{path}[{key}]"
        if key not in old:
            # A new item is made as it is: what can't be changed later can be chosen now.
            yield replace(_change(where, None, new[key], node), item=key)
        elif key not in new:
            yield replace(_change(where, old[key], None, node), item=key, impact=node.row.removal)
        else:
            yield from (replace(change, item=key) for change in _message(old[key], new[key], node, where))


def _entries(old: dict[str, Any], new: dict[str, Any], node: Node, path: str) -> Iterator[Change]:
    spelled = {key: key.spelling if isinstance(key, SlurmKey) else key for key in (*old, *new)}
    for key in sorted(spelled):
        if old.get(key) != new.get(key):
            yield _change(_join(path, spelled[key]), old.get(key), new.get(key), node)


def _ordered(old: list[Any], new: list[Any], node: Node, path: str) -> Iterator[Change]:
    """Item by item, aligned, so that a script put in front doesn't show all the others as changed.

    A place of the list has one change: what goes there and what comes there, wherever the one went or came from.
    """
    goes: dict[int, Any] = {}
    comes: dict[int, Any] = {}
    for tag, i1, i2, j1, j2 in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        comes.update(zip(range(j1, j2), new[j1:j2], strict=True))
        for step, was in enumerate(old[i1:i2]):
            # Beside what comes in its stead, so that both are read as one edit; else where it was. Nothing that goes
            # may be hidden by something else that goes.
            place = j1 + step if j1 + step < j2 else i1 + step
            while place in goes:
                place += 1
            goes[place] = was
    for index in sorted(goes.keys() | comes.keys()):
        before, after = goes.get(index), comes.get(index)
        if before != after:  # a script that is here before and after, though others have moved past it
            yield _change(f"{path}[{index}]", before, after, node)


def _change(path: str, old: Any, new: Any, node: Node, *, reason: str = "") -> Change:
    return Change(path, plain(old), plain(new), node.mask, node.impact, reason=reason, field=node.path)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def plain(value: Any) -> Any:
    """A comparison form as JSON for people: keys as they were spelled, markers gone."""
    if isinstance(value, dict):
        return {
            key.spelling if isinstance(key, SlurmKey | UnknownKey) else key: plain(item)
            for key, item in value.items()
            if not key.endswith(FIRST)
        }
    return [plain(item) for item in value] if isinstance(value, list) else value
