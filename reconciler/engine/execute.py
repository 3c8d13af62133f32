"""One cluster's change, from the last look before the write to the proof after it.

    look again -> refuse what is stale -> write -> wait for the operation -> look again -> nothing left to change

A write whose answer was lost is never repeated blindly: the cluster is looked at first (contract section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from reconciler.engine import settle
from reconciler.engine.approval import difference, is_same
from reconciler.engine.observe import Answer, Reads
from reconciler.engine.waiter import Failed, Outcome, Pending, Succeeded
from reconciler.errors import (
    AmbiguousError,
    ApiError,
    ConflictError,
    InterruptedRun,
    NotFoundError,
    OperationError,
    PendingError,
    ReconcilerError,
)
from reconciler.plan.build import API, plan_cluster
from reconciler.plan.model import Action, ClusterPlan, Request
from reconciler.plan.status import live_status
from reconciler.spec.model import Desired
from reconciler.spec.reading import read_live

SENDS = 3  # how often a write may be sent when looking shows that the one before had no effect


class Clusters(Reads, Protocol):
    """What is needed of `cloud.clusters.Clusters`."""

    def send(
        self, method: str, path: str, query: Mapping[str, str] | None, body: Mapping[str, Any] | None
    ) -> Answer: ...


class StaleError(ReconcilerError):
    """What would be done now isn't what was approved."""

    code = "stale"


class NotConvergedError(ReconcilerError):
    """The service accepted the change, finished, and a fresh GET still differs."""

    code = "not_converged"


@dataclass(frozen=True, slots=True)
class Tools:
    """What executing needs of the world. `wait(operation, say)` waits for an operation, within the run's timeout."""

    clusters: Clusters
    wait: Callable[[str, settle.Say], Outcome]
    waits: settle.Waits
    update_mode: str
    no_wait: bool = False


class Execution:
    """The change of one cluster under way. `operation` is the name of the last operation that was started."""

    def __init__(self, tools: Tools, desired: Desired, approved: ClusterPlan, say: Callable[[str, str], None]) -> None:
        self._tools = tools
        self._desired = desired
        self._approved = approved
        self._name = desired.name
        self._tell = say
        self.operation = ""

    def run(self) -> None:
        """Make the change and prove it. Raises a ReconcilerError for every other end; PendingError where it goes on."""
        fresh = self._look()
        if not is_same(self._approved, fresh):
            raise StaleError(f"{self._name}: {difference(self._approved, fresh)}", hint="plan again, and review it")
        request = fresh.request
        if fresh.action is Action.REPLACE:
            self._change(Request("DELETE", f"{API}/{self._name}", {}, None), self._is_gone)
        if request is not None:
            self._change(request, self._is_gone if fresh.action is Action.DELETE else self._is_converged)
        self._verify(fresh)

    def _say(self, message: str) -> None:
        self._tell(message, self.operation)

    def _look(self) -> ClusterPlan:
        """The plan for the cluster as it is now, once it isn't busy."""
        answer = settle.until_idle(self._tools.clusters, self._name, self._tools.waits, self._say)
        return self._plan(answer)

    def _plan(self, answer: Answer | None) -> ClusterPlan:
        return plan_cluster(self._desired, answer, update_mode=self._tools.update_mode)

    def _change(self, request: Request, is_done: Callable[[Answer | None], bool]) -> None:
        """Send, and wait to the end. After a lost answer or a race, look; send again only if nothing came of it."""
        for attempt in range(1, SENDS + 1):
            try:
                operation = self._send(request)
            except AmbiguousError as lost:
                self._say(f"the answer was lost ({lost.summary}); looking at the cluster")
            except ApiError as refused:
                if not self._is_race(request, refused, attempt):
                    raise
            else:
                if operation is None:
                    return
                self._finish(operation)
                return
            answer = settle.until_idle(self._tools.clusters, self._name, self._tools.waits, self._say)
            if is_done(answer):
                return
            self._refuse_if_moved(request, answer)
        raise AmbiguousError(
            f"{self._name}: {request.method} was sent {SENDS} times without an answer", hint="run again"
        )

    def _send(self, request: Request) -> str | None:
        """The operation's name; None where there is nothing to wait for."""
        if self._tools.waits.sleep(0):
            raise InterruptedRun(f"{self._name}: interrupted before anything was sent")
        try:
            started = self._tools.clusters.send(request.method, request.path, request.query, request.body)
        except NotFoundError:
            if request.method == "DELETE":
                return None
            raise
        self.operation = str(started["name"])
        self._say("")
        return self.operation

    def _is_race(self, request: Request, refused: ApiError, attempt: int) -> bool:
        """Whether a refusal only says that something else runs on the cluster, our own lost write included."""
        if refused.reason == "FAILED_PRECONDITION":
            return attempt < SENDS
        return request.method == "POST" and isinstance(refused, ConflictError) and attempt > 1

    def _refuse_if_moved(self, request: Request, answer: Answer | None) -> None:
        """Before a write is repeated: the cluster must still be what the approved plan was made from."""
        if answer is None:
            return
        fresh = self._plan(answer)
        if request.method == "POST":  # there is a cluster now, ours or another's, and it isn't as wanted
            raise NotConvergedError(self._what_is_left(fresh), hint="plan again to see what differs")
        if not is_same(self._approved, fresh):
            raise StaleError(f"{self._name}: {difference(self._approved, fresh)}", hint="plan again, and review it")

    def _finish(self, operation: str) -> None:
        if self._tools.no_wait:
            raise PendingError(
                f"{self._name}: not waited for", operation=operation, hint=f"reconciler operations wait {operation}"
            )
        match self._tools.wait(operation, self._say):
            case Failed() as failed:
                raise OperationError(self._failure(failed), operation=operation, code=failed.code.lower())
            case Pending(reason=reason):
                raise PendingError(
                    f"{self._name}: {reason}", operation=operation, hint=f"reconciler operations wait {operation}"
                )
            case Succeeded():
                return
            case _:  # vanished: its end can only be told from the cluster
                settle.until_idle(self._tools.clusters, self._name, self._tools.waits, self._say)

    def _failure(self, failed: Failed) -> str:
        """An operation's error, with what is in place in spite of it."""
        said = f"{self._name}: the operation failed: {failed.code}: {failed.message}"
        try:
            answer = self._tools.clusters.get(self._name)
        except ReconcilerError as error:
            return f"{said}; what is in place isn't known: {error.summary}"
        if answer is None:
            return f"{said}; the cluster doesn't exist"
        fresh = self._plan(answer)
        left = [change.path for change in fresh.changes]
        done = [change.path for change in self._approved.changes if change.path not in left]
        status = live_status(read_live(answer))
        parts = [said, f"the cluster is {status.state}" + (f": {status.error}" if status.error else "")]
        parts += [f"in place: {', '.join(done)}"] if done else []
        parts += [f"not in place: {', '.join(left)}"] if left else []
        return "; ".join(parts)

    def _is_gone(self, answer: Answer | None) -> bool:
        return answer is None

    def _is_converged(self, answer: Answer | None) -> bool:
        fresh = self._plan(answer)
        return fresh.action is Action.NO_OP and not fresh.blockers

    def _verify(self, done: ClusterPlan) -> None:
        """A fresh GET must leave nothing to change. Reads may lag behind a write, so it is asked a few times."""
        for pause in (0.5, 1.0, 2.0, None):
            answer = settle.until_idle(self._tools.clusters, self._name, self._tools.waits, self._say)
            if self._is_gone(answer) if done.action is Action.DELETE else self._is_converged(answer):
                return
            if pause is None or self._tools.waits.sleep(pause):
                break
        raise NotConvergedError(self._what_is_left(self._plan(answer)), hint="plan again to see what differs")

    def _what_is_left(self, fresh: ClusterPlan) -> str:
        if fresh.changes:
            where = sorted({change.mask or change.path for change in fresh.changes})
            values = "; ".join(f"{c.path} is {_short(c.before)}, not {_short(c.after)}" for c in fresh.changes[:3])
            return f"{self._name}: accepted but not applied: {', '.join(where)} ({values})"
        said = "; ".join(blocker.message for blocker in fresh.blockers)
        return f"{self._name}: accepted but not applied: {said or f'{fresh.action} is still to do'}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
