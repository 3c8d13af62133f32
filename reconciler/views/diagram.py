"""A cluster as a Mermaid picture: pools, partitions over them, the login pool; what a plan changes is marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from reconciler.plan.model import Change, ClusterPlan

_PLAIN = re.compile(r"[^\w .:*()+/-]")
_STYLES = (
    "  classDef changed stroke:#9a6700,stroke-width:3px",
    "  classDef added stroke:#1a7f37,stroke-width:3px",
    "  classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:5 3",
)
_POOLS, _PARTITIONS = "node_pools[]", "orchestrator_spec.slurm_spec.partitions[]"


def plan_diagram(plan: ClusterPlan) -> str:
    """The cluster as it will be, with what comes, changes and goes; empty where the plan holds no such picture."""
    body = plan.request.body if plan.request else None
    return diagram(body, plan.changes) if body else ""


def diagram(spec: dict[str, Any], changes: Iterable[Change] = ()) -> str:
    """The Mermaid text of a spec with snake_case names, such as a request's body or a file's typed spec."""
    marks = _marks(changes)
    slurm = _mapping(_mapping(spec.get("orchestrator_spec")).get("slurm_spec"))
    pools = _by_id(spec.get("node_pools")) | _gone(marks, _POOLS)
    partitions = _by_id(slurm.get("partitions")) | _gone(marks, _PARTITIONS)
    default = slurm.get("default_partition_id") or next(iter(_by_id(slurm.get("partitions"))), "")
    numbers = {pool: f"pool{number}" for number, pool in enumerate(pools)}
    lines = ["flowchart LR"]
    lines += _login(slurm.get("login_node_pool_id"), numbers)
    for number, (name, partition) in enumerate(partitions.items()):
        star = " *" if name == default else ""
        lines.append(f'  part{number}(["{_text(name)}{star}"]){marks.get((_PARTITIONS, name), "")}')
        lines += [
            f"  part{number} --> {numbers[pool]}" for pool in _texts(partition.get("node_pool_ids")) if pool in numbers
        ]
    lines += [
        f'  {numbers[name]}["{_label(name, pool)}"]{marks.get((_POOLS, name), "")}' for name, pool in pools.items()
    ]
    return "\n".join([*lines, *_STYLES]) + "\n"


def _marks(changes: Iterable[Change]) -> dict[tuple[str, str], str]:
    """(table, id) -> the class of what a plan does to it."""
    marks: dict[tuple[str, str], str] = {}
    for change in changes:
        table, item = _place(change)
        if not item:
            continue
        whole = change.path.endswith(f"[{item}]")
        if whole and change.before is None:
            marks[table, item] = ":::added"
        elif whole and change.after is None:
            marks[table, item] = ":::removed"
        else:
            marks.setdefault((table, item), ":::changed")
    return marks


def _place(change: Change) -> tuple[str, str]:
    """The table and the id that a change lies in, from its path: a plan that was read from a file has no more."""
    for table in (_POOLS, _PARTITIONS):
        head = table.removesuffix("]")
        if change.path.startswith(head):
            return table, change.path[len(head) :].partition("]")[0]
    return "", ""


def _gone(marks: dict[tuple[str, str], str], table: str) -> dict[str, dict[str, Any]]:
    return {item: {} for (where, item), mark in marks.items() if where == table and mark == ":::removed"}


def _login(pool: object, numbers: dict[str, str]) -> Iterator[str]:
    if isinstance(pool, str) and pool in numbers:
        yield f'  people(("login")) -.-> {numbers[pool]}'


def _label(name: str, pool: dict[str, Any]) -> str:
    machine = _mapping(pool.get("machine_spec")).get("machine_type") or ""
    scaling = _mapping(pool.get("scaling_spec"))
    counts = f"{scaling.get('min_node_count', 0)}-{scaling.get('max_node_count', 0)} nodes" if scaling else "goes"
    return "<br/>".join(_text(part) for part in (name, str(machine), counts) if part)


def _text(text: str) -> str:
    """Ids and machine types are plain words; whatever isn't could be read as Mermaid's or HTML's own."""
    return _PLAIN.sub("_", text)[:60]


def _by_id(items: Any) -> dict[str, dict[str, Any]]:
    return {str(item.get("id")): item for item in items if isinstance(item, dict)} if isinstance(items, list) else {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
