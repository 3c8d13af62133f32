"""Values as Slurm's JSON writes them. Each version does it its own way: plain, wrapped, as text, or not at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

# NO_VAL and INFINITE of 32 and 64 bits, which older versions let through as plain numbers.
_NO_VALUES = frozenset({2**32 - 2, 2**32 - 1, 2**64 - 2, 2**64 - 1})
_LAST_SECOND = 253_402_300_799  # of the year 9999


def number(value: object) -> int | None:
    """A whole number, plain or as `{set, infinite, number}`; None where it's unset, unlimited, negative, or none."""
    match value:
        case dict():
            is_given = truth(value.get("set", True)) and not truth(value.get("infinite"))
            return number(value.get("number")) if is_given else None
        case int():  # a boolean, too
            return int(value) if value >= 0 and value not in _NO_VALUES else None
        case float():
            return number(int(value)) if math.isfinite(value) else None
        case str():
            return _parsed(value)
    return None


def truth(value: object) -> bool:
    """A flag: a boolean, 0 or 1, or one of them as text."""
    return value.strip().lower() in ("true", "1", "yes") if isinstance(value, str) else bool(value)


def moment(value: object) -> int | None:
    """Seconds since the epoch; None where it's 0, which means "not yet"."""
    seconds = number(value)
    return seconds if seconds and seconds <= _LAST_SECOND else None


def text(value: object) -> str:
    """A text, or a number as text; "" for anything else."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def words(value: object) -> tuple[str, ...]:
    """Flags, as a list or in one text (`CANCELLED+COMPLETING`), in upper case."""
    listed = value if isinstance(value, list) else [value]
    parts = (part for item in listed for part in text(item).replace("+", ",").split(","))
    return tuple(part.split()[0].upper() for part in parts if part.strip())


def mapping(value: object) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _parsed(digits: str) -> int | None:
    for parse in (int, float):
        try:
            return number(parse(digits))
        except ValueError:
            continue
    return None
