"""Good inputs made bad: strategies that change texts at random places, and JSON values at random nodes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

Json = Any

_TOKENS = (
    "\0",
    "\n",
    "\t",
    ": ",
    "- ",
    "---\n",
    "&a ",
    "*a",
    "<<: *a\n",
    "!!python/object:os.system ",
    "{",
    "}",
    "[",
    "]",
    "%YAML 1.1\n",
    "\x1b[2J",
    "\u202e",
    "\ufeff",
    "\ud7ff",
    "~",
    "null",
    ".nan",
    "1e999",
    "0x_1",
    "1_0",
    "010",
    "yes",
    "? ",
    ">+\n",
    "\\u0000",
    "\\ud800",
    "spec:",
    "{file: ../../etc/passwd}",
    "=",
    "::",
    "@",
    "`",
    "'",
    "#",
    '"',
)
_VALUES: tuple[Callable[[], Json], ...] = (
    lambda: None,
    lambda: True,
    lambda: 0,
    lambda: -1,
    lambda: 2**63,
    lambda: 10**400,
    lambda: 1e308,
    lambda: 0.5,
    lambda: "",
    lambda: "x",
    lambda: "9" * 5000,
    lambda: "\x1b]0;title\x07\x9b31m\u202e\r\n::error::x",
    lambda: "\ud800",
    lambda: "projects/p/locations/l/modelDevelopmentClusters/other",
    lambda: "604800.5s",
    lambda: "STATE_UNSPECIFIED",
    list,
    lambda: [None],
    lambda: [[]],
    lambda: ["x", 1, {}],
    dict,
    lambda: {"": ""},
    lambda: {"message": {"message": []}, "id": [], "code": "x"},
    lambda: _deep(40),
    lambda: _deep(100),
)

# Positions are drawn as parts of the whole, so that they mean something in every input.
_PLACE = st.integers(0, 2**16 - 1)
_TEXT_EDIT = st.tuples(
    st.sampled_from(("cut", "repeat", "insert", "replace", "byte", "end")),
    _PLACE,
    st.integers(0, 40),
    st.sampled_from(_TOKENS),
)
_VALUE_EDIT = st.tuples(
    st.sampled_from(("replace", "replace", "replace", "drop", "add", "rename", "repeat")),
    _PLACE,
    st.sampled_from(_VALUES),
)


def _deep(levels: int) -> Json:
    value: Json = []
    for _ in range(levels):
        value = [value]
    return value


def broken_texts(corpus: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Texts of the corpus with a few edits that know nothing of their meaning."""
    return st.builds(_edit_text, st.sampled_from(corpus), st.lists(_TEXT_EDIT, max_size=6))


def broken_values(corpus: Sequence[Json]) -> st.SearchStrategy[Json]:
    """JSON values of the corpus with a few nodes that are something else."""
    return st.builds(_edit_value, st.sampled_from(corpus), st.lists(_VALUE_EDIT, max_size=5))


def broken_bodies(corpus: Sequence[Json]) -> st.SearchStrategy[bytes]:
    """The same as the bytes of an answer, some of which are broken again as a text."""
    whole = st.builds(_encoded, broken_values(corpus))
    edits = st.one_of(st.just([]), st.lists(_TEXT_EDIT, max_size=2))
    return st.builds(_edit_text, whole, edits) | st.sampled_from(
        (
            b"",
            b"null",
            b"[]",
            b"<html>",
            b"\xff\xfe",
            b"[" * 100_000,
            b'{"a":' * 3000,
            b"NaN",
            b'{"error": []}',
            b"\x1f\x8b",
        )
    )


def _encoded(value: Json) -> bytes:
    return json.dumps(value).encode()


def _edit_text(text: bytes, edits: Sequence[tuple[str, int, int, str]]) -> bytes:
    for kind, place, length, token in edits:
        at = place * len(text) >> 16
        before, part, after = text[:at], text[at : at + length], text[at + length :]
        match kind:
            case "cut":
                text = before + after
            case "repeat":
                text = before + part * 3 + after
            case "insert":
                text = before + token.encode("utf-8", "surrogatepass") + part + after
            case "replace":
                text = before + token.encode("utf-8", "surrogatepass") + after
            case "byte":
                text = before + bytes([place & 0xFF]) + text[at + 1 :]
            case _:
                text = before
    return text


def _edit_value(value: Json, edits: Sequence[tuple[str, int, Callable[[], Json]]]) -> Json:
    value = copy.deepcopy(value)
    for kind, place, make in edits:
        nodes = list(_places(value))
        if not nodes:
            return make()
        container, key = nodes[place * len(nodes) >> 16]
        _edit_node(container, key, kind, make)
    return value


def _edit_node(container: Json, key: Json, kind: str, make: Callable[[], Json]) -> None:
    match kind, container:
        case "drop", _:
            del container[key]
        case "add", dict():
            container["someNewThing"] = make()
        case "rename", dict():
            container[f"{key}_"] = container.pop(key)
        case "add" | "repeat", list():
            container.append(copy.deepcopy(container[key]) if kind == "repeat" else make())
        case _:
            container[key] = make()


def _places(value: Json, depth: int = 0) -> Any:
    """All (container, key) pairs of a value; what is very deep is left alone."""
    if depth > 30:
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in list(items):
        yield value, key
        yield from _places(child, depth + 1)
