"""`lifecycle.ignore_changes`: what stands at these paths belongs to others, in the diff and in the payload alike.

One mechanism serves both: the live value is put in the place of the desired one, so nothing is left to differ and what
is sent is what is there. Only the live fingerprint takes the paths out, so that others' edits make no plan stale.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from reconciler.plan.canonical import SlurmKey
from reconciler.spec.fields import Kind, Many
from reconciler.spec.paths import Segment, parse
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node

_ABSENT = object()


def adopt_live(desired: Typed, live: Typed, patterns: Iterable[str]) -> Typed:
    """`desired` with the live values at the ignored paths. Items that only one side has stay, unless ignored whole."""
    for pattern in patterns:
        desired = _message(desired, live, ROOT, parse(pattern))
    return desired


def without(live: Typed, patterns: Iterable[str]) -> Typed:
    """`live` without the ignored paths."""
    for pattern in patterns:
        live = _message(live, None, ROOT, parse(pattern))
    return live


def _message(target: Typed, source: Typed | None, node: Node, path: tuple[Segment, ...]) -> Typed:
    """`source` None means: drop what the path leads to."""
    segment, rest = path[0], path[1:]
    child = node.children[segment.name]
    name = child.name
    ours = target.get(name, _ABSENT)
    theirs = _ABSENT if source is None else source.get(name, _ABSENT)
    drop = source is None
    if not rest and segment.key is None:
        new = theirs
    elif child.many is not Many.NO:
        new = _items(ours, theirs, child, segment.key or "*", rest, drop=drop)
    elif child.kind in (Kind.LABELS, Kind.SLURM, Kind.ANY):
        new = _entries(ours, theirs, child, rest[0].name, drop=drop)
    else:
        below = _message(_mapping(ours), None if drop else _mapping(theirs), child, rest)
        new = _ABSENT if ours is _ABSENT and not below else below
    return _put(target, name, new)


def _put(target: Typed, name: str, value: Any) -> Typed:
    changed = {key: item for key, item in target.items() if key != name}
    if value is not _ABSENT:
        changed[name] = value
    return changed


def _mapping(value: Any) -> Typed:
    return value if isinstance(value, dict) else {}


def _entries(ours: Any, theirs: Any, node: Node, pattern: str, *, drop: bool) -> Any:
    fold = SlurmKey if node.kind is Kind.SLURM else str

    def hit(key: str) -> bool:
        return fnmatchcase(str.__str__(fold(key)), str.__str__(fold(pattern)))

    kept = {key: value for key, value in _mapping(ours).items() if not hit(key)}
    taken = {} if drop else {key: value for key, value in _mapping(theirs).items() if hit(key)}
    return (kept | taken) or (ours if ours == {} else _ABSENT)


def _items(ours: Any, theirs: Any, node: Node, pattern: str, rest: tuple[Segment, ...], *, drop: bool) -> Any:
    mine = _by_key(ours, node)
    other = _by_key(theirs, node)
    if rest:
        merged = [
            _message(item, None if drop else other[key], node, rest)
            if fnmatchcase(key, pattern) and (drop or key in other)
            else item
            for key, item in mine.items()
        ]
        return merged or ours
    taken = {} if drop else {key: item for key, item in other.items() if fnmatchcase(key, pattern)}
    # The order is the list's own: what the file names stands where it does there.
    kept = [taken.get(key, item) for key, item in mine.items() if key in taken or not fnmatchcase(key, pattern)]
    for index, (key, item) in enumerate(other.items()):
        if key in taken and key not in mine:
            # At its live place: the first partition may be the default one.
            kept.insert(min(index, len(kept)), item)
    return kept or (ours if ours == [] else _ABSENT)


def _by_key(value: Any, node: Node) -> dict[str, Any]:
    if not isinstance(value, list):
        return {}
    if node.many is not Many.KEYED:
        return {str(index): item for index, item in enumerate(value)}
    return {str(item.get(node.row.key, index)): item for index, item in enumerate(value) if isinstance(item, dict)}
