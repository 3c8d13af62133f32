"""A job of the built-in Slurm: what was asked for, what became of it, and what its script will do."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# What a job without a time limit is forecast to run, as slurmctld (22.05) does.
FORECAST_SECONDS = 365 * 86400
SIGTERM = 15

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SLEEP = re.compile(r"^\s*sleep\s+(?:(\d+(?:\.\d+)?)([smhd]?)|(inf(?:inity)?))\s*(?:[;#&|].*)?$", re.MULTILINE)
_EXIT = re.compile(r"^\s*exit\s+(\d+)\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*#\s*emulator:(.*)$", re.MULTILINE)
_OPTION = re.compile(r"\b(?:(seconds)=(\d+(?:\.\d+)?|inf)|(exit)=(\d+)|(state)=(\w+))(?=[\s,]|$)")
# slurm.conf's default: task numbers stay below it.
_MAX_ARRAY_SIZE = 1001


@dataclass(frozen=True)
class ScriptPlan:
    """How a script will run: its length in seconds (None = without end), the state it ends in, its exit code."""

    seconds: float | None
    end_state: str = "COMPLETED"
    exit_code: int = 0


@dataclass
class Job:
    """A job, or the waiting rest of an array. Times are in seconds since the epoch, 0 = not yet.

    ``held``: waits for a release. ``array_tasks``: task numbers that have no job id of their own yet.
    ``waiting_since``: from when it may start (submission, or the last requeue).
    """

    job_id: int
    name: str = ""
    partition: str = ""
    user_name: str = "researcher"
    account: str = ""
    comment: str = ""
    node_count: int = 1
    tasks: int = 1
    cpus_per_task: int = 1
    tasks_per_node: int = 0
    time_limit: int | None = None
    current_working_directory: str = "/tmp"  # noqa: S108 - the text that slurmctld shows; nothing is written
    standard_output: str = ""
    standard_error: str = ""
    standard_input: str = ""
    seconds: float | None = 1.0
    end_state: str = "COMPLETED"
    end_exit_code: int = 0
    state: str = "PENDING"
    state_reason: str = "None"
    state_description: str = ""
    held: bool = False
    submit_time: float = 0.0
    waiting_since: float = 0.0
    start_time: float = 0.0
    end_time: float = 0.0
    completing_until: float = 0.0
    exit_code: int = 0
    signal: int = 0
    nodes: list[str] = field(default_factory=list)
    cancelled_by: str = ""
    restart_cnt: int = 0
    array_job_id: int = 0
    array_task_id: int | None = None
    array_tasks: list[int] = field(default_factory=list)
    array_max_tasks: int = 0
    het_job_id: int = 0
    het_job_offset: int = 0
    het_job_id_set: str = ""

    @property
    def is_pending(self) -> bool:
        """Not started yet."""
        return self.state == "PENDING"

    @property
    def is_active(self) -> bool:
        """Holds nodes."""
        return self.state in ("RUNNING", "SUSPENDED")

    @property
    def is_finished(self) -> bool:
        """Will not change any more."""
        return not self.is_pending and not self.is_active

    @property
    def cpus(self) -> int:
        """CPUs that the job needs in all."""
        return max(self.tasks * self.cpus_per_task, self.node_count)

    @property
    def cpus_per_node(self) -> int:
        """CPUs that the job needs on each node."""
        return -(-self.cpus // max(self.node_count, 1))

    def is_completing(self, now: float) -> bool:
        """Cancelled, but its processes are not gone yet."""
        return self.is_finished and now < self.completing_until

    @property
    def runs_until(self) -> float | None:
        """When a running job ends by itself or by its time limit; None = never."""
        limit = None if self.time_limit is None else self.time_limit * 60.0
        lengths = [length for length in (self.seconds, limit) if length is not None]
        return self.start_time + min(lengths) if lengths else None

    @property
    def forecast_end(self) -> float:
        """The end that Slurm shows: the real one, else start plus time limit, else 0."""
        if self.end_time or not self.start_time:
            return self.end_time
        return self.start_time + (FORECAST_SECONDS if self.time_limit is None else self.time_limit * 60)

    def begin(self, now: float, nodes: list[str]) -> None:
        """Starts the job on these nodes."""
        self.state, self.state_reason, self.state_description = "RUNNING", "None", ""
        self.start_time, self.nodes = now, nodes

    def finish(self, now: float) -> None:
        """Ends a running job as its script would, or by its time limit."""
        timed_out = self.time_limit is not None and (self.seconds is None or self.seconds > self.time_limit * 60)
        if timed_out:
            self.end(now, "TIMEOUT", "TimeLimit", signal=SIGTERM)
        elif self.end_state == "FAILED":
            self.end(now, "FAILED", "NonZeroExitCode", exit_code=self.end_exit_code)
        else:
            self.end(now, self.end_state, "None", exit_code=self.end_exit_code)

    def end(self, now: float, state: str, reason: str | None = None, *, exit_code: int = 0, signal: int = 0) -> None:
        """Ends the job in ``state``; one that never started counts as started at its end (as slurmctld does)."""
        self.start_time = self.start_time or now
        self.end_time = now
        self.state = state
        self.state_reason = self.state_reason if reason is None else reason
        self.exit_code, self.signal = exit_code, signal


def plan_script(text: str, default_seconds: float) -> ScriptPlan:
    """What a script will do, from its ``sleep`` and ``exit`` lines and ``# emulator: seconds=N state=S exit=N``."""
    found = (match for line in _COMMENT.findall(text) for match in _OPTION.finditer(line))
    options = {name: value for match in found for name, value in [[part for part in match.groups() if part]]}
    seconds = _option_seconds(options["seconds"]) if "seconds" in options else _slept(text, default_seconds)
    exits = _EXIT.findall(text)
    exit_code = int(options.get("exit", exits[-1] if exits else "0")) & 0xFF
    state = options.get("state", "FAILED" if exit_code else "COMPLETED").upper()
    if state == "FAILED":
        exit_code = exit_code or 1
    return ScriptPlan(seconds, state, exit_code)


def parse_array(text: str) -> tuple[list[int], int]:
    """``0-5%2``, ``1,3``, ``0-10:5``: the task numbers and the limit of concurrent tasks (0 = none).

    Raises ValueError when it is no array specification.
    """
    tasks, _, limit = text.partition("%")
    numbers: set[int] = set()
    for part in tasks.split(","):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part.strip())
        if found is None:
            raise ValueError(f"no job array: {text!r}")
        low, high, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if high >= _MAX_ARRAY_SIZE or step == 0:
            raise ValueError(f"job array out of range: {text!r}")
        numbers.update(range(low, high + 1, step))
    if not numbers or (limit and not limit.isdecimal()):
        raise ValueError(f"no job array: {text!r}")
    return sorted(numbers), int(limit or 0)


def _slept(text: str, default_seconds: float) -> float | None:
    sleeps = _SLEEP.findall(text)
    if not sleeps:
        return default_seconds
    if any(forever for _, _, forever in sleeps):
        return None
    return sum(float(number) * _UNITS[unit] for number, unit, _ in sleeps)


def _option_seconds(text: str) -> float | None:
    return None if text == "inf" else float(text)
