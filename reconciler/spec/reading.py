"""Raw mappings to the typed form: snake_case names of the table, scalars of their kind, the unknown kept as it is.

A file is read strictly and every problem reported; an answer of the service is read tolerantly and never refused, since
it may hold fields and values that this version has never heard of (api-facts, "JSON traps of such an API").
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from reconciler.spec.fields import Field, Kind, Many
from reconciler.spec.findings import Path, Problem, Report, Severity, did_you_mean
from reconciler.spec.tree import ROOT, Node, squash
from reconciler.spec.values import describe, typed

Typed = dict[str, Any]
Literal = Callable[[Path], str | None]
_LIST = "write a list, each item on a line of its own after a dash"
_MESSAGE = 'write its fields below it, each as "name: value"'
_MAP = 'write names with their texts below it, each as "name: text"'
_HOW = {  # to write a value of a kind; a text where nothing is said
    Kind.INT: "write a whole number such as 4",
    Kind.INT64: "write a whole number such as 4",
    Kind.BOOL: "write true or false",
    Kind.DURATION: 'write seconds, such as "604800s"',
    Kind.SCRIPT: "write the script's text, or {file: PATH}",
}


def read_live(raw: dict[str, Any]) -> Typed:
    """The typed form of an answer. Values that aren't of their kind stay as they are, or as text."""
    return _live_message(raw, ROOT)


def _live_message(raw: dict[str, Any], node: Node) -> Typed:
    out: Typed = {}
    for key, value in raw.items():
        child = node.names.get(key)
        if child is None:
            out[key] = value
        elif child.is_text and isinstance(value, str):  # most values, by the shortest way
            out[child.name] = value
        elif value is not None:
            out[child.name] = _live_value(value, child)
    return out


def _live_value(value: Any, node: Node) -> Any:
    if node.many is not Many.NO:
        return [_live_item(item, node) for item in value] if isinstance(value, list) else value
    return _live_item(value, node)


def _live_item(value: Any, node: Node) -> Any:
    if node.kind is Kind.MESSAGE:
        return _live_message(value, node) if isinstance(value, dict) else value
    if node.kind in (Kind.LABELS, Kind.SLURM):
        return _live_map(value) if isinstance(value, dict) else value
    if node.kind is Kind.ENUM:  # a value that is newer than the service's own names comes as its number
        return _as_text(value)
    try:
        return typed(node.kind, value)
    except ValueError:
        return value


def _live_map(value: dict[str, Any]) -> dict[str, Any]:
    """A map of strings, whatever its values came as: a file can hold nothing else there."""
    if all(type(item) is str for item in value.values()):
        return value
    return {key: _as_text(item) for key, item in value.items() if item is not None}


def _as_text(value: Any) -> Any:
    """A scalar as JSON has it, which is as YAML has it."""
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


def read_file(raw: dict[str, Any], at: Path, literal: Literal, report: Report, *, allow_unknown: bool) -> Typed:
    """The typed form of a file's `spec`, which stands at path `at` of its document.

    `literal(path)` gives the text of a scalar as it stands in the file, so that `010` in a string field stays `010`.
    Problems go to `report`; what is wrong is left out of the result.
    """
    return _FileReader(literal, report, allow_unknown=allow_unknown).message(raw, ROOT, at)


class _FileReader:
    def __init__(self, literal: Literal, report: Report, *, allow_unknown: bool) -> None:
        self._literal = literal
        self._report = report
        self._allow_unknown = allow_unknown

    def message(self, raw: dict[str, Any], node: Node, at: Path) -> Typed:
        out: Typed = {}
        seen: dict[str, str] = {}
        for key, value in raw.items():
            child = node.names.get(key)
            if child is None:
                self._unknown(key, value, node, (*at, key), out)
            elif child.row.output:
                self._report(
                    Problem(
                        (*at, key),
                        "output-only",
                        f"{key} is filled by the service and ignored here",
                        "remove it",
                        Severity.WARNING,
                    )
                )
            elif child.name in seen:
                self._report(
                    Problem(
                        (*at, key),
                        "two-spellings",
                        f"{key} and {seen[child.name]} are the same field",
                        "keep one of them",
                    )
                )
            else:
                seen[child.name] = key
                if child.is_text and isinstance(value, str):
                    out[child.name] = value
                elif value is not None and (read := self.value(value, child, (*at, key))) is not None:
                    out[child.name] = read
        # What is there and wrong has its own problem, and isn't missing besides.
        self._require({name for name, key in seen.items() if raw[key] is not None}, node, at)
        return out

    def _unknown(self, key: str, value: Any, node: Node, path: Path, out: Typed) -> None:
        if self._allow_unknown:
            twins = [each for each in out if each not in node.children and squash(each) == squash(key)]
            if twins:
                self._report(
                    Problem(path, "two-spellings", f"{key} and {twins[0]} are the same field", "keep one of them")
                )
            out[key] = value
            return
        where = f"{node.path}." if node.path else ""
        self._report(
            Problem(
                path,
                "unknown-field",
                f"unknown field {where}{key}",
                did_you_mean(key, list(node.names)) or "known here: " + ", ".join(sorted(node.children)),
            )
        )

    def _require(self, given: set[str], node: Node, at: Path) -> None:
        for child in node.children.values():
            if child.row.required and child.name not in given:
                self._report(Problem(at, "required", f"{child.path.replace('[]', '')} is missing", child.row.doc))

    def value(self, value: Any, node: Node, at: Path) -> Any:
        if node.many is Many.NO:
            return self.item(value, node, at)
        if not isinstance(value, list):
            return self._wrong(at, f"{node.name} must be a list, got {describe(value)}", _LIST)
        items = ((index, self.item(item, node, (*at, index))) for index, item in enumerate(value))
        return [item for _, item in items if item is not None]

    def item(self, value: Any, node: Node, at: Path) -> Any:
        if node.kind is Kind.MESSAGE:
            if not isinstance(value, dict):
                return self._wrong(at, f"{node.name} must be a mapping, got {describe(value)}", _MESSAGE)
            return self.message(value, node, at)
        if node.kind in (Kind.LABELS, Kind.SLURM):
            return self._map(value, node, at)
        return self._scalar(value, node, at)

    def _map(self, value: Any, node: Node, at: Path) -> Any:
        if not isinstance(value, dict):
            return self._wrong(at, f"{node.name} must be a mapping of names to strings, got {describe(value)}", _MAP)
        entry = _entry(node)
        read = ((key, self._scalar(item, entry, (*at, key), name=f"{node.name}.{key}")) for key, item in value.items())
        return {key: item for key, item in read if item is not None}

    def _scalar(self, value: Any, node: Node, at: Path, name: str = "") -> Any:
        # A plain scalar in a string field is taken as it is written: YAML types mean nothing there (contract 1).
        if isinstance(value, (bool, int, float)) and node.kind not in (Kind.INT, Kind.INT64, Kind.BOOL, Kind.ANY):
            text = self._literal(at)
            if text is None or node.kind is Kind.DURATION:
                return self._wrong(
                    at, f"{name or node.name} must be a string, got {describe(value)}", "put it in quotes"
                )
            value = text
        try:
            return typed(node.kind, value)
        except ValueError as error:
            return self._wrong(at, f"{name or node.name}: {error}", _HOW.get(node.kind, "write a text"))

    def _wrong(self, at: Path, message: str, hint: str) -> Any:
        """Report it; the None that comes back leaves the value out."""
        self._report(Problem(at, "type", message, hint))
        return None


@cache
def _entry(node: Node) -> Node:
    """What stands under each key of a map of strings."""
    return Node(Field(node.path, Kind.STRING, node.row.source, node.row.doc), node.path, node.mask, node.impact)
