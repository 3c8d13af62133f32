"""Common lines of two texts, for unified diffs of scripts of any size.

difflib alone needs seconds for ten thousand lines with a thousand edits: it looks for the longest common run again and
again. So lines that occur once on each side are matched first, in their order, and difflib sees only what lies between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from itertools import pairwise

# Comparisons that difflib may make per step. Beyond, the part is shown as replaced whole: a long search for lines that
# two unlike texts happen to share helps nobody.
_SEARCH_LIMIT = 200_000

Lines = Sequence[str]
Pair = tuple[int, int]
Opcode = tuple[str, int, int, int, int]


def hunks(old: Lines, new: Lines, context: int) -> Iterator[Sequence[Opcode]]:
    """Groups of opcodes as difflib gives them: the differences, each with so many common lines around it."""
    return iter(_Matched(old, new).get_grouped_opcodes(context))


class _Matched(SequenceMatcher[str]):
    """difflib's grouping over our own matches."""

    def __init__(self, old: Lines, new: Lines) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._blocks = [*_runs(_pairs(old, new)), Match(len(old), len(new), 0)]

    def get_matching_blocks(self) -> list[Match]:
        return self._blocks


def _runs(pairs: Iterator[Pair]) -> Iterator[Match]:
    """Pairs that follow each other, taken together."""
    run = Match(0, 0, 0)
    for i, j in pairs:
        if (i, j) == (run.a + run.size, run.b + run.size):
            run = run._replace(size=run.size + 1)
            continue
        if run.size:
            yield run
        run = Match(i, j, 1)
    if run.size:
        yield run


def _pairs(old: Lines, new: Lines) -> Iterator[Pair]:
    """Positions of lines that are the same on both sides, rising on both."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    stops = len(old) - tail, len(new) - tail
    yield from ((at, at) for at in range(head))
    anchors = _rising(_unique(old[head : stops[0]], new[head : stops[1]]))
    for (i1, j1), (i2, j2) in pairwise([(-1, -1), *anchors, (stops[0] - head, stops[1] - head)]):
        start = head + i1, head + j1
        if i1 >= 0:
            yield start
        yield from _between(old, new, (start[0] + 1, start[1] + 1), (head + i2, head + j2))
    yield from ((stops[0] + at, stops[1] + at) for at in range(tail))


def _between(old: Lines, new: Lines, start: Pair, stop: Pair) -> Iterator[Pair]:
    left, right = old[start[0] : stop[0]], new[start[1] : stop[1]]
    if not left or not right or _comparisons(left, right) > _SEARCH_LIMIT:
        return
    for block in SequenceMatcher(None, left, right, autojunk=False).get_matching_blocks():
        yield from ((start[0] + block.a + at, start[1] + block.b + at) for at in range(block.size))


def _comparisons(left: Lines, right: Lines) -> int:
    times = Counter(right)
    return sum(count * times[line] for line, count in Counter(left).items())


def _unique(old: Lines, new: Lines) -> list[Pair]:
    """Places of the lines that occur once on each side, in the order of the old side."""
    here, there = Counter(old), Counter(new)
    places = {line: at for at, line in enumerate(new) if there[line] == 1}
    return [(at, places[line]) for at, line in enumerate(old) if here[line] == 1 and line in places]


def _rising(pairs: list[Pair]) -> list[Pair]:
    """The longest choice of pairs that rises on the new side too (patience sorting)."""
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        before.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(j)
            piles.append(index)
        else:
            tops[pile], piles[pile] = j, index
    chosen: list[Pair] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        chosen.append(pairs[at])
        at = before[at]
    return chosen[::-1]
