"""The tables of a run, as Markdown, which reads well at a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.cases import Row
from benchmarks.targets import Target

_NUMBERS = "--:"


def targets_table(found: Iterable[Target]) -> str:
    """Target, figure, ok or not."""
    return _table(
        ("what", "at most", "measured", ""),
        ("---", _NUMBERS, _NUMBERS, "---"),
        [(each.what, _amount(each.limit, each.unit), _amount(each.figure, each.unit), each.verdict) for each in found],
    )


def rows_table(rows: Iterable[Row]) -> str:
    """Every measurement: medians, each with its ratio to the floor in brackets."""
    head = ("what", "clusters", "latency", "wall", "CPU", "peak memory", "requests")
    cells = [
        (
            row.what,
            f"{row.size:,}",
            f"{row.latency * 1000:.0f} ms" if row.requests else "",
            f"{row.pairs.median('wall'):.2f} s ({row.pairs.ratio('wall'):.2f} x)",
            f"{row.pairs.median('cpu'):.2f} s ({row.pairs.ratio('cpu'):.2f} x)",
            f"{row.pairs.median('memory'):.0f} MiB ({row.pairs.ratio('memory'):.2f} x)",
            f"{row.requests:,}" if row.requests else "",
        )
        for row in rows
    ]
    return _table(head, ("---", *[_NUMBERS] * 6), cells)


def _amount(number: float | None, unit: str) -> str:
    if number is None:
        return ""
    text = f"{number:.2f}" if unit in ("x", "s") else f"{number:,.0f}"
    return f"{text} {unit}".rstrip()


def _table(head: Sequence[str], rule: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(_cell(cell, width, side) for cell, width, side in zip(row, widths, rule, strict=True)) + " |"
        for row in (head, *rows)
    ]
    ruler = "|" + "|".join(f"{'-' * (width + 1)}{side[-1]}" for width, side in zip(widths, rule, strict=True)) + "|"
    return "\n".join([lines[0], ruler, *lines[1:]]) + "\n"


def _cell(text: str, width: int, side: str) -> str:
    return text.rjust(width) if side == _NUMBERS else text.ljust(width)
