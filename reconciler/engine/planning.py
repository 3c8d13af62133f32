"""A plan in the making, whose parts are there when they are: a cluster that hangs or is busy holds up no other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from reconciler import __version__
from reconciler.engine.assess import Assessor
from reconciler.engine.observe import Answer, Reads, observe
from reconciler.engine.threads import Crew
from reconciler.errors import PendingError, ReconcilerError
from reconciler.plan.model import Action, ClusterPlan, Note, Plan, PlanError, summarise
from reconciler.plan.policy import ERROR_STATE, JOBS_UNKNOWN
from reconciler.plan.status import live_status
from reconciler.plan.touched import is_disruptive
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

# Waits for a cluster that was seen in a busy state, and calls the one with what it is then, or the other.
UntilIdle = Callable[[ClusterName, str, Callable[[Answer | None], object], Callable[[PendingError], object]], object]
GONE_MEANWHILE = "gone_meanwhile"
_GATHERING = 0.2  # seconds to wait for more, so that parts aren't told one cluster at a time


def assemble(plans: Iterable[ClusterPlan], errors: Iterable[PlanError], *, created_at: str) -> Plan:
    """A plan of these clusters, in the order of their names whatever the order of the answers was."""
    ordered = tuple(sorted(plans, key=lambda plan: plan.cluster))
    return Plan(
        tool_version=__version__,
        created_at=created_at,
        clusters=ordered,
        errors=tuple(sorted(errors, key=lambda error: (error.cluster, error.source, error.message))),
        summary=summarise(ordered),
    )


def unreadable(name: object, error: Exception) -> ReconcilerError:
    """For an answer of a shape that nobody foresaw: it must not take the other clusters down with it."""
    said = f"{name}: the answer holds values of types that can't be compared ({type(error).__name__}: {error})"
    return ReconcilerError(said, code="unreadable_answer", hint="look at it with 'reconciler get'")


def stamp(moment: datetime) -> str:
    """A time for people and plan files: UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Planning:
    """The plan of some clusters: `whole`, or else what there is `first` and then the `rest`.

    With `until_idle`, busy clusters are waited for: by `whole`, and in the `rest`.
    """

    def __init__(
        self,
        reads: Reads,
        clusters: Iterable[Desired],
        *,
        assess: Assessor,
        errors: Iterable[PlanError] = (),
        doubtful: Mapping[ClusterName, PlanError] | None = None,
        until_idle: UntilIdle | None = None,
    ) -> None:
        self._reads = reads
        self._wanted = {desired.name: desired for desired in clusters}
        self._assess = assess
        self._until_idle = until_idle
        self._doubtful = doubtful or {}
        self._plans: list[ClusterPlan] = []
        self._errors = list(errors)
        self._open = set(self._wanted)
        self._busy: dict[ClusterName, str] = {}  # with their states
        self._waits = False  # whether busy clusters are waited for by now
        self._raised: BaseException | None = None
        self._changed = threading.Condition()
        self._guards = Crew(self._guard)

    @property
    def open(self) -> dict[str, str]:
        """The clusters that aren't planned yet, with their sources."""
        with self._changed:
            return {str(name): self._wanted[name].source for name in self._open}

    def whole(self, besides: Iterable[ClusterPlan] = ()) -> Plan:
        """All of it."""
        self._read()
        self._wait_for_busy()
        self._until(lambda: not self._open)
        return self._take(besides)

    def first(self, patience: float) -> Plan:
        """What there is when all but busy clusters are planned; and after so many seconds in any case."""
        threading.Thread(target=self._safely(self._read), daemon=True).start()
        self._until(lambda: self._open <= self._busy.keys(), patience)
        return self._take()

    def rest(self) -> Iterator[Plan]:
        """What comes later, as it comes, until there is no more."""
        self._wait_for_busy()
        while self._open or self._plans or self._errors:
            self._until(lambda: bool(self._plans or self._errors))
            self._until(lambda: not self._open, _GATHERING)
            yield self._take()

    def _until(self, holds: Callable[[], bool], seconds: float | None = None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._raised or holds(), seconds)
            if self._raised:
                raise self._raised

    def _take(self, besides: Iterable[ClusterPlan] = ()) -> Plan:
        with self._changed:
            plans, errors = self._plans, self._errors
            self._plans, self._errors = [], []
        return assemble([*plans, *besides], errors, created_at=stamp(self._assess.now))

    def _safely(self, work: Callable[[], object]) -> Callable[[], None]:
        """For other threads: what goes wrong there is raised where somebody waits."""

        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 - raised again in the waiting thread, by `_until`
                with self._changed:
                    self._raised = error
                    self._changed.notify_all()

        return run

    def _read(self) -> None:
        observe(self._reads, list(self._wanted), self._seen, self._failed)

    def _seen(self, name: ClusterName, answer: Answer | None) -> None:
        status = live_status(read_live(answer)) if self._until_idle and answer is not None else None
        if status and status.is_busy:
            with self._changed:
                self._busy[name] = status.state
                self._changed.notify_all()
                waits = self._waits
            if waits:
                self._wait_for(name)
        else:
            self._compare(name, answer)

    def _wait_for_busy(self) -> None:
        with self._changed:
            self._waits = True
            busy = sorted(self._busy)
        for name in busy:
            self._wait_for(name)

    def _wait_for(self, name: ClusterName) -> None:
        assert self._until_idle is not None  # noqa: S101 - else no cluster counts as busy
        self._until_idle(
            name,
            self._busy[name],
            lambda answer: self._safely(lambda: self._compare(name, answer, was_there=True))(),
            lambda error: self._failed(name, error),
        )

    def _failed(self, name: ClusterName, error: ReconcilerError) -> None:
        # The way back from a wait is told by whoever reports it.
        said = error.summary if isinstance(error, PendingError) else str(error)
        self._end(name, PlanError(self._wanted[name].source, error.code, said, cluster=str(name)))

    def _end(self, name: ClusterName, outcome: ClusterPlan | PlanError) -> None:
        with self._changed:
            if isinstance(outcome, PlanError):
                self._errors.append(outcome)
            else:
                self._plans.append(outcome)
            self._open.discard(name)
            self._busy.pop(name, None)
            self._changed.notify_all()

    def _guard(self, risky: tuple[ClusterPlan, ClusterName, Answer | None]) -> None:
        self._safely(lambda: self._with_jobs(*risky))()

    def _with_jobs(self, plan: ClusterPlan, name: ClusterName, answer: Answer | None) -> None:
        guarded = self._assess.guard(plan, self._wanted[name], answer)
        # A cluster that was deleted in this moment has no queue to be asked for.
        if any(blocker.code == JOBS_UNKNOWN for blocker in guarded.blockers) and self._is_gone(name):
            self._compare(name, None, was_there=True)
        else:
            self._end(name, guarded)

    def _is_gone(self, name: ClusterName) -> bool:
        try:
            return self._reads.get(name) is None
        except ReconcilerError:
            return False  # what was found out first is the error

    def _compare(self, name: ClusterName, answer: Answer | None, *, was_there: bool = False) -> None:
        try:
            plan = self._assess.compare(self._wanted[name], answer)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            self._failed(name, unreadable(name, error))
            return
        if was_there and answer is None:
            plan = replace(plan, notes=(*plan.notes, Note(GONE_MEANWHILE, "it was there, and is gone by now")))
        doubt = self._doubtful.get(name)
        # That the cluster is in state ERROR says nothing of the file.
        speak = any(blocker.code != ERROR_STATE for blocker in plan.blockers)
        if doubt and (plan.action is not Action.NO_OP or speak):
            self._end(name, doubt)
        elif doubt:
            note = Note("rule_waived", f"live just so, although: {doubt.message}")
            self._end(name, replace(plan, notes=(*plan.notes, note)))
        elif is_disruptive(plan.action, plan.changes):
            self._guards.add((plan, name, answer))
        else:
            self._end(name, plan)


def make_plan(
    reads: Reads,
    clusters: Iterable[Desired],
    *,
    assess: Assessor,
    errors: Iterable[PlanError] = (),
    doubtful: Mapping[ClusterName, PlanError] | None = None,
    besides: Iterable[ClusterPlan] = (),
    until_idle: UntilIdle | None = None,
) -> Plan:
    """The plan for all clusters. `errors` of files that couldn't be read, and plans made elsewhere, stand `besides`.

    A cluster that can't be read is an error of its own and never looks like an absent one. With `until_idle`, clusters
    that are busy are waited for, all of them together, and planned as they are then.
    """
    planning = Planning(reads, clusters, assess=assess, errors=errors, doubtful=doubtful, until_idle=until_idle)
    return planning.whole(besides)
