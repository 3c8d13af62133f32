"""Reads a request's resource into the stored form: camelCase, whole numbers as numbers, defaults left out.

Requests take snake_case, camelCase or a mix (C), numbers and booleans as strings, and ignore output-only fields.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any

from reconciler.emulator.errors import ApiError, Violation
from reconciler.emulator.fields import ANY, CLUSTER, Message, Node, Repeated, Scalar, StringMap
from reconciler.emulator.names import camel, snake

ROOT = "model_development_cluster"
_DURATION = re.compile(r"^(\d{1,12})(?:\.(\d{1,9}))?s$")
_BOOLEANS = {"true": True, "false": False}
_WORDS = ("enum", "duration")
_INT_RANGE = {"int32": 2**31, "int64": 2**63}


class _MismatchError(Exception):
    """A value that isn't of its field's type."""


class Reader:
    """Reads one resource. Afterwards `violations` says what was wrong with it.

    `future` holds fields (camelCase names, or dotted paths) that are accepted though the table doesn't know them.
    A `lenient` reader reads what a service may answer: it keeps output-only fields, words that no documented enum has,
    and unknown fields, which it notes in `discovered`.
    """

    def __init__(self, future: Collection[str] = (), *, lenient: bool = False, trim_scripts: bool = False) -> None:
        self.violations: list[Violation] = []
        self.discovered: set[str] = set()
        self._future = frozenset(future)
        self._lenient = lenient
        self._trim_scripts = trim_scripts

    def read(self, body: object) -> dict[str, Any]:
        """The resource in its stored form; unreadable fields are left out of it."""
        if not isinstance(body, dict):
            self._refuse(ROOT, "Invalid JSON payload received. A JSON object is expected.")
            return {}
        return self._message(CLUSTER, body, ROOT, "")

    def _refuse(self, place: str, description: str) -> None:
        self.violations.append(Violation(place, description))

    def _message(self, message: Message, body: dict[str, Any], place: str, path: str) -> dict[str, Any]:
        stored: dict[str, Any] = {}
        seen: set[str] = set()
        for key, value in body.items():
            name = _spellings(message).get(key) or camel(key)
            dotted = f"{path}.{name}" if path else name
            node = self._child(message, key, name, dotted)
            if node is None:
                self._refuse(
                    place, f"Invalid JSON payload received. Unknown name \"{key}\" at '{place}': Cannot find field."
                )
            elif name in seen:
                self._refuse(place, f"Invalid JSON payload received. Field \"{name}\" at '{place}' is set twice.")
            elif name not in message.output_only or self._lenient:
                kept = self._value(node, value, f"{place}.{snake(name)}", dotted)
                if not is_default(node, kept):
                    stored[name] = kept
            seen.add(name)
        return stored

    def _child(self, message: Message, key: str, name: str, dotted: str) -> Node | None:
        if key in _spellings(message):
            return message.fields[name]
        node = message.child(name) if name not in message.fields else None
        if node is None and (name in self._future or dotted in self._future):
            return ANY
        if node is None and self._lenient:
            self.discovered.add(dotted)
            return ANY
        return node

    def _value(self, node: Node, value: Any, place: str, path: str) -> Any:
        try:
            return self._typed(node, value, place, path)
        except _MismatchError as mismatch:
            if self._lenient and isinstance(node, Scalar) and node.kind in _WORDS:
                return value
            self._refuse(place, f"Invalid value at '{place}' ({mismatch}), {value!r}"[:500])
            return None

    def _typed(self, node: Node, value: Any, place: str, path: str) -> Any:
        if value is None:
            return None
        match node:
            case Message():
                return self._message(node, _expect(value, dict, "an object"), place, path)
            case Repeated():
                items = _expect(value, list, "a list")
                return [self._item(node.item, item, f"{place}[{index}]", path) for index, item in enumerate(items)]
            case StringMap():
                entries = _expect(value, dict, "a map").items()
                return {key: _expect(item, str, f"TYPE_STRING of '{key}'") for key, item in entries}
            case Scalar():
                return self._script(node, _scalar(node, value))

    def _item(self, node: Node, value: Any, place: str, path: str) -> Any:
        if value is None:
            self._refuse(place, f"Invalid value at '{place}', null")
        return self._value(node, value, place, path)

    def _script(self, node: Scalar, value: Any) -> Any:
        return value.rstrip() if self._trim_scripts and node.kind == "script" else value


@cache
def _spellings_of(names: tuple[str, ...]) -> dict[str, str]:
    return {spelling: name for name in names for spelling in (name, snake(name))}


def _spellings(message: Message) -> dict[str, str]:
    return _spellings_of(tuple(message.fields))


def _expect(value: Any, kind: type, wanted: str) -> Any:
    if not isinstance(value, kind):
        raise _MismatchError(wanted)
    return value


def _scalar(node: Scalar, value: Any) -> Any:
    match node.kind:
        case "any":
            return value
        case "bool":
            found = _BOOLEANS.get(value) if isinstance(value, str) else value
            return _expect(found, bool, "TYPE_BOOL")
        case "int32" | "int64":
            return _whole_number(value, node.kind)
        case "duration":
            return _duration(_expect(value, str, 'a duration such as "3.5s"'))
        case "enum":
            word = _expect(value, str, "TYPE_ENUM")
            if node.values and word not in node.values and not word.endswith("_UNSPECIFIED"):
                raise _MismatchError(f"TYPE_ENUM: one of {', '.join(node.values)}")
            return word
        case _:
            return _expect(value, str, "TYPE_STRING")


def _whole_number(value: Any, kind: str) -> int:
    wanted = f"TYPE_{kind.upper()}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise _MismatchError(wanted)
    try:
        number = int(value)
        exact = isinstance(value, str) or number == value
    except (ValueError, OverflowError) as error:
        raise _MismatchError(wanted) from error
    if not exact or not -_INT_RANGE[kind] <= number < _INT_RANGE[kind]:
        raise _MismatchError(wanted)
    return number


def _duration(text: str) -> str:
    found = _DURATION.match(text)
    if not found:
        raise _MismatchError('a duration such as "3.5s"')
    fraction = (found[2] or "").rstrip("0")
    return f"{int(found[1])}.{fraction}s" if fraction else f"{int(found[1])}s"


def is_default(node: Node, value: Any) -> bool:
    """Whether proto3 JSON leaves this value out: null, 0, false, "", [], {} and `…_UNSPECIFIED`."""
    if value is None or value in ("", [], {}):
        return True
    if isinstance(node, Scalar):
        unspecified = node.kind == "enum" and isinstance(value, str) and value.endswith("_UNSPECIFIED")
        return unspecified or (node.kind != "any" and value == 0)
    return False


def read_strictly(body: object, future: Collection[str], *, trim_scripts: bool) -> dict[str, Any]:
    """A request's resource in the stored form. Raises ApiError naming every field that can't be read."""
    reader = Reader(future, trim_scripts=trim_scripts)
    stored = reader.read(body)
    if reader.violations:
        message = "\n".join(violation.description for violation in reader.violations)
        raise ApiError("INVALID_ARGUMENT", message, tuple(reader.violations))
    return stored
