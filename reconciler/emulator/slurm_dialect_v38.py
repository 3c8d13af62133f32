"""Submit bodies and answers of v0.0.38, as recorded from Slurm 22.05.

Numbers and states are plain; an unknown job is a 500; errors carry ``error_number``, ``error_code`` or ``errno``,
whichever that slurmrestd happened to use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reconciler.emulator import slurm_shapes_v38 as shapes
from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_replies import (
    ACCESS_DENIED,
    INVALID_JOB_ID,
    INVALID_PARTITION,
    NO_SCRIPT,
    Problem,
    Reply,
    Submission,
    json_reply,
    to_int32,
    words,
)  # fmt: skip
from reconciler.emulator.slurm_scheduler import CancelResult, Scheduler
from reconciler.emulator.slurm_view import Partition, parse_minutes

NO_URL = "Unable find requested URL. Please view /openapi/v3 for API reference."
_NO_METHOD = "Requested REST method is not defined at URL. Please view /openapi/v3 for API reference."
_NO_JOBS = "Jobs description entry not found, empty or not dictionary or list"
_PARSING = {"error_code": 9001, "error": "Failure during parsing"}
_KNOWN_KEYS = frozenset(
    words("""
    account account_gather_frequency argv array batch_features begin_time burst_buffer cluster_constraint comment
    constraints container core_specification cores_per_socket cpu_binding cpu_binding_hint cpu_frequency cpus_per_gpu
    cpus_per_task current_working_directory deadline delay_boot dependency distribution environment exclusive
    get_user_environment gres gres_flags gpu_binding gpu_frequency gpus gpus_per_node gpus_per_socket gpus_per_task hold
    kill_on_invalid_dependency licenses mail_type mail_user mcs_label memory_binding memory_per_cpu memory_per_gpu
    memory_per_node minimum_cpus_per_node minimum_nodes name nice no_kill nodes open_mode oversubscribe partition prefer
    priority qos requeue reservation signal sockets_per_node spread_job standard_error standard_input standard_output
    tasks tasks_per_core tasks_per_node tasks_per_socket thread_specification threads_per_core time_limit time_minimum
    wait_all_nodes wckey""")
)


class _ValueError(Exception):
    """A value that slurmrestd can't read: its own words and number for it, if it has any."""

    def __init__(self, text: str = "", number: int = -1) -> None:
        super().__init__(text)
        self.text, self.number = text, number


class DialectV38:
    """See `slurm_replies.Dialect`."""

    def read_submission(self, body: object) -> Submission | Reply:
        if isinstance(body, str):
            try:
                body = json.loads(body)
            except ValueError:
                return 400, "Unable to parse query."
        content = body if isinstance(body, Mapping) else {}
        script = content.get("script")
        if script is None:
            return self.refused(NO_SCRIPT)
        wanted = content.get("jobs") or content.get("job")
        if not isinstance(wanted, (Mapping, list)) or not wanted:
            return self._errors(400, [{"error_code": 9002, "error": _NO_JOBS}])
        components = []
        for description in wanted if isinstance(wanted, list) else [wanted]:
            errors, fields = _read_job(description)
            if errors:
                return self._errors(400, [*errors, _PARSING])
            components.append(fields)
        return Submission(components, str(script))

    def submitted(self, job: Job, caveat: Problem | None, submission: Submission) -> Reply:  # noqa: ARG002 - no warnings here
        errors = [] if caveat is None else [{"error_code": caveat.number, "error": caveat.text}]
        return self._reply(200, errors, {"job_id": job.job_id, "step_id": "BATCH", "job_submit_user_msg": ""})

    def refused(self, problem: Problem) -> Reply:
        return self._errors(500, [{"error_code": problem.number, "error": problem.text}])

    def jobs(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        return self._reply(200, [], {"jobs": [shapes.live_job(job, scheduler) for job in jobs]})

    def unknown_job(self, job_id: str) -> Reply:
        text = f"Unable to find JobId={job_id}"
        if not job_id.lstrip("-").isdecimal() or int(job_id) == 0:
            error = _error(text, Problem(9002, _NO_JOBS), "_handle_job_get")
            return self._errors(400, [error])
        return self._reply(500, [_error(text, INVALID_JOB_ID, "slurm_load_job")], {"jobs": []})

    def cancelled(self, job_id: str, result: CancelResult | None) -> Reply:
        if result in ("done", "finished"):
            return self._errors(200, [])
        problem = INVALID_JOB_ID if result is None else ACCESS_DENIED
        text = f"unable to kill JobId={job_id} with signal 9: {problem.text}"
        return self._errors(500, [_error(text, problem, "slurm_kill_job")])

    def history(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        nothing = _error("Nothing found", Problem(9003, "Nothing found with query"), "slurmdb_jobs_get")
        found = {"jobs": [shapes.past_job(job, scheduler) for job in jobs]}
        return self._reply(200, [] if jobs else [nothing], found, database=True)

    def partitions(self, partitions: Sequence[Partition], scheduler: Scheduler) -> Reply:
        return self._reply(200, [], {"partitions": [shapes.partition(item, scheduler.view) for item in partitions]})

    def unknown_partition(self, name: str) -> Reply:  # noqa: ARG002 - this version doesn't repeat it
        error = {"error": INVALID_PARTITION.text, "errno": INVALID_PARTITION.number}
        return self._reply(500, [error], {"partitions": []})

    def nodes(self, scheduler: Scheduler) -> Reply:
        return self._reply(200, [], {"nodes": [shapes.node(item, scheduler) for item in scheduler.view.nodes.values()]})

    def ping(self) -> Reply:
        pings = [{"hostname": "controller", "ping": "UP", "status": 0, "mode": "primary"}]
        return self._reply(200, [], {"pings": pings})

    def wrong_method(self) -> Reply:
        return 405, _NO_METHOD

    def _errors(self, status: int, errors: Sequence[Mapping[str, Any]]) -> Reply:
        return self._reply(status, errors, {})

    def _reply(
        self, status: int, errors: Sequence[Mapping[str, Any]], content: Mapping[str, Any], *, database: bool = False
    ) -> Reply:
        kind, name = ("openapi/dbv0.0.38", "DB ") if database else ("openapi/v0.0.38", "")
        version = {"major": 22, "micro": 8, "minor": 5}
        meta = {
            "plugin": {"type": kind, "name": f"Slurm OpenAPI {name}v0.0.38"},
            "Slurm": {"version": version, "release": shapes.RELEASE},
        }
        return json_reply(status, {"meta": meta, "errors": list(errors), **content})


def _error(description: str, problem: Problem, source: str) -> dict[str, Any]:
    return {"description": description, "error_number": problem.number, "error": problem.text, "source": source}


def _read_job(description: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The errors that end the parsing, else the job's fields."""
    if not isinstance(description, Mapping):
        return [{"error_code": 9002, "error": _NO_JOBS}], {}
    fields: dict[str, Any] = {}
    for key, value in description.items():
        if key == "user_id":
            problem = Problem(1, "Operation not permitted")
            return [_error('Disabled key: "user_id"', problem, "openapi specification")], {}
        if key not in _KNOWN_KEYS:
            return [{"description": f'Unknown key "{key}"', "source": "hsearch_r"}], {}
        try:
            fields |= _READERS[key](value) if key in _READERS else {}
        except _ValueError as error:
            own = [{"error": error.text, "error_code": error.number}] if error.text else []
            unspecified = Problem(-1, "Unspecified error")
            return [*own, _error(f'Unable to process key "{key}"', unspecified, "slurm_process_option_data")], {}
    if not description.get("environment"):
        return [{"error": "environment must be set", "error_code": 2127}], {}
    return [], fields


def _text(name: str) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        if isinstance(value, (Mapping, list)):
            raise _ValueError
        return {name: "" if value is None else str(value)}

    return read


def _integer(name: str) -> Callable[[Any], dict[str, Any]]:
    def read(value: Any) -> dict[str, Any]:
        try:
            return {name: to_int32(value)}
        except ValueError as error:
            raise _ValueError("Unable to read integer value", 9202) from error

    return read


def _environment(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _ValueError("environment must be a dictionary")
    return {}


def _time_limit(value: Any) -> dict[str, Any]:
    if isinstance(value, (Mapping, list)):
        raise _ValueError("Unable to read string", 9202)
    try:
        minutes = parse_minutes(str(value))
        to_int32(minutes or 0)
    except ValueError as error:
        raise _ValueError("Invalid time specification") from error
    return {"time_limit": minutes}


def _nodes(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        raise _ValueError("Unable to read string", 9202)
    first = value[0] if isinstance(value, list) and value else value
    try:
        return {"node_count": max(to_int32(str(first).partition("-")[0]), 1)}
    except ValueError as error:
        raise _ValueError("Invalid node count string") from error


def _ignore(_: Any) -> dict[str, Any]:
    """Accepted and without effect: 22.05 describes ``minimum_nodes`` as a boolean (seen: 2 still gives one node)."""
    return {}


_READERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    **{name: _text(name) for name in ("name", "partition", "comment", "account", "array", "current_working_directory")},
    **{name: _text(name) for name in ("standard_output", "standard_error", "standard_input")},
    **{name: _integer(name) for name in ("tasks", "tasks_per_node", "cpus_per_task")},
    "environment": _environment,
    "hold": lambda value: {"hold": bool(value)},
    "minimum_nodes": _ignore,
    "nodes": _nodes,
    "time_limit": _time_limit,
}
