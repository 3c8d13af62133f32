"""What Slurm answered: HTTP status and JSON, or something else altogether, with its errors and warnings.

A status proves nothing here (S1: read the body whatever the status): errors come with 200, and jobs without a job id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.cloud.answers import json_object
from reconciler.cloud.slurm_values import number, text
from reconciler.cloud.text import one_line, snippet

# Slurm's own error numbers (slurm_errno.h), those that mean the same in every version.
NO_SUCH_JOB = 2017
ALREADY_DONE = 2021
NO_CONNECTION = frozenset({1001, 1800})  # to the controller: nothing was asked of it
_LOST_CONTACT = frozenset({*NO_CONNECTION, 1002, 1003, 1004, 1801, 1802, 1803, *range(5000, 5006), 7000})
_UNSPECIFIED = -1


@dataclass(frozen=True, slots=True)
class SlurmMessage:
    """An error or a warning. number: Slurm's errno, None where none is told; source: the function or field."""

    text: str
    number: int | None = None
    source: str = ""

    def __str__(self) -> str:
        known = [f"error {self.number}"] if self.number not in (None, 0) else []
        details = ", ".join([*known, *([self.source] if self.source else [])])
        return f"{self.text} ({details})" if details else self.text


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. content: its JSON object, None where the body is none; errors and warnings are read from it."""

    status: int
    body: str
    content: Mapping[str, Any] | None
    errors: tuple[SlurmMessage, ...] = ()
    warnings: tuple[SlurmMessage, ...] = ()

    @classmethod
    def of(cls, status: object, body: object) -> Reply:
        """Read an answer's status and body text, whatever they are. No status counts as 0."""
        told = body if isinstance(body, str) else ""
        content: Mapping[str, Any] | None
        try:
            content = body if isinstance(body, dict) else json_object(told.encode("utf-8", "replace"))
        except ValueError:
            return cls(number(status) or 0, told, None)
        errors = tuple(_messages(content.get("errors")))
        warnings = tuple(_messages(content.get("warnings")))
        return cls(number(status) or 0, told, content, errors, warnings)

    @property
    def numbers(self) -> frozenset[int]:
        """Slurm's error numbers."""
        return frozenset(error.number for error in self.errors if error.number is not None)

    @property
    def is_refusal(self) -> bool:
        """Whether the status says that nothing usable is in it."""
        return not 200 <= self.status < 300

    @property
    def is_missing(self) -> bool:
        """Whether it says that there is no such job (v0.0.38: 500 and 2017; later: 404)."""
        return self.status == 404 or NO_SUCH_JOB in self.numbers

    @property
    def lost_contact(self) -> bool:
        """Whether no answer of the controller's is in it: whatever was asked may come to pass or not."""
        if self.content is None:
            return not 400 <= self.status < 500
        is_unclear = self.status >= 500 and self.numbers <= {_UNSPECIFIED}
        return is_unclear or self.status in (502, 503, 504) or bool(self.numbers & _LOST_CONTACT)

    def __str__(self) -> str:
        """The status and the first error with its source; else the beginning of the body."""
        said = self.errors or self.warnings
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        words = f"{said[0]}{more}" if said else snippet(self.body.encode("utf-8", "replace"))
        return f"Slurm answered {self.status or 'without a status'}: {words}"


def status_messages(reply: Reply) -> list[SlurmMessage]:
    """What a DELETE of v0.0.40 and later says of each job (`status[].error`), errors alone."""
    listed = (reply.content or {}).get("status")
    entries = [item.get("error") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [message for message in _messages(entries) if message.number != 0]


def _messages(value: object) -> Iterator[SlurmMessage]:
    """Each version, and each part of slurmrestd, has its own names for the parts of an error."""
    for item in value if isinstance(value, list) else []:
        if not isinstance(item, dict):
            if item:
                yield SlurmMessage(one_line(text(item)) or "an error without words")
            continue
        told = dict.fromkeys(text(item.get(name)) for name in ("description", "message", "error", "string"))
        words = one_line(": ".join(filter(None, told))) or "an error without words"
        code = next((item[name] for name in ("error_number", "error_code", "errno", "code") if name in item), None)
        errno = code if isinstance(code, int) else number(code)
        yield SlurmMessage(words, errno, one_line(text(item.get("source")), 200))
