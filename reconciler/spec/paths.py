"""Field paths as people write them (`ignore_changes`), read against the field table.

    node_pools[a4].scaling_spec        nodePools[*]        labels.cost-center
    orchestrator_spec.slurm_spec.config.DefMemPerCPU       prolog_bash_scripts[0]

They have the shape of the paths that a plan shows. Names go in either spelling; `*` in brackets or in a map's key
stands for any text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reconciler.spec.fields import Kind, Many
from reconciler.spec.findings import did_you_mean
from reconciler.spec.tree import ROOT, Node
from reconciler.spec.tree import snake as snake_name

_PART = re.compile(r"([^.\[\]]+)(?:\[([^\[\]]+)\])?(?:\.(?=.)|\Z)", re.DOTALL)
# What stands below these has names of the user's, which may hold dots: the rest of a path is one key.
MAPS = frozenset({Kind.LABELS, Kind.SLURM, Kind.ANY})


@dataclass(frozen=True, slots=True)
class Segment:
    """One step of a path: a snake_case field name or, below a map, its literal key; `key` is what `[..]` holds."""

    name: str
    key: str | None = None


def parse(pattern: str) -> tuple[Segment, ...]:
    """The segments of a path. Fields that the table doesn't have are let through: `resolve` judges them.

    Raises ValueError, with a sentence for people, where the text isn't a path at all.
    """
    segments: list[Segment] = []
    node: Node | None = ROOT
    position = 0
    while position < len(pattern):
        if node is not None and node.kind in MAPS:
            return (*segments, Segment(pattern[position:]))
        part = _PART.match(pattern, position)
        if part is None:
            raise ValueError(f'"{pattern}" is not a field path such as node_pools[ID].scaling_spec or labels.KEY')
        name, key, position = part[1], part[2], part.end()
        node = node.names.get(name) if node is not None else None
        snake = node.name if node is not None else snake_name(name)
        if node is not None and node.kind in MAPS and key is not None and position == len(pattern):
            return (*segments, Segment(snake), Segment(key))  # labels[KEY] means labels.KEY
        segments.append(Segment(snake, key))
    if not segments:
        raise ValueError("a field path can't be empty")
    return tuple(segments)


def resolve(segments: tuple[Segment, ...]) -> Node:
    """The table's field that the path leads to; for a map's key, the map.

    Raises ValueError, with a sentence for people, where there is no such field.
    """
    node = ROOT
    for position, segment in enumerate(segments):
        if node.kind in MAPS:
            break
        child = node.children.get(segment.name)
        if child is None:
            raise ValueError(_unknown(segment.name, node))
        _check_key(segment, child, is_last=position == len(segments) - 1)
        node = child
    return node


def _unknown(name: str, node: Node) -> str:
    if node is ROOT and name == "spec":
        return 'paths start inside spec: leave out "spec."'
    if not node.children:
        return f"{node.name} is a single value: nothing stands below it"
    where = f"{node.path.replace('[]', '')} has" if node.path else "there is"
    hint = did_you_mean(name, list(node.children)) or "known: " + ", ".join(sorted(node.children))
    return f'{where} no field "{name}"; {hint}'


def _check_key(segment: Segment, node: Node, *, is_last: bool) -> None:
    name, key = segment.name, segment.key
    match node.many:
        case Many.NO if key is not None:
            raise ValueError(f"{name} is not a list: leave out [{key}]")
        case Many.KEYED if key is None and not is_last:
            raise ValueError(f"{name} is a list: say {name}[{node.row.key.upper()}] or {name}[*]")
        case Many.SET if key is not None:
            raise ValueError(f"{name} is compared as a whole: leave out [{key}]")
        case Many.ORDERED if key is not None and not (key.isdecimal() or key == "*"):
            raise ValueError(f"{name}[{key}]: the items of {name} are known by their number from 0, or *")
