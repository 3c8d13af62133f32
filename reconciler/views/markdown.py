"""Plan and drift as GitHub Markdown: for pull-request comments, job summaries and issues.

Totals, removals and blockers stand on top and are never folded. In a limited text everything else gives way first, in
this order: the list of unchanged clusters, the middle of long diffs, the details of the less dangerous clusters, rows
of tables. Where even removals or blockers are too many to list, their number stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial

from reconciler.engine.results import Drift
from reconciler.plan.model import Action, ClusterPlan, Plan, PlanError
from reconciler.views.capacity import capacity_summary
from reconciler.views.markdown_cluster import MESSAGE_LIMIT, cluster_details
from reconciler.views.markdown_escape import clip, code, prose
from reconciler.views.markdown_parts import Cuts, Details, Fitting, Group, Rows, Stack, size_of
from reconciler.views.masking import masked
from reconciler.views.values import inline
from reconciler.views.wording import (
    DRIFT,
    ENDS,
    GLYPHS,
    IMPACTS,
    PLAN,
    Words,
    by_danger,
    drift_summary,
    harmful,
    plan_summary,
    plural,
    short_name,
    worst,
)

COMMENT_LIMIT = 65_000  # GitHub refuses comments above 65,536 characters
_TOLD_IN_FULL = 40  # blockers and removals
_PICTURES = 5  # of more clusters than that, a comment has no pictures: their diffs say more
_FOOTER = 600  # bytes kept for the notice of what was left out


def plan_markdown(
    plan: Plan,
    *,
    limit: int | None = COMMENT_LIMIT,
    title: str = "Plan",
    preface: str = "",
    facts: str = "",
    full_text: str = "the artifact of this run",
) -> str:
    """The plan, in at most `limit` characters and UTF-8 bytes; None for all of it.

    `preface` and `facts` are Markdown of the caller's own, which counts: what stands before everything, such as a
    comment's marker, and what stands below the summary, such as the commit. `full_text` is Markdown that says where
    everything can be read.
    """
    report = _Report(plan, (), PLAN, limited=limit is not None)
    machines = capacity_summary(plan.clusters)
    summary = plan_summary(plan) + (f"**\n\n**{prose(machines)}" if machines else "")
    return _assemble(report, (preface, title, summary, facts), limit, full_text)


def drift_markdown(
    drift: Drift,
    *,
    limit: int | None = COMMENT_LIMIT,
    title: str = "Drift",
    preface: str = "",
    facts: str = "",
    full_text: str = "the artifact of this run",
) -> str:
    """What differs between live clusters and their files, within the limit; parameters as of `plan_markdown`."""
    report = _Report(drift.plan, drift.unmanaged, DRIFT, limited=limit is not None)
    return _assemble(report, (preface, title, drift_summary(drift), facts), limit, full_text)


def _assemble(report: _Report, heading: tuple[str, str, str, str], limit: int | None, full_text: str) -> str:
    preface, title, summary, facts = heading
    blocks = [preface.strip(), f"## {prose(title)}", f"**{summary}**", facts.strip()]
    cuts = Cuts()
    taken = sum(size_of(block) + 2 for block in blocks) + size_of(full_text) + _FOOTER
    room = sys.maxsize if limit is None else limit - taken
    for part, portion in report.parts():
        text = part.fit(int(room * portion), cuts)
        room -= size_of(text) + 2
        blocks.append(text)
    blocks += [_fold_unchanged(report, room, cuts), _notice(cuts, full_text)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _fold_unchanged(report: _Report, room: int, cuts: Cuts) -> str:
    """The list of unchanged clusters: the first to go where anything must."""
    names = report.unchanged()
    if not names.rows:
        return ""
    folded = Details(f"{plural(len(names.rows), 'cluster')} unchanged", Stack([names]))
    if cuts.total() or folded.size > room:
        cuts[names.noun] += len(names.rows)
        return ""
    return folded.fit(folded.size, cuts)


def _notice(cuts: Cuts, full_text: str) -> str:
    left_out = ", ".join(f"{noun} ({number:,})" for noun, number in cuts.items() if number)
    return f"> [!NOTE]\n> Shortened to fit; left out: {left_out}. The full text is in {full_text}." if left_out else ""


class _Report:
    def __init__(self, plan: Plan, unmanaged: tuple[str, ...], words: Words, *, limited: bool) -> None:
        self._plan = plan
        self._unmanaged = unmanaged
        self._words = words
        self._limited = limited
        ordered = by_danger(plan.clusters)
        self._touched = [cluster for cluster in ordered if _is_touched(cluster)]
        self._untouched = [cluster for cluster in ordered if not _is_touched(cluster)]

    def parts(self) -> Iterator[tuple[Fitting, float]]:
        """The parts in their order, each with the portion that it may take at most of the room that is left."""
        yield from self._lists(((self._harm(), 0.35), (self._blockers(), 0.35), (self._errors(), 0.3)))
        yield from self._lists(((self._unmanaged_list(), 0.3), (self._table(), 0.5), (self._notes(), 0.3)))
        yield self._details(), 1

    def unchanged(self) -> Rows:
        """The names of the clusters that don't change."""
        return Rows("", [f"- {_name(cluster)}" for cluster in self._untouched], "names of unchanged clusters")

    def _lists(self, lists: Iterable[tuple[Rows, float]]) -> Iterator[tuple[Fitting, float]]:
        return ((rows, portion) for rows, portion in lists if rows.rows)

    def _harm(self) -> Rows:
        rows = [f"> - {_name(c)}: **{ENDS[c.action]}**" for c in self._touched if c.action in ENDS]
        costly = [(cluster, masked(change)) for cluster in self._touched for change in harmful(cluster)]
        for cluster, change in sorted(costly, key=lambda pair: list(IMPACTS).index(pair[1].impact), reverse=True):
            reason = f": {self._prose(change.reason)}" if change.reason and len(costly) <= _TOLD_IN_FULL else ""
            sides = f" {code(inline(change.before))} → {code(inline(change.after))}" if _is_brief(change.after) else ""
            gone = " removed" if change.after is None else sides
            rows.append(f"> - {_name(cluster)}: {code(change.path)}{gone}, **{IMPACTS[change.impact]}**{reason}")
        return Rows(f"> [!CAUTION]\n> **{self._words.harm}: {len(rows):,}**", rows, "removals", "> - and {} more")

    def _blockers(self) -> Rows:
        found = [(cluster, blocker) for cluster in self._touched for blocker in cluster.blockers]
        # Of many, each keeps its line and its code; what they say in full stands in the details and the artifact.
        words = self._prose if len(found) <= _TOLD_IN_FULL or not self._limited else _first_words
        rows = [f"> - {_name(cluster)}: {words(each.message)} ({code(each.code)})" for cluster, each in found]
        head = f"> [!WARNING]\n> **Blocked, apply refuses: {len(rows):,}**"
        return Rows(head, rows, "blockers", "> - and {} more")

    def _errors(self) -> Rows:
        rows = [f"> - {self._error(error)}" for error in self._plan.errors]
        return Rows(f"> [!WARNING]\n> **Errors: {len(rows):,}**", rows, "errors", "> - and {} more")

    def _error(self, error: PlanError) -> str:
        place = " ".join(code(part) for part in (error.source, short_name(error.cluster)) if part)
        return f"{place}: {self._prose(error.message)} ({code(error.code)})"

    def _table(self) -> Rows:
        rows = []
        for cluster in self._touched:
            blocked = ", ".join(dict.fromkeys(code(blocker.code) for blocker in cluster.blockers))
            action = f"`{GLYPHS[cluster.action]}` {self._words.actions[cluster.action]}"
            cells = (_name(cluster), action, len(cluster.changes), worst(cluster), blocked, code(cluster.source))
            rows.append(f"| {' | '.join(map(str, cells))} |")
        head = "| Cluster | Action | Changes | Impact | Blocked by | File |\n|---|---|--:|---|---|---|"
        return Rows(head, rows, "clusters' rows", "| and {} more |")

    def _details(self) -> Group:
        picture = not self._limited or len(self._touched) <= _PICTURES
        make = partial(cluster_details, words=self._words, limited=self._limited, picture=picture)
        return Group([partial(make, cluster) for cluster in self._touched])

    def _unmanaged_list(self) -> Rows:
        rows = [f"- {code(short_name(name))}" for name in self._unmanaged]
        return Rows(f"**Live and in no file: {len(rows):,}**\n", rows, "unmanaged clusters")

    def _notes(self) -> Rows:
        rows = [
            f"- {_name(cluster)}: {self._prose(note.message)} ({code(note.code)})"
            for cluster in self._untouched
            for note in cluster.notes
        ]
        return Rows("**Notes on unchanged clusters**\n", rows, "notes")

    def _prose(self, text: str) -> str:
        return prose(clip(text, MESSAGE_LIMIT if self._limited else None))


def _first_words(text: str) -> str:
    return prose(clip(text, 40))


def _is_touched(cluster: ClusterPlan) -> bool:
    return cluster.action is not Action.NO_OP or bool(cluster.blockers)


def _is_brief(value: object) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and "\n" not in value and len(value) <= 60)


def _name(cluster: ClusterPlan) -> str:
    return code(short_name(cluster.cluster))
