"""Jobs and partitions out of Slurm's JSON: one reader for v0.0.38 to v0.0.44, for the queue and for the history.

Shapes as recorded from 22.05 and 25.11; fields that nobody has heard of are left alone, missing ones are empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reconciler.cloud.slurm_job import SlurmJob
from reconciler.cloud.slurm_values import mapping, moment, number, text, words

_NOTHING = ("None", "None assigned", "(null)", "N/A")


@dataclass(frozen=True, slots=True)
class SlurmPartition:
    """A partition. states: `("UP",)`, `("INACTIVE",)`, …; nodes: Slurm's host list; max_minutes: None = no limit."""

    name: str
    states: tuple[str, ...] = ()
    nodes: str = ""
    total_nodes: int = 0
    max_minutes: int | None = None


def read_job(raw: Mapping[str, Any]) -> SlurmJob:
    """A job of `/slurm/` or `/slurmdb/`. Raises ValueError where it has no id."""
    job_id = number(raw.get("job_id"))
    if job_id is None:
        raise ValueError("a job without an id")
    state, time = mapping(raw.get("state")), mapping(raw.get("time"))
    exit_code, signal = _exit(raw.get("exit_code"))
    return SlurmJob(
        job_id=job_id,
        name=text(raw.get("name")),
        user=_first(raw, "user_name", "user") or text(mapping(raw.get("association")).get("user")),
        account=text(raw.get("account")),
        partition=text(raw.get("partition")),
        states=words(raw.get("job_state")) or words(state.get("current")),
        reason=_first(raw, "state_reason") or _first(state, "reason"),
        node_count=number(raw.get("node_count", raw.get("allocation_nodes"))) or 0,
        nodes=_first(raw, "nodes"),
        submit_time=moment(raw.get("submit_time", time.get("submission"))),
        start_time=moment(raw.get("start_time", time.get("start"))),
        end_time=moment(raw.get("end_time", time.get("end"))),
        time_limit=number(raw.get("time_limit", time.get("limit"))) or None,  # 0 minutes: without limit
        exit_code=exit_code,
        signal=signal,
        **_array(raw),
        **_components(raw),
        cwd=_first(raw, "current_working_directory", "working_directory"),
        stdout=_first(raw, "standard_output", "stdout_expanded", "stdout"),
        stderr=_first(raw, "standard_error", "stderr_expanded", "stderr"),
    )


def read_partition(raw: Mapping[str, Any]) -> SlurmPartition:
    """A partition of `/slurm/`. Raises ValueError where it has no name."""
    name = text(raw.get("name"))
    if not name:
        raise ValueError("a partition without a name")
    nodes, maximums = mapping(raw.get("nodes")), mapping(raw.get("maximums"))
    return SlurmPartition(
        name=name,
        states=words(raw.get("state")) or words(mapping(raw.get("partition")).get("state")),
        nodes=text(raw.get("nodes")) or text(nodes.get("configured")),
        total_nodes=number(raw.get("total_nodes", nodes.get("total"))) or 0,
        max_minutes=number(raw.get("max_time_limit", maximums.get("time"))),
    )


def _first(raw: Mapping[str, Any], *names: str) -> str:
    """The first of these texts that says something."""
    found = (text(raw.get(name)) for name in names)
    return next((value for value in found if value and value not in _NOTHING), "")


def _exit(value: object) -> tuple[int | None, int | None]:
    """Exit code and signal: an object, or the raw wait status (exit 3 is 768, SIGTERM is 15)."""
    if not isinstance(value, dict) or "number" in value:
        raw = number(value)
        return (None, None) if raw is None else (raw >> 8 & 0xFF, raw & 0x7F or None)
    signal = mapping(value.get("signal"))
    return number(value.get("return_code")), number(signal.get("id", signal.get("signal_id"))) or None


def _array(raw: Mapping[str, Any]) -> dict[str, Any]:
    past = mapping(raw.get("array"))
    array_id = number(raw.get("array_job_id", past.get("job_id")))
    if not array_id:  # 0: not of an array
        return {}
    task = number(raw.get("array_task_id", past.get("task_id")))
    waiting = _first(raw, "array_task_string") or _first(past, "task")
    return {"array_id": array_id, "array_task": task, "array_tasks": waiting if task is None else ""}


def _components(raw: Mapping[str, Any]) -> dict[str, Any]:
    past = mapping(raw.get("het"))
    het_id = number(raw.get("het_job_id", past.get("job_id")))
    if not het_id:
        return {}
    return {"het_id": het_id, "het_offset": number(raw.get("het_job_offset", past.get("job_offset"))) or 0}
