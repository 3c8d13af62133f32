"""A job of a cluster's Slurm, and what can be asked of it, whichever version told of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.errors import UsageError

_RUNNING_STATES = ("RUNNING", "SUSPENDED")
_FINAL_STATES = (
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "BOOT_FAIL",
    "DEADLINE",
    "OUT_OF_MEMORY",
)
_STATES = ("PENDING", *_RUNNING_STATES, *_FINAL_STATES)
# Flags that stay on a job that is over. Any other one says that something is still to come.
_FINAL_FLAGS = frozenset({*_FINAL_STATES, "LAUNCH_FAILED", "RECONFIG_FAIL", "REVOKED"})
_ENDING = "COMPLETING"
_FLAGS = (
    *("LAUNCH_FAILED", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESIZING", "CONFIGURING", _ENDING, "STOPPED"),
    *("RECONFIG_FAIL", "POWER_UP_NODE", "REVOKED", "REQUEUE_FED", "RESV_DEL_HOLD", "SIGNALING", "STAGE_OUT"),
    "EXPEDITING",
)
# Every word that Slurm has for a job's state, of 22.05 to 25.11.
STATE_WORDS = (*_STATES, *_FLAGS)
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_ID = re.compile(r"([1-9]\d{0,9})(?:_(\d{1,9})|\+(\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class SlurmJob:
    """One record of the queue or the history. Times are in seconds since the epoch, None = not yet.

    states: the state and all its flags, such as `("CANCELLED", "COMPLETING")`.
    node_count: allocated, or asked for while it's pending; nodes: Slurm's host list, "" while it's pending.
    end_time: of a running job the time at which its limit ends it.
    time_limit: minutes; None = without limit, or not told.
    exit_code, signal: how the script ended; None = not told, and no signal.
    array_id: the job id of the array that it belongs to; array_task: its task number; array_tasks: of a record that
    stands for tasks that have no record of their own yet, their numbers as Slurm writes them (`3-9,12%2`).
    het_id, het_offset: the leader's job id and the place within a heterogeneous job.
    cwd, stdout, stderr: paths on the cluster.
    """

    job_id: int
    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    states: tuple[str, ...] = ()
    reason: str = ""
    node_count: int = 0
    nodes: str = ""
    submit_time: int | None = None
    start_time: int | None = None
    end_time: int | None = None
    time_limit: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    array_id: int | None = None
    array_task: int | None = None
    array_tasks: str = ""
    het_id: int | None = None
    het_offset: int | None = None
    cwd: str = ""
    stdout: str = ""
    stderr: str = ""

    @property
    def state(self) -> str:
        """The state without its flags; an unknown word as it is."""
        return next((word for word in self.states if word in _STATES), (*self.states, "UNKNOWN")[0])

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will come. A word that isn't known means no: a newer Slurm may have more of them."""
        return self.state in _FINAL_STATES and _FINAL_FLAGS.issuperset(self.states)

    @property
    def is_ending(self) -> bool:
        """Whether it is over, or about to be: what still runs of it is being tidied up."""
        return self.state in _FINAL_STATES or _ENDING in self.states

    @property
    def is_pending(self) -> bool:
        return self.state == "PENDING"

    @property
    def is_running(self) -> bool:
        """Whether it holds nodes, suspended and completing jobs included; so does what isn't known."""
        return not self.is_pending and not self.is_finished

    @property
    def label(self) -> str:
        """The id as Slurm's own commands show it: `17`, `100_3`, `100_[4-99]`, `200+1`."""
        if self.array_id is not None and self.array_task is not None:
            return f"{self.array_id}_{self.array_task}"
        if self.array_id is not None and self.array_tasks:
            return f"{self.array_id}_[{self.array_tasks}]"
        return f"{self.het_id}+{self.het_offset or 0}" if self.het_id else str(self.job_id)

    @property
    def task_count(self) -> int:
        """How many tasks the record stands for: 1 but for the waiting rest of an array."""
        return 1 if self.array_task is not None else sum(map(len, task_ranges(self.array_tasks))) or 1


@dataclass(frozen=True, slots=True)
class JobId:
    """What a job id on the command line means: a job or a whole array, one task (`100_3`), one component (`200+1`)."""

    number: int
    task: int | None = None
    offset: int | None = None

    @classmethod
    def parse(cls, text: str) -> JobId:
        """Read an id. Raises UsageError."""
        match = _ID.fullmatch(text.strip())
        if not match:
            raise UsageError(f"{text!r} is no job id", hint="it looks like 17, 100_3 (a task of an array), or 200+1")
        number, task, offset = match.groups()
        return cls(int(number), None if task is None else int(task), None if offset is None else int(offset))

    def __str__(self) -> str:
        task = "" if self.task is None else f"_{self.task}"
        return f"{self.number}{task}" + ("" if self.offset is None else f"+{self.offset}")

    def select(self, jobs: Iterable[SlurmJob]) -> tuple[SlurmJob, ...]:
        """The records among an array's, or a heterogeneous job's, that are meant."""
        return tuple(job for job in jobs if self._means(job))

    def _means(self, job: SlurmJob) -> bool:
        if self.offset is not None:
            return job.het_offset == self.offset
        if self.task is None or job.array_task == self.task:
            return True
        return job.array_task is None and any(self.task in tasks for tasks in task_ranges(job.array_tasks))


def describe(jobs: Iterable[SlurmJob]) -> str:
    """`RUNNING`, `PENDING (Resources)`, or for several tasks `3 RUNNING, 97 PENDING`."""
    listed = list(jobs)
    counts: Counter[str] = Counter()
    for job in listed:
        counts["+".join(job.states) or job.state] += job.task_count
    if counts.total() == 1:
        reason = listed[0].reason if listed[0].is_pending else ""
        return next(iter(counts)) + (f" ({reason})" if reason else "")
    return ", ".join(f"{count} {state}" for state, count in counts.items())


def task_ranges(tasks: str) -> list[range]:
    """The task numbers in `3-9,12,20-40:5%2`. Slurm cuts long ones short (`…`): then they're the ones that it shows."""
    found = (_RANGE.fullmatch(part.strip(" []")) for part in tasks.partition("%")[0].split(","))
    parts = (match.groups() for match in found if match)
    return [range(int(low), int(high or low) + 1, int(step or 1) or 1) for low, high, step in parts]
