"""Answers of v0.0.39 to v0.0.44, as recorded from Slurm 25.11 in v0.0.42.

An unknown job is a 404, but cancelling one is a 200; a submission may be answered with 200 and no job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reconciler.emulator import slurm_shapes_v40 as shapes
from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_parse_v40 import read_body
from reconciler.emulator.slurm_replies import (
    ACCESS_DENIED,
    ALREADY_DONE,
    INVALID_JOB_ID,
    Problem,
    Reply,
    Submission,
    json_reply,
)  # fmt: skip
from reconciler.emulator.slurm_scheduler import CancelResult, Scheduler
from reconciler.emulator.slurm_view import Partition

NO_URL = (
    "Unable to find requested URL endpoint. Please query the '/openapi/v3' endpoint or visit "
    "'https://slurm.schedmd.com/rest_api.html' for the OpenAPI specification which includes a list of all possible "
    "slurmrestd endpoints."
)
_BAD_QUERY = Problem(9000, "Query empty or not RFC7320 compliant")


class DialectV40:
    """See `slurm_replies.Dialect`."""

    def __init__(self, version: str, user: str) -> None:
        self._version = version
        self._user = user

    def read_submission(self, body: object) -> Submission | Reply:
        result = read_body(body)
        if isinstance(result, Submission):
            return result
        if result.text is not None:
            return result.status, result.text
        return self._reply(result.status, {}, errors=result.errors, warnings=result.warnings)

    def submitted(self, job: Job, caveat: Problem | None, submission: Submission) -> Reply:
        warnings = list(submission.warnings)
        if caveat is not None:
            source = "slurm_submit_batch_job()"
            text = f"Job submission resulted in non-zero return code: {caveat.text}"
            warnings += [{"description": text, "source": source}, {"description": caveat.text, "source": source}]
        content: dict[str, Any] = {"job_id": job.job_id, "step_id": "batch", "job_submit_user_msg": ""}
        if self._version in ("v0.0.39", "v0.0.40", "v0.0.41"):
            # Later versions dropped this repetition.
            content["result"] = {**content, "error_code": 0, "error": ""}
        return self._reply(200, content, warnings=warnings)

    def refused(self, problem: Problem) -> Reply:
        return self._reply(500, {}, errors=[_error("Batch job submission failed", problem, "slurm_submit_batch_job()")])

    def jobs(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        shown = [shapes.adapt_job(shapes.live_job(job, scheduler), self._version) for job in jobs]
        warnings = [] if jobs else [{"description": "Zero jobs to dump", "source": ""}]
        return self._reply(200, _with_times("jobs", shown, int(scheduler.state.time)), warnings=warnings)

    def unknown_job(self, job_id: str) -> Reply:
        if not job_id.replace("_", "", 1).isdecimal():
            text = "Rejecting request. Failure parsing parameters"
            return self._reply(422, {}, errors=[_error(text, _BAD_QUERY, "op_handler_job")])
        error = _error(f"Unable to query JobId={job_id}", INVALID_JOB_ID, "_handle_job_get")
        return self._reply(404, _with_times("jobs", [], 0), errors=[error])

    def cancelled(self, job_id: str, result: CancelResult | None) -> Reply:
        if result == "done":
            return self._reply(200, {"status": []})
        problem = {"finished": ALREADY_DONE, "denied": ACCESS_DENIED}.get(result or "", INVALID_JOB_ID)
        known = int(job_id) if result is not None and job_id.isdecimal() else None
        status = {
            "error": {"string": problem.text, "code": problem.number, "message": problem.text},
            "step_id": job_id, "job_id": shapes.number(known), "federation": {"sibling": ""},
        }  # fmt: skip
        return self._reply(200, {"status": [status]})

    def history(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        warnings = [] if jobs else [{"description": "slurmdb_jobs_get() found nothing", "source": "_dump_jobs"}]
        found = {"jobs": [shapes.past_job(job, scheduler) for job in jobs]}
        return self._reply(200, found, warnings=warnings, plugin="slurmdbd")

    def partitions(self, partitions: Sequence[Partition], scheduler: Scheduler) -> Reply:
        shown = [shapes.partition(item, scheduler.view) for item in partitions]
        return self._reply(200, {"partitions": shown, "last_update": shapes.number(int(scheduler.state.time))})

    def unknown_partition(self, name: str) -> Reply:
        error = _error(f"Unable to find partition {name}", _BAD_QUERY, "op_handler_partition")
        return self._reply(422, {}, errors=[error])

    def nodes(self, scheduler: Scheduler) -> Reply:
        shown = [shapes.node(item, scheduler) for item in scheduler.view.nodes.values()]
        return self._reply(200, {"nodes": shown, "last_update": shapes.number(int(scheduler.state.time))})

    def ping(self) -> Reply:
        ping = {"hostname": "controller", "pinged": "UP", "responding": True, "latency": 700, "mode": "primary"}
        return self._reply(200, {"pings": [{**ping, "primary": True}]})

    def wrong_method(self) -> Reply:
        return 404, NO_URL

    def _reply(
        self,
        status: int,
        content: Mapping[str, Any],
        *,
        errors: Sequence[Mapping[str, Any]] = (),
        warnings: Sequence[Mapping[str, Any]] = (),
        plugin: str = "slurmctld",
    ) -> Reply:
        meta = {
            "plugin": {
                "type": f"openapi/{plugin}", "name": f"Slurm OpenAPI {plugin}",
                "data_parser": f"data_parser/{self._version}", "accounting_storage": "accounting_storage/slurmdbd",
            },
            "client": {"source": "unix:slurmrestd.sock", "user": self._user, "group": self._user},
            "command": [],
            "slurm": {
                "version": {"major": "25", "micro": "7", "minor": "11"}, "release": shapes.RELEASE,
                "cluster": "cluster",
            },
        }  # fmt: skip
        return json_reply(status, {**content, "meta": meta, "errors": list(errors), "warnings": list(warnings)})


def _with_times(key: str, items: Sequence[Mapping[str, Any]], now: int) -> dict[str, Any]:
    return {key: items, "last_backfill": shapes.number(0), "last_update": shapes.number(now)}


def _error(description: str, problem: Problem, source: str) -> dict[str, Any]:
    return {"description": description, "error_number": problem.number, "error": problem.text, "source": source}
