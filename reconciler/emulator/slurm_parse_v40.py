"""How v0.0.39 and later read a submit body: tolerantly, with warnings, and sometimes to no effect at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.emulator.slurm_replies import (
    INVALID_USER,
    NO_ENVIRONMENT,
    NO_WORK_DIR,
    Problem,
    Submission,
    to_int32,
    words,
)

_TEXTS = frozenset(words("""
    name partition comment account array current_working_directory standard_output standard_error standard_input nodes
    """))  # fmt: skip
_INTEGERS = frozenset(words("tasks tasks_per_node cpus_per_task minimum_nodes maximum_nodes"))
_OTHERS = frozenset(
    words("""
    account_gather_frequency admin_comment allocation_node_list allocation_node_port argv batch_features
    begin_time burst_buffer cluster_constraint clusters constraints container container_id contiguous
    core_specification cpu_binding cpu_binding_flags cpu_frequency cpus_per_tres crontab deadline delay_boot
    dependency distribution distribution_plane_size end_time environment excluded_nodes extra flags group_id
    hetjob_group hold immediate job_id kill_on_node_fail kill_warning_delay kill_warning_flags
    kill_warning_signal licenses mail_type mail_user maximum_cpus mcs_label memory_binding memory_binding_type
    memory_per_cpu memory_per_node memory_per_tres minimum_boards_per_node minimum_cpus minimum_cpus_per_node
    minimum_sockets_per_board network nice ntasks_per_tres oom_kill_step open_mode overcommit power_flags
    prefer priority profile qos reboot required_nodes required_switches requeue reservation reserve_ports
    rlimits script segment_size selinux_context shared site_factor sockets_per_node spank_environment
    tasks_per_board tasks_per_core tasks_per_socket temporary_disk_per_node thread_specification
    threads_per_core time_limit time_minimum tres_bind tres_freq tres_per_job tres_per_node tres_per_socket
    tres_per_task user_id wait_all_nodes wait_for_switch wckey x11 x11_magic_cookie x11_target_host
    x11_target_port""")
)
# What a JSON value is called: in OpenAPI, and inside Slurm.
_KINDS: tuple[tuple[type, str, str], ...] = (
    (bool, "boolean", "boolean"),
    (int, "integer", "64 bit integer"),
    (float, "number", "floating point number"),
    (str, "string", "string"),
    (list, "array", "list"),
    (dict, "object", "dictionary"),
)
_SUBMIT_FAILED = "Batch job submission failed"


@dataclass
class Refusal:
    """A body that makes no job: the status, and what is said about it (``text``: a plain text answer)."""

    status: int
    errors: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[dict[str, str]] = field(default_factory=list)
    text: str | None = None


class _NoJobError(Exception):
    """Ends the reading of a body; with an error, or (as slurmrestd does for a wrong type) with warnings alone."""

    def __init__(self, error: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.error = error


def read_body(body: object) -> Submission | Refusal:
    """The submission that a body asks for, or why there is none."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return Refusal(400, text="Failure during parsing")
    content: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    single, several = content.get("job"), content.get("jobs")
    wanted = several if isinstance(several, list) and several else [single] if isinstance(single, Mapping) else []
    inner = wanted[0].get("script") if wanted and isinstance(wanted[0], Mapping) else None
    script = content.get("script") or inner
    if not script:
        return _bad_request('Populated "script" field is required for job submission')
    if not wanted:
        return _bad_request('Specifying either "job" or "jobs" fields are required to submit job')
    warnings: list[dict[str, str]] = []
    components = []
    try:
        for index, description in enumerate(wanted):
            reader = _Reader("#/job" if wanted[0] is single else f"#/jobs[{index}]", warnings)
            components.append(reader.read(description))
    except _NoJobError as end:
        return Refusal(200, [], warnings) if end.error is None else Refusal(500, [end.error], warnings)
    return Submission(components, str(script), warnings)


def _bad_request(description: str) -> Refusal:
    return Refusal(422, [_error(description, Problem(9000, "Query empty or not RFC7320 compliant"), "_job_post")])


def _error(description: str, problem: Problem, source: str) -> dict[str, Any]:
    return {"description": description, "error_number": problem.number, "error": problem.text, "source": source}


class _Reader:
    """Reads one job description; warnings go to a list that all descriptions share."""

    def __init__(self, place: str, warnings: list[dict[str, str]]) -> None:
        self._place = place
        self._warnings = warnings

    def read(self, description: object) -> dict[str, Any]:
        """`Job` fields, and ``array`` and ``hold``. Raises _NoJobError."""
        if not isinstance(description, Mapping):
            self._mismatch("", "object", "dictionary", description)
            raise _NoJobError
        fields: dict[str, Any] = {}
        for key, value in description.items():
            if value is not None:
                fields |= self._read_field(key, value)
        self._check(description)
        minimum, maximum = fields.pop("minimum_nodes", None), fields.pop("maximum_nodes", None)
        nodes = fields.pop("nodes", None)
        least = self._integer("nodes", nodes.partition("-")[0]) if nodes else minimum or maximum
        return fields | ({} if least is None else {"node_count": max(least, 1)})

    def _read_field(self, key: str, value: Any) -> dict[str, Any]:
        if key in _TEXTS:
            return {key: self._text(key, value)}
        if key in _INTEGERS:
            return {key: self._integer(key, value)}
        if key == "time_limit":
            return {key: self._optional_number(key, value)}
        if key == "hold":
            return {key: bool(value)}
        if key == "environment" and not isinstance(value, list):
            self._mismatch(key, "array", "list", value)
        elif key not in _OTHERS:
            text = f'Ignoring unknown field "{key}" of type {_kind(value)[1]} in DATA_PARSER_JOB_DESC_MSG'
            self._warn(key, text)
        return {}

    def _check(self, description: Mapping[str, Any]) -> None:
        """What slurmctld refuses before it looks at the partition."""
        checks: tuple[tuple[Callable[[], bool], Problem], ...] = (
            (lambda: description.get("user_id") is not None, INVALID_USER),
            (lambda: not description.get("current_working_directory"), NO_WORK_DIR),
            (lambda: not description.get("environment"), NO_ENVIRONMENT),
        )
        for fails, problem in checks:
            if fails():
                raise _NoJobError(_error(_SUBMIT_FAILED, problem, "slurm_submit_batch_job()"))

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            self._mismatch(key, "string", "string", value)
            if isinstance(value, (list, dict)):
                raise _NoJobError
        return str(value)

    def _integer(self, key: str, value: Any) -> int:
        if isinstance(value, (list, dict)):
            self._mismatch(key, "integer", "64 bit integer", value)
            raise _NoJobError
        try:
            return to_int32(value)
        except ValueError as error:
            text = f"Expected integer but got {json.dumps(value)}"
            problem = Problem(9202, "Unable to convert Data type")
            raise _NoJobError(_error(text, problem, f"{self._place}/{key}/")) from error

    def _optional_number(self, key: str, value: Any) -> int | None:
        if not isinstance(value, dict):
            return self._integer(key, value)
        if value.get("infinite") or value.get("set") is False or value.get("number") is None:
            return None
        return self._integer(key, value["number"])

    def _mismatch(self, key: str, wanted: str, inside: str, value: Any) -> None:
        kind, slurm_kind = _kind(value)
        self._warn(
            key,
            f"Expected OpenAPI type={wanted} (Slurm type={inside}) but got OpenAPI type={kind} "
            f"(Slurm type={slurm_kind})",
        )

    def _warn(self, key: str, text: str) -> None:
        self._warnings.append({"description": text, "source": f"{self._place}/{key}/"})


def _kind(value: object) -> tuple[str, str]:
    return next(((openapi, inside) for kind, openapi, inside in _KINDS if isinstance(value, kind)), ("null", "null"))
