"""The comparison form: two of them are equal just when the API would mean the same by both (contract section 1).

Defaults are gone, scalars are in one spelling, keyed lists are mappings by id, sets are sorted. The live side is put in
the terms of the desired one: what the service fills in where the file is silent isn't there to be compared.
"""

from __future__ import annotations

from typing import Any

from reconciler.spec import values
from reconciler.spec.fields import Kind, Many
from reconciler.spec.names import image_satisfies, resource
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node

Canonical = dict[str, Any]
FIRST = "[0]"  # stands behind a keyed list's name for "its first item", where that means something


class SlurmKey(str):
    """A Slurm parameter name: equal without case and underscores (api-facts, C), remembered as it was spelled."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> SlurmKey:
        key = super().__new__(cls, spelling.replace("_", "").lower())
        key.spelling = spelling
        return key


class UnknownKey(str):
    """A field that the table doesn't have: equal in snake_case and camelCase, remembered as it was spelled."""

    __slots__ = ("spelling",)
    spelling: str

    def __new__(cls, spelling: str) -> UnknownKey:
        key = super().__new__(cls, "?" + spelling.replace("_", "").lower())
        key.spelling = spelling
        return key


def desired_form(spec: Typed, aliases: dict[str, str]) -> Canonical:
    """The comparison form of a file's spec. `aliases` maps the project's number to its id."""
    return _message(spec, ROOT, None, aliases)


def live_form(live: Typed, like: Canonical, aliases: dict[str, str]) -> Canonical:
    """The comparison form of an answer, in the terms of the desired form `like`."""
    return _message(live, ROOT, like, aliases)


def _message(value: Typed, node: Node, like: Canonical | None, aliases: dict[str, str]) -> Canonical:
    out: Canonical = {}
    for name, item in value.items():
        child = node.children.get(name)
        if child is None:
            key = UnknownKey(name)
            if like is None or key in like:
                out[key] = item
            continue
        row = child.row
        wanted = None if like is None else like.get(name)
        if row.output or (row.filled and like is not None and wanted is None):
            continue
        result = _value(item, child, wanted, aliases, live=like is not None)
        if result:
            out[name] = result
            # Whether the order will mean something is the desired side's to say: it is what holds after the change.
            first_counts = not value.get(row.first_is) if like is None else name + FIRST in like
            if row.first_is and first_counts and isinstance(result, dict):
                out[name + FIRST] = next(iter(result))
    return out


def _value(value: Any, node: Node, wanted: Any, aliases: dict[str, str], *, live: bool) -> Any:
    if node.many is Many.NO:
        return _item(value, node, wanted, aliases, live=live)
    if not isinstance(value, list):
        return value
    if node.many is Many.KEYED:
        return _keyed(value, node, wanted, aliases, live=live)
    items = [_item(item, node, None, aliases, live=live) for item in value]
    return items if node.many is Many.ORDERED else sorted(set(map(str, items)))


def _keyed(value: list[Any], node: Node, wanted: Any, aliases: dict[str, str], *, live: bool) -> Any:
    wanted = wanted if isinstance(wanted, dict) else {}
    out = {}
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            out[f"#{index}"] = item
            continue
        key = str(item.get(node.row.key, f"#{index}"))
        form = _item(item, node, wanted.get(key), aliases, live=live)
        form.pop(node.row.key, None)
        out[key] = form
    return out


def _item(value: Any, node: Node, wanted: Any, aliases: dict[str, str], *, live: bool) -> Any:
    match node.kind:
        case Kind.MESSAGE if isinstance(value, dict):
            like = (wanted if isinstance(wanted, dict) else {}) if live else None
            return _message(value, node, like, aliases)
        case Kind.LABELS if isinstance(value, dict):
            return {key: str(item) for key, item in value.items() if not key.startswith("goog-")}
        case Kind.SLURM if isinstance(value, dict):
            return {SlurmKey(key): str(item) for key, item in value.items()}
        case Kind.RESOURCE | Kind.IMAGE if isinstance(value, str):
            name = resource(value, aliases)
            satisfied = node.kind is Kind.IMAGE and isinstance(wanted, str) and image_satisfies(wanted, name)
            return wanted if satisfied else name
        case Kind.DURATION if isinstance(value, str):
            return values.duration(value)
        case Kind.SCRIPT if isinstance(value, str):
            return values.script(value)
        case Kind.ENUM if isinstance(value, str):
            return "" if value.endswith("_UNSPECIFIED") else value
    return value
