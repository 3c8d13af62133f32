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


# What to do about files that can't be read as cluster files, where nothing nearer can be said.
_ADVICE = {
    "cycle": "write the value out instead of its alias",
    "defaults": "take it out of the defaults",
    "empty": "describe a cluster in it, or delete it",
    "key": 'write each entry as "name: value"',
    "merge": "write <<: *anchor, or <<: [*one, *other]",
    "no-files": "put a cluster file there ('reconciler init' writes one), or name another folder",
    "no-such-file": "look at the spelling, and at the folder that the command runs in",
    "script-syntax": "'bash -n FILE' says the same, and more",
    "too-deep": "nothing in a cluster file is nested like that: look at brackets and aliases",
    "too-many-values": "split the file, and write values out instead of their aliases",
    "type": "write the fields of the cluster, each on a line of its own",
    "unreadable": "make it a regular file that may be read and isn't larger than it needs to be",
    "yaml": "look there and just before: brackets and quotes must be closed, and what belongs together indented alike",
}


def finding(place: Place, rule: str, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> Finding:
    """A finding in one line each, which says what to do whatever it is (contract section 2)."""
    return Finding(*place, rule, severity, visible(message), visible(hint or _ADVICE.get(rule, "")))


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
