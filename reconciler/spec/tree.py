"""The field table compiled into a tree that follows the shape of the resource, with inheritance resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from reconciler.spec.fields import FIELDS, Field, Impact, Kind, Many

_TEXTS = frozenset({Kind.STRING, Kind.ENUM, Kind.RESOURCE, Kind.IMAGE, Kind.SCRIPT})


_CAPITAL = re.compile(r"(?<=[a-z0-9])[A-Z]")


def camel(snake: str) -> str:
    """The JSON name of a snake_case field, as proto3 JSON mapping makes it: `node_pools` -> `nodePools`."""
    head, *rest = snake.split("_")
    return head + "".join(part.capitalize() for part in rest)


def snake(name: str) -> str:
    """The snake_case name of a field in either spelling: `nodePools` -> `node_pools`, as masks have it (S2)."""
    return _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)


def squash(name: str) -> str:
    """A name without case and underscores: the same for `node_pools` and `nodePools`, and for Slurm's spellings."""
    return name.replace("_", "").lower()


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One field in its place. `mask` and `impact` are the ones in force; `children` and `names` are for messages.

    `names` maps every accepted spelling (snake_case and camelCase) to the child, so reading needs no case conversion.
    """

    row: Field
    path: str
    mask: str
    impact: Impact
    children: dict[str, Node] = field(default_factory=dict)
    names: dict[str, Node] = field(default_factory=dict)
    # Of the row; asked for every value of every file, so they are looked up once.
    name: str = field(init=False)
    kind: Kind = field(init=False)
    many: Many = field(init=False)
    is_text: bool = field(init=False)  # a single value that any string will do for

    def __post_init__(self) -> None:
        for attribute in ("name", "kind", "many"):
            object.__setattr__(self, attribute, getattr(self.row, attribute))
        object.__setattr__(self, "is_text", self.kind in _TEXTS and self.many is Many.NO)


def _compile() -> Node:
    root = Node(Field("", Kind.MESSAGE, "S2", "ModelDevelopmentCluster"), "", "", Impact.IN_PLACE)
    by_path = {"": root}
    for row in FIELDS:
        parent = by_path[row.path.removesuffix("[]").rpartition(".")[0]]
        node = Node(row, row.path, row.mask or parent.mask, parent.impact if row.impact is None else row.impact)
        by_path[row.path] = node
        parent.children[row.name] = node
        parent.names[row.name] = parent.names[camel(row.name)] = node
    return root


ROOT = _compile()
MASK_PATHS = frozenset(row.mask for row in FIELDS if row.mask)
