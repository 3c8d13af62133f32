"""Making a plan: read what is live, compare, look at the jobs, collect. Nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from reconciler import __version__
from reconciler.engine.assess import Assessor
from reconciler.engine.observe import Answer, Reads, observe
from reconciler.engine.threads import in_parallel
from reconciler.errors import ReconcilerError
from reconciler.plan.model import Action, ClusterPlan, Note, Plan, PlanError, summarise
from reconciler.plan.policy import ERROR_STATE
from reconciler.plan.status import live_status
from reconciler.plan.touched import is_disruptive
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

UntilIdle = Callable[[ClusterName], Answer | None]


def make_plan(
    reads: Reads,
    clusters: Iterable[Desired],
    *,
    assess: Assessor,
    errors: Iterable[PlanError] = (),
    doubtful: Mapping[ClusterName, PlanError] | None = None,
    besides: Iterable[ClusterPlan] = (),
    until_idle: UntilIdle | None = None,
    put_off: Callable[[Desired], object] | None = None,
) -> Plan:
    """The plan for all clusters. `errors` of files that couldn't be read, and plans made elsewhere, stand `besides`.

    A cluster that can't be read is an error of its own and never looks like an absent one. With `until_idle`, clusters
    that are busy are waited for, all of them together, and planned as they are then; with `put_off` they are handed to
    it, and left out.
    """
    making = _Making(
        {desired.name: desired for desired in clusters}, assess, until_idle, put_off, list(errors), doubtful or {}
    )
    observe(reads, making.wanted, making.seen, making.failed)
    in_parallel(making.wait_for, making.busy, workers=len(making.busy))
    in_parallel(making.guard, making.risky)
    return assemble([*making.plans, *besides], making.errors, created_at=stamp(assess.now))


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


class _Making:
    """A plan in the making. The methods are called from many threads, once per cluster each."""

    def __init__(
        self,
        wanted: dict[ClusterName, Desired],
        assess: Assessor,
        until_idle: UntilIdle | None,
        put_off: Callable[[Desired], object] | None,
        errors: list[PlanError],
        doubtful: Mapping[ClusterName, PlanError],
    ) -> None:
        self.wanted = wanted
        self.errors = errors
        self.plans: list[ClusterPlan] = []
        self.busy: list[ClusterName] = []
        self.risky: list[tuple[ClusterPlan, ClusterName, Answer | None]] = []
        self._assess = assess
        self._until_idle = until_idle
        self._doubtful = doubtful
        self._put_off = put_off

    def seen(self, name: ClusterName, answer: Answer | None) -> None:
        waits = self._until_idle or self._put_off
        if waits and answer is not None and live_status(read_live(answer)).is_busy:
            if self._put_off:
                self._put_off(self.wanted[name])
            else:
                self.busy.append(name)
        else:
            self._compare(name, answer)

    def failed(self, name: ClusterName, error: ReconcilerError) -> None:
        self.errors.append(PlanError(self.wanted[name].source, error.code, str(error), cluster=str(name)))

    def wait_for(self, name: ClusterName) -> None:
        try:
            answer = self._until_idle(name) if self._until_idle else None
        except ReconcilerError as error:
            self.failed(name, error)
        else:
            self._compare(name, answer)

    def guard(self, risky: tuple[ClusterPlan, ClusterName, Answer | None]) -> None:
        plan, name, answer = risky
        self.plans.append(self._assess.guard(plan, self.wanted[name], answer))

    def _compare(self, name: ClusterName, answer: Answer | None) -> None:
        try:
            plan = self._assess.compare(self.wanted[name], answer)
        except (TypeError, AttributeError, KeyError, ValueError) as error:
            self.failed(name, unreadable(name, error))
            return
        doubt = self._doubtful.get(name)
        # That the cluster is in state ERROR says nothing of the file.
        speak = any(blocker.code != ERROR_STATE for blocker in plan.blockers)
        if doubt and (plan.action is not Action.NO_OP or speak):
            self.errors.append(doubt)
        elif doubt:
            note = Note("rule_waived", f"live just so, although: {doubt.message}")
            self.plans.append(replace(plan, notes=(*plan.notes, note)))
        elif is_disruptive(plan.action, plan.changes):
            self.risky.append((plan, name, answer))
        else:
            self.plans.append(plan)
