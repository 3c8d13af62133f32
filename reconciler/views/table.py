"""Tables for terminals."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from reconciler.views.safe import safe

Cell = str | int | None


def table(head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Lines, the head first: columns two spaces apart, as wide as their widest cell, numbers to the right."""
    text = [[_show(cell) for cell in row] for row in (head, *rows)]
    columns = list(zip(*text, strict=True))
    widths = [max(map(width, column)) for column in columns]
    numeric = [bool(rows) and all(isinstance(row[index], int | None) for row in rows) for index in range(len(head))]
    return ["  ".join(map(_pad, line, widths, numeric)).rstrip() for line in text]


def width(text: str) -> int:
    """Terminal cells: East Asian wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def pad(text: str, cells: int) -> str:
    """Text filled up with blanks to so many cells."""
    return text + " " * (cells - width(text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _show(cell: Cell) -> str:
    return "-" if cell is None or cell == "" else safe(str(cell))


def _pad(text: str, cells: int, numeric: bool) -> str:  # noqa: FBT001 - called by map
    return " " * (cells - width(text)) + text if numeric else pad(text, cells)
