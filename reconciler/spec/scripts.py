"""Scripts that a cluster file names: `{file: …}` wherever the API wants a script's text (contract section 1).

Each text knows where it stands, so that what is wrong in line 7 of a script can be told as a line of a file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from reconciler.spec.fields import Kind, Many
from reconciler.spec.files import Files, UnreadableError, within
from reconciler.spec.findings import Finding, Path
from reconciler.spec.places import finding, place_of
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT
from reconciler.spec.tree import Node as Field

MAX_SCRIPT_BYTES = 1024 * 1024


class ScriptText(str):
    """A script's text. `line` is where in `file` its first line stands, from 1.

    `in_step` says that line breaks of the text are those of the file: true of files and of `|` blocks, not of a text in
    quotes.
    """

    __slots__ = ("file", "in_step", "line")
    file: str
    line: int
    in_step: bool

    def __new__(cls, text: str, file: str = "", line: int = 0, *, in_step: bool = False) -> ScriptText:
        script = super().__new__(cls, text)
        script.file = file
        script.line = line
        script.in_step = in_step
        return script


class FileText(ScriptText):
    """The text of a script file; `file` is its path as people know it."""

    __slots__ = ()


@cache
def holds_scripts(field: Field) -> bool:
    """Whether the field, or one below it, is a script."""
    return field.kind is Kind.SCRIPT or any(holds_scripts(child) for child in field.children.values())


def scripts_of(spec: Typed) -> Iterator[tuple[Path, Field, str]]:
    """The scripts in a typed spec, each with its path from the spec and its field."""
    yield from _below(spec, ROOT, ())


def _below(value: Any, field: Field, path: Path) -> Iterator[tuple[Path, Field, str]]:
    if field.kind is Kind.SCRIPT:
        yield path, field, value
        return
    for name, child in field.children.items():
        if name in value and holds_scripts(child):
            if child.many is Many.NO:
                yield from _below(value[name], child, (*path, name))
            else:
                for index, item in enumerate(value[name]):
                    yield from _below(item, child, (*path, name, index))


class Scripts:
    """Puts scripts' texts into specs as they were written. Each file is read once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._read: dict[tuple[str, str], FileText] = {}
        self._known: dict[tuple[str, str, str], FileText] = {}  # by folder, reference and root

    def put(self, spec: dict[str, Any], node: MappingNode, root: str, report: Callable[[Finding], None]) -> None:
        """Replace `{file: …}` and inline scripts in `spec`, the values of `node`, by texts that know their place.

        Files are looked for from the folder of the YAML file that names them, and taken from `root` alone.
        """
        _Placement(self, root, report).message(spec, node, ROOT)

    def text(self, reference: str, origin: str, root: str) -> FileText:
        """The script that the YAML file `origin` calls `reference`. Raises UnreadableError with what is wrong."""
        folder = posixpath.dirname(origin)
        known = self._known.get((folder, reference, root))
        if known is None:
            known = self._known[folder, reference, root] = self._find(reference, folder, root)
        return known

    def _find(self, reference: str, folder: str, root: str) -> FileText:
        path = posixpath.join(folder, reference)
        if posixpath.isabs(reference) or "\0" in reference:
            raise UnreadableError("not a relative path")
        target = self._files.real(path)
        if not within(target, self._files.real(root)):
            raise UnreadableError("outside the repository")
        if ".git" in (part.lower() for part in posixpath.relpath(target, self._files.real(root)).split("/")):
            raise UnreadableError("inside a .git folder, which may hold credentials")
        shown = self._files.shown(posixpath.normpath(path))
        if (target, shown) not in self._read:
            self._read[target, shown] = FileText(self._content(target), shown, 1, in_step=True)
        return self._read[target, shown]

    def shown(self, node: Node) -> str:
        """The file of a node as people know it."""
        return self._files.shown(node.start_mark.name)

    def _content(self, path: str) -> str:
        data = self._files.read(path, MAX_SCRIPT_BYTES)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UnreadableError(f"not UTF-8 in line {line}") from error


class _Placement:
    """One walk over a spec and its nodes, along the fields that hold scripts. Wrong types are left for the reader."""

    def __init__(self, scripts: Scripts, root: str, report: Callable[[Finding], None]) -> None:
        self._scripts = scripts
        self._root = root
        self._report = report

    def message(self, raw: dict[str, Any], node: MappingNode, field: Field) -> None:
        for key_node, value_node in node.value:
            key = key_node.value
            child = field.names.get(key)
            if child is not None and holds_scripts(child):
                raw[key] = self._value(raw[key], value_node, child)

    def _value(self, raw: Any, node: Node, field: Field) -> Any:
        if field.many is Many.NO:
            return self._item(raw, node, field)
        if not isinstance(raw, list):
            return raw
        return [self._item(item, item_node, field) for item, item_node in zip(raw, node.value, strict=True)]

    def _item(self, raw: Any, node: Node, field: Field) -> Any:
        if field.kind is Kind.SCRIPT:
            return self._script(raw, node)
        if isinstance(raw, dict) and isinstance(node, MappingNode):
            self.message(raw, node, field)
        return raw

    def _script(self, raw: Any, node: Node) -> Any:
        if isinstance(raw, str) and isinstance(node, ScalarNode):
            in_step = node.style == "|"
            # The text of a block begins on the line below its "|"; lines count from 1 here and from 0 in marks.
            line = node.start_mark.line + 1 + in_step
            return ScriptText(raw, self._scripts.shown(node), line, in_step=in_step)
        if not isinstance(raw, dict):
            return raw
        reference = raw.get("file")
        if len(raw) != 1 or not isinstance(reference, str) or not reference.strip():
            return self._wrong(node, "a script is its text, or {file: PATH} and nothing else")
        try:
            return self._scripts.text(reference, node.start_mark.name, self._root)
        except UnreadableError as error:
            return self._wrong(node, f"script {reference[:200]}: {error}")

    def _wrong(self, node: Node, message: str) -> ScriptText:
        """Report it, and let an empty text stand for it, which has nothing more to be reported."""
        hint = "paths start from the YAML file that names them, and stay in the repository"
        self._report(finding(place_of(node.start_mark), "script-file", message, hint))
        return ScriptText("")
