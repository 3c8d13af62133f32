"""The built-in Slurm's controller: starts jobs, ends them, and lets time pass in one cluster's state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from reconciler.emulator.slurm_jobs import SIGTERM, Job
from reconciler.emulator.slurm_settings import Settings
from reconciler.emulator.slurm_store import ClusterState
from reconciler.emulator.slurm_view import ClusterView, Partition, slurm_part, view_of

PROLOG_ERROR = "Prolog error"
_STATE_REASONS = {"INACTIVE": "PartitionInactive", "DOWN": "PartitionDown"}

CancelResult = Literal["done", "finished", "denied"]


class Scheduler:
    """Works on one state; ``events`` collects what the cluster's event list should get (VM_PROLOG_ERROR, …)."""

    def __init__(self, state: ClusterState, settings: Settings) -> None:
        self.state = state
        self.settings = settings
        self.view: ClusterView = view_of(state.resource)
        self.events: list[dict[str, Any]] = []

    @property
    def cluster(self) -> str:
        """Slurm's ClusterName: the cluster's id, of a full resource name too."""
        return self.state.name.rpartition("/")[2]

    def advance(self, now: float) -> None:
        """Lets everything happen, in order, that happens up to ``now``; a clock that goes back changes nothing."""
        self._start_jobs()
        while (moment := self._next_moment(now)) is not None:
            self.state.time = moment
            for job in self._active():
                if job.runs_until is not None and job.runs_until <= moment:
                    job.finish(moment)
            self._start_jobs()
        self.state.time = max(self.state.time, now)

    def change_cluster(self, resource: Mapping[str, Any]) -> None:
        """Takes over another form of the cluster: jobs whose nodes or partition are gone end as NODE_FAIL.

        That is what a real slurmctld (22.05) does to the running and the waiting jobs of a removed partition.
        """
        wanted = slurm_part(resource)
        if wanted == self.state.resource:
            return
        before, self.view, self.state.resource = self.view, view_of(wanted), wanted
        for job in list(self.state.jobs.values()):
            if not job.is_finished and self._loses_its_place(job, before):
                job.end(self.state.time, "NODE_FAIL", "NodeDown", signal=SIGTERM if job.is_active else 0)
        drained = self.state.drained.items()
        self.state.drained = {node: reason for node, reason in drained if not self._is_replaced(node, before)}
        self._start_jobs()

    def cancel(self, job: Job) -> CancelResult:
        """Cancels a job on behalf of the settings' user; a running one shows COMPLETING for a moment."""
        now = self.state.time
        if job.user_name != self.settings.user:
            return "denied"
        if job.is_finished:
            return "finished"
        if job.is_active:
            job.completing_until = now + self.settings.completing_seconds
            job.end(now, "CANCELLED", signal=SIGTERM)
        else:
            job.end(now, "CANCELLED")
        job.cancelled_by = self.settings.user
        self._start_jobs()
        return "done"

    def usable_nodes(self, partition: Partition) -> list[str]:
        """The partition's nodes that are not drained."""
        return [node for node in partition.nodes if node not in self.state.drained]

    def used_cpus(self, node: str) -> int:
        """CPUs of a node that running jobs hold."""
        return sum(job.cpus_per_node for job in self._active() if node in job.nodes)

    def _active(self) -> list[Job]:
        return [job for job in self.state.jobs.values() if job.is_active]

    def _next_moment(self, now: float) -> float | None:
        """When the next job ends or becomes ready, up to ``now``; what is overdue ends at once."""
        time = self.state.time
        ends = (max(job.runs_until, time) for job in self._active() if job.runs_until is not None)
        ready = (self._ready_at(job) for job in self.state.jobs.values() if job.is_pending and not job.held)
        starts = (moment for moment in ready if moment > time)
        return min((moment for moment in (*ends, *starts) if moment <= now), default=None)

    def _ready_at(self, job: Job) -> float:
        return job.waiting_since + self.settings.pending_seconds

    def _loses_its_place(self, job: Job, before: ClusterView) -> bool:
        if job.partition not in self.view.partitions:
            return job.partition in before.partitions
        return any(self._is_replaced(node, before) for node in job.nodes)

    def _is_replaced(self, node: str, before: ClusterView) -> bool:
        if node not in before.nodes:
            return False
        pool = before.nodes[node].pool
        return node not in self.view.nodes or before.builds[pool] != self.view.builds.get(pool)

    def _start_jobs(self) -> None:
        """Starts what can start now, first come first served in each partition, and notes why the rest waits."""
        queued: set[str] = set()
        for group in self._waiting_groups():
            while group[0].is_pending:
                reason = self._obstacle(group, queued)
                if reason is not None:
                    for job in group:
                        job.state_reason = reason
                    break
                for job in group:
                    self._start(self._next_task(job))

    def _waiting_groups(self) -> Iterator[list[Job]]:
        """Waiting jobs in order; the components of a heterogeneous job start together or not at all."""
        waiting = [job for job in self.state.jobs.values() if job.is_pending]
        for job in sorted(waiting, key=lambda job: job.job_id):
            if not job.het_job_id:
                yield [job]
            elif job.het_job_id == job.job_id:
                yield [other for other in waiting if other.het_job_id == job.job_id]

    def _obstacle(self, group: list[Job], queued: set[str]) -> str | None:
        """Why a group can't start now, as Slurm's state_reason; None if it can."""
        taken: dict[str, int] = {}
        for job in group:
            partition = self.view.partitions.get(job.partition)
            reason = self._standing_obstacle(job, partition)
            if reason is not None:
                return reason
            if job.partition in queued:
                return "Priority"
            nodes = self._free_nodes(job, taken)
            if len(nodes) < job.node_count:
                queued.add(job.partition)
                return "Resources"
            for node in nodes:
                taken[node] = taken.get(node, 0) + job.cpus_per_node
        return None

    def _standing_obstacle(self, job: Job, partition: Partition | None) -> str | None:
        """Why a job can't start whatever nodes are free."""
        if job.held:
            return "JobHeldUser"
        if partition is None:
            # Put in by hand before the cluster was seen.
            return "None"
        if partition.state in _STATE_REASONS:
            return _STATE_REASONS[partition.state]
        if not self.fits(job, partition):
            return "PartitionConfig"
        if partition.max_nodes is not None and job.node_count > partition.max_nodes:
            return "PartitionNodeLimit"
        if partition.max_minutes is not None and (job.time_limit or 0) > partition.max_minutes:
            return "PartitionTimeLimit"
        if self._ready_at(job) > self.state.time:
            return "None"
        return "JobArrayTaskLimit" if self._array_is_at_its_limit(job) else None

    def _array_is_at_its_limit(self, job: Job) -> bool:
        if not job.array_max_tasks:
            return False
        running = sum(other.array_job_id == job.array_job_id for other in self._active())
        return running >= job.array_max_tasks

    def fits(self, job: Job, partition: Partition) -> bool:
        """Whether the partition has enough nodes of sufficient size at all."""
        large = [node for node in partition.nodes if self.view.nodes[node].cpus >= job.cpus_per_node]
        return len(large) >= job.node_count

    def _free_nodes(self, job: Job, taken: Mapping[str, int]) -> list[str]:
        """Nodes for a job, no more than it needs; ``taken``: CPUs that others of its group are about to get."""
        free = [
            node
            for node in self.usable_nodes(self.view.partitions[job.partition])
            if self.view.nodes[node].cpus - self.used_cpus(node) - taken.get(node, 0) >= job.cpus_per_node
        ]
        return free[: job.node_count]

    def _next_task(self, job: Job) -> Job:
        """The job to start: of a waiting array its first task, which gets an id of its own unless it is the last."""
        if not job.array_tasks:
            return job
        task, *rest = job.array_tasks
        if not rest:
            job.array_tasks, job.array_task_id = [], task
            return job
        job.array_tasks = rest
        values = {**vars(job), "job_id": self.state.take_job_id(), "array_tasks": [], "array_task_id": task}
        self.state.jobs[values["job_id"]] = Job(**values)
        return self.state.jobs[values["job_id"]]

    def _start(self, job: Job) -> None:
        partition = self.view.partitions[job.partition]
        nodes = self._free_nodes(job, {})
        if self.settings.prolog_fails or self.view.prolog_fails:
            self._fail_prolog(job, nodes[:1])
            return
        job.begin(self.state.time, nodes)
        if job.time_limit is None:
            job.time_limit = partition.max_minutes

    def _fail_prolog(self, job: Job, nodes: list[str]) -> None:
        """The node drains, the job goes back to the queue and is held (22.05 and 25.11)."""
        job.held, job.restart_cnt, job.waiting_since = True, job.restart_cnt + 1, self.state.time
        job.state_reason, job.state_description = "JobHeldUser", "launch failed requeued held"
        when = datetime.fromtimestamp(self.state.time, UTC).isoformat().replace("+00:00", "Z")
        for node in nodes:
            self.state.drained[node] = PROLOG_ERROR
            place = {"eventTime": when, "nodePoolId": self.view.nodes[node].pool, "instanceName": node}
            failure = f"The prolog of job {job.job_id} failed on {node}."
            self.events.append({"type": "VM_PROLOG_ERROR", **place, "detail": failure})
            self.events.append({"type": "VM_SLURM_DRAIN", **place, "detail": f"{node} was drained: {PROLOG_ERROR}."})
