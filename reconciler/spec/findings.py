"""Findings: what `validate` says of a place in a file. They are values, collected and never raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconciler.spec.places import Place

Path = tuple[str | int, ...]


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in a file. `line` and `column` count from 1; 0 where none is known, which is shown as 1."""

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}:{self.line or 1}:{self.column or 1}: {self.severity}: {self.message}{hint} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding before its place is looked up: `path` leads from the document's root, in either spelling.

    `place` is where it stands if that is known already, such as a line of a script. `is_local` says that it holds
    whatever else of the document couldn't be read.
    """

    path: Path
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR
    place: Place | None = None
    is_local: bool = False


Report = Callable[[Problem], None]


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str:
    """A hint naming the nearest known word, or the empty string."""
    close = get_close_matches(word, known, n=1, cutoff=0.7)
    return f'did you mean "{close[0]}"?' if close else ""
