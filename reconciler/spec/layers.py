"""`_defaults.yaml`: what the cluster files in and below a folder have in common, laid under each of them.

Layers are joined as nodes, not as values, so every part keeps the place where it was written. Maps are merged and the
nearer file wins; lists and scalars are replaced (contract section 1).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from functools import partial
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from reconciler.spec import places
from reconciler.spec.envelope import read_lifecycle, read_name, read_spec
from reconciler.spec.fields import Kind
from reconciler.spec.files import Files, FileType, UnreadableError
from reconciler.spec.findings import Finding, Path, Problem, Severity
from reconciler.spec.places import PLAIN, BrokenError, Place, broken, find, finding, place_of
from reconciler.spec.tree import ROOT, squash
from reconciler.spec.tree import Node as Field
from reconciler.spec.yamlnodes import MAX_FILE_BYTES, compose
from reconciler.spec.yamlvalues import Values, flatten

DEFAULTS = "_defaults.yaml"
_DOCUMENT = Field(ROOT.row, "", "", ROOT.impact)  # the document itself, above the resource


class BrokenDefaultsError(Exception):
    """Defaults that concern a file can't be used. They have their own finding; the file is refused."""


class Layers:
    """The defaults of folders, each file read once and reported on once."""

    def __init__(self, files: Files, report: Callable[[Finding], None]) -> None:
        self._files = files
        self._report = report
        self._own: dict[str, MappingNode | None] = {}
        self._broken: set[str] = set()
        self._faulty: set[str] = set()
        self._joined: dict[tuple[str, str], MappingNode | None] = {}

    def under(self, document: MappingNode, folder: str, root: str) -> MappingNode:
        """The document on top of the defaults from `root` down to `folder`.

        Raises BrokenDefaultsError, and BrokenError for merge keys in the document that can't be.
        """
        defaults = self.of(folder, root)
        return document if defaults is None else _join(defaults, document, _DOCUMENT)

    def are_faulty(self, folder: str, root: str) -> bool:
        """Whether some of the defaults for a folder hold a value that can't be, though a nearer file may hide it."""
        return any(layer in self._faulty for layer in _chain(folder, root))

    def of(self, folder: str, root: str) -> MappingNode | None:
        """The defaults for the files of a folder, None where there are none. Raises BrokenDefaultsError."""
        if (folder, root) not in self._joined:
            joined: MappingNode | None = None
            for layer in _chain(folder, root):
                own = self._of_folder(layer)
                if own is not None:
                    joined = own if joined is None else _join(joined, own, _DOCUMENT)
            self._joined[folder, root] = joined
        return self._joined[folder, root]

    def _of_folder(self, folder: str) -> MappingNode | None:
        if folder not in self._own and folder not in self._broken:
            try:
                self._own[folder] = self._read(f"{folder}/{DEFAULTS}")
            except BrokenError as error:
                self._report(error.finding)
                self._broken.add(folder)
        if folder in self._broken:
            raise BrokenDefaultsError
        return self._own[folder]

    def _read(self, path: str) -> MappingNode | None:
        if self._files.type(path) is FileType.MISSING:
            return None
        try:
            documents = compose(self._files.read(path, MAX_FILE_BYTES), path)
        except UnreadableError as error:
            raise broken(Place(path), "unreadable", f"can't be read: {error}") from error
        if len(documents) > 1:
            raise broken(place_of(documents[1].start_mark), "defaults", "defaults are one document, not several")
        if not documents or is_empty(documents[0]):
            return None
        document = documents[0]
        if not isinstance(document, MappingNode):
            raise broken(place_of(document.start_mark), "defaults", "defaults must be a mapping")
        problems: list[Finding] = []
        raw = Values(problems.append).of(document)
        if "cluster_id" in raw:
            message = "cluster_id can't be a default: it is what tells clusters apart"
            raise broken(find(document, ("cluster_id",)), "defaults", message)
        for problem in problems[1:]:
            self._report(problem)
        if problems:
            raise BrokenError(problems[0])
        for wrong in _wrong_values(raw, document):
            self._report(finding(find(document, wrong.path), wrong.rule, wrong.message, wrong.hint))
            self._faulty.add(posixpath.dirname(path))
        return document


def _wrong_values(raw: dict[str, Any], document: MappingNode) -> list[Problem]:
    """What no file could make right by saying more. Files that inherit it are told the same."""
    found: list[Problem] = []
    literal = partial(places.literal, document)
    read_name(raw, literal, found.append)
    read_lifecycle(raw.get("lifecycle"), found.append)
    read_spec({"spec": raw.get("spec"), "lifecycle": {"allow_unknown_fields": True}}, None, literal, found.append)
    return [
        problem
        for problem in found
        if problem.severity is Severity.ERROR
        and problem.rule not in _OF_THE_WHOLE
        and not _is_script(raw, problem.path)
    ]


# What is missing may be in a nearer file, and whether unknown fields are let pass is said there.
_OF_THE_WHOLE = frozenset({"required", "unknown-field"})


def _is_script(raw: Any, path: Path) -> bool:
    """Whether `{file: …}` stands there, which is a text to anybody who reads the document after its scripts."""
    value = raw
    for part in path:
        value = value[part]
    return isinstance(value, dict) and value.keys() == {"file"}


def is_empty(document: Node) -> bool:
    """Whether there is nothing between two `---` but comments."""
    return isinstance(document, ScalarNode) and document.tag == PLAIN and not document.value


def _chain(folder: str, root: str) -> list[str]:
    """The folders from the root down to this one."""
    chain = [folder]
    while chain[-1] not in (root, "/"):
        chain.append(posixpath.dirname(chain[-1]))
    return chain[::-1]


def _join(base: MappingNode, near: MappingNode, field: Field | None) -> MappingNode:
    """`near` on top of `base`, both being what `field` holds.

    Two spellings of one field within `near` stay two, to be reported when the document is read.
    """
    flatten(base)
    flatten(near)
    under = {_meaning(key.value, field)[0]: value for key, value in base.value}
    said: set[str] = set()
    pairs: list[tuple[Node, Node]] = []
    for key, value in near.value:
        joined = value
        if isinstance(key, ScalarNode):  # any other key is reported when the document is read
            name, inner = _meaning(key.value, field)
            said.add(name)
            below = under.get(name)
            if isinstance(value, MappingNode) and isinstance(below, MappingNode):
                joined = _join(below, value, inner)
        pairs.append((key, joined))
    pairs += [pair for pair in base.value if _meaning(pair[0].value, field)[0] not in said]
    return MappingNode(near.tag, pairs, near.start_mark, near.end_mark)


def _meaning(key: str, field: Field | None) -> tuple[str, Field | None]:
    """What a key in a mapping says, the same for spellings that mean the same; and the field that it leads to.

    None stands for mappings whose keys mean just what they say: labels, the lifecycle, fields that nobody knows.
    """
    if field is _DOCUMENT:
        return key, ROOT if key == "spec" else None
    if field is None or field.kind is not Kind.MESSAGE:
        return squash(key) if field is not None and field.kind is Kind.SLURM else key, None
    child = field.names.get(key)
    return (key, None) if child is None else (child.name, child)
