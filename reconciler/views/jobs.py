"""Jobs of a cluster's Slurm: tables for terminals, documents for JSON. Times are UTC."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from reconciler.cloud.slurm_job import SlurmJob, describe
from reconciler.spec.names import ClusterName
from reconciler.views.json import dump
from reconciler.views.safe import safe
from reconciler.views.table import table
from reconciler.views.values import yaml_text
from reconciler.views.wording import plural

_HEAD = ("JOB", "NAME", "USER", "PARTITION", "STATE", "NODES", "SUBMITTED", "STARTED", "LIMIT", "WHERE OR WHY")
_NO_LIMIT = "none"


def jobs_text(jobs: Sequence[SlurmJob]) -> str:
    """A table of jobs, and how many tasks of them run and wait."""
    if not jobs:
        return "No jobs.\n"
    running = sum(job.task_count for job in jobs if job.is_running)
    waiting = sum(job.task_count for job in jobs if job.is_pending)
    ended = sum(job.task_count for job in jobs) - running - waiting
    lines = table(_HEAD, [_row(job) for job in jobs])
    return "\n".join([*lines, "", f"{running} running, {waiting} pending, {ended} ended"]) + "\n"


def job_text(jobs: Sequence[SlurmJob]) -> str:
    """All that is known of one job; a table where there are several records, as of an array."""
    if len(jobs) != 1:
        return jobs_text(jobs)
    return yaml_text({name: value for name, value in job_document(jobs[0]).items() if value not in (None, "")})


def jobs_json(jobs: Iterable[SlurmJob], warnings: Iterable[str] = (), **more: Any) -> str:
    """Jobs with Slurm's warnings, and whatever else there is to tell, which comes first."""
    return dump({**more, "jobs": [job_document(job) for job in jobs], "warnings": list(warnings)})


def submitted_text(cluster: str, job_id: int) -> str:
    """A job that exists. cluster: as commands take it."""
    return f"submitted job {job_id} to {cluster}"


def submitted_json(cluster: ClusterName, job_id: int, notes: Iterable[str], warnings: Iterable[str]) -> str:
    """A job that exists, and what is worth knowing of it."""
    document = {"job_id": job_id, "cluster": str(cluster), "notes": list(notes), "warnings": list(warnings)}
    return dump(document)


def cancelled_text(label: str, jobs: Sequence[SlurmJob], result: str) -> str:
    """What a cancel came to. result: already_finished, cancelling or ended; of the last the jobs are as they ended."""
    if result == "cancelling":
        return f"job {label}: cancel accepted; it takes a moment to stop"
    if result == "already_finished":
        return f"job {label} has already finished: {safe(describe(jobs))}"
    return outcomes(label, jobs)


def job_document(job: SlurmJob) -> dict[str, Any]:
    """A job as JSON values: `job_id`, `user`, `partition`, `state`, `name`, `nodes` are those of a plan's jobs.

    `end_time` of a running job is the time at which its limit ends it; `time_limit_minutes` null is no limit.
    """
    document: dict[str, Any] = {
        "job_id": job.job_id,
        "label": job.label,
        "name": job.name,
        "user": job.user,
        "account": job.account,
        "partition": job.partition,
        "state": job.state,
        "states": list(job.states),
        "reason": job.reason,
        "nodes": job.node_count,
        "node_list": job.nodes,
        "submit_time": _time(job.submit_time),
        "start_time": _time(job.start_time),
        "end_time": _time(job.end_time),
        "time_limit_minutes": job.time_limit,
        "exit_code": job.exit_code if job.is_finished else None,  # Slurm says 0 until then
        "signal": job.signal,
        "working_directory": job.cwd,
        "standard_output": job.stdout,
        "standard_error": job.stderr,
    }
    if job.array_id is not None:
        array = {"job_id": job.array_id, "task_id": job.array_task, "tasks": job.array_tasks, "count": job.task_count}
        document["array"] = array
    if job.het_id is not None:
        document["heterogeneous"] = {"job_id": job.het_id, "offset": job.het_offset}
    return document


def outcome(job: SlurmJob) -> str:
    """How a job stands, for a sentence: `COMPLETED`, `FAILED (exit code 3)`, `TIMEOUT (signal 15)`."""
    how = f"signal {job.signal}" if job.signal else f"exit code {job.exit_code}" if job.exit_code else ""
    state = safe("+".join(job.states) or job.state)
    return f"{state} ({how})" if how else state


def outcomes(label: str, jobs: Sequence[SlurmJob]) -> str:
    """`job 17: FAILED (exit code 3)`; for several records those that didn't complete, task by task."""
    if len(jobs) == 1:
        return f"job {label}: {outcome(jobs[0])}"
    other = [job for job in jobs if job.state != "COMPLETED"]
    head = f"job {label}: {plural(sum(job.task_count for job in jobs), 'task')}, "
    if not other:
        return f"{head}all COMPLETED"
    return "\n".join([f"{head}not all COMPLETED:", *(f"  {safe(job.label)}: {outcome(job)}" for job in other)])


def _row(job: SlurmJob) -> tuple[str | int | None, ...]:
    limit = _NO_LIMIT if job.time_limit is None else _length(job.time_limit)
    where = job.reason if job.is_pending else job.nodes
    state = "+".join(job.states) or job.state
    times = (_short(job.submit_time), _short(job.start_time))
    return job.label, job.name, job.user, job.partition, state, job.node_count, *times, limit, where


def _time(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _short(seconds: int | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _length(minutes: int) -> str:
    """`90` minutes as `1:30:00`, as Slurm's own commands show it."""
    days, rest = divmod(minutes, 24 * 60)
    return (f"{days}-" if days else "") + f"{rest // 60}:{rest % 60:02}:00"
