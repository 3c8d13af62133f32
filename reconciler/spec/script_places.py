"""Where a line of a script stands in a file: in the script's own, or in the YAML file that holds its text."""

from __future__ import annotations

from reconciler.spec.places import Place
from reconciler.spec.scripts import FileText, ScriptText


def line_of(text: str, position: int) -> int:
    """The line of a position, from 1. As bash has it LF alone ends one: U+0085 and the like don't."""
    return text.count("\n", 0, position) + 1


def place_in(text: str, line: int, position: int | None = None) -> Place | None:
    """The place of a script's line; None where that can't be told, as of a text in quotes.

    A column is told of a position in a script file: elsewhere the text is indented.
    """
    if not isinstance(text, ScriptText) or not text.in_step:
        return None
    column = 0
    if position is not None and isinstance(text, FileText):
        column = position - text.rfind("\n", 0, position)
    return Place(text.file, text.line + line - 1, column)
