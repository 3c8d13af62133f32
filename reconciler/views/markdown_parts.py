"""Parts of a Markdown text that can be had shorter: each fits itself into a budget and says what it left out.

Sizes are UTF-8 bytes, which are never fewer than characters: what fits by bytes fits GitHub's limit however it counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from reconciler.views.lines import Line
from reconciler.views.markdown_escape import clip, fence

Cuts = Counter[str]  # what was left out, by its noun in the plural

_GAP = "\n\n"
_LINE_LIMIT = 400  # characters of a line in a diff that has to be cut anyway
_FENCE_FRAME = 160  # bytes for the fences of a cut diff and the line that says so
_LEAST_DETAILS = 1_000  # bytes below which a cluster's details say less than its row in the table


class Fitting(Protocol):
    """Something that can be said in at most `budget` bytes; "" where that isn't enough to say anything."""

    def fit(self, budget: int, cuts: Cuts) -> str: ...


class Part(Fitting, Protocol):
    """`size` is what the whole needs."""

    @property
    def size(self) -> int: ...


def size_of(text: str) -> int:
    """UTF-8 bytes."""
    return len(text.encode())


@dataclass(frozen=True)
class Text:
    """Text that is there whole or not at all."""

    text: str

    @cached_property
    def size(self) -> int:
        return size_of(self.text)

    def fit(self, budget: int, cuts: Cuts) -> str:  # noqa: ARG002 - the signature of Part
        return self.text if self.size <= budget else ""


@dataclass(frozen=True)
class Rows:
    """A list or table: `head` stands before the rows, `more` (with `{}` for the number) after the last that fits."""

    head: str
    rows: Sequence[str]
    noun: str
    more: str = "- and {} more"

    @cached_property
    def size(self) -> int:
        return size_of(self.head) + sum(size_of(row) + 1 for row in self.rows)

    def fit(self, budget: int, cuts: Cuts) -> str:
        kept = list(self.rows)
        if self.size > budget:
            kept = self._kept(budget - size_of(self.head) - size_of(self.more) - 10)
            left_out = len(self.rows) - len(kept)
            cuts[self.noun] += left_out
            kept.append(self.more.format(f"{left_out:,}"))
        text = "\n".join(filter(None, [self.head, *kept]))
        return text if size_of(text) <= budget else ""

    def _kept(self, room: int) -> list[str]:
        kept = []
        for row in self.rows:
            room -= size_of(row) + 1
            if room < 0:
                break
            kept.append(row)
        return kept


@dataclass(frozen=True)
class Diff:
    """A diff under a line of its own; too long, its middle goes, then all but that line."""

    lead: str
    lines: Sequence[Line]

    @cached_property
    def size(self) -> int:
        return size_of(self._whole)

    @cached_property
    def _whole(self) -> str:
        return self._text([_written(line) for line in self.lines])

    def fit(self, budget: int, cuts: Cuts) -> str:
        if self.size <= budget:
            return self._whole
        head, tail = self._ends(budget - size_of(self.lead) - _FENCE_FRAME)
        left_out = len(self.lines) - len(head) - len(tail)
        text = self._text([*head, *([f"@@ {left_out:,} lines left out @@"] if left_out else []), *tail])
        if not head or size_of(text) > budget:
            cuts["lines of diffs"] += len(self.lines)
            return self.lead if size_of(self.lead) <= budget else ""
        cuts["lines of diffs"] += left_out
        cuts["ends of long lines"] += sum(len(line) == _LINE_LIMIT and line[-1] == "…" for line in (*head, *tail))
        return text

    def _text(self, lines: list[str]) -> str:
        return f"{self.lead}{_GAP}{fence(lines, 'diff')}"

    def _ends(self, room: int) -> tuple[list[str], list[str]]:
        """Two thirds of the room for the beginning, the rest for the end."""
        head = _fill(self.lines, room * 2 // 3)
        rest = self.lines[len(head) :]
        tail = _fill(rest[::-1], room - sum(size_of(line) + 1 for line in head))
        return head, tail[::-1]


def _fill(lines: Sequence[Line], room: int) -> list[str]:
    taken = []
    for line in lines:
        text = clip(_written(line), _LINE_LIMIT)
        room -= size_of(text) + 1
        if room < 0:
            break
        taken.append(text)
    return taken


def _written(line: Line) -> str:
    return line.text if line.sign == "@" else f"{line.sign}{line.text}"


@dataclass(frozen=True)
class Stack:
    """Parts one below the other. Diffs get what the others leave, but at least a third; among equals it is fair."""

    parts: Sequence[Part]

    @cached_property
    def size(self) -> int:
        return sum(part.size + len(_GAP) for part in self.parts)

    def fit(self, budget: int, cuts: Cuts) -> str:
        sizes = [part.size + len(_GAP) for part in self.parts]
        diffs = [size if isinstance(part, Diff) else 0 for part, size in zip(self.parts, sizes, strict=True)]
        others = [size - diff for size, diff in zip(sizes, diffs, strict=True)]
        given = shares(others, budget - min(sum(diffs), budget // 3))
        given = [sum(pair) for pair in zip(given, shares(diffs, budget - sum(given)), strict=True)]
        portions = zip(self.parts, given, strict=True)
        return _GAP.join(filter(None, (part.fit(share - len(_GAP), cuts) for part, share in portions)))


@dataclass(frozen=True)
class Details:
    """A folded part under a summary in HTML."""

    summary: str
    content: Stack

    @property
    def size(self) -> int:
        return self.content.size + size_of(self._text(""))

    def fit(self, budget: int, cuts: Cuts) -> str:
        content = self.content.fit(budget - size_of(self._text("")), cuts)
        return self._text(content) if content else ""

    def _text(self, content: str) -> str:
        return f"<details><summary>{self.summary}</summary>{_GAP}{content}{_GAP}</details>"


@dataclass(frozen=True)
class Group:
    """Clusters' details, the most dangerous first: where not all can be had, the first ones, each worth reading.

    They are made one by one, since diffs of those that are left out would be work for nothing.
    """

    make: Sequence[Callable[[], Details]]

    def fit(self, budget: int, cuts: Cuts) -> str:
        kept: list[Details] = []
        room = budget
        for make in self.make:
            details = make()
            room -= min(details.size, _LEAST_DETAILS) + len(_GAP)
            if room < 0:
                break
            kept.append(details)
        if left_out := len(self.make) - len(kept):
            cuts["clusters' details"] += left_out
        return Stack(kept).fit(budget, cuts)


def shares(sizes: Sequence[int], total: int) -> list[int]:
    """Each gets what it needs, or an equal part of what is left: the small ones' rest goes to the big ones."""
    given = [0] * len(sizes)
    ascending = sorted(range(len(sizes)), key=sizes.__getitem__)
    for done, index in enumerate(ascending):
        given[index] = min(sizes[index], max(0, total) // (len(sizes) - done))
        total -= given[index]
    return given
