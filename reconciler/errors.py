"""The exceptions of the package. Nothing else leaves it; an exception of another library that escapes is a bug.

ReconcilerError
├── UsageError           the command line or a setting doesn't make sense
├── InputError           a file can't be used (findings say where); also plan files
├── AuthError            no credentials, or they can't be refreshed
├── ApiError             the service refused: method, URL, status and its own message
│   ├── NotFoundError        404
│   ├── ConflictError        409, or an etag that has moved on
│   └── PermissionDeniedError  403
├── UnavailableError     no usable answer within the retry budget
│   └── AmbiguousError       a write was sent and its answer was lost: it may have taken effect
├── OperationError       a long-running operation ended with an error
├── PendingError         a wait ended before its operation did; it goes on without us
├── StaleError           what would be done now isn't what was approved
├── BlockedError         something speaks against the change: protection, running jobs
├── NotConvergedError    accepted and finished, and a fresh look still differs
├── NoSlurmctld          engine.slurmctld: no controller on this machine to check with; a note, not a failure
├── SlurmError           Slurm itself refused, told by its answer's body
└── InterruptedRun       Ctrl-C or SIGTERM
"""

from __future__ import annotations


class ReconcilerError(Exception):
    """Base of all. `summary` says what happened and where, `hint` what to do; `code` is for machines."""

    code = "error"

    def __init__(self, summary: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(summary)
        self.summary = summary
        self.hint = hint
        if code:
            self.code = code

    def __str__(self) -> str:
        return f"{self.summary} ({self.hint})" if self.hint else self.summary


class UsageError(ReconcilerError):
    code = "usage"


class InputError(ReconcilerError):
    code = "invalid_input"


class AuthError(ReconcilerError):
    code = "credentials"


class ApiError(ReconcilerError):
    """The service's refusal. `status` is the HTTP status, `reason` the canonical code such as `INVALID_ARGUMENT`."""

    code = "api"

    def __init__(self, summary: str, *, status: int, reason: str = "", hint: str = "") -> None:
        super().__init__(summary, hint=hint, code=reason.lower() if reason else f"http_{status}")
        self.status = status
        self.reason = reason


class NotFoundError(ApiError):
    pass


class ConflictError(ApiError):
    pass


class PermissionDeniedError(ApiError):
    pass


class UnavailableError(ReconcilerError):
    code = "unavailable"


class AmbiguousError(UnavailableError):
    code = "ambiguous"


class OperationError(ReconcilerError):
    """An operation's own error. `operation` is its name."""

    code = "operation_failed"

    def __init__(self, summary: str, *, operation: str, code: str = "", hint: str = "") -> None:
        super().__init__(summary, hint=hint, code=code)
        self.operation = operation


class PendingError(ReconcilerError):
    """The wait is over, the operation isn't. `operation` is its name; the hint is the command that resumes the wait."""

    code = "pending"

    def __init__(self, summary: str, *, operation: str, hint: str = "") -> None:
        super().__init__(summary, hint=hint)
        self.operation = operation


class StaleError(ReconcilerError):
    code = "stale"


class BlockedError(ReconcilerError):
    """The code is that of the first blocker."""

    code = "blocked"


class NotConvergedError(ReconcilerError):
    code = "not_converged"


class SlurmError(ReconcilerError):
    code = "slurm"


class InterruptedRun(ReconcilerError):  # noqa: N818 - named for what it is; it's no fault
    code = "interrupted"
