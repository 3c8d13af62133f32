"""A change as lines: scripts and whole items can't be read as `before -> after`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from reconciler.plan.model import Change
from reconciler.views.matching import hunks
from reconciler.views.safe import visible
from reconciler.views.values import inline, yaml_text

CONTEXT = 3
INLINE_LIMIT = 120  # characters of both sides together


class Line(NamedTuple):
    """`sign` is "+", "-", " " or "@" (a hunk's place) or a backslash (the note on a missing final newline)."""

    sign: str
    text: str


def is_inline(change: Change) -> bool:
    """Whether both sides can stand in one line: scalars and lists of them, not long, no line breaks."""
    sides = (change.before, change.after)
    return all(map(_is_simple, sides)) and sum(len(inline(side)) for side in sides) <= INLINE_LIMIT


def _is_simple(value: Any) -> bool:
    if isinstance(value, list):
        return all(not isinstance(item, list | dict) and _is_simple(item) for item in value)
    return not (isinstance(value, dict) and value) and not (isinstance(value, str) and "\n" in value)


def change_lines(change: Change) -> list[Line]:
    """A unified diff of both sides; where there is one side only, all of its lines."""
    before, after = _lines(change.before), _lines(change.after)
    if all(not side or not side[-1].endswith("\n") for side in (before, after)):
        before, after = _ended(before), _ended(after)
    if not before or not after:
        return [*_signed("-", before), *_signed("+", after)]
    return list(_unified(before, after))


def count(lines: list[Line]) -> str:
    """`+3 -1 lines`."""
    signs = Counter(line.sign for line in lines)
    return " ".join(f"{sign}{signs[sign]}" for sign in "+-" if signs[sign]) + " lines"


def _lines(value: Any) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else yaml_text(value)
    *whole, rest = text.split("\n")
    return [f"{line}\n" for line in whole] + ([rest] if rest else [])


def _ended(lines: list[str]) -> list[str]:
    return [*lines[:-1], f"{lines[-1]}\n"] if lines else lines


def _signed(sign: str, lines: list[str]) -> Iterator[Line]:
    for line in lines:
        yield Line(sign, visible(line.removesuffix("\n")))
        if not line.endswith("\n"):
            yield Line("\\", "No newline at end of file")


def _unified(before: list[str], after: list[str]) -> Iterator[Line]:
    for group in hunks(before, after, CONTEXT):
        first, last = group[0], group[-1]
        yield Line("@", f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _signed(" ", before[i1:i2])
            else:
                yield from _signed("-", before[i1:i2])
                yield from _signed("+", after[j1:j2])


def _range(start: int, stop: int) -> str:
    length = stop - start
    return f"{start + 1 if length else start},{length}"
