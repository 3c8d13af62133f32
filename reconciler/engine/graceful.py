"""A graceful change, step by step: nothing new starts, jobs end, the change is made, jobs start again.

The steps keep no memory but the cluster's own: a partition is held by `State: INACTIVE` in its config map. A run that
is killed leaves that state behind, where the next plan shows it as what it is, a difference from the file to be undone,
and the next graceful apply finds the steps that are done already. A run that gives up lets jobs start again itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from reconciler.engine.assess import Assessor
from reconciler.engine.jobs_wait import JobsWait
from reconciler.engine.observe import Answer
from reconciler.engine.settle import AGAIN
from reconciler.engine.write import Check, OperationFailed, Writer
from reconciler.errors import InputError, InterruptedRun, PendingError, ReconcilerError, StaleError
from reconciler.plan.build import API
from reconciler.plan.held import HELD, States, alike, same, states, with_states
from reconciler.plan.ignore import adopt_live
from reconciler.plan.model import Action, ClusterPlan, Request
from reconciler.plan.payload import body
from reconciler.plan.touched import PARTITIONS, Touched
from reconciler.spec.model import Desired
from reconciler.spec.reading import Typed, read_live

Refuse = Callable[[ClusterPlan], None]


class Hold:
    """The State of the partitions that a change touches: as it is before the steps, held, and as the file wants it."""

    def __init__(self, desired: Desired, what: Touched, answer: Answer) -> None:
        live = read_live(answer)
        self._desired = desired
        self._ids = what.partitions
        self._held: States = {name: {"State": HELD} for name in what.partitions}
        self._before: States = states(live, what.partitions)
        self._wanted: States = self._left_by_file(live)
        self.names = ", ".join(sorted(what.partitions))
        # By a run before this one, or by somebody's hand: what was before that isn't known.
        self.found = {name for name, entry in self._before.items() if same(entry, self._held[name])}

    def as_before(self, answer: Answer | None) -> Answer | None:
        """The cluster as if the steps hadn't touched it."""
        return answer and with_states(read_live(answer), self._before)

    def kept(self, answer: Answer) -> Desired:
        """What the file wants, but for the partitions' State, which stays as it is live."""
        return replace(self._desired, spec=with_states(self._desired.spec, states(read_live(answer), self._ids)))

    def refuse_if_lasting(self, answer: Answer) -> None:
        """Raises InputError where no later plan would show the held state, since the file leaves it to others."""
        left = self._left_by_file(with_states(read_live(answer), self._held))
        if any(same(left[name], self._held[name]) != same(self._wanted[name], self._held[name]) for name in left):
            raise InputError(
                f"{self._desired.name}: lifecycle.ignore_changes covers the partitions' State, which --graceful sets",
                hint="apply without --graceful, or narrow ignore_changes",
            )

    def closing(self, answer: Answer) -> Request | None:
        """The call after which nothing new starts; None where that is so."""
        return self._setting(answer, {name: self._held[name] for name in self._open_in(answer)})

    def opening(self, answer: Answer | None, *, changed: bool) -> Request | None:
        """The call after which jobs start again: as the file wants it once the change is made, else as it was."""
        if changed:
            return self._setting(answer, self._wanted)
        known = {name: entry for name, entry in self._before.items() if name not in self.found}
        others = self._open_in(answer or {})  # since somebody else has set them
        return self._setting(
            answer, {name: entry for name, entry in {**self._wanted, **known}.items() if name not in others}
        )

    def refuse_if_opened(self, answer: Answer | None) -> None:
        """Raises StaleError where another hand has set the State meanwhile: jobs may start, or a wish would be lost."""
        if answer and (others := self._open_in(answer)):
            said = f"{self._desired.name}: State of {', '.join(sorted(others))} was changed by another hand"
            raise StaleError(said, hint="plan again")

    def _open_in(self, answer: Answer) -> set[str]:
        there = states(read_live(answer), self._ids)
        return {name for name, entry in there.items() if not same(entry, self._held[name])}

    def _left_by_file(self, live: Typed) -> States:
        """What an apply of the file leaves the partitions with; no State where it drops them."""
        wanted = adopt_live(self._desired.spec, live, self._desired.lifecycle.ignore_changes)
        return {**{name: {} for name in self._ids}, **states(wanted, self._ids)}

    def _setting(self, answer: Answer | None, wanted: States) -> Request | None:
        live = read_live(answer or {})
        there = states(live, self._ids)
        others = {name: entry for name, entry in wanted.items() if name in there and not alike(there[name], entry)}
        if not others:
            return None
        # The service need not refresh anything of its own for this.
        query = {"updateMask": PARTITIONS.removesuffix("[]"), "updateMode": "USER_ONLY"}
        return Request("PATCH", f"{API}/{self._desired.name}", query, body(with_states(live, others), live, {}))


@dataclass(frozen=True, slots=True)
class Graceful:
    """The steps for one cluster.

    refuse_if_moved: raises StaleError for a plan that isn't the approved one; refuse: also where something speaks
    against it now. carry_out: makes a delete or a replace; it is given the plan, and what undoes the hold in an answer.
    """

    assess: Assessor
    jobs: JobsWait
    writer: Writer
    desired: Desired
    refuse_if_moved: Refuse
    refuse: Refuse
    carry_out: Callable[[ClusterPlan, Callable[[Answer | None], Answer | None]], None]

    def run(self, answer: Answer, what: Touched) -> None:
        """Go through the steps from where the cluster is; what is done already is skipped.

        Raises as `Writer.make`, `JobsWait.until_clear` and `Hold.refuse_if_lasting` do, and StaleError.
        """
        hold = Hold(self.desired, what, answer)
        hold.refuse_if_lasting(answer)
        is_changed = False
        try:
            self.writer.say(f"holding by State: {HELD}, so that no job starts: {hold.names}")
            self._make(hold, hold.closing(answer), lambda there: not (there and hold.closing(there)))
            self.jobs.until_clear(self.desired.name, what, self.writer.say, held=True)
            self._change(hold)
            is_changed = True
            self._open(hold, changed=True)
        except (ReconcilerError, OperationFailed) as error:
            error.summary += self._left(hold, error, changed=is_changed)
            if isinstance(error, InterruptedRun) and self._is_begun(hold):
                raise PendingError(error.summary, operation=self.writer.operation, hint=AGAIN) from None
            raise

    def _change(self, hold: Hold) -> None:
        answer = self.writer.idle()
        hold.refuse_if_opened(answer)
        # As it was approved, and nothing speaks against it: a job may be queued in a partition that goes.
        self.refuse(self.assess(self.desired, hold.as_before(answer)))
        plan = self.assess.compare(self.desired, answer)
        self.writer.say("no job is left that the change would hurt: making it")
        if answer is None or plan.action is not Action.UPDATE:
            self.carry_out(plan, hold.as_before)
        else:
            self._make(hold, self._held_plan(hold, answer).request, lambda there: self._is_made(hold, there))

    def _held_plan(self, hold: Hold, answer: Answer) -> ClusterPlan:
        return self.assess.compare(hold.kept(answer), answer)

    def _is_made(self, hold: Hold, answer: Answer | None) -> bool:
        return answer is not None and not self._held_plan(hold, answer).changes

    def _open(self, hold: Hold, *, changed: bool) -> bool:
        """Let jobs start again; False where they did."""
        request = hold.opening(self.writer.idle(), changed=changed)
        if request is not None:
            self.writer.say(f"ending the hold: {hold.names}")
        self._make(None, request, lambda there: hold.opening(there, changed=changed) is None)
        return request is not None

    def _make(self, hold: Hold | None, request: Request | None, is_done: Callable[[Answer | None], bool]) -> None:
        """Send it. To be sent again, the cluster must be what the approved plan was made from, but for the hold."""

        def still_wanted(answer: Answer | None) -> None:
            if hold:
                self.refuse_if_moved(self.assess.compare(self.desired, hold.as_before(answer)))

        if request is not None:
            self.writer.make(request, Check(is_done, still_wanted))

    def _is_begun(self, hold: Hold) -> bool:
        return bool(self.writer.operation or hold.found)

    def _left(self, hold: Hold, error: Exception, *, changed: bool) -> str:
        """What becomes of the partitions after a failure, in words: opened again where that can be done."""
        operation = self.writer.operation
        if isinstance(error, InterruptedRun) and not self._is_begun(hold):
            return ""  # nothing was sent
        if isinstance(error, InterruptedRun | PendingError) or changed:
            return f"; held by State: {HELD} until the same command is run again: {hold.names}"
        try:
            opened = self._open(hold, changed=False)
        except (ReconcilerError, OperationFailed) as again:
            return f"; still held by State: {HELD}: {hold.names} ({again})"
        finally:
            self.writer.operation = operation  # the one that the failure is about
        return f"; no longer held: {hold.names}" if opened else ""
