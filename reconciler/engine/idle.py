"""Waiting for many clusters to be idle, together: what is done for clusters that were busy before we came.

They are polled as operations are: a location's by its list where there are several, by GET where the list doesn't show
one, at one pace, in a few threads. See `settle` for a single cluster in the midst of its own change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass

from reconciler.cloud.clusters import is_same
from reconciler.cloud.operations import Running
from reconciler.cloud.pace import Pace
from reconciler.cloud.transport import Limits
from reconciler.engine import settle
from reconciler.engine.observe import Answer, Reads
from reconciler.engine.polling import Pending, PollPolicy
from reconciler.engine.waiter import Waiting
from reconciler.errors import PendingError
from reconciler.plan.status import live_status
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live
from reconciler.spec.shape import misshapen

_POLICY = PollPolicy(first=1.0, heartbeat=300.0)
Then = Callable[[Answer | None], object]
Failed = Callable[[PendingError], object]


@dataclass(frozen=True, slots=True)
class Idle:
    """A cluster in no busy state; no answer where there is none any more."""

    answer: Answer | None


class IdleWaiter(Waiting[Idle]):
    """Waits for clusters. `waits` has the timeout of each wait, from its start; `pace` may be shared with others."""

    def __init__(self, reads: Reads, waits: settle.Waits, *, pace: Pace | None = None) -> None:
        super().__init__(
            lambda parent: _OfLocation(reads, parent),
            timeout=waits.timeout,
            policy=_POLICY,
            pace=pace,
            sleep=waits.sleep,
            clock=waits.clock,
            random=waits.random,
        )

    def submit(self, name: ClusterName, state: str, say: settle.Say, then: Then, failed: Failed) -> None:
        """Call `then` with the cluster once it is idle, or `failed`; in a thread of the waiter.

        `state` is the one that it was seen in.
        """

        def end(future: Future[Idle | Pending]) -> None:
            match future.result():
                case Idle(answer):
                    then(answer)
                case Pending(reason):
                    failed(settle.pending(name, reason))

        self.begin(name.parent, str(name), say, state).add_done_callback(end)


class _OfLocation:
    """The clusters of a project and location."""

    def __init__(self, reads: Reads, parent: str) -> None:
        self._reads = reads
        self._parent = parent

    def look(self, name: str, _limits: Limits) -> Running | Idle:
        wanted = ClusterName.parse(name)
        assert wanted is not None  # noqa: S101 - `submit` made it of a ClusterName
        return _judge(self._reads.get(wanted))

    def pages(self, _limits: Limits) -> Iterator[Iterable[tuple[str, Running | Idle]]]:
        """The list as a whole, whose pages `Reads` fetches."""
        _, project, _, location = self._parent.split("/")
        yield self._listed(project, location)

    def too_late(self, seconds: float, seen: str, message: str) -> str:
        still = f"still {seen} after {seconds:.0f} s"
        return still if message == seen else f"{still}, {message}"

    def _listed(self, project: str, location: str) -> Iterator[tuple[str, Running | Idle]]:
        for answer in self._reads.list(project, location):
            shown = ClusterName.parse(str(answer.get("name", "")))
            name = ClusterName(project, location, shown.cluster_id) if shown else None
            if shown and name and is_same(name, shown) and not misshapen(answer):
                yield str(name), _judge(answer)


def _judge(answer: Answer | None) -> Running | Idle:
    if answer is None:
        return Idle(None)
    status = live_status(read_live(answer))
    return Running(settle.in_words(status)) if status.is_busy else Idle(answer)
