"""YAML to nodes, by libyaml, and what is wrong with a text as a sentence with a place.

libyaml's own limits hold for depth: from 0.2.6 on it refuses more than 1,000 levels before anything recurses.
"""

from __future__ import annotations

import operator
import re
from io import BytesIO
from itertools import repeat
from typing import Any

from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs leave it out of __all__
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import Node, ScalarNode
from yaml.reader import ReaderError

from reconciler.spec.places import PLAIN, BrokenError, Place, broken, place_of

MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_VALUES = 200_000  # per document, with what aliases repeat
MAX_DEPTH = 100
QUOTED = "quoted"
COLLECTION = "collection"

_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_TAB_BEFORE_CLOSER = re.compile(rb"(?m)^\t[\t ]*(?=[\]},])")
_CONFLICT = re.compile(rb"(?m)^(?:<<<<<<<|>>>>>>>) ")
_SURROGATES = re.compile(rb"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")


class _Stream(BytesIO):
    """The text under the name that libyaml writes into the marks of nodes."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


class _Composer(CParser):
    """Nodes whose tag says how a scalar was written; PyYAML's resolver of types, with its YAML 1.1, has no part in it.

    The two hooks are called for every node, so they are C callables: one that does nothing, and one that runs out.
    """

    descend_resolver = operator.is_

    def __init__(self, data: bytes, path: str) -> None:
        super().__init__(_Stream(data, path))

    def start_document(self) -> None:
        self.ascend_resolver = repeat(None, MAX_VALUES).__next__

    @staticmethod
    def resolve(kind: type[Node], _value: Any, implicit: tuple[bool, bool]) -> str:
        if kind is ScalarNode:
            return PLAIN if implicit[0] else QUOTED
        return COLLECTION


def compose(data: bytes, path: str) -> list[Node]:
    """The documents of a YAML or JSON text. Raises BrokenError for the first thing that makes it none."""
    if data.startswith(_UTF16):
        raise broken(Place(path, 1, 1), "encoding", "this is UTF-16, not UTF-8", "save it as UTF-8")
    try:
        return _compose(data, path)
    except MarkedYAMLError as error:
        mended = _mended(data)
        if mended != data:
            try:
                return _compose(mended, path)
            except YAMLError:  # what is wrong with the text as it stands is what people can act on
                pass
        raise _syntax(error, data, path) from None
    except ReaderError as error:
        raise _encoding(error, data, path) from None


def _compose(data: bytes, path: str) -> list[Node]:
    composer = _Composer(data, path)
    documents: list[Node] = []
    try:
        while composer.check_node():
            composer.start_document()
            documents.append(composer.get_node())  # type: ignore[arg-type]  # there is one: check_node says so
    except StopIteration:
        raise broken(Place(path), "too-many-values", f"a document of more than {MAX_VALUES:,} values") from None
    finally:
        composer.dispose()
    return documents


def _mended(data: bytes) -> bytes:
    """The text with two things that JSON allows and libyaml doesn't put in its terms, without moving a line.

    A tab before a closing bracket, where the JSON stands under a YAML key; and, in a text that is all JSON, characters
    beyond 16 bits escaped as surrogate pairs.
    """
    data = _TAB_BEFORE_CLOSER.sub(lambda match: b" " * len(match[0]), data)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        data = _SURROGATES.sub(_joined, data)
    return data


def _joined(match: re.Match[bytes]) -> bytes:
    high, low = int(match[2], 16), int(match[3], 16)
    return match[1] + b"\\U%08x" % (0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _encoding(error: ReaderError, data: bytes, path: str) -> BrokenError:
    before = data[: error.position]
    column = len(before.rpartition(b"\n")[2].decode(errors="replace")) + 1
    place = Place(path, before.count(b"\n") + 1, column)
    if "control" in error.reason:
        what = f"not a text: it holds the control character U+{error.character:04X}"
        return broken(place, "encoding", what, "save it as UTF-8 text")
    return broken(place, "encoding", f"not UTF-8: {error.reason}", "save it as UTF-8")


def _syntax(error: MarkedYAMLError, data: bytes, path: str) -> BrokenError:
    mark = error.problem_mark or error.context_mark
    place = Place(path) if mark is None else place_of(mark)
    problem, context = str(error.problem), error.context
    begun = f" (from line {error.context_mark.line + 1})" if error.context_mark is not None else ""
    if "nesting depth" in problem:
        return broken(place, "too-deep", f"nested more than {MAX_DEPTH} levels deep")
    if context is not None and "duplicate anchor" in context:
        message = f"this anchor is defined a second time{begun.replace('from', 'first on')}"
        return broken(place, "yaml", message, "give it a name of its own")
    where = f" {context}{begun}" if context is not None and not context.startswith("while scanning for") else ""
    return broken(place, "yaml", f"not valid YAML: {problem}{where}", _hint(problem, error, data, place))


def _hint(problem: str, error: MarkedYAMLError, data: bytes, place: Place) -> str:
    """What to do about the mistakes that people make most."""
    lines = data.decode("utf-8-sig", errors="replace").splitlines()
    line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    found = line[place.column - 1 : place.column]
    if _CONFLICT.search(data):
        return "a merge conflict was left in the file"
    if found == "\t":
        return "indent with spaces: YAML allows no tabs there"
    if found and found in "@`%" and "cannot start any token" in problem:
        return "put the value in quotes"
    if "mapping values are not allowed" in problem:
        return 'a value that holds ": " goes in quotes'
    if "undefined alias" in problem:
        return "define its anchor (&) further up, or put the value in quotes"
    if "<document start>" in problem:
        return "begin the next document with ---"
    if "could not find expected ':'" in problem and error.context_mark is not None and error.context_mark.column == 0:
        return 'pasted JSON begins on the line of its key ("spec: {"), and a key ends with ":"'
    return ""
