"""What apply did, and what drift found, as values (contract section 4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

from reconciler.errors import ReconcilerError
from reconciler.plan.model import Action, Plan, PlanError


class Status(StrEnum):
    """A cluster's fate. `pending`: an operation still runs; its outcome isn't known yet."""

    APPLIED = "applied"
    NO_OP = "no_op"
    BLOCKED = "blocked"
    FAILED = "failed"
    PENDING = "pending"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as a value: `code` for machines, the rest for people."""

    code: str
    message: str
    hint: str = ""

    @classmethod
    def of(cls, error: ReconcilerError) -> ErrorInfo:
        """The value of an exception."""
        return cls(error.code, error.summary, error.hint)


@dataclass(frozen=True, slots=True)
class Result:
    """One cluster's fate. `converged`: a fresh GET after it showed nothing left to change.

    `operation` is the full name of the operation that made the change, or makes it still. `seconds` is how long it
    took, None where nothing was sent. `reason` says to people why the status is what it is, where no error does.
    """

    cluster: str
    action: Action
    status: Status
    source: str = ""
    operation: str | None = None
    converged: bool = False
    error: ErrorInfo | None = None
    seconds: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ApplyReport:
    """All fates, in the order of the plan. `errors` are the clusters and files that couldn't even be planned."""

    results: tuple[Result, ...]
    errors: tuple[PlanError, ...] = ()
    started_at: str = ""
    interrupted: bool = False

    @property
    def counts(self) -> dict[Status, int]:
        """How many clusters met each fate; every status is there."""
        counted = Counter(result.status for result in self.results)
        return {status: counted[status] for status in Status}

    @property
    def resume(self) -> tuple[str, ...]:
        """What to do about what is pending, each once: mostly commands that wait for operations."""
        hints = (each.error.hint for each in self.results if each.status is Status.PENDING and each.error)
        return tuple(dict.fromkeys(filter(None, hints)))


@dataclass(frozen=True, slots=True)
class Drift:
    """Live clusters against their files: `plan` is what apply would do to undo it.

    `unmanaged` are the names of live clusters that no file knows, which are drift where `include_unmanaged` says so.
    """

    plan: Plan
    unmanaged: tuple[str, ...] = ()
    include_unmanaged: bool = False

    @property
    def differs(self) -> bool:
        """Whether anything isn't as it should be."""
        return self.plan.has_changes or (self.include_unmanaged and bool(self.unmanaged))
