"""What came back: an answer, or why there is none; and the JSON object that a good answer must be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from reconciler.cloud.text import snippet

# The API's answers are about ten deep. Much deeper ones would end in a RecursionError somewhere behind this border.
_DEPTH = 64
# A value of two characters costs a hundred bytes once it is read. So many are a page of the largest clusters with all
# their nodes, and stay below half a GiB.
_VALUES = 5_000_000
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, whole. The names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class WireError(Exception):
    """No answer. `sent`: whether the service may have seen the request. `permanent`: repeating can't help."""

    def __init__(self, message: str, *, sent: bool, permanent: bool = False) -> None:
        super().__init__(message)
        self.sent = sent
        self.permanent = permanent


def too_much() -> WireError:
    """The error for an answer that there is no memory for."""
    return WireError("there isn't enough memory for the answer", sent=True, permanent=True)


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in an answer.

    Raises ValueError with a phrase that follows "answered", WireError for more than memory is to be spent on.
    """
    # Counted before anything is built. Commas in texts count, too: the limit leaves room for them.
    if len(body) > _VALUES and sum(map(body.count, (b",", b"{", b"["))) > _VALUES:
        raise WireError(f"the answer holds more than {_VALUES:,} values", sent=True, permanent=True)
    try:
        return _object(body)
    except MemoryError:
        raise too_much() from None


def _object(body: bytes) -> dict[str, Any]:
    try:
        text = str(body, "utf-8-sig")
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ValueError(f"what is no JSON: {snippet(body)}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{kind_of(value)} where an object was expected")
    if _is_deep(value):
        raise ValueError(f"JSON that is nested more than {_DEPTH} deep")
    if _SURROGATE.search(text):
        # Half a character can't be written to any file or terminal.
        whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return dict(json.loads(whole))
    return value


def kind_of(value: object) -> str:
    """What a JSON value is, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return "an object"


def _is_deep(value: object) -> bool:
    """Level by level, since a recursion is what it's there to prevent."""
    level = [value]
    for _ in range(_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
