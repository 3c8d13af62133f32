"""Long-running operations: reading them, and what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from reconciler.cloud.paging import pages
from reconciler.cloud.text import one_line
from reconciler.cloud.transport import Limits, Transport
from reconciler.errors import ApiError, NotFoundError, UnavailableError, UsageError
from reconciler.spec.names import ClusterName

# Letters, digits and the marks that resource names have (C; a project's id may be `domain:name`): names come from
# answers, and go into messages, addresses and commands.
_PART = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,199}"
_NAME = re.compile(rf"(projects/{_PART}/locations/[a-z0-9][a-z0-9-]{{0,62}})/(?:{_PART}/){{0,8}}operations/{_PART}")
# So many answers in a row that aren't the API's, such as a proxy's while it is restarted, are no end of a wait.
_FOREIGN_POLLS = 12
# google.rpc.Code
_CODES = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)


@dataclass(frozen=True, slots=True)
class Running:
    """Not done yet. `progress` is the service's own sentence, or empty."""

    progress: str = ""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """Done. `response` is what it answers: a cluster, or nothing for a delete."""

    response: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """Done, with an error. `code` is canonical, such as RESOURCE_EXHAUSTED; `details` are sentences."""

    code: str
    message: str
    details: tuple[str, ...] = ()


Status = Running | Succeeded | Failed


class Operations:
    """Reads operations. Their names hold the project's number, where clusters may be named by its id (C)."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        # S2 polls v1, U polls v1beta1: the one that has answered comes first.
        self._versions = ("v1", "v1beta1")
        self._foreign: dict[str, int] = {}  # by name, answers in a row that weren't the API's

    def get(self, name: str, limits: Limits | None = None) -> dict[str, Any]:
        """An operation.

        Raises UsageError for a name that is none, NotFoundError if no version of the API knows it, and whatever else
        the transport raises. To a poll, which has `limits`, an answer that isn't the API's is an UnavailableError: only
        many of them in a row are a refusal.
        """
        try:
            operation = self._get(name, limits)
        except ApiError as error:
            if error.reason:
                self._foreign.pop(name, None)
                raise
            seen = self._foreign[name] = self._foreign.get(name, 0) + 1
            if limits is None or seen >= _FOREIGN_POLLS:
                raise
            raise UnavailableError(error.summary, hint=error.hint) from error
        self._foreign.pop(name, None)
        return operation

    def _get(self, name: str, limits: Limits | None) -> dict[str, Any]:
        location = location_of(name)
        first, second = self._versions
        try:
            return self._transport.request("GET", f"/{first}/{name}", location=location, limits=limits)
        except NotFoundError:
            operation = self._transport.request("GET", f"/{second}/{name}", location=location, limits=limits)
        self._versions = (second, first)
        return operation

    def pages(self, project: str, location: str, limits: Limits | None = None) -> Iterator[list[dict[str, Any]]]:
        """The operations of a project and location, a page at a time: each costs one request."""
        path = f"/{self._versions[0]}/projects/{project}/locations/{location}/operations"
        return pages(self._transport, path, location=location, keys=("operations",), limits=limits)

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        """The same, one by one; pages are fetched as they are consumed."""
        for page in self.pages(project, location):
            yield from page


def is_name(value: object) -> bool:
    """Whether a value is an operation's name."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def parent_of(name: str) -> str:
    """`projects/…/locations/…` of an operation's name. Raises UsageError if it is no such name."""
    match = _NAME.fullmatch(name)
    if not match:
        raise UsageError(
            f"{name!r} is no operation's name", hint="it looks like projects/123/locations/us-central1/operations/456"
        )
    return match[1]


def location_of(name: str) -> str:
    """The location in an operation's name. Raises UsageError if it is no such name."""
    return parent_of(name).rpartition("/")[2]


def status(operation: dict[str, Any]) -> Status:
    """What an operation says of itself. Done with neither response nor error is Failed: nobody knows what happened."""
    if str(operation.get("done")).lower() != "true":
        return Running(progress(operation))
    error = operation.get("error")
    if error:
        return _failed(error if isinstance(error, dict) else {"message": str(error)})
    response = operation.get("response")
    if response is None:
        return Failed("UNKNOWN", "the operation ended without a response and without an error")
    return Succeeded(response if isinstance(response, dict) else {})


def progress(operation: dict[str, Any]) -> str:
    """The progress message for people (C), in one line; empty if there is none."""
    metadata = operation.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    generic = metadata.get("genericMetadata")
    message = metadata.get("progressMessage") or (generic.get("progressMessage") if isinstance(generic, dict) else None)
    return one_line(message, 300) if isinstance(message, str) else ""


def target(operation: dict[str, Any]) -> ClusterName | None:
    """The cluster that an operation is about, if its metadata or response names it: the documents promise neither."""
    for part in (operation.get("metadata"), operation.get("response")):
        for value in part.values() if isinstance(part, dict) else ():
            if isinstance(value, str) and "/modelDevelopmentClusters/" in value and (name := ClusterName.parse(value)):
                return name
    return None


def _failed(error: dict[str, Any]) -> Failed:
    code = error.get("status") or error.get("code")
    if isinstance(code, int) and 0 <= code < len(_CODES):
        code = _CODES[code]
    details = error.get("details")
    return Failed(
        one_line(str(code or "UNKNOWN"), 60),
        one_line(str(error.get("message") or "no message")),
        tuple(one_line(str(_detail(item)), 500) for item in details) if isinstance(details, list) else (),
    )


def _detail(detail: object) -> object:
    """The sentence in an error's detail, or the detail as it is."""
    if isinstance(detail, dict):
        return next((detail[key] for key in ("detail", "message", "description", "reason") if detail.get(key)), detail)
    return detail
