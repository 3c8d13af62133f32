"""One write to its end: sent, its operation waited for, a lost answer resolved by looking, not by blind repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from reconciler.engine import settle
from reconciler.engine.observe import Answer, Reads
from reconciler.engine.traces import Traces
from reconciler.engine.waiter import Failed, Outcome, Pending, Succeeded
from reconciler.errors import (
    AmbiguousError,
    ApiError,
    ConflictError,
    InterruptedRun,
    NotFoundError,
    PendingError,
    ReconcilerError,
    UnavailableError,
)
from reconciler.plan.model import Request
from reconciler.spec.names import ClusterName

# Pauses before the looks after a lost answer: a write that is still on its way needs time to show, and a service that
# is down needs rest.
_PACE = settle.Pace(first=2.0, factor=2.0, longest=32.0)
_RACES = 3  # how often a write is sent again that was refused because something else runs on the cluster


class Clusters(Reads, Protocol):
    """What is needed of `cloud.clusters.Clusters`."""

    def send(self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any] | None) -> Answer: ...


class OperationFailed(Exception):  # noqa: N818 - control flow: `Execution` adds what is in place, and raises OperationError
    """An operation ended with an error. `summary` is what else there is to say of it."""

    def __init__(self, operation: str, outcome: Failed) -> None:
        super().__init__(outcome.message)
        self.summary = ""
        self.operation = operation
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Check:
    """How a write whose answer was lost is judged by the cluster, once that is idle.

    `is_done` says that it took effect; `still_wanted` raises if it may not be sent again.
    """

    is_done: Callable[[Answer | None], bool]
    still_wanted: Callable[[Answer | None], None]


class Writer:
    """Sends the writes of one cluster. `operation` is the name of the last operation that was started."""

    def __init__(
        self,
        clusters: Clusters,
        wait: Callable[[str, settle.Say], Outcome],
        waits: settle.Waits,
        name: ClusterName,
        tell: Callable[[str, str], None],
        *,
        no_wait: bool,
        resume: Callable[[str], str],
        traces: Traces,
    ) -> None:
        self._clusters = clusters
        self._wait = wait
        self._waits = waits
        self._name = name
        self._tell = tell
        self._no_wait = no_wait
        self._resume = resume
        self._traces = traces
        self.operation = ""
        self._sending = ""  # the method of a write that may have had an effect, without an operation to show for it

    def say(self, message: str) -> None:
        """Progress, with the operation that is under way."""
        self._tell(message, self.operation)

    def unsure(self) -> PendingError | None:
        """What was sent and hasn't ended, as far as we know; None where nothing was sent."""
        if self._sending:
            return self._unanswered(self._sending)
        name = self.operation
        return PendingError(f"{self._name}: interrupted", operation=name, hint=self._resume(name)) if name else None

    def idle(self, since: float | None = None) -> Answer | None:
        """The cluster once it isn't busy; None where there is none. `since` is when the wait began, now if not told."""
        return settle.until_idle(self._clusters, self._name, self._waits, self.say, since=since)

    def look(self) -> Answer | None:
        """The cluster as it is now."""
        return self._clusters.get(self._name)

    def make(self, request: Request, check: Check) -> None:
        """Send, and wait to the end. After a lost answer or a race, look; send again only if nothing came of it.

        The pauses between the sends take no longer than the retry budget. Raises OperationFailed, PendingError where it
        goes on without us, InterruptedRun where nothing was sent, and what `Transport.request` raises.
        """
        spent = 0.0
        begin = self._traces.now()
        for attempt, pause in enumerate(_PACE.pauses(), start=1):
            failure: ReconcilerError
            try:
                operation = self._send(request)
            except AmbiguousError as lost:
                self.say(f"the answer was lost ({lost.summary}); looking at the cluster")
                failure = lost
            except ApiError as refused:
                if not _is_race(request, refused, attempt):
                    raise
                failure = refused
            else:
                if operation is not None:
                    self._finish(operation)
                return
            if self._came_true(request, check, pause, begin):
                return
            if (spent := spent + pause) >= self._waits.retry_budget:
                times = f"; sent {attempt} times, and nothing came of it" if attempt > 1 else "; nothing came of it"
                failure.summary += times
                raise failure

    def _came_true(self, request: Request, check: Check, pause: float, begin: datetime) -> bool:
        """Whether a write without an answer took effect, some time after it; if not, it may be sent again.

        Raises AmbiguousError where that can't be told, PendingError where it isn't settled in time.
        """
        try:
            if self._waits.sleep(pause * (0.5 + self._waits.random() / 2)):
                raise self._unanswered(request.method)
            answer = self.idle()
            if not check.is_done(answer):
                self._until_no_trace(request.method, begin)
                answer = self.idle()
        except UnavailableError as error:
            said = (
                f"{self._name}: {request.method} was sent, and it isn't known whether it took effect: {error.summary}"
            )
            raise AmbiguousError(said, hint=settle.AGAIN) from None
        if check.is_done(answer):
            return True
        check.still_wanted(answer)
        return False

    def _until_no_trace(self, method: str, begin: datetime) -> None:
        """Return once no operation runs that may be the lost write: its effect may lag behind it."""
        end = self._waits.clock() + self._waits.timeout
        for pause in _PACE.pauses():
            operation = self._traces.running(self._name, method, begin)
            if not operation:
                return
            self.say(f"{operation} still runs, which may be this {method}")
            if self._waits.clock() >= end or self._waits.sleep(pause):
                raise self._unanswered(method)

    def _send(self, request: Request) -> str | None:
        """The operation's name; None where there is nothing to wait for."""
        if self._waits.sleep(0):
            raise InterruptedRun(f"{self._name}: interrupted before anything was sent")
        self._sending = request.method
        try:
            started = self._clusters.send(request.method, request.path, request.query, request.body)
        except NotFoundError:
            if request.method != "DELETE":
                raise
            self._sending = ""
            return None
        self._sending = ""
        self.operation = str(started["name"])
        self._traces.taken.add(self.operation)
        self.say("")  # the name is out before the first poll
        return self.operation

    def _unanswered(self, method: str) -> PendingError:
        said = f"{self._name}: not waited for any longer, and it isn't known whether {method} took effect"
        return PendingError(said, operation=self.operation, hint=settle.AGAIN)

    def _finish(self, operation: str) -> None:
        resume = self._resume(operation)
        begin = self._waits.clock()
        if self._no_wait:
            raise PendingError(f"{self._name}: not waited for", operation=operation, hint=resume)
        match self._wait(operation, self.say):
            case Failed() as failed:
                raise OperationFailed(operation, failed)
            case Pending(reason=reason):
                raise PendingError(f"{self._name}: {reason}", operation=operation, hint=resume)
            case Succeeded():
                return
            case _:  # vanished: its end can only be told from the cluster
                self.idle(begin)


def _is_race(request: Request, refused: ApiError, attempt: int) -> bool:
    """Whether a refusal only says that something else runs on the cluster, our own lost write included."""
    if refused.reason == "FAILED_PRECONDITION":
        return attempt < _RACES
    return request.method == "POST" and isinstance(refused, ConflictError) and attempt > 1
