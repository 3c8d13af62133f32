"""One cluster file to the clusters it describes: YAML, defaults, scripts, envelope and fields, in that order.

Each step reports what it finds, at its place; a later one isn't taken where an earlier one's faults would mislead it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from yaml.nodes import MappingNode, Node

from reconciler.spec import places
from reconciler.spec.discovery import Found
from reconciler.spec.envelope import read_keys, read_lifecycle, read_name, read_spec, says_present
from reconciler.spec.files import Files, UnreadableError
from reconciler.spec.findings import Finding, Path, Problem, Severity
from reconciler.spec.layers import BrokenDefaultsError, Layers, is_empty
from reconciler.spec.leftout import LeftOut
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.places import BrokenError, Place, finding, place_of
from reconciler.spec.scripts import Scripts
from reconciler.spec.yamlnodes import MAX_FILE_BYTES, compose
from reconciler.spec.yamlvalues import Values

Check = Callable[[Desired], Iterable[Problem]]
# Some checks rely on types and on required fields being there; these faults leave both as they should be.
_HARMLESS = frozenset({"unknown-field", "two-spellings", "script-file"})
_UNREAD = frozenset({"type"})  # whose values aren't there for checks
_MAX_ERRORS = 100  # of one document
_NOWHERE = Place("")
_BAD_DEFAULTS = "the _defaults.yaml of its folder, or of one above, can't be used"


class _EnoughError(Exception):
    """There are more errors than are worth listing."""


@dataclass(slots=True)
class Draft:
    """One document of a file as far as it could be read. A file that can't be read at all is one draft.

    `place` is where it says which cluster it is. `desired` is there once types and required fields are right, whatever
    else is wrong.
    """

    source: str
    document: int = 0
    place: Place = _NOWHERE
    name: ClusterName | None = None
    desired: Desired | None = None
    findings: list[Finding] = field(default_factory=list)
    errors: list[Finding] = field(default_factory=list)
    refusal: str = ""  # why it can't be used, where the finding stands elsewhere

    @property
    def is_usable(self) -> bool:
        return self.desired is not None and not self.errors and not self.refusal

    def add(self, each: Finding) -> None:
        self.findings.append(each)
        if each.severity is Severity.ERROR:
            self.errors.append(each)


class Reader:
    """Reads files one after the other; what they share, defaults and scripts, is read once."""

    def __init__(self, files: Files, checks: Sequence[Check], report: Callable[[Finding], None]) -> None:
        self._files = files
        self._checks = checks
        self._layers = Layers(files, report)
        self._scripts = Scripts(files)

    def read(self, found: Found) -> Iterator[Draft]:
        """The documents of a file; empty ones are passed over."""
        source = self._files.shown(found.path)
        try:
            nodes = [(index, node) for index, node in enumerate(self._compose(found)) if not is_empty(node)]
            if not nodes:
                raise places.broken(Place(found.path), "empty", "there is no cluster in this file")
        except BrokenError as error:
            draft = Draft(source)
            draft.add(self.shown(error.finding))
            yield draft
            return
        for index, node in nodes:
            draft = Draft(source, index)
            if isinstance(node, MappingNode):
                self._document(node, found, draft)
            else:
                message = "a cluster file is a mapping with project, location, cluster_id and spec"
                draft.add(self.shown(finding(place_of(node.start_mark), "type", message)))
            yield draft

    def locate(self, found: Found, document: int, path: Path) -> Place:
        """Where `path` of a document stands, by reading the file again; the whole file if it has changed too much."""
        try:
            node = self._compose(found)[document]
            if isinstance(node, MappingNode):
                node = self._layered(node, found)
                Values(lambda _: None).of(node)  # for its merge keys, which places are then found behind
                return self._place(node, path)
        except (BrokenError, BrokenDefaultsError, IndexError):
            pass
        return Place(self._files.shown(found.path))

    def defaults(self, found: Found) -> bool:
        """Whether the defaults in force where this file stands can be used; they are reported on if not."""
        folder = posixpath.dirname(found.path)
        try:
            root = self._files.root(folder, found.top)
            self._layers.of(folder, root)
        except BrokenDefaultsError:
            return False
        return not self._layers.are_faulty(folder, root)

    def shown(self, each: Finding) -> Finding:
        """The finding with its file's path as people know it."""
        return replace(each, file=self._files.shown(each.file))

    def _place(self, node: Node, path: Path) -> Place:
        place = places.find(node, path)
        return place._replace(file=self._files.shown(place.file))

    def _compose(self, found: Found) -> list[Node]:
        try:
            return compose(self._files.read(found.path, MAX_FILE_BYTES), found.path)
        except UnreadableError as error:
            raise places.broken(Place(found.path), "unreadable", f"can't be read: {error}") from error

    def _layered(self, node: MappingNode, found: Found) -> MappingNode:
        folder = posixpath.dirname(found.path)
        return self._layers.under(node, folder, self._files.root(folder, found.top))

    def _has_faulty_defaults(self, found: Found) -> bool:
        folder = posixpath.dirname(found.path)
        return self._layers.are_faulty(folder, self._files.root(folder, found.top))

    def _document(self, node: MappingNode, found: Found, draft: Draft) -> None:
        def report(each: Finding) -> None:
            self._add(draft, self.shown(each))

        try:
            node = self._layered(node, found)
            draft.refusal = _BAD_DEFAULTS if self._has_faulty_defaults(found) else ""
            raw = Values(report).of(node)
            draft.place = self._place(node, ("cluster_id",))
            if draft.findings:  # the YAML is at fault, so what seems to be missing may just not have been read
                draft.name = read_name(raw, partial(places.literal, node), lambda _: None)
                return
            for key, value in node.value:
                if key.value == "spec" and isinstance(value, MappingNode):
                    root = self._files.root(posixpath.dirname(found.path), found.top)
                    self._scripts.put(raw["spec"], value, root, report)
            self._fields(raw, node, draft)
        except BrokenDefaultsError:
            draft.refusal = _BAD_DEFAULTS
        except BrokenError as error:
            draft.add(self.shown(error.finding))
        except _EnoughError:
            message = f"there are {_MAX_ERRORS} errors by now; what follows is not looked at"
            draft.add(replace(draft.errors[-1], rule="too-many-errors", message=message, hint="mend these first"))

    def _add(self, draft: Draft, each: Finding) -> None:
        """Raises _EnoughError at more errors than anyone will read: to find the places of all would take long."""
        draft.add(each)
        if len(draft.errors) >= _MAX_ERRORS:
            raise _EnoughError

    def _fields(self, raw: dict[str, Any], node: MappingNode, draft: Draft) -> None:
        literal = partial(places.literal, node)

        unread: list[Path] = []

        def report(problem: Problem) -> None:
            if problem.rule in _UNREAD:
                unread.append(problem.path)
            place = problem.place or self._place(node, problem.path)
            self._add(draft, finding(place, problem.rule, problem.message, problem.hint, problem.severity))

        read_keys(raw, report)
        draft.name = read_name(raw, literal, report)
        lifecycle = read_lifecycle(raw.get("lifecycle"), report)
        spec = read_spec(raw, lifecycle, literal, report)
        is_whole = lifecycle is not None and all(each.rule in _HARMLESS for each in draft.errors)
        if draft.name is None or (lifecycle is None and not says_present(raw)):
            return
        desired = Desired(draft.name, draft.source, lifecycle or Lifecycle(), spec, draft.document)
        if is_whole:
            draft.desired = desired
        left_out = LeftOut(unread)
        for problem in [problem for check in self._checks for problem in check(desired)]:
            if is_whole or (problem.is_local and not left_out.touches(problem.path)):
                report(problem)
