"""Waiting until no job would be hurt: for those that run, and for partitions to be closed to new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.engine.guard import Affected, Queue
from reconciler.engine.settle import Pace, Say, Waits
from reconciler.errors import (
    AuthError,
    BlockedError,
    InterruptedRun,
    NotFoundError,
    PermissionDeniedError,
    ReconcilerError,
)
from reconciler.plan.policy import JOBS_UNKNOWN, RECENT_JOBS, RUNNING_JOBS
from reconciler.plan.touched import Touched
from reconciler.spec.names import ClusterName

if TYPE_CHECKING:
    from reconciler.cloud.slurm_shapes import SlurmPartition

Partitions = Callable[[ClusterName], "Sequence[SlurmPartition]"]
_CLOSED = frozenset({"INACTIVE", "DOWN"})  # states of a partition that starts no job
_LASTING = (AuthError, NotFoundError, PermissionDeniedError)  # no wait mends them


@dataclass(frozen=True, slots=True)
class _Left:
    """What speaks against the change: a blocker's code, and words."""

    code: str
    said: str


@dataclass(frozen=True, slots=True)
class JobsWait:
    """Waiting for jobs to end. `timeout` in seconds is `--jobs-timeout`."""

    queue: Queue
    partitions: Partitions
    waits: Waits
    timeout: float
    pace: Pace = field(default=Pace(first=2.0, longest=60.0))  # frozen

    def until_clear(self, name: ClusterName, what: Touched, say: Say, *, held: bool = False) -> None:
        """Return when no job speaks against the change. A Slurm that doesn't answer is asked again.

        `held`: the partitions were closed a moment ago. That reaches the controller some seconds later (S2: within its
        15-second sync), and what starts until then would be hurt, so it must show them closed first.

        Jobs that are queued in partitions that go aren't waited for: the next look at the plan judges them.
        Raises BlockedError after the timeout, and where a permission or the cluster itself is denied twice in a row;
        AuthError where our credentials are; InterruptedRun when interrupted.
        """
        end = self.waits.clock() + self.timeout
        is_refused = False
        for pause in self.pace.pauses():
            try:
                left, is_refused = self._left(name, what, held=held), False
            except _LASTING as error:
                left = _unknown(error)
                if is_refused and isinstance(error, AuthError):
                    raise
                if is_refused:
                    raise BlockedError(f"{name}: {left.said}", code=left.code, hint=error.hint) from None
                is_refused = True
            if left is None:
                return
            say(f"waiting for jobs: {left.said}")
            if (rest := end - self.waits.clock()) <= 0:
                raise BlockedError(f"{name}: after {self.timeout:.0f} s, {left.said}", code=left.code)
            if self.waits.sleep(min(pause * (0.5 + self.waits.random() / 2), rest)):
                raise InterruptedRun(f"{name}: interrupted while waiting for jobs")

    def _left(self, name: ClusterName, what: Touched, *, held: bool) -> _Left | None:
        """What speaks against the change; None for nothing."""
        try:
            if held and (open_still := self._open(name, what)):
                named = ", ".join(sorted(open_still))
                return _Left(RUNNING_JOBS, f"the controller doesn't show yet that it starts no more jobs in {named}")
            affected = Affected.of(self.queue(name), what).passing
        except ReconcilerError as error:
            if isinstance(error, _LASTING) and not _is_slurms_own(error):
                raise
            return _unknown(error)
        said = affected.in_words()
        return _Left(RUNNING_JOBS if affected.hurt else RECENT_JOBS, said) if said else None

    def _open(self, name: ClusterName, what: Touched) -> set[str]:
        """The partitions that aren't shown as closed; one that isn't shown at all may be anything."""
        there = {partition.name: partition.states for partition in self.partitions(name)}
        return {each for each in what.partitions if not _CLOSED.intersection(there.get(each, ()))}


def _is_slurms_own(error: ReconcilerError) -> bool:
    """Whether Slurm doesn't accept us, and not the service: its authentication may come back."""
    return isinstance(error, AuthError) and error.code != AuthError.code


def _unknown(error: ReconcilerError) -> _Left:
    return _Left(JOBS_UNKNOWN, f"it isn't known which jobs run there: {error.summary}")
