"""`docs/rules.md` and `docs/fields.md`, printed from the registry and the table, so that they can't fall behind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reconciler.spec.fields import Many
from reconciler.spec.rules import RULES
from reconciler.spec.tree import ROOT, Node

SOURCES = """\
Sources: S1 and S2 are the product's pages on the Slurm job API and on managing clusters, C "Create cluster",
O "Orchestration", V "View clusters", R "Compute resources", F "Flex Start", T the Terraform definition of the resource,
U public scripts of a user; Slurm is what Slurm itself does, practice what running clusters teaches, contract what this
tool promises."""

_RULES = f"""\
# Rules

What `reconciler validate` checks in a spec, offline, once the file could be read. Errors are what the service would
refuse, warnings what is most likely not meant. What is wrong with the file itself (syntax, types, unknown fields) is
told first; where a part couldn't be read, the rules that look for nothing missing still speak of the rest.

{SOURCES}

"""
_FIELDS = f"""\
# Fields

Every field of `spec`, from the one table that drives reading, comparison, update masks, payloads and impacts. Names
may be written in camelCase too. *Mask* is the `updateMask` path that covers a field, *a change* is what changing it
does to the cluster, *absent* what a file means that leaves it out.

{SOURCES}

"""


def rules_page() -> str:
    """The text of `docs/rules.md`."""
    rows = [(f"`{rule.id}`", str(rule.severity), rule.meaning, rule.source) for rule in RULES]
    return _RULES + _table(("rule", "severity", "what must hold", "source"), rows)


def fields_page() -> str:
    """The text of `docs/fields.md`."""
    rows = [_field_row(node) for node in _nodes(ROOT)]
    return _FIELDS + _table(("field", "type", "mask", "a change", "absent", "meaning", "source"), rows)


def _nodes(node: Node) -> Iterable[Node]:
    for child in node.children.values():
        yield child
        yield from _nodes(child)


def _field_row(node: Node) -> Sequence[str]:
    row = node.row
    impact = "" if row.output else str(node.impact)
    return (
        f"`{row.path}`",
        _type(node),
        f"`{node.mask}`" if node.mask else "",
        impact,
        _absent(node),
        row.doc,
        row.source,
    )


def _type(node: Node) -> str:
    kind = node.kind.value
    lists = {
        Many.NO: kind,
        Many.KEYED: f"list, known by `{node.row.key}`",
        Many.ORDERED: f"list of {kind}, in order",
        Many.SET: f"set of {kind}",
    }
    return lists[node.many]


def _absent(node: Node) -> str:
    if node.row.output:
        return "never read, never sent"
    if node.row.required:
        return "an error"
    return "the live value stays" if node.row.filled else "wanted empty"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
