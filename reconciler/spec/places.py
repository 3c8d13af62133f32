"""Places in files: from a path in a document to the file, line and column where people wrote it.

Nodes are what the YAML parser made, each marked with its file, so that a document whose parts come from several files
(`_defaults.yaml`) still knows where each part stands. Lookups are for findings: reading a sound file makes none.
"""

from __future__ import annotations

from typing import NamedTuple

from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from reconciler.spec.findings import Finding, Path, Severity
from reconciler.spec.tree import squash

PLAIN = "plain"  # the tag of a scalar without quotes: its type follows from its text


class Place(NamedTuple):
    """Lines and columns count from 1; 0 where the whole file is meant."""

    file: str
    line: int = 0
    column: int = 0


class BrokenError(Exception):
    """What keeps a whole file or document from being read, as a finding. Caught where documents are put together."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def place_of(mark: Mark) -> Place:
    return Place(mark.name, mark.line + 1, mark.column + 1)


def finding(place: Place, rule: str, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> Finding:
    return Finding(*place, rule, severity, visible(message), visible(hint))


def visible(text: str) -> str:
    """The text in one line without control characters, which a quoted key or file name may bring along."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def broken(place: Place, rule: str, message: str, hint: str = "") -> BrokenError:
    return BrokenError(finding(place, rule, message, hint))


def find(root: Node, path: Path) -> Place:
    """Where `path` leads: the key of a map's entry, the start of a list's item; as far as there is a way."""
    mark, node = root.start_mark, root
    for part in path:
        step = _step(node, part)
        if step is None:
            break
        head, node = step
        mark = head.start_mark
    return place_of(mark)


def literal(root: Node, path: Path) -> str | None:
    """The text of the plain scalar at `path`, as it stands in the file; None where there is none."""
    node = root
    for part in path:
        step = _step(node, part)
        if step is None:
            return None
        node = step[1]
    return str(node.value) if isinstance(node, ScalarNode) and node.tag == PLAIN else None


def _step(node: Node, part: str | int) -> tuple[Node, Node] | None:
    """The node that marks the place of a part, and the part itself."""
    if isinstance(part, int):
        if isinstance(node, SequenceNode) and part < len(node.value):
            item: Node = node.value[part]
            return item, item
    elif isinstance(node, MappingNode):
        return _entry(node, part)
    return None


def _entry(node: MappingNode, key: str) -> tuple[Node, Node] | None:
    pairs: list[tuple[Node, Node]] = node.value
    for pair in pairs:
        if pair[0].value == key:
            return pair
    plain = squash(key)
    for pair in pairs:
        if isinstance(pair[0].value, str) and squash(pair[0].value) == plain:
            return pair
    return None
