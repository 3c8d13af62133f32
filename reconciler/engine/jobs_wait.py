"""Waiting until no job would be hurt: for those that run, and for partitions to be closed to new ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reconciler.engine.guard import RUNNING_JOBS, Affected, Queue
from reconciler.engine.settle import Pace, Say, Waits
from reconciler.errors import AuthError, BlockedError, InterruptedRun, ReconcilerError
from reconciler.plan.touched import Touched
from reconciler.spec.names import ClusterName

if TYPE_CHECKING:
    from reconciler.cloud.slurm_shapes import SlurmPartition

Partitions = Callable[[ClusterName], "Sequence[SlurmPartition]"]
_STARTS_JOBS = frozenset({"UP", "DRAIN"})  # states of a partition


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
        Raises BlockedError after the timeout, InterruptedRun when interrupted, AuthError where credentials end.
        """
        begin = self.waits.clock()
        is_refused = False
        for pause in self.pace.pauses():
            try:
                left, is_refused = self._left(name, what, held=held), False
            except AuthError as error:
                if is_refused:
                    raise  # twice in a row: our own credentials have ended, and no wait brings them back
                left, is_refused = _unknown(error), True
            if not left:
                return
            say(f"waiting for jobs: {left}")
            if self.waits.clock() - begin + pause > self.timeout:
                raise BlockedError(f"{name}: after {self.timeout:.0f} s, {left}", code=RUNNING_JOBS)
            if self.waits.sleep(pause * (0.5 + self.waits.random() / 2)):
                raise InterruptedRun(f"{name}: interrupted while waiting for jobs")

    def _left(self, name: ClusterName, what: Touched, *, held: bool) -> str:
        """What speaks against the change, in words; empty for nothing."""
        try:
            if held and (open_still := self._open(name, what)):
                return f"the controller still starts jobs in {', '.join(sorted(open_still))}"
            affected = Affected.of(self.queue(name), what)
        except ReconcilerError as error:
            if isinstance(error, AuthError) and error.code == AuthError.code:  # ours, and not Slurm's own
                raise
            return _unknown(error)
        return affected.passing.in_words()

    def _open(self, name: ClusterName, what: Touched) -> set[str]:
        there = {partition.name: partition.states for partition in self.partitions(name)}
        return {each for each in what.partitions if _STARTS_JOBS.intersection(there.get(each, ()))}


def _unknown(error: ReconcilerError) -> str:
    return f"it isn't known which jobs run there: {error.summary}"
