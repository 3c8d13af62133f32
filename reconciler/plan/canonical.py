"""The comparison form: two of them are equal just when the API would mean the same by both (contract section 1).

Defaults are gone, scalars are in one spelling, keyed lists are mappings by id, sets are sorted. The live side is put in
the terms of the desired one: what the service fills in where the file is silent isn't there to be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from reconciler.spec import values
from reconciler.spec.fields import Kind, Many
from reconciler.spec.names import image_satisfies, resource
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node

Canonical = dict[str, Any]
Form = Callable[[Any, Any, dict[str, str]], Any]
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
    return _message(spec, ROOT, None, {}, aliases)


def live_form(live: Typed, like: Canonical, spec: Typed, aliases: dict[str, str]) -> Canonical:
    """The comparison form of an answer, in the terms of `like`, the desired form of `spec`."""
    return _message(live, ROOT, like, spec, aliases)


def _message(value: Typed, node: Node, like: Canonical | None, spec: Any, aliases: dict[str, str]) -> Canonical:
    """The form of the desired side where `like` is None. `spec` is what `like` was made of: equals have equal forms."""
    out: Canonical = {}
    for name, item in value.items():
        child = node.children.get(name)
        if child is None:
            key = UnknownKey(name)
            if (like is None or key in like) and (form := free(item)):
                out[key] = form
            continue
        row = child.row
        wanted = None if like is None else like.get(name)
        if row.output or (row.filled and like is not None and wanted is None):
            continue
        given = spec.get(name)
        if wanted is not None and item == given:
            result = wanted
        else:
            result = _value(item, child, wanted, given, aliases, live=like is not None)
        if result:
            out[name] = result
            # Whether the order will mean something is the desired side's to say: it is what holds after the change.
            first_counts = row.first_is and (not value.get(row.first_is) if like is None else name + FIRST in like)
            if first_counts and isinstance(result, dict):
                out[name + FIRST] = next(iter(result))
    return out


def _value(value: Any, node: Node, wanted: Any, given: Any, aliases: dict[str, str], *, live: bool) -> Any:
    if node.many is Many.NO:
        return _item(value, node, wanted, given, aliases, live=live)
    if not isinstance(value, list):
        return value
    if node.many is Many.KEYED:
        return _keyed(value, node, wanted, given, aliases, live=live)
    items = [_item(item, node, None, None, aliases, live=live) for item in value]
    return items if node.many is Many.ORDERED else sorted(set(map(str, items)))


def _keyed(value: list[Any], node: Node, wanted: Any, given: Any, aliases: dict[str, str], *, live: bool) -> Any:
    key_name = node.row.key
    wanted = wanted if isinstance(wanted, dict) else {}
    specs = {item.get(key_name): item for item in given or () if isinstance(item, dict)} if wanted else {}
    out = {}
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            out[f"#{index}"] = item
            continue
        key = str(item.get(key_name, f"#{index}"))
        form = _item(item, node, wanted.get(key), specs.get(key), aliases, live=live)
        form.pop(key_name, None)
        out[key] = form
    return out


def _item(value: Any, node: Node, wanted: Any, given: Any, aliases: dict[str, str], *, live: bool) -> Any:
    if node.kind is not Kind.MESSAGE:
        form = _FORMS.get(node.kind)
        return form(value, wanted, aliases) if form else value
    if not isinstance(value, dict):
        return value
    if not live:
        return _message(value, node, None, {}, aliases)
    like = wanted if isinstance(wanted, dict) else {}
    return _message(value, node, like, given if isinstance(given, dict) else {}, aliases)


def free(value: Any) -> Any:
    """The form of a value that the table knows nothing of: names in either spelling, defaults left out."""
    if isinstance(value, dict):
        return {UnknownKey(key): form for key, item in value.items() if (form := free(item))}
    if isinstance(value, list):
        return [free(item) for item in value]
    return "" if isinstance(value, str) and value.endswith("_UNSPECIFIED") else value


def _any(value: Any, _wanted: Any, _aliases: dict[str, str]) -> Any:
    return free(value)


@lru_cache(maxsize=4096)  # a few names, seen in every cluster
def _slurm_key(spelling: str) -> SlurmKey:
    return SlurmKey(spelling)


def _labels(value: Any, _wanted: Any, _aliases: dict[str, str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: str(item) for key, item in value.items() if not key.startswith("goog-")}


def _slurm(value: Any, _wanted: Any, _aliases: dict[str, str]) -> Any:
    return {_slurm_key(key): str(item) for key, item in value.items()} if isinstance(value, dict) else value


def _resource(value: Any, _wanted: Any, aliases: dict[str, str]) -> Any:
    return resource(value, aliases) if isinstance(value, str) else value


def _image(value: Any, wanted: Any, aliases: dict[str, str]) -> Any:
    name = _resource(value, wanted, aliases)
    satisfied = isinstance(name, str) and isinstance(wanted, str) and image_satisfies(wanted, name)
    return wanted if satisfied else name


def _text(form: Callable[[str], str]) -> Form:
    return lambda value, _wanted, _aliases: form(value) if isinstance(value, str) else value


def _enum(value: str) -> str:
    return "" if value.endswith("_UNSPECIFIED") or value == "0" else value


# A value, the desired side's form of it or None, and the aliases -> its form. Kinds that aren't here stand as they are.
_FORMS: dict[Kind, Form] = {
    Kind.LABELS: _labels,
    Kind.SLURM: _slurm,
    Kind.RESOURCE: _resource,
    Kind.IMAGE: _image,
    Kind.DURATION: _text(values.duration),
    Kind.SCRIPT: _text(values.script),
    Kind.ENUM: _text(_enum),
    Kind.ANY: _any,
}
