"""Waiting for a cluster to be idle by looking at its state: what is done where no operation is known.

That is so when a cluster was busy before we came, when the answer to a write was lost, and when an operation vanished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconciler.engine.observe import Answer, Reads
from reconciler.errors import AuthError, PendingError
from reconciler.plan.status import live_status
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """How often to look: seconds of the first pause, the factor it grows by, and the longest pause."""

    first: float = 1.0
    factor: float = 1.5
    longest: float = 30.0

    def pauses(self) -> Iterator[float]:
        pause = self.first
        while True:
            yield pause
            pause = min(pause * self.factor, self.longest)


@dataclass(frozen=True, slots=True)
class Waits:
    """Everything that a wait needs of the world. `sleep` returns True when the run was interrupted meanwhile.

    `timeout` is for waits on the service, `retry_budget` for repeating a write; both in seconds.
    """

    sleep: Callable[[float], bool]
    clock: Callable[[], float]
    random: Callable[[], float]
    timeout: float
    pace: Pace = Pace()
    retry_budget: float = 120.0


def until_idle(reads: Reads, name: ClusterName, waits: Waits, say: Say) -> Answer | None:
    """The cluster's answer once it is in no busy state; None when it is gone.

    Raises PendingError at the timeout, when interrupted, and where credentials end in mid-wait; else what `get` raises.
    """
    begin = waits.clock()
    state = ""
    for pause in waits.pace.pauses():
        try:
            answer = reads.get(name)
        except AuthError as error:
            if not state:
                raise
            raise _pending(name, state, error.summary) from error
        if answer is None:
            return None
        status = live_status(read_live(answer))
        if not status.is_busy:
            return answer
        state = status.state
        say(f"{state}{': ' + status.detail if status.detail else ''}")
        if waits.clock() - begin + pause > waits.timeout:
            raise _pending(name, state, f"still {state} after {waits.timeout:.0f} s")
        if waits.sleep(pause * (0.5 + waits.random() / 2)):
            raise _pending(name, state, "interrupted")
    raise AssertionError("the pauses never end")


def _pending(name: ClusterName, state: str, why: str) -> PendingError:
    return PendingError(
        f"{name}: {why}; the service goes on ({state})", operation="", hint="run the same command again"
    )
