"""What Slurm answered: HTTP status and JSON, or something else altogether; its errors and warnings; its jobs.

A status proves nothing here (S1: read the body whatever the status): errors come with 200, and jobs without a job id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from reconciler.cloud.answers import json_object
from reconciler.cloud.slurm_job import SlurmJob
from reconciler.cloud.slurm_shapes import SlurmPartition, read_job, read_partition
from reconciler.cloud.slurm_values import number, text
from reconciler.cloud.text import one_line, snippet
from reconciler.errors import AuthError, ReconcilerError, SlurmError, UnavailableError

NO_SUCH_JOB = 2017
ALREADY_DONE = 2021
NO_CONNECTION = frozenset({1001, 1800})  # to the controller: nothing was asked of it
_LOST_CONTACT = frozenset({*NO_CONNECTION, 1002, 1003, 1004, 1801, 1802, 1803, *range(5000, 5006), 7000})
_UNSPECIFIED = -1
_UNAUTHENTICATED = frozenset({1005, 1007, *range(6000, 6009)})
# Said of an empty list; no warning.
_EMPTY = ("Zero jobs to dump", "slurmdb_jobs_get() found nothing")
_LOGIN_HINT = (
    "your Google credentials were accepted: it's Slurm on the cluster that refuses; try again, and if it stays so, "
    "whoever runs the cluster must look at its slurmrestd"
)
_HINTS = {
    2000: "see 'reconciler get CLUSTER' for the partitions",
    2001: "name a partition: --partition",
    2002: "one can cancel and see one's own jobs only",
    2010: "one can cancel and submit one's own jobs only",
    2019: "the job needs an environment: --env NAME=VALUE",
    2051: "give a time limit that the partition allows: --time-limit MINUTES",
    2063: "the job needs a working directory: --cwd PATH",
    2127: "the job needs an environment: --env NAME=VALUE",
    8000: "this cluster demands a time limit: --time-limit MINUTES",
}
Read = TypeVar("Read")


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
class SlurmAnswer:
    """Jobs, and what Slurm had to say besides."""

    jobs: tuple[SlurmJob, ...]
    errors: tuple[SlurmMessage, ...] = ()
    warnings: tuple[SlurmMessage, ...] = ()


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


def failure(place: str, reply: Reply) -> ReconcilerError:
    """The exception for a reply that isn't what was asked for. place: what was asked, and where."""
    summary = f"{place}: {reply}"
    if reply.status in (401, 511) or reply.numbers & _UNAUTHENTICATED:
        return AuthError(summary, hint=_LOGIN_HINT, code="slurm_credentials")
    if reply.lost_contact:
        return UnavailableError(summary)
    known = next((error.number for error in reply.errors if error.number), None)
    hint = _HINTS.get(known or 0, "")
    if reply.content is None and reply.status == 404:
        hint = "it has no such path; does the cluster's Slurm speak another version of the API? See --slurm-api-version"
    return SlurmError(summary, hint=hint, code=f"slurm_{known}" if known else "")


def answer_of(place: str, reply: Reply) -> SlurmAnswer:
    """The jobs of a reply. Raises AuthError, UnavailableError or SlurmError where it has none to offer.

    An answer without a list of jobs is none, however good its status: it must not pass for an empty queue.
    """
    jobs = _listed(place, reply, "jobs", read_job)
    if reply.errors and not jobs:
        raise failure(place, reply)
    warnings = tuple(each for each in reply.warnings if jobs or each.text not in _EMPTY)
    return SlurmAnswer(jobs, reply.errors, warnings)


def partitions_of(place: str, reply: Reply) -> tuple[SlurmPartition, ...]:
    """The partitions of a reply. Raises as `answer_of`."""
    partitions = _listed(place, reply, "partitions", read_partition)
    if reply.errors:
        raise failure(place, reply)
    return partitions


def decode_jobs(body: str, status: int = 200) -> SlurmAnswer:
    """The jobs in the body of an answer, of any version from v0.0.38 to v0.0.44, from the queue or the history.

    Raises AuthError, UnavailableError or SlurmError where it has none to offer: empty, HTML, refused, without a list.
    """
    return answer_of("jobs", Reply.of(status, body))


def status_messages(reply: Reply) -> list[SlurmMessage]:
    """What a DELETE of v0.0.40 and later says of each job (`status[].error`), errors alone."""
    listed = (reply.content or {}).get("status")
    entries = [item.get("error") for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return [message for message in _messages(entries) if message.number != 0]


def _listed(place: str, reply: Reply, key: str, read: Callable[[Mapping[str, Any]], Read]) -> tuple[Read, ...]:
    if reply.is_refusal or reply.content is None:
        raise failure(place, reply)
    listed = reply.content.get(key)
    if not isinstance(listed, list):
        if reply.errors:
            raise failure(place, reply)
        raise UnavailableError(f"{place}: Slurm answered {reply.status} without a list of {key}")
    if not all(isinstance(item, dict) for item in listed):
        raise UnavailableError(f"{place}: Slurm answered {key} that aren't objects")
    try:
        return tuple(map(read, listed))
    except ValueError as error:
        raise UnavailableError(f"{place}: Slurm answered {error}") from None


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
