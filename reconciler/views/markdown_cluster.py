"""One cluster's details in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reconciler.plan.model import Action, Change, ClusterPlan, Origin
from reconciler.views.capacity import capacity_line
from reconciler.views.diagram import plan_diagram
from reconciler.views.lines import change_lines, count, is_inline
from reconciler.views.markdown_escape import clip, code, html_code, prose
from reconciler.views.markdown_parts import Details, Diff, Part, Rows, Stack, Text
from reconciler.views.masking import masked
from reconciler.views.values import inline
from reconciler.views.wording import Words, by_origin, impact_of, plural, short_name, worst

_MORE_IN_TABLE = "| and {} more |"
MESSAGE_LIMIT = 600  # characters of one message in a text that is limited at all


def cluster_details(cluster: ClusterPlan, words: Words, *, limited: bool, picture: bool) -> Details:
    """All there is to say of one cluster, folded."""
    limit = MESSAGE_LIMIT if limited else None
    parts: list[Part] = [Text(" from ".join(filter(None, (code(cluster.cluster), code(cluster.source)))))]
    for origin, title, changes in by_origin(words, cluster):
        content = list(_changes(cluster, [masked(change) for change in changes], words, limit))
        if origin is Origin.DRIFT:
            parts.append(Details(f"{title}: {plural(len(changes), 'change')}", Stack(content)))
        else:
            parts += [Text(f"**{title}**"), *content] if title else content
    if cluster.capacity:
        parts.append(Rows("Capacity:\n", [f"- {prose(capacity_line(each))}" for each in cluster.capacity], "capacity"))
    if picture and words.sends and (drawn := plan_diagram(cluster)):
        parts.append(Text(f"```mermaid\n{drawn}```"))
    if words.sends and cluster.request and (mask := cluster.request.query.get("updateMask")):
        parts.append(Text(f"`updateMask`: {code(clip(mask, limit))}"))
    if cluster.jobs:
        rows = [
            f"| {job.job_id} | {code(job.user)} | {code(job.partition)} | {code(job.state)} | {job.nodes} "
            f"| {code(job.name)} |"
            for job in cluster.jobs
        ]
        head = "Jobs that this touches:\n\n| Job | User | Partition | State | Nodes | Name |\n|--:|---|---|---|--:|---|"
        parts.append(Rows(head, rows, "jobs", _MORE_IN_TABLE))
    if cluster.notes:
        rows = [f"- {code(note.code)}: {prose(clip(note.message, limit))}" for note in cluster.notes]
        parts.append(Rows("Notes:\n", rows, "notes"))
    return Details(_summary(cluster, words), Stack(parts))


def _summary(cluster: ClusterPlan, words: Words) -> str:
    facts = [words.actions[cluster.action]]
    if cluster.changes:
        facts.append(plural(len(cluster.changes), "change"))
    facts += [f"<b>{impact}</b>"] if (impact := worst(cluster)) else []
    facts += ["<b>blocked</b>"] if cluster.blockers else []
    return f"{html_code(short_name(cluster.cluster))} {', '.join(facts)}"


def _changes(cluster: ClusterPlan, changes: Sequence[Change], words: Words, limit: int | None) -> Iterator[Part]:
    short = [change for change in changes if is_inline(change)]
    if short and cluster.action is Action.CREATE:
        rows = [f"| {code(change.path)} | {code(inline(change.after))} |" for change in short]
        yield Rows("| Field | Value |\n|---|---|", rows, "changes", _MORE_IN_TABLE)
    elif short:
        rows = [
            f"| {code(change.path)} | {code(inline(change.before))} | {code(inline(change.after))} "
            f"| {_effect(cluster, change, limit)} |"
            for change in short
        ]
        head = f"| Change | {words.before} | {words.after} | Impact |\n|---|---|---|---|"
        yield Rows(head, rows, "changes", _MORE_IN_TABLE)
    for change in changes:
        if not is_inline(change):
            lines = change_lines(change)
            effect = _effect(cluster, change, limit)
            yield Diff(f"{code(change.path)} {count(lines)}{f', {effect}' if effect else ''}", lines)


def _effect(cluster: ClusterPlan, change: Change, limit: int | None) -> str:
    impact = impact_of(cluster, change)
    parts = (f"**{impact}**" if impact else "", prose(clip(change.reason, limit)))
    return ": ".join(filter(None, parts))
