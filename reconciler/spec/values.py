"""Reading single values of the table's kinds: strict words for people's files, one comparison form for both sides."""

from __future__ import annotations

import re
from decimal import Decimal

from reconciler.spec.fields import Kind

_DURATION = re.compile(r"(\d+)(?:\.(\d{1,9}))?s")
_INTEGER = re.compile(r"[+-]?\d+")
INT64_MAX = 2**63 - 1
_LIMITS = {Kind.INT: 2**31 - 1, Kind.INT64: INT64_MAX}
_WIDTHS = {Kind.INT: "32-bit", Kind.INT64: "64-bit"}


def typed(kind: Kind, value: object) -> object:
    """The Python value of a scalar as the API means it: `"2"` -> 2, `"true"` -> True.

    Raises ValueError with a sentence for people where the value can't be of its kind.
    """
    if kind in _LIMITS:
        return _integer(kind, value)
    if kind is Kind.BOOL:
        return _boolean(value)
    if kind is Kind.ANY:
        return value
    if not isinstance(value, str):
        raise ValueError(f"expected a string, got {describe(value)}")
    if kind is Kind.DURATION and not _DURATION.fullmatch(value):
        raise ValueError(f'expected a duration in seconds such as "604800s", got "{value}"')
    return value


def _integer(kind: Kind, value: object) -> int:
    text = isinstance(value, str) and len(value) <= 20 and _INTEGER.fullmatch(value)
    if text or (isinstance(value, float) and value.is_integer()):
        value = int(value)  # type: ignore[call-overload]  # narrowed above, through a name
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"expected a whole number, got {describe(value)}")
    if abs(value) > _LIMITS[kind]:
        raise ValueError(
            f"{value if abs(value) < 10**20 else 'the number'} is out of the range of {_WIDTHS[kind]} integers"
        )
    return value


def _boolean(value: object) -> bool:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, got {describe(value)}")
    return value


def describe(value: object) -> str:
    """A value's type and, where short, the value, for messages."""
    match value:
        case None:
            return "nothing (null)"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case bool():
            return "true" if value else "false"
        case int() if abs(value) >= 10**20:  # str() of huge integers is refused by Python, and no help to people
            return "a huge number"
    text = str(value)
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'


def duration(text: str) -> str:
    """Comparison form of a protobuf duration: trailing zeros of the fraction gone. Not one: as it stands."""
    match = _DURATION.fullmatch(text)
    if not match:
        return text
    seconds = Decimal(match[1] + "." + (match[2] or "0")).normalize()
    return f"{seconds:f}s" if seconds else ""


def script(text: str) -> str:
    """Comparison form of a script: LF line ends, without the final newline (contract section 1)."""
    text = text.replace("\r\n", "\n")
    return text.removesuffix("\n")
