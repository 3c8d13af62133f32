"""What `apply` and `delete` share: plan, show, ask, run under signals, report."""

from __future__ import annotations

import random
import select
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reconciler.cli.files import doubtful, refused, to_plan
from reconciler.cli.inputs import read_text
from reconciler.cli.output import colour, colour_on_stderr, say, show
from reconciler.cli.plan import now
from reconciler.cli.protection import protection_of
from reconciler.engine import settle
from reconciler.engine.applier import Applier, Policy
from reconciler.engine.approval import not_allowed, stale, with_changes
from reconciler.engine.assess import Assessor
from reconciler.engine.execute import Tools
from reconciler.engine.interrupt import Interrupt
from reconciler.engine.jobs_wait import JobsWait
from reconciler.engine.observe import Answer
from reconciler.engine.planning import GONE_MEANWHILE, Planning, make_plan
from reconciler.engine.results import ApplyReport, Status
from reconciler.engine.traces import Traces
from reconciler.errors import InputError, PendingError, StaleError, UsageError
from reconciler.plan.build import DEFAULT_UPDATE_MODE
from reconciler.plan.model import Action, ClusterPlan, Plan, PlanError
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.views.text import plan_text

if TYPE_CHECKING:
    from reconciler.cli.session import Cloud
    from reconciler.engine.smoke import Smoke
    from reconciler.spec.loader import Loaded

EXIT_INTERRUPTED = 130
_PATIENCE = 3.0  # seconds after which the clusters that have answered are applied without the others


@dataclass(frozen=True, slots=True)
class Run:
    """What the command line asked for; an empty update mode is that of a reviewed plan, or the default one."""

    policy: Policy
    update_mode: str
    no_wait: bool
    auto_approve: bool
    as_json: bool
    graceful: bool = False
    jobs_timeout: float = 24 * 3600.0
    smoke: Path | None = None
    smoke_timeout: float = 900.0


def apply_files(
    cloud: Cloud, loaded: Loaded, run: Run, interrupt: Interrupt, plan_file: Path | None, expect: Path | None
) -> int:
    """`apply`: the exit code."""
    if run.no_wait and (run.graceful or run.smoke):
        option = "--graceful" if run.graceful else "--smoke"
        raise UsageError(f"--no-wait and {option} don't go together", hint=f"{option} is made of waits")
    if plan_file and expect:
        raise UsageError("--plan and --expect don't go together", hint="--plan applies a file's clusters alone")
    from reconciler.views.findings import findings_text

    if loaded.findings:
        say(findings_text(loaded.findings))
    review = plan_file or expect
    reviewed = _read_plan(review, loaded) if review else None
    if reviewed and not run.update_mode:
        run = replace(run, update_mode=reviewed.update_mode)
    tools = _tools(cloud, run, interrupt)
    wanted = {str(desired.name): desired for desired in to_plan(loaded)}
    later: _Later | None = None
    with interrupt.raising():
        if plan_file and reviewed:
            plan = _made_again(reviewed, wanted, tools, plan_file)
        elif run.auto_approve and not expect:
            later = _Later(_planning(tools, wanted.values(), loaded))
            plan = later.first()
        else:  # a plan that is looked at before it is applied has to be there whole
            plan = _planning(tools, wanted.values(), loaded).whole()
    if expect and reviewed:
        _refuse_unexpected(reviewed, plan, expect)
    return _carry_out(plan, wanted, tools, run, interrupt, _approve_plan, later)


def delete_one(cloud: Cloud, name: ClusterName, run: Run, interrupt: Interrupt) -> int:
    """`delete`: the exit code."""
    tools = _tools(cloud, run, interrupt)
    with interrupt.raising():
        lifecycle = protection_of(name, cloud.clusters.get)
        desired = Desired(name, "", _wanted_absent(lifecycle), {})
        plan = _planning(tools, [desired], None).whole()
    gone = [note for each in plan.clusters for note in each.notes if note.code == GONE_MEANWHILE]
    if plan.clusters and plan.clusters[0].action is Action.NO_OP and not gone:
        raise InputError(f"there is no cluster {name}")
    return _carry_out(plan, {str(name): desired}, tools, run, interrupt, _approve_delete)


def _wanted_absent(lifecycle: Lifecycle) -> Lifecycle:
    """Wanted absent, by a person's word here and now: pauses and windows are for the runs of automation."""
    return replace(lifecycle, state="absent", paused=None, maintenance_window=None)


def _tools(cloud: Cloud, run: Run, interrupt: Interrupt) -> Tools:
    from reconciler.engine.waiter import Waiter

    timeout = cloud.settings.operation_timeout
    budget = cloud.settings.retry_budget
    waits = settle.Waits(interrupt.sleep, time.monotonic, random.random, timeout, retry_budget=budget)
    waiter = Waiter(cloud.operations, timeout=timeout, sleep=interrupt.sleep)
    return Tools(
        cloud.clusters,
        waiter.wait,
        waits,
        Assessor(now(), run.update_mode or DEFAULT_UPDATE_MODE, cloud.queue, waits=run.graceful),
        JobsWait(cloud.queue, cloud.partitions, waits, run.jobs_timeout),
        now,
        Traces(cloud.operations.list, now),
        no_wait=run.no_wait,
        graceful=run.graceful,
        smoke=_smoke(cloud, run, interrupt) if run.smoke else None,
        resume=cloud.resume,
    )


def _smoke(cloud: Cloud, run: Run, interrupt: Interrupt) -> Smoke:
    from reconciler.cloud.slurm_script import read_script
    from reconciler.cloud.slurm_wait import JobWait
    from reconciler.engine.smoke import Smoke

    slurm = cloud.slurm()
    script = read_script(read_text(run.smoke or Path()), str(run.smoke))

    def wait(say: Callable[[str], object]) -> JobWait:
        return JobWait(slurm, sleep=interrupt.sleep, say=say)

    return Smoke(slurm, wait, script, run.smoke_timeout, is_interrupted=lambda: bool(interrupt))


def _planning(tools: Tools, wanted: Iterable[Desired], loaded: Loaded | None) -> Planning:
    from reconciler.engine.idle import IdleWaiter

    waiter = IdleWaiter(tools.clusters, tools.waits)

    def until_idle(
        name: ClusterName, state: str, then: Callable[[Answer | None], object], failed: Callable[[PendingError], object]
    ) -> None:
        waiter.submit(name, state, lambda text: say(f"{name}: waiting: {text}"), then, failed)

    return Planning(
        tools.clusters,
        wanted,
        errors=refused(loaded) if loaded else (),
        doubtful=doubtful(loaded) if loaded else {},
        assess=tools.assess,
        until_idle=until_idle,
    )


class _Later:
    """The clusters that nobody else is to wait for: planned, and shown, when they can be."""

    def __init__(self, planning: Planning) -> None:
        self._planning = planning

    @property
    def open(self) -> dict[str, str]:
        return self._planning.open

    def first(self) -> Plan:
        """What can be planned by now. That others don't answer, and are no reason to wait, is said."""
        plan = self._planning.first(_PATIENCE)
        if left := len(self.open):
            say(f"going on without {left} {'cluster' if left == 1 else 'clusters'}, busy or without an answer, for now")
        return plan

    def rest(self) -> Iterator[Plan]:
        for part in self._planning.rest():
            if part.has_changes or part.errors or part.is_blocked:
                say(plan_text(part, colour=colour_on_stderr()))
            yield part


def _read_plan(path: Path, loaded: Loaded) -> Plan:
    """A reviewed plan, of the clusters that this run is about."""
    from reconciler.views.plan_file import read_plan

    plan = read_plan(read_text(path))

    def is_ours(each: ClusterPlan | PlanError) -> bool:
        name = ClusterName.parse(each.cluster)
        return name is None or loaded.concerns(name)

    return replace(plan, clusters=tuple(filter(is_ours, plan.clusters)), errors=tuple(filter(is_ours, plan.errors)))


def _made_again(approved: Plan, wanted: dict[str, Desired], tools: Tools, plan_file: Path) -> Plan:
    """A file's plan, made again from what is now. Raises StaleError, nothing sent, where it comes out otherwise.

    What couldn't be planned then isn't applied now, and what can't be read now is its own failure: both are errors.
    """
    named = [wanted[plan.cluster] for plan in approved.clusters if plan.cluster in wanted]
    left_out = [replace(error, message=f"not in {plan_file}: {error.message}") for error in approved.errors]
    fresh = make_plan(tools.clusters, named, assess=tools.assess, errors=left_out)
    failed = {error.cluster for error in fresh.errors}
    rest = replace(approved, clusters=tuple(each for each in approved.clusters if each.cluster not in failed))
    if moved := stale(rest, fresh):
        told = "; ".join(f"{cluster}: {what}" for cluster, what in sorted(moved.items()))
        raise StaleError(f"{plan_file} is stale, nothing was sent: {told}", hint="plan again, and review it")
    return fresh


def _refuse_unexpected(reviewed: Plan, plan: Plan, expect: Path) -> None:
    """Raises StaleError, nothing sent, unless the plan is the one that was reviewed."""
    if moved := stale(with_changes(reviewed), with_changes(plan)):
        told = "; ".join(f"{cluster}: {what}" for cluster, what in sorted(moved.items()))
        raise StaleError(f"this isn't the plan of {expect}, nothing was sent: {told}", hint="review the new plan")


Approve = Callable[[Plan], None]


def _carry_out(
    plan: Plan,
    wanted: dict[str, Desired],
    tools: Tools,
    run: Run,
    interrupt: Interrupt,
    approve: Approve,
    later: _Later | None = None,
) -> int:
    from reconciler.cli.watching import observer
    from reconciler.views.json import apply_json
    from reconciler.views.outcome import apply_text

    say(plan_text(plan, colour=colour_on_stderr()))
    if plan.has_changes and not run.auto_approve and _has_work(plan, run.policy):
        with interrupt.raising():
            approve(plan)
    with observer() as watching:
        applier = Applier(tools, run.policy, watching)
        report = _under(interrupt, applier, plan, wanted, later)
    show(apply_json(report) if run.as_json else apply_text(report, colour=colour()))
    for hint in report.resume:  # also where standard output is for a program, or for nobody any more
        say(f"not over yet; to go on: {hint}")
    return EXIT_INTERRUPTED if report.interrupted else _exit_code(report, no_wait=run.no_wait)


def _under(
    interrupt: Interrupt, applier: Applier, plan: Plan, wanted: dict[str, Desired], later: _Later | None
) -> ApplyReport:
    """The report; after an interruption that outlasts its grace, one made of what is known by then."""
    reports: list[ApplyReport] = []
    ended = interrupt.watch(lambda: reports.append(applier.apply(plan, wanted, later)))
    if ended:
        return replace(reports[0], interrupted=bool(interrupt))
    return applier.unfinished(plan)


def _exit_code(report: ApplyReport, *, no_wait: bool) -> int:
    fine = {Status.APPLIED, Status.NO_OP, Status.SKIPPED} | ({Status.PENDING} if no_wait else set())
    return 0 if not report.errors and all(result.status in fine for result in report.results) else 1


def _has_work(plan: Plan, policy: Policy) -> bool:
    return any(
        cluster.action is not Action.NO_OP
        and not cluster.blockers
        and not not_allowed(cluster, allow_delete=policy.allow_delete, allow_replace=policy.allow_replace)
        for cluster in plan.clusters
    )


def _approve_plan(_plan: Plan) -> None:
    _ask("Apply this plan? Only 'yes' is taken: ", "yes")


def _approve_delete(plan: Plan) -> None:
    cluster_id = plan.clusters[0].cluster.rpartition("/")[2]
    _ask(f"This deletes the cluster and all that runs on it. Type its id, {cluster_id}: ", cluster_id)


def _ask(question: str, wanted: str) -> None:
    """Raises InputError unless a person at a terminal gives the wanted answer."""
    if not sys.stdin.isatty():
        raise InputError("nobody is there to approve; nothing was sent", hint="say --auto-approve")
    typer.echo(question, err=True, nl=False)
    while not select.select([sys.stdin], [], [], 0.5)[0]:
        pass  # in turns: a signal right before a read that blocks would be noticed only after it
    answer = sys.stdin.readline().strip()
    if answer != wanted:
        raise InputError("not approved; nothing was sent")
