"""Applying a plan: many clusters at once, each on its own, none held up by another's failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from reconciler.engine.approval import not_allowed
from reconciler.engine.events import events_since, in_words
from reconciler.engine.execute import Execution, Tools
from reconciler.engine.results import ApplyReport, ErrorInfo, Result, Status
from reconciler.engine.settle import AGAIN
from reconciler.engine.threads import Crew
from reconciler.errors import BlockedError, InterruptedRun, PendingError, ReconcilerError, StaleError
from reconciler.plan.model import Action, Blocker, ClusterPlan, Plan, PlanError
from reconciler.plan.schedule import is_paused, opens
from reconciler.plan.touched import is_disruptive
from reconciler.spec.model import Desired


class Observer:
    """What an apply reports while it runs. The methods are called from several threads; these do nothing."""

    def started(self, plan: ClusterPlan) -> None: ...

    def progress(self, plan: ClusterPlan, message: str, operation: str) -> None: ...

    def finished(self, plan: ClusterPlan, result: Result) -> None: ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What the command line allows. `parallelism` is the number of clusters that change at the same time."""

    parallelism: int = 8
    allow_delete: bool = False
    allow_replace: bool = False
    wait_for_window: bool = False


@dataclass(frozen=True, slots=True)
class _Fate:
    status: Status
    error: ErrorInfo | None = None
    converged: bool = False
    operation: str = ""
    reason: str = ""


class Later(Protocol):
    """Clusters that couldn't be planned with the others: they are busy, or don't answer."""

    @property
    def open(self) -> Mapping[str, str]:
        """Those that aren't planned yet, with their sources."""
        ...

    def rest(self) -> Iterable[Plan]:
        """Their plans, as they come."""
        ...


class Applier:
    """Applies approved plans. Interrupting is done through the tools' waits: then every cluster ends as pending."""

    def __init__(self, tools: Tools, policy: Policy, observer: Observer) -> None:
        self._tools = tools
        self._policy = policy
        self._observer = observer
        self._running: dict[str, Execution] = {}
        self._results: dict[str, Result] = {}
        self._planned: dict[str, ClusterPlan] = {}
        self._later: Later | None = None

    def unfinished(self, plan: Plan) -> ApplyReport:
        """The report for whoever has to leave now: what has ended is told, the rest is pending."""
        running = dict(self._running)
        planned = {cluster.cluster: cluster for cluster in plan.clusters} | dict(self._planned)
        found = {name: _left(each, running.get(name)) for name, each in planned.items()}
        for name, source in self._later.open.items() if self._later else ():
            found[name] = Result(name, Action.NO_OP, Status.SKIPPED, source=source, reason="interrupted")
        found |= dict(self._results)
        return replace(self._report(plan, found), interrupted=True)

    def apply(self, plan: Plan, desired: Mapping[str, Desired], later: Later | None = None) -> ApplyReport:
        """Make every change of the plan that nothing speaks against. `desired` maps full names to what files want.

        What comes `later` holds up nobody else.
        """
        self._later = later

        def make(cluster: ClusterPlan) -> None:
            self._results[cluster.cluster] = self._one(cluster, desired[cluster.cluster])

        crew = Crew(make, self._policy.parallelism)
        self._begin(plan, desired, crew)
        for part in later.rest() if later else ():
            self._begin(part, desired, crew)
        crew.join()
        return self._report(plan, self._results)

    def _report(self, plan: Plan, results: Mapping[str, Result]) -> ApplyReport:
        return ApplyReport(
            results=tuple(results[name] for name in sorted(results)),
            errors=tuple(error for error in plan.errors if not error.cluster),
            started_at=plan.created_at,
        )

    def _begin(self, plan: Plan, desired: Mapping[str, Desired], crew: Crew[ClusterPlan]) -> None:
        self._planned |= {cluster.cluster: cluster for cluster in plan.clusters}
        self._results |= {error.cluster: _not_planned(error) for error in plan.errors if error.cluster}
        for cluster in plan.clusters:
            if fate := self._without_work(cluster, desired.get(cluster.cluster)):
                self._results[cluster.cluster] = fate
            else:
                crew.add(cluster)

    def _without_work(self, plan: ClusterPlan, desired: Desired | None) -> Result | None:
        if plan.action is Action.NO_OP and not plan.blockers:
            return Result(plan.cluster, plan.action, Status.NO_OP, source=plan.source, converged=True)
        if desired and is_paused(desired.lifecycle, self._tools.now()):
            return self._skipped(plan, "paused")
        blockers = list(plan.blockers)
        if refusal := not_allowed(
            plan, allow_delete=self._policy.allow_delete, allow_replace=self._policy.allow_replace
        ):
            blockers.append(refusal)
        if blockers:
            return Result(plan.cluster, plan.action, Status.BLOCKED, source=plan.source, error=_blocked(blockers))
        if desired and not self._policy.wait_for_window and (opening := self._closed_until(plan, desired)):
            return self._skipped(plan, "maintenance_window", f"; it opens at {opening.isoformat()}")
        return None

    def _skipped(self, plan: ClusterPlan, code: str, more: str = "") -> Result:
        said = next((note.message for note in plan.notes if note.code == code), code)
        return Result(plan.cluster, plan.action, Status.SKIPPED, source=plan.source, reason=said + more)

    def _closed_until(self, plan: ClusterPlan, desired: Desired) -> datetime | None:
        """When the window that the plan must wait for opens; None where it needs none, or it is open."""
        window = desired.lifecycle.maintenance_window
        if window is None or not is_disruptive(plan.action, plan.changes):
            return None
        opening = opens(window, now := self._tools.now())
        return opening if opening > now else None

    def _one(self, plan: ClusterPlan, desired: Desired) -> Result:
        run = Execution(self._tools, desired, plan, lambda text, op: self._observer.progress(plan, text, op))
        self._running[plan.cluster] = run
        self._observer.started(plan)
        begin = self._tools.waits.clock()
        fate = self._fate(run, plan, desired)
        del self._running[plan.cluster]
        result = Result(
            plan.cluster,
            plan.action,
            fate.status,
            source=plan.source,
            operation=run.operation or fate.operation or None,
            converged=fate.converged,
            error=fate.error,
            seconds=round(self._tools.waits.clock() - begin, 1),
            reason=fate.reason,
        )
        self._observer.finished(plan, result)
        return result

    def _await_window(self, plan: ClusterPlan, desired: Desired) -> None:
        while opening := self._closed_until(plan, desired):
            self._observer.progress(
                plan, f"waiting for the maintenance window, which opens at {opening.isoformat()}", ""
            )
            left = (opening - self._tools.now()).total_seconds()
            if self._tools.waits.sleep(min(max(left, 0.1), 300.0)):
                raise InterruptedRun(f"{plan.cluster}: interrupted while waiting for the maintenance window")

    def _fate(self, run: Execution, plan: ClusterPlan, desired: Desired) -> _Fate:
        begin = self._tools.now()
        try:
            self._await_window(plan, desired)
            answer = run.run()
        except (BlockedError, StaleError) as refused:
            if plan.action is Action.DELETE and _is_gone(run):
                return _Fate(Status.APPLIED, converged=True, reason="it is gone already")
            status = Status.BLOCKED if isinstance(refused, BlockedError) else Status.FAILED
            return _Fate(status, ErrorInfo.of(refused))
        except InterruptedRun as stop:
            return _Fate(Status.SKIPPED, ErrorInfo.of(stop))
        except PendingError as pending:
            return _Fate(Status.PENDING, ErrorInfo.of(pending), operation=pending.operation)
        except ReconcilerError as error:
            return _Fate(Status.FAILED, _with_events(ErrorInfo.of(error), self._events(run, begin)))
        if answer is None:
            return _Fate(Status.APPLIED, converged=True)
        if self._tools.smoke and (wrong := self._tools.smoke.check(desired.name, plan, answer, run.say)):
            failed = ErrorInfo("smoke_check", f"applied, but the smoke check failed: {'; '.join(wrong)}")
            return _Fate(Status.FAILED, _with_events(failed, self._events(run, begin)), converged=True)
        return _Fate(Status.APPLIED, converged=True, reason=in_words(events_since(answer, begin)))

    def _events(self, run: Execution, begin: datetime) -> str:
        """The cluster's new events in words, by a fresh look, since they may say why something failed."""
        try:
            answer = run.look()
        except ReconcilerError:
            return ""  # what failed is said already
        return in_words(events_since(answer, begin)) if answer else ""


def _left(plan: ClusterPlan, run: Execution | None) -> Result:
    """The fate of a cluster whose change isn't waited for any more, or never began."""
    unsure = run.unsure() if run else None
    return Result(
        plan.cluster,
        plan.action,
        Status.PENDING if unsure else Status.SKIPPED,
        source=plan.source,
        operation=(unsure.operation or None) if unsure else None,
        error=ErrorInfo.of(unsure) if unsure else None,
        reason="" if unsure else "interrupted",
    )


def _is_gone(run: Execution) -> bool:
    """Whether somebody else has deleted the cluster, who may be the reason for whatever was refused."""
    try:
        return run.look() is None
    except ReconcilerError:
        return False


def _with_events(error: ErrorInfo, events: str) -> ErrorInfo:
    return replace(error, message=f"{error.message}; {events}") if events else error


def _blocked(blockers: Iterable[Blocker]) -> ErrorInfo:
    found = list(blockers)
    return ErrorInfo(found[0].code, "; ".join(blocker.message for blocker in found))


def _not_planned(error: PlanError) -> Result:
    match error.code:
        case PendingError.code:  # it stayed busy with something else
            info, status = ErrorInfo(error.code, error.message, AGAIN), Status.PENDING
        case InterruptedRun.code:
            info, status = ErrorInfo(error.code, error.message), Status.SKIPPED
        case _:
            info, status = ErrorInfo(error.code, error.message), Status.FAILED
    return Result(error.cluster, Action.NO_OP, status, source=error.source, error=info)
