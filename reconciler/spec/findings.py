"""Findings: what `validate` says of a place in a file. They are values, collected and never raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

Path = tuple[str | int, ...]


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong in a file. `line` and `column` count from 1; 0 where the whole file is meant."""

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}: {self.severity}: {self.message}{hint} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Problem:
    """A finding before its place is looked up: `path` leads from the document's root, in either spelling."""

    path: Path
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR


Report = Callable[[Problem], None]


def did_you_mean(word: str, known: list[str] | tuple[str, ...]) -> str:
    """A hint naming the nearest known word, or the empty string."""
    close = get_close_matches(word, known, n=1, cutoff=0.7)
    return f'did you mean "{close[0]}"?' if close else ""
