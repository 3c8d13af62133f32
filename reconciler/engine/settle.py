"""Waiting for a cluster to be idle by looking at its state: what is done where no operation is known.

That is so when a cluster was busy before we came, when the answer to a write was lost, and when an operation vanished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reconciler.engine.observe import Answer, Reads
from reconciler.engine.threads import within
from reconciler.errors import AuthError, PendingError, UnavailableError
from reconciler.plan.status import LiveStatus, live_status
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

Say = Callable[[str], None]
AGAIN = "run the same command again"
_LAST_LOOK = 1.0  # seconds that a look at the end may take


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


def until_idle(reads: Reads, name: ClusterName, waits: Waits, say: Say, *, since: float | None = None) -> Answer | None:
    """The cluster's answer once it is in no busy state; None when it is gone.

    The timeout counts `since` that reading of the clock, or from now on. Raises PendingError at the timeout, when
    interrupted, and where the cluster was busy and can't be looked at any more: then the service goes on. Else what
    `get` raises.
    """
    begin = waits.clock() if since is None else since
    state, trouble = "", ""
    for pause in waits.pace.pauses():
        try:
            answer = _look(reads, name, waits, begin) if state else reads.get(name)
        except AuthError as error:
            if not state:
                raise
            raise pending(name, f"{state}, and not seen since: {error.summary}") from error
        except (UnavailableError, TimeoutError) as error:
            if not state:
                raise
            trouble = f", and there is no answer any more{f': {error}' if str(error) else ''}"
        else:
            if answer is None:
                return None
            status = live_status(read_live(answer))
            if not status.is_busy:
                return answer
            state, trouble = status.state, ""
            say(in_words(status))
        passed = waits.clock() - begin
        if (left := waits.timeout - passed) <= 0:
            raise pending(name, f"still {state} after {passed:.0f} s{trouble}")
        if waits.sleep(min(left, pause * (0.5 + waits.random() / 2))):
            raise pending(name, f"{state} when interrupted")
    raise AssertionError("the pauses never end")


def in_words(status: LiveStatus) -> str:
    """A busy cluster's state, and what the service says of it."""
    return f"{status.state}{': ' + status.detail if status.detail else ''}"


def pending(name: ClusterName, why: str) -> PendingError:
    """For a cluster that was busy when it was last seen."""
    return PendingError(f"{name}: {why}; the service goes on", operation="", hint=AGAIN)


def _look(reads: Reads, name: ClusterName, waits: Waits, begin: float) -> Answer | None:
    """The cluster, if it answers before the wait is over."""
    left = begin + waits.timeout - waits.clock()
    return within(max(_LAST_LOOK, left), lambda: reads.get(name))
