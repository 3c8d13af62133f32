"""API errors: one exception that knows its Google error body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

HTTP_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
STATUS_OF_CODE = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"


@dataclass(frozen=True)
class Violation:
    """One refused field: its snake_case path, and the rule it breaks."""

    field: str
    description: str


class ApiError(Exception):
    """An answer other than 200. `status` is the canonical code's name, e.g. `NOT_FOUND`."""

    def __init__(self, status: str, message: str, violations: tuple[Violation, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.violations = violations

    @property
    def code(self) -> int:
        """The HTTP status code."""
        return HTTP_CODES[self.status]

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        details = []
        if self.violations:
            found = [{"field": item.field, "description": item.description} for item in self.violations]
            details.append({"@type": BAD_REQUEST, "fieldViolations": found})
        return error_body(self.code, self.message, self.status, details)


def error_body(code: int, message: str, status: str, details: list[Any] | None = None) -> dict[str, Any]:
    """A Google error body; `details` is left out when empty (S1)."""
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = details
    return {"error": error}


def invalid(violations: list[Violation]) -> ApiError:
    """INVALID_ARGUMENT naming every refused field; the message is the first one's, with the count of the others."""
    first = violations[0]
    message = f"{first.field}: {first.description}"
    if len(violations) > 1:
        message += f" (and {len(violations) - 1} more)"
    return ApiError("INVALID_ARGUMENT", message, tuple(violations))


def invalid_field(field: str, description: str) -> ApiError:
    """INVALID_ARGUMENT for one field."""
    return invalid([Violation(field, description)])


def not_found(name: str) -> ApiError:
    """NOT_FOUND for a resource name."""
    return ApiError("NOT_FOUND", f"Resource '{name}' was not found.")
