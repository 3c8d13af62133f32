"""One cluster's change, from the last look before the write to the proof after it.

look again -> refuse what is stale -> let jobs end -> write -> wait for the operation -> look -> nothing is left
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reconciler.engine import settle
from reconciler.engine.approval import difference, is_same
from reconciler.engine.assess import Assessor
from reconciler.engine.graceful import Graceful
from reconciler.engine.jobs_wait import JobsWait
from reconciler.engine.observe import Answer
from reconciler.engine.smoke import Smoke
from reconciler.engine.traces import Traces
from reconciler.engine.waiter import Failed, Outcome
from reconciler.engine.write import Check, Clusters, OperationFailed, Writer
from reconciler.errors import (
    ApiError,
    AuthError,
    BlockedError,
    NotConvergedError,
    OperationError,
    PendingError,
    ReconcilerError,
    StaleError,
    UnavailableError,
)
from reconciler.plan.build import API
from reconciler.plan.model import Action, ClusterPlan, Request
from reconciler.plan.policy import RECENT_JOBS, RUNNING_JOBS
from reconciler.plan.schedule import opens
from reconciler.plan.status import live_status
from reconciler.plan.touched import Touched, is_disruptive, touched
from reconciler.spec.model import Desired
from reconciler.spec.reading import read_live


@dataclass(frozen=True, slots=True)
class Tools:
    """What executing needs of the world. `wait(operation, say)` waits for an operation, within the run's timeout;
    `resume(operation)` is the command that goes on waiting.
    """

    clusters: Clusters
    wait: Callable[[str, settle.Say], Outcome]
    waits: settle.Waits
    assess: Assessor
    jobs: JobsWait
    now: Callable[[], datetime]
    traces: Traces
    no_wait: bool = False
    graceful: bool = False
    smoke: Smoke | None = None
    resume: Callable[[str], str] = "reconciler operations wait {}".format


class Execution:
    """The change of one cluster under way."""

    def __init__(self, tools: Tools, desired: Desired, approved: ClusterPlan, tell: Callable[[str, str], None]) -> None:
        self._tools = tools
        self._desired = desired
        self._approved = approved
        self._name = desired.name
        self._writer = Writer(
            tools.clusters,
            tools.wait,
            tools.waits,
            desired.name,
            tell,
            no_wait=tools.no_wait,
            resume=tools.resume,
            traces=tools.traces,
        )

    @property
    def operation(self) -> str:
        """The name of the last operation that was started, or empty."""
        return self._writer.operation

    def unsure(self) -> PendingError | None:
        """For whoever leaves now: what is under way, with the way back; None where nothing was sent."""
        return self._writer.unsure()

    def say(self, message: str) -> None:
        """Progress, for people."""
        self._writer.say(message)

    def look(self) -> Answer | None:
        """The cluster as it is now; raises as `get` does."""
        return self._writer.look()

    def run(self) -> Answer | None:
        """Make the change and prove it; the cluster as it is then.

        Raises a ReconcilerError for every other end; PendingError where the service goes on without us.
        """
        try:
            fresh, answer = self._as_approved()
            what = touched(fresh.action, fresh.changes, read_live(answer)) if answer else Touched()
            if answer and self._tools.graceful and what and is_disruptive(fresh.action, fresh.changes):
                self._graceful().run(answer, what)
            else:
                while self._must_wait(fresh):
                    self._tools.jobs.until_clear(self._name, what, self._writer.say)
                    fresh, answer = self._as_approved()
                self._carry_out(fresh)
        except OperationFailed as failed:
            said = self._failure(failed.outcome) + failed.summary
            raise OperationError(said, operation=failed.operation, code=failed.outcome.code.lower()) from None
        return self._verify()

    def _graceful(self) -> Graceful:
        tools = self._tools
        checks = self._refuse_if_moved, self._refuse
        return Graceful(tools.assess, tools.jobs, self._writer, self._desired, *checks, self._carry_out)

    def _must_wait(self, fresh: ClusterPlan) -> bool:
        """Whether jobs speak against it that time takes away. They may have started since the last look."""
        waits = self._desired.lifecycle.running_jobs == "wait"
        return waits and any(note.code in (RUNNING_JOBS, RECENT_JOBS) for note in fresh.notes)

    def _as_approved(self) -> tuple[ClusterPlan, Answer | None]:
        """The plan as it would be made now. Raises if it isn't the approved one, or if something speaks against it."""
        answer = self._writer.idle()
        fresh = self._tools.assess(self._desired, answer)
        self._refuse(fresh)
        return fresh, answer

    def _refuse(self, fresh: ClusterPlan) -> None:
        self._refuse_if_moved(fresh)
        if fresh.blockers:
            said = "; ".join(blocker.message for blocker in fresh.blockers)
            raise BlockedError(f"{self._name}: {said}", code=fresh.blockers[0].code)
        window = self._desired.lifecycle.maintenance_window
        if window and is_disruptive(fresh.action, fresh.changes) and opens(window, now := self._tools.now()) > now:
            raise BlockedError(f"{self._name}: the maintenance window has closed meanwhile", code="maintenance_window")

    def _refuse_if_moved(self, fresh: ClusterPlan) -> None:
        if not is_same(self._approved, fresh):
            raise StaleError(f"{self._name}: {difference(self._approved, fresh)}", hint="plan again, and review it")

    def _carry_out(self, fresh: ClusterPlan, seen: Callable[[Answer | None], Answer | None] = lambda a: a) -> None:
        """Make the change. `seen` gives an answer the form that the approved plan was made from."""
        if fresh.action is Action.REPLACE:
            self._writer.make(Request("DELETE", f"{API}/{self._name}", {}, None), self._check(_is_gone, seen))
        if fresh.request is None:
            return
        try:
            self._writer.make(fresh.request, self._check(self._is_done, seen))
        except ApiError as refused:
            if fresh.action is not Action.REPLACE:
                raise
            said = f"{self._name}: it is deleted, and making it anew was refused: {refused.summary}"
            raise ReconcilerError(said, code=refused.code, hint="mend the cause and apply again") from None

    def _plan(self, answer: Answer | None) -> ClusterPlan:
        return self._tools.assess.compare(self._desired, answer)

    def _check(self, is_done: Callable[[Answer | None], bool], seen: Callable[[Answer | None], Answer | None]) -> Check:
        return Check(is_done, lambda answer: self._still_wanted(seen(answer)))

    def _still_wanted(self, answer: Answer | None) -> None:
        """Before a write is repeated: the cluster must still be what the approved plan was made from."""
        fresh = self._plan(answer)
        if self._approved.action in (Action.CREATE, Action.REPLACE) and answer is not None:
            if not is_same(self._approved, fresh):  # a cluster came of it, ours or another's, and it isn't as wanted
                raise self._not_converged(fresh)
        elif answer is not None:
            self._refuse_if_moved(fresh)

    def _is_done(self, answer: Answer | None) -> bool:
        """Whether nothing is left to do."""
        if self._approved.action is Action.DELETE:
            return _is_gone(answer)
        fresh = self._plan(answer)
        return fresh.action is Action.NO_OP and not fresh.blockers

    def _verify(self) -> Answer | None:
        """A fresh GET must leave nothing to change. Reads may lag behind a write, so it is asked a few times."""
        for pause in (0.5, 1.0, 2.0, 0.0):
            try:
                answer = self._writer.idle()
            except (AuthError, UnavailableError) as error:  # it was made, so it hasn't failed
                raise self._not_proven(error.summary) from error
            if self._is_done(answer):
                return answer
            if self._tools.waits.sleep(pause):
                raise self._not_proven("interrupted")
        raise self._not_converged(self._plan(answer))

    def _not_proven(self, why: str) -> PendingError:
        said = f"{self._name}: the change was made, and not looked at again: {why}"
        return PendingError(said, operation=self.operation, hint=settle.AGAIN)

    def _not_converged(self, fresh: ClusterPlan) -> NotConvergedError:
        said = "; ".join(blocker.message for blocker in fresh.blockers) or f"{fresh.action} is still to do"
        if fresh.changes:
            where = ", ".join(sorted({change.mask or change.path for change in fresh.changes}))
            values = "; ".join(f"{c.path} is {_short(c.before)}, not {_short(c.after)}" for c in fresh.changes[:3])
            said = f"{where} ({values})"
        message = f"{self._name}: accepted but not applied: {said}"
        return NotConvergedError(message, hint="plan again to see what differs")

    def _failure(self, failed: Failed) -> str:
        """An operation's error, with what is in place in spite of it."""
        said = f"{self._name}: the operation failed: {failed.code}: {failed.message}"
        try:
            answer = self._writer.look()
        except ReconcilerError as error:
            return f"{said}; what is in place isn't known: {error.summary}"
        if answer is None:
            return f"{said}; the cluster doesn't exist"
        left = [change.path for change in self._plan(answer).changes]
        done = [change.path for change in self._approved.changes if change.path not in left]
        status = live_status(read_live(answer))
        parts = [said, f"the cluster is {status.state}" + (f": {status.error}" if status.error else "")]
        parts += [f"in place: {', '.join(done)}"] if done else []
        parts += [f"not in place: {', '.join(left)}"] if left else []
        return "; ".join(parts)


def _is_gone(answer: Answer | None) -> bool:
    return answer is None


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
