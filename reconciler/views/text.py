"""Plan and drift for a terminal. What removes or recreates stands first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from reconciler.plan.model import Action, Change, ClusterPlan, Job, Plan, PlanError
from reconciler.views import wording
from reconciler.views.capacity import capacity_line, capacity_summary
from reconciler.views.lines import change_lines, count, is_inline
from reconciler.views.masking import masked
from reconciler.views.safe import safe
from reconciler.views.table import pad, table, width
from reconciler.views.terminal import Paint, painter
from reconciler.views.values import inline

if TYPE_CHECKING:
    from reconciler.engine.results import Drift

_ALIGN_TO = 72  # paths longer than this don't push the others' values to the right
_SIGN_STYLES = {"+": "green", "-": "red", "~": "yellow", "@": "cyan", "\\": "dim", " ": ""}
_ACTION_STYLES = {
    Action.CREATE: "bold green",
    Action.UPDATE: "bold yellow",
    Action.REPLACE: "bold red",
    Action.DELETE: "bold red",
    Action.NO_OP: "dim",
}
# Lines of scripts stand behind it, so that none of them begins with a CI's command, such as "::stop-commands::".
_GUTTER = "      | "


def plan_text(plan: Plan, *, colour: bool = False, verbose: bool = False) -> str:
    """The plan. Unchanged clusters are only counted, unless there is something to note or `verbose` is set."""
    report = _Report(wording.PLAN, painter(colour=colour))
    return report.text(plan, (), wording.plan_summary(plan), verbose=verbose)


def drift_text(drift: Drift, *, colour: bool = False, verbose: bool = False) -> str:
    """What differs between live clusters and files: before is live, after is the file."""
    report = _Report(wording.DRIFT, painter(colour=colour))
    return report.text(drift.plan, drift.unmanaged, wording.drift_summary(drift), verbose=verbose)


class _Report:
    def __init__(self, words: wording.Words, paint: Paint) -> None:
        self._words = words
        self._paint = paint

    def text(self, plan: Plan, unmanaged: tuple[str, ...], summary: str, *, verbose: bool) -> str:
        ordered = wording.by_danger(plan.clusters)
        blocks = [list(self._cluster(cluster)) for cluster in ordered if wording.is_shown(cluster)]
        blocks.append([self._plain(cluster) for cluster in ordered if verbose and not wording.is_shown(cluster)])
        blocks.append([self._unmanaged(name) for name in unmanaged])
        blocks.append([self._error(error) for error in plan.errors])
        machines = capacity_summary(plan.clusters) if self._words.sends else ""
        blocks.append([self._paint("bold", line) for line in (machines, summary) if line])
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def _plain(self, cluster: ClusterPlan) -> str:
        glyph = wording.GLYPHS[cluster.action]
        return (
            f"{glyph} {safe(wording.short_name(cluster.cluster))} {self._paint('dim', safe(cluster.source))}".rstrip()
        )

    def _unmanaged(self, name: str) -> str:
        return f"{self._paint('yellow', '?')} {safe(wording.short_name(name))} is live and in no file"

    def _error(self, error: PlanError) -> str:
        place = ": ".join(safe(part) for part in (error.source, wording.short_name(error.cluster)) if part)
        return f"{self._paint('bold red', 'error:')} {place}: {safe(error.message)} [{safe(error.code)}]"

    def _cluster(self, cluster: ClusterPlan) -> Iterator[str]:
        paint = self._paint
        yield self._headline(cluster)
        for blocker in cluster.blockers:
            yield f"    {paint('bold red', 'blocked')} [{safe(blocker.code)}] {safe(blocker.message)}"
        for _, title, changes in wording.by_origin(self._words, cluster):
            if title:
                yield f"  {paint('bold', title)}: {wording.plural(len(changes), 'change')}"
            yield from self._changes(cluster, changes)
        for capacity in cluster.capacity:
            yield f"    {paint('cyan', 'capacity')} {capacity_line(capacity)}"
        for note in cluster.notes:
            yield f"    {paint('cyan', 'note')} [{safe(note.code)}] {safe(note.message)}"
        if self._words.sends and cluster.request and (mask := cluster.request.query.get("updateMask")):
            yield f"    {paint('dim', f'updateMask {safe(mask)}')}"
        if cluster.jobs:
            yield f"    touches {wording.plural(len(cluster.jobs), 'job')}:"
            yield from (f"      {line}" for line in _job_lines(cluster.jobs))

    def _headline(self, cluster: ClusterPlan) -> str:
        label = f"{wording.GLYPHS[cluster.action]} {safe(wording.short_name(cluster.cluster))}"
        parts = [self._paint(_ACTION_STYLES[cluster.action], label), f"({self._words.actions[cluster.action]})"]
        if cluster.action in wording.ENDS:
            parts.append(self._paint("bold red", f"[{wording.ENDS[cluster.action]}]"))
        return " ".join([*parts, self._paint("dim", safe(cluster.source))]).rstrip()

    def _changes(self, cluster: ClusterPlan, changes: list[Change]) -> Iterator[str]:
        changes = [masked(change) for change in changes]  # in CI this is a log that many people read
        widths = [width(_label(change)) for change in changes if is_inline(change)]
        column = max((cells for cells in widths if cells <= _ALIGN_TO), default=0)
        for change in changes:
            sign = _sign(change)
            glyph = self._paint(_SIGN_STYLES[sign], sign)
            if is_inline(change):
                yield f"    {glyph} {pad(_label(change), column)} {self._values(change)}{self._tag(cluster, change)}"
                continue
            lines = change_lines(change)
            yield f"    {glyph} {_label(change)} {count(lines)}{self._tag(cluster, change)}"
            for line in lines:
                yield _GUTTER + self._paint(_SIGN_STYLES[line.sign], f"{line.sign.replace('@', '')}{line.text}")

    def _values(self, change: Change) -> str:
        if change.before is None:
            return self._paint("green", inline(change.after))
        if change.after is None:
            return self._paint("red", inline(change.before))
        return f"{self._paint('red', inline(change.before))} -> {self._paint('green', inline(change.after))}"

    def _tag(self, cluster: ClusterPlan, change: Change) -> str:
        impact = wording.impact_of(cluster, change)
        tag = "  " + self._paint("bold red", f"[{impact}]") if impact else ""
        return tag + (f"  {self._paint('dim', f'({safe(change.reason)})')}" if change.reason else "")


def _label(change: Change) -> str:
    return f"{safe(change.path)}:"


def _sign(change: Change) -> str:
    if change.before is None:
        return "+"
    return "-" if change.after is None else "~"


def _job_lines(jobs: tuple[Job, ...]) -> list[str]:
    head = ("JOB", "USER", "PARTITION", "STATE", "NODES", "NAME")
    return table(head, [(job.job_id, job.user, job.partition, job.state, job.nodes, job.name) for job in jobs])
