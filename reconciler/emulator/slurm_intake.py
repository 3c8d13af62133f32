"""How jobs get into the built-in Slurm: submissions, which may be refused, and jobs put in by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from reconciler.emulator import slurm_replies as replies
from reconciler.emulator.slurm_jobs import Job, parse_array, plan_script
from reconciler.emulator.slurm_replies import Problem, Submission
from reconciler.emulator.slurm_scheduler import Scheduler
from reconciler.emulator.slurm_settings import check_values
from reconciler.emulator.slurm_view import Partition

# Partitions in these states take no new jobs (seen in 22.05; DOWN ones queue them).
_CLOSED = ("INACTIVE", "DRAIN")
_CAVEATS = {
    "JobHeldUser": replies.JOB_HELD,
    "PartitionConfig": replies.CONFIG_UNAVAILABLE,
    "PartitionNodeLimit": replies.CONFIG_UNAVAILABLE,
    "PartitionTimeLimit": replies.CONFIG_UNAVAILABLE,
}
_JOB_FIELDS = frozenset(field.name for field in fields(Job))
_EXTRA_FIELDS = ("script", "array")


@dataclass(frozen=True)
class _Extras:
    """What a job put in by hand may have besides `Job` fields."""

    script: str = ""
    array: str = ""


@dataclass(frozen=True)
class Accepted:
    """A submission that made a job (the leader of several); ``caveat``: why it will not start as things are."""

    job: Job
    caveat: Problem | None


def submit(scheduler: Scheduler, submission: Submission) -> Accepted | Problem:
    """Queues what a submission asks for, or says why not; nothing is queued then."""
    drafts = []
    for component in submission.components:
        partition = _partition(scheduler, component)
        if partition is None:
            return replies.INVALID_PARTITION
        if partition.state in _CLOSED:
            return replies.PARTITION_UNAVAILABLE
        draft = _draft(scheduler, component, partition, submission.script)
        if draft is None:
            return replies.INVALID_ARRAY
        drafts.append(draft)
    jobs = _enqueue(scheduler, drafts)
    scheduler.advance(scheduler.state.time)
    return Accepted(jobs[0], _caveat(scheduler, jobs[0]))


def inject(scheduler: Scheduler, wanted: Mapping[str, Any]) -> Job:
    """Queues a job given by its fields. Raises ValueError for a field or a value that is none."""
    shared = {key: value for key, value in wanted.items() if key != "components"}
    drafts = []
    for component in wanted.get("components") or [{}]:
        values = {**shared, **component}
        check_values(_Extras, {key: value for key, value in values.items() if key in _EXTRA_FIELDS})
        check_values(Job, {key: value for key, value in values.items() if key not in _EXTRA_FIELDS})
        drafts.append(_injected(scheduler, values))
    jobs = _enqueue(scheduler, drafts)
    for job in jobs:
        if job.is_active and not job.nodes and job.partition in scheduler.view.partitions:
            job.nodes = scheduler.usable_nodes(scheduler.view.partitions[job.partition])[: job.node_count]
    return jobs[0]


def _injected(scheduler: Scheduler, values: Mapping[str, Any]) -> dict[str, Any]:
    now = scheduler.state.time
    plan = plan_script(values.get("script") or "", scheduler.settings.default_seconds)
    default = scheduler.view.default_partition
    state = values.get("state", "PENDING")
    draft: dict[str, Any] = {
        "partition": default.name if default else "", "user_name": scheduler.settings.user, "submit_time": now,
        "seconds": plan.seconds, "end_state": plan.end_state, "end_exit_code": plan.exit_code,
    }  # fmt: skip
    draft |= {"start_time": now} if state != "PENDING" else {}
    draft |= {"end_time": now} if state not in ("PENDING", "RUNNING", "SUSPENDED") else {}
    draft |= {key: value for key, value in values.items() if key in _JOB_FIELDS}
    draft.setdefault("waiting_since", draft["submit_time"])
    return draft | _array(values.get("array"))


def _partition(scheduler: Scheduler, component: Mapping[str, Any]) -> Partition | None:
    if "partition" in component:
        return scheduler.view.partitions.get(component["partition"])
    return scheduler.view.default_partition


def _draft(
    scheduler: Scheduler, component: Mapping[str, Any], partition: Partition, script: str
) -> dict[str, Any] | None:
    """The fields of a job without its id; None for a wrong array."""
    plan = plan_script(script, scheduler.settings.default_seconds)
    draft = {key: value for key, value in component.items() if key in _JOB_FIELDS} | {
        "partition": partition.name, "user_name": scheduler.settings.user, "held": component.get("hold", False),
        "submit_time": scheduler.state.time, "waiting_since": scheduler.state.time,
        "seconds": plan.seconds, "end_state": plan.end_state, "end_exit_code": plan.exit_code,
    }  # fmt: skip
    if "node_count" not in draft:
        draft["node_count"] = _least_nodes(scheduler, draft, partition)
    draft["tasks"] = draft.get("tasks") or draft["node_count"] * max(draft.get("tasks_per_node", 0), 1)
    try:
        return draft | _array(component.get("array"))
    except ValueError:
        return None


def _least_nodes(scheduler: Scheduler, draft: Mapping[str, Any], partition: Partition) -> int:
    """How many of the partition's nodes the job's CPUs fill."""
    largest = max((scheduler.view.nodes[node].cpus for node in partition.nodes), default=1)
    cpus = int(draft.get("tasks", 1)) * int(draft.get("cpus_per_task", 1))
    return max(1, -(-cpus // largest))


def _array(text: str | None) -> dict[str, Any]:
    if not text:
        return {}
    tasks, limit = parse_array(text)
    return {"array_tasks": tasks, "array_max_tasks": limit}


def _enqueue(scheduler: Scheduler, drafts: list[dict[str, Any]]) -> list[Job]:
    """Makes the jobs; several are the components of one heterogeneous job."""
    ids = [scheduler.state.take_job_id() for _ in drafts]
    jobs = [Job(job_id=job_id, **draft) for job_id, draft in zip(ids, drafts, strict=True)]
    for offset, job in enumerate(jobs):
        if job.array_tasks:
            job.array_job_id = job.job_id
        if len(jobs) > 1:
            job.het_job_id, job.het_job_offset, job.het_job_id_set = ids[0], offset, f"{ids[0]}-{ids[-1]}"
        scheduler.state.jobs[job.job_id] = job
    return jobs


def _caveat(scheduler: Scheduler, job: Job) -> Problem | None:
    if job.state_reason in _CAVEATS:
        return _CAVEATS[job.state_reason]
    partition = scheduler.view.partitions[job.partition]
    enough = len(scheduler.usable_nodes(partition)) >= job.node_count
    return None if enough else replies.NODES_UNAVAILABLE
