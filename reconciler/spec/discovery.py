"""Which files are cluster files: what PATHS name, and what stands in folders among them (contract section 1)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from reconciler.spec.files import Files, FileType, UnreadableError
from reconciler.spec.findings import Finding, Severity
from reconciler.spec.layers import DEFAULTS
from reconciler.spec.places import Place, finding, visible

_SUFFIXES = (".yaml", ".yml", ".json")
_NEARLY_DEFAULTS = ("_defaults.yml", "_defaults.json")


class Found(NamedTuple):
    """A file, and the folder among PATHS that it was found under."""

    path: str
    top: str


@dataclass(slots=True)
class Discovered:
    """Cluster files, each once, by path; defaults that were named outright; and what is wrong with PATHS."""

    files: list[Found] = field(default_factory=list)
    defaults: list[Found] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def discover(paths: Iterable[str], files: Files) -> Discovered:
    """The cluster files of PATHS. Folders are gone through, with links in them followed, and no folder twice."""
    return _Search(files).of(paths)


class _Search:
    def __init__(self, files: Files) -> None:
        self._files = files
        self._out = Discovered()
        self._seen: set[str] = set()

    def of(self, paths: Iterable[str]) -> Discovered:
        tops = [self._files.absolute(path) for path in paths]
        for top in tops:
            self._path(top)
        out = self._out
        if not (out.files or out.defaults or out.findings):
            for top in tops:
                message = "no cluster file (*.yaml, *.yml or *.json) in this folder"
                self._report(top, "no-files", message, severity=Severity.WARNING)
        out.files.sort()
        return out

    def _path(self, path: str) -> None:
        match self._files.type(path):
            case FileType.FOLDER:
                for each in self._walk(path):
                    self._add(self._out.files, each, path)
            case FileType.FILE:
                named = self._out.defaults if posixpath.basename(path) == DEFAULTS else self._out.files
                self._add(named, path, posixpath.dirname(path))
            case FileType.OTHER:
                self._report(path, "unreadable", "not a regular file")
            case _:
                self._report(path, "no-such-file", "no such file or folder")

    def _walk(self, top: str) -> Iterator[str]:
        folders = [top]
        while folders:
            folder = folders.pop()
            if self._is_new(folder):
                for name, is_folder in self._entries(folder):
                    path = posixpath.join(folder, name)
                    if name in _NEARLY_DEFAULTS:
                        self._report(path, "defaults", "not read as defaults", f"call it {DEFAULTS}", Severity.WARNING)
                    elif name.startswith(("_", ".")):
                        continue
                    elif is_folder:
                        folders.append(path)
                    elif name.endswith(_SUFFIXES):
                        yield path

    def _entries(self, folder: str) -> list[tuple[str, bool]]:
        try:
            return self._files.entries(folder)
        except UnreadableError as error:
            self._report(folder, "unreadable", f"can't be read: {error}")
            return []

    def _add(self, out: list[Found], path: str, top: str) -> None:
        if self._is_new(path):
            if self._files.shown(path).isprintable():
                out.append(Found(path, top))
            else:
                self._report(path, "unreadable", "its name has characters that can't be shown", "rename it")

    def _is_new(self, path: str) -> bool:
        real = self._files.real(path)
        if real in self._seen:
            return False
        self._seen.add(real)
        return True

    def _report(self, path: str, rule: str, message: str, hint: str = "", severity: Severity = Severity.ERROR) -> None:
        # Names may hold bytes that aren't UTF-8, and line breaks, which no output could carry.
        self._out.findings.append(finding(Place(visible(path)), rule, message, hint, severity))
