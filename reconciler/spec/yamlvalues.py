"""Nodes to Python values by the core schema of YAML 1.2, in one pass, with every problem reported at its place.

`on`, `yes`, `12:30:00` and dates are strings and `010` is ten. The one thing taken from YAML 1.1 is the merge key `<<`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from reconciler.spec.findings import Finding
from reconciler.spec.places import PLAIN, Place, broken, finding, place_of
from reconciler.spec.yamlnodes import COLLECTION, MAX_DEPTH, MAX_VALUES, QUOTED

_CORE = "tag:yaml.org,2002:"
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_INT = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_MAX_DIGITS = 100  # far above any field, far below where Python refuses to print a number
_MAX_KEYS = 1_000  # of one mapping; lookups of places go through them one by one
_MAX_MERGED = 10_000  # keys that one << looks at
_KEY_TAGS = frozenset({PLAIN, QUOTED, _CORE + "str"})
_EXPLICIT: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "bool": (bool,),
    "null": (type(None),),
}


def plain(text: str) -> Any:
    """The value of a scalar without quotes. Raises ValueError, in words for people, for numbers that JSON lacks."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INT.fullmatch(text) or _BASED.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise ValueError(f"a number of {len(text):,} digits")
        return int(text, 0 if text[:2] in ("0o", "0x") else 10)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if math.isinf(number):
            raise ValueError(f"{text[:40]} is too large a number")
        return number
    if _SPECIAL.fullmatch(text):
        raise ValueError(f"{text} is a number that JSON doesn't have")
    return text


class Values:
    """Python values of one document. Reports what is wrong; raises BrokenError where going on makes no sense."""

    def __init__(self, report: Callable[[Finding], None]) -> None:
        self._report = report
        self._left = MAX_VALUES
        self._open: list[Node] = []

    def of(self, node: Node) -> Any:
        if node.__class__ is ScalarNode:
            return self._scalar(node)
        self._enter(node)
        value = self._mapping(node) if node.__class__ is MappingNode else [self.of(item) for item in node.value]
        self._open.pop()
        return value

    def _enter(self, node: Node) -> None:
        if node.tag != COLLECTION and node.tag != _CORE + ("map" if isinstance(node, MappingNode) else "seq"):
            self._wrong_tag(node)
        self._open.append(node)
        if len(self._open) > MAX_DEPTH:
            if len({id(outer) for outer in self._open}) < len(self._open):
                raise broken(place_of(node.start_mark), "cycle", "this value holds itself, through its anchor")
            raise broken(place_of(node.start_mark), "too-deep", f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(node, MappingNode):
            flatten(node)
            if len(node.value) > _MAX_KEYS:
                raise broken(place_of(node.start_mark), "too-many-values", f"a mapping of more than {_MAX_KEYS:,} keys")
        self._left -= len(node.value)
        if self._left < 0:
            message = f"more than {MAX_VALUES:,} values in one document, counting what aliases repeat"
            raise broken(place_of(node.start_mark), "too-many-values", message)

    def _mapping(self, node: Node) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if key_node.tag not in _KEY_TAGS or not key:
                self._wrong_key(key_node)
            elif key in out:
                self._twice(node, key_node)
            else:
                out[key] = self.of(value_node)
        return out

    def _scalar(self, node: Node) -> Any:
        if node.tag == QUOTED:
            return node.value
        try:
            return plain(node.value) if node.tag == PLAIN else self._tagged(node)
        except ValueError as error:
            message = str(error)
            self._report(finding(place_of(node.start_mark), "number", message, "put it in quotes if it is a text"))
            return None

    def _tagged(self, node: Node) -> Any:
        name = node.tag.removeprefix(_CORE)
        if name == "str":
            return node.value
        if name not in _EXPLICIT or not node.tag.startswith(_CORE):
            return self._wrong_tag(node)
        value = plain(node.value)
        if type(value) not in _EXPLICIT[name]:
            message = f'"{node.value[:40]}" is no {name}, though its tag says so'
            self._report(finding(place_of(node.start_mark), "tag", message, "remove the tag"))
        return float(value) if name == "float" and isinstance(value, int) else value

    def _wrong_tag(self, node: Node) -> None:
        tag = "!!" + node.tag.removeprefix(_CORE) if node.tag.startswith(_CORE) else node.tag
        message = f"the tag {tag[:80]} is not allowed here"
        self._report(
            finding(place_of(node.start_mark), "tag", message, "remove it: values get their type from the field")
        )

    def _wrong_key(self, key: Node) -> None:
        if not isinstance(key, ScalarNode):
            message = "a key must be a name, not a list or a mapping"
        else:
            message = "a key has a tag" if key.value else "a key is empty"
        self._report(finding(place_of(key.start_mark), "key", message))

    def _twice(self, node: Node, key: Node) -> None:
        first = next(other for other, _ in node.value if other.value == key.value)
        message = f'the key "{key.value[:80]}" is here twice: on line {first.start_mark.line + 1} too'
        self._report(finding(place_of(key.start_mark), "duplicate-key", message, "keep one of them"))


def flatten(node: MappingNode, within: tuple[Node, ...] = ()) -> None:
    """Put the pairs that `<<` brings in where it stands; a mapping's own keys win, then the first source's.

    Raises BrokenError for merges that can't be. Once done it has nothing left to do, so it may be called again.
    """
    for key, _ in node.value:  # most mappings have none
        if key.value == "<<":
            break
    else:
        return
    merges = [pair for pair in node.value if pair[0].value == "<<" and pair[0].tag == PLAIN]
    if not merges:
        return
    place = place_of(merges[-1][0].start_mark)
    if len(merges) > 1:
        first = merges[0][0].start_mark.line + 1
        raise broken(
            place, "duplicate-key", f'the key "<<" is here twice: on line {first} too', "merge a list: <<: [*a, *b]"
        )
    if len(within) > MAX_DEPTH:
        raise broken(place, "too-deep", f"merged over more than {MAX_DEPTH} levels")
    node.value = [pair for pair in node.value if pair is not merges[0]]
    node.value += _merged(node, merges[0][1], place, (*within, node))


def _merged(node: MappingNode, sources: Node, place: Place, within: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    """The pairs of the sources of a `<<` whose keys `node` doesn't have itself."""
    seen = {key.value for key, _ in node.value if isinstance(key, ScalarNode)}
    pairs: list[tuple[Node, Node]] = []
    looked_at = 0
    for source in [sources] if isinstance(sources, MappingNode) else sources.value:
        if not isinstance(source, MappingNode):
            raise broken(place, "merge", "<< takes a mapping, or a list of mappings")
        if source in within:
            raise broken(place, "cycle", "<< merges a mapping into itself, through its anchor")
        flatten(source, within)
        looked_at += len(source.value)
        if looked_at > _MAX_MERGED:
            raise broken(place, "too-many-values", f"<< brings in more than {_MAX_MERGED:,} keys")
        for key, value in source.value:
            if not isinstance(key, ScalarNode):
                pairs.append((key, value))  # reported where it is read
            elif key.value not in seen:
                seen.add(key.value)
                pairs.append((key, value))
    return pairs
