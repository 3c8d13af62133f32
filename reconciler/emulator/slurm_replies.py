"""What both generations of slurmrestd answers have in common: the reply, Slurm's own errors, a submission."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_scheduler import CancelResult, Scheduler
from reconciler.emulator.slurm_view import Partition

Reply = tuple[int, str]


class SlurmUnavailable(Exception):  # noqa: N818 - named after the API error UNAVAILABLE that it becomes
    """slurmrestd, or the controller behind it, could not be reached."""


@dataclass(frozen=True)
class Problem:
    """An error of Slurm's own, by its errno."""

    number: int
    text: str


INVALID_PARTITION = Problem(2000, "Invalid partition name specified")
ACCESS_DENIED = Problem(2002, "Access/permission denied")
NO_SCRIPT = Problem(2009, "Job script not specified")
INVALID_USER = Problem(2010, "Invalid user id")
CONFIG_UNAVAILABLE = Problem(2015, "Requested partition configuration not available now")
INVALID_JOB_ID = Problem(2017, "Invalid job id specified")
NO_ENVIRONMENT = Problem(2019, "I/O error writing script/environment to file")
ALREADY_DONE = Problem(2021, "Job/step already completing or completed")
JOB_HELD = Problem(2042, "Job is in held state, pending scheduler release")
NO_WORK_DIR = Problem(2063, "Job cannot be submitted without the current working directory specified.")
NODES_UNAVAILABLE = Problem(2068, "Required node not available (down, drained or reserved)")
PARTITION_UNAVAILABLE = Problem(2070, "Required partition not available (inactive or drain)")
INVALID_ARRAY = Problem(2081, "Invalid job array specification")


@dataclass(frozen=True)
class Submission:
    """What a submit body asks for: one description for each component (more than one: a heterogeneous job).

    A description holds `Job` fields, and ``partition``, ``array``, ``hold`` where given. ``warnings`` are answered
    along with the job id.
    """

    components: Sequence[Mapping[str, Any]]
    script: str
    warnings: Sequence[Mapping[str, str]] = field(default=())


class Dialect(Protocol):
    """How one API version reads submit bodies and writes answers."""

    def read_submission(self, body: object) -> Submission | Reply:
        """The submission, or the reply that refuses the body."""

    def submitted(self, job: Job, caveat: Problem | None, submission: Submission) -> Reply:
        """The job was made; ``caveat``: it will not start as things are."""

    def refused(self, problem: Problem) -> Reply:
        """No job was made."""

    def jobs(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        """Live jobs."""

    def unknown_job(self, job_id: str) -> Reply:
        """The answer to GET of a job that is not in the live queue, or whose id is none."""

    def cancelled(self, job_id: str, result: CancelResult | None) -> Reply:
        """The answer to DELETE; None: there is no such job."""

    def history(self, jobs: Sequence[Job], scheduler: Scheduler) -> Reply:
        """Jobs as slurmdb has them."""

    def partitions(self, partitions: Sequence[Partition], scheduler: Scheduler) -> Reply:
        """Partitions."""

    def unknown_partition(self, name: str) -> Reply:
        """There is no such partition."""

    def nodes(self, scheduler: Scheduler) -> Reply:
        """All nodes."""

    def ping(self) -> Reply:
        """The controller is up."""

    def wrong_method(self) -> Reply:
        """The path exists, but not with this method."""


def json_reply(status: int, body: Mapping[str, Any]) -> Reply:
    """A JSON answer, indented as slurmrestd does."""
    return status, json.dumps(body, indent=2)


def words(text: str) -> list[str]:
    """The words of a text: long lists of field names read best as one."""
    return text.split()


def to_int32(value: object) -> int:
    """A JSON number or numeric text as Slurm's 32-bit integer, negative ones as 0. Raises ValueError."""
    try:
        number = int(value) if isinstance(value, (int, float, str)) else None
    except OverflowError:
        number = None
    if number is None or number >= 2**32:
        raise ValueError(f"no 32-bit integer: {value!r}")
    return max(number, 0)


def user_id(name: str) -> int:
    """A uid for an account that exists nowhere; the same name always gets the same."""
    return 1000 + zlib.crc32(name.encode()) % 60000


def tres(cpus: int, memory_mb: int | None, nodes: int | None) -> str:
    """Trackable resources as Slurm writes them; None leaves a part out."""
    parts = [f"cpu={cpus}"]
    parts += [] if memory_mb is None else [f"mem={memory_mb}M"]
    parts += [] if nodes is None else [f"node={nodes}"]
    return ",".join([*parts, f"billing={cpus}"])
