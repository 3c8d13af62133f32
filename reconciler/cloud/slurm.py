"""The Slurm job API of a cluster, through `:callSlurmRestApi` (S1): the queue, the history, submit and cancel.

The transport repeats reads, and a cancel is as good twice as once. A submit is sent once: when its answer is lost the
job may exist, and a second one would run everything twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reconciler.cloud import slurm_answers as answers
from reconciler.cloud import slurm_replies as replies
from reconciler.cloud import slurm_versions as versions
from reconciler.cloud.slurm_answers import SlurmAnswer
from reconciler.cloud.slurm_job import JobId, SlurmJob, describe
from reconciler.cloud.slurm_replies import Reply, SlurmMessage
from reconciler.cloud.slurm_shapes import SlurmPartition
from reconciler.cloud.slurm_submission import Submission
from reconciler.cloud.slurm_values import number
from reconciler.cloud.transport import Kind, Limits, Transport
from reconciler.errors import AmbiguousError, InputError, SlurmError
from reconciler.spec.names import ClusterName

REQUEST_LIMIT = 1_000_000  # bytes of the whole request, all included (S1)
_NOTHING_FOUND = 9003  # v0.0.38: an empty history


@dataclass(frozen=True, slots=True)
class Submitted:
    """A job that exists. messages: Slurm's errors and warnings about it: in v0.0.38 either may come with a job."""

    job_id: int
    messages: tuple[SlurmMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A cancel that was taken; the job takes a moment to stop. jobs: the records as last seen, perhaps before it."""

    jobs: tuple[SlurmJob, ...]
    was_finished: bool


class Slurm:
    """The Slurm of each cluster. For all threads; remembers which version of the API a cluster speaks.

    All methods raise what `Transport.request` raises; UnavailableError where Slurm, or its controller, can't be
    reached; SlurmError where it refuses; AuthError (code `slurm_credentials`) where Slurm's own authentication fails.
    A controller that is down says so after 10 to 20 s: limits had better be longer.
    """

    def __init__(
        self, transport: Transport, *, version: str | None = None, say: Callable[[str], object] = lambda _: None
    ) -> None:
        """version: of the API, for every cluster; None: v0.0.42, or what a cluster turns out to serve, told to `say`.

        Raises UsageError where it is no version.
        """
        self._transport = transport
        self._fixed = versions.checked(version) if version else None
        self._found: dict[ClusterName, str] = {}
        self._say = say

    def queue(self, name: ClusterName) -> tuple[SlurmJob, ...]:
        """All jobs that the controller knows: pending, running, and those that ended in the last minutes.

        Errors beside the jobs are a failure here: who asks before a change must not take a part for the whole. Takes
        as long as `Settings.queue_budget` allows.
        """
        place, reply = self._ask(name, "GET", "slurm", "jobs/", limits=self._transport.for_queues)
        answer = answers.answer_of(place, reply)
        if answer.errors:
            raise answers.failure(place, reply)
        return answer.jobs

    def jobs(self, name: ClusterName) -> SlurmAnswer:
        """The same with Slurm's errors and warnings."""
        return answers.answer_of(*self._ask(name, "GET", "slurm", "jobs/"))

    def partitions(self, name: ClusterName) -> tuple[SlurmPartition, ...]:
        """The partitions as the controller has them."""
        return answers.partitions_of(*self._ask(name, "GET", "slurm", "partitions"))

    def find(self, name: ClusterName, job_id: JobId, limits: Limits | None = None) -> SlurmAnswer:
        """A job's records: from the queue, else from the history. Raises SlurmError where neither knows it."""
        place, reply = self._ask(name, "GET", "slurm", f"job/{job_id.number}", limits=limits)
        if not reply.is_missing:
            answer = answers.answer_of(place, reply)
            if chosen := job_id.select(answer.jobs):
                return replace(answer, jobs=chosen)
        return self._recorded(name, job_id, limits, f"job {job_id} isn't in the live queue; ")

    def history(self, name: ClusterName, job_id: JobId, limits: Limits | None = None) -> SlurmAnswer:
        """A job's records in the accounting database, which lags some seconds. Raises SlurmError if it has none."""
        return self._recorded(name, job_id, limits)

    def submit(self, name: ClusterName, submission: Submission) -> Submitted:
        """Submit a job, once. Only a job id proves it.

        Raises AmbiguousError where nobody can tell whether it exists, SlurmError where Slurm refused, InputError for a
        request beyond the limit.
        """
        try:
            place, reply = self._ask(name, "POST", "slurm", "job/submit", body=submission.body)
        except AmbiguousError as error:
            raise _ambiguous(name, submission, error.summary) from error
        job_id = number((reply.content or {}).get("job_id"))
        if job_id:
            return Submitted(job_id, (*reply.errors, *reply.warnings))
        if reply.numbers & replies.NO_CONNECTION or not (reply.lost_contact or _says_nothing(reply)):
            raise answers.failure(f"no job was made: {place}", reply)
        raise _ambiguous(name, submission, f"{place}: {reply}")

    def cancel(self, name: ClusterName, job_id: JobId) -> Cancelled:
        """Cancel a job, an array, or one task. One that is over is a success, one that nobody knows a SlurmError.

        Raises SlurmError, too, where the answer proves nothing and the job goes on.
        """
        jobs = self.find(name, job_id).jobs
        # Asked first, since v0.0.38 answers the same for a job that runs and for one that is over.
        if all(job.is_finished for job in jobs):
            return Cancelled(jobs, was_finished=True)
        place, reply = self._ask(name, "DELETE", "slurm", f"job/{job_id}")
        problems = [*reply.errors, *replies.status_messages(reply)]
        others = [problem for problem in problems if problem.number != replies.ALREADY_DONE]
        if others or (reply.is_refusal and not problems) or reply.content is None:
            raise answers.failure(place, replace(reply, errors=tuple(others)))
        if not problems and "errors" in reply.content:
            return Cancelled(jobs, was_finished=False)
        # "Already completing or completed", or neither errors nor their absence: what came of it shows in the job.
        jobs = self.find(name, job_id).jobs
        if not all(job.is_ending for job in jobs):
            said = "; ".join(map(str, problems)) or f"{reply}"
            raise SlurmError(
                f"{place}: {said}; but job {job_id} is still shown as {describe(jobs)}",
                hint=f"see what becomes of it: 'reconciler jobs show {'/'.join(name)} {job_id}'",
                code="not_cancelled",
            )
        return Cancelled(jobs, was_finished=all(job.is_finished for job in jobs))

    def _recorded(self, name: ClusterName, job_id: JobId, limits: Limits | None, before: str = "") -> SlurmAnswer:
        """The history. before: what every message begins with."""
        place, reply = self._ask(name, "GET", "slurmdb", f"job/{job_id.number}", limits=limits)
        if reply.status == 404 and reply.content is None:
            raise SlurmError(f"{before}{'/'.join(name)} keeps no history of jobs", code="no_history")
        is_empty = _NOTHING_FOUND in reply.numbers or reply.is_missing
        answer = SlurmAnswer(()) if is_empty else answers.answer_of(before + place, reply)
        # A requeued job has a record for each run; the last one counts.
        latest = {job.job_id: job for job in sorted(answer.jobs, key=lambda job: job.submit_time or 0)}
        chosen = job_id.select(latest.values())
        if not chosen:
            raise SlurmError(
                f"{before}the history of {'/'.join(name)} has no job {job_id}",
                hint="a new job may take some seconds to get there",
                code="job_not_found",
            )
        return replace(answer, jobs=chosen)

    def _ask(
        self,
        name: ClusterName,
        method: str,
        plugin: str,
        path: str,
        *,
        body: Callable[[str], Mapping[str, Any]] | None = None,
        limits: Limits | None = None,
    ) -> tuple[str, Reply]:
        """What was asked, for messages, and the reply. `body` makes the body for a version of the API."""
        version = self._fixed or self._found.get(name, versions.DEFAULT)
        reply = self._send(name, method, f"/{plugin}/{version}/{path}", body and body(version), limits)
        # slurmrestd has a plain text for a path that it doesn't serve, and JSON for a job that it doesn't know.
        if reply.status == 404 and reply.content is None:
            served = self._served(name, version, limits)
            if served != version:
                version = served
                reply = self._send(name, method, f"/{plugin}/{version}/{path}", body and body(version), limits)
        return f"{method} /{plugin}/{version}/{path} on {'/'.join(name)}", reply

    def _send(
        self, name: ClusterName, method: str, path: str, body: Mapping[str, Any] | None, limits: Limits | None
    ) -> Reply:
        envelope = {"method": f"HTTP_METHOD_{method}", "path": path, **({} if body is None else {"body": body})}
        size = len(json.dumps(envelope).encode())
        if size >= REQUEST_LIMIT:
            raise InputError(
                f"the request has {size} bytes, and must stay below {REQUEST_LIMIT}",
                hint="put the script on the cluster's shared storage, and submit a short one that calls it",
            )
        answer = self._transport.request(
            "POST",
            f"/v1beta1/{name}:callSlurmRestApi",
            location=name.location,
            body=envelope,
            kind=Kind.WRITE if method == "POST" else Kind.READ,
            limits=limits,
        )
        return Reply.of(answer.get("status"), answer.get("body"))

    def _served(self, name: ClusterName, current: str, limits: Limits | None) -> str:
        """The version to use after `current` was answered with "no such path": maybe the path alone is unknown.

        Any JSON proves a version: with the controller down v0.0.38 answers a ping with a 500. Raises SlurmError.
        """
        candidates = [self._fixed] if self._fixed else [current, *versions.KNOWN, *versions.NEWER]
        for version in dict.fromkeys(candidates):
            reply = self._send(name, "GET", f"/slurm/{version}/ping", None, limits)
            if reply.content is not None:
                if version != current:
                    newer = ", which is newer than any that is known here" if version in versions.NEWER else ""
                    self._say(f"{'/'.join(name)} speaks version {version} of the Slurm API{newer}")
                self._found[name] = version
                return version
            if reply.status not in (404, 405):
                raise answers.failure(f"GET /slurm/{version}/ping on {'/'.join(name)}", reply)
        if self._fixed:
            problem, hint = f"doesn't speak version {self._fixed}", "leave out --slurm-api-version to have it found out"
        else:
            problem = f"speaks none of the versions {versions.KNOWN[-1]} to {versions.NEWER[-1]}"
            hint = "name one with --slurm-api-version"
        raise SlurmError(f"{'/'.join(name)} {problem} of the Slurm API", hint=hint, code="slurm_api_version")


def _says_nothing(reply: Reply) -> bool:
    """Whether a good status comes with neither a job nor a reason: whatever answered, it wasn't Slurm."""
    return not reply.is_refusal and not reply.errors and not reply.warnings


def _ambiguous(name: ClusterName, submission: Submission, reason: str) -> AmbiguousError:
    partition = f" --partition {submission.partition}" if submission.partition else ""
    which = f"the name {submission.name}" if submission.name else "your user and the time of this attempt"
    return AmbiguousError(
        f"nobody can tell whether the job was made, it may exist: {reason}",
        hint=f"look before it's submitted again: 'reconciler jobs list {'/'.join(name)}{partition}', for {which}; "
        "'--user NAME' narrows it, and '--state PENDING --state RUNNING' to what is under way",
    )
