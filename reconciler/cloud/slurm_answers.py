"""Answers as the jobs and partitions in them, or as the exception that says why there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from reconciler.cloud.slurm_job import SlurmJob
from reconciler.cloud.slurm_replies import Reply, SlurmMessage
from reconciler.cloud.slurm_shapes import SlurmPartition, read_job, read_partition
from reconciler.errors import AuthError, ReconcilerError, SlurmError, UnavailableError

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
class SlurmAnswer:
    """Jobs, and what Slurm had to say besides."""

    jobs: tuple[SlurmJob, ...]
    errors: tuple[SlurmMessage, ...] = ()
    warnings: tuple[SlurmMessage, ...] = ()


def failure(place: str, reply: Reply) -> ReconcilerError:
    """The exception for a reply that isn't what was asked for. place: what was asked, and where."""
    summary = f"{place}: {reply}"
    if reply.status in (401, 511) or reply.numbers & _UNAUTHENTICATED:
        return AuthError(summary, hint=_LOGIN_HINT, code="slurm_credentials")
    if reply.lost_contact:
        return UnavailableError(summary, hint="Slurm, or its controller, is down or restarting; try again in a while")
    known = next((error.number for error in reply.errors if error.number), None)
    return SlurmError(summary, hint=_HINTS.get(known or 0, ""), code=f"slurm_{known}" if known else "")


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
