"""Cluster files in, clusters out: every file that PATHS name is read, and one bad file hides nothing of the others."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from reconciler.spec.discovery import Found, discover
from reconciler.spec.document import Check, Draft, Reader
from reconciler.spec.files import DiskFiles, Files, MappingFiles
from reconciler.spec.findings import Finding, Severity
from reconciler.spec.findings import Path as FieldPath
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.places import Place, finding
from reconciler.spec.sharing import Sharing

DEFAULT_PATH = "clusters.d"


@dataclass(frozen=True, slots=True)
class Refused:
    """A document, or a whole file, that can't be used: why, by which rules, and for which cluster if that is known."""

    source: str
    message: str
    name: ClusterName | None = None
    document: int = 0
    rules: frozenset[str] = frozenset()


def _every(_name: ClusterName) -> bool:
    return True


@dataclass(frozen=True)
class Loaded:
    """What the files say. Every error is in `findings`, and what has one is in `refused` and not in `clusters`.

    `readable` has the clusters and those of the refused that could be read all the same: what is left to be said of
    them, such as faults of scripts, is worth saying. Nothing else may be done with them. `names` are of all clusters
    that the files name, narrowed down to some or not, and `concerns` tells which it was narrowed down to.
    """

    clusters: tuple[Desired, ...]
    readable: tuple[Desired, ...]
    findings: tuple[Finding, ...]
    refused: tuple[Refused, ...]
    names: frozenset[ClusterName]
    _concern: Mapping[Finding, frozenset[ClusterName | None]] = field(repr=False, compare=False)
    _reader: Reader = field(repr=False, compare=False)
    _found: Mapping[str, Found] = field(repr=False, compare=False)
    concerns: Callable[[ClusterName], bool] = field(default=_every, repr=False, compare=False)

    def select(self, patterns: Iterable[str]) -> Loaded:
        """What concerns the clusters that any of the patterns fits.

        A pattern is a glob over cluster ids or over PROJECT/LOCATION/ID, or a full resource name.
        """
        wanted = tuple(patterns)
        return self.only(lambda name: any(_fits(name, pattern) for pattern in wanted))

    def only(self, chosen: Callable[[ClusterName], bool]) -> Loaded:
        """What concerns these clusters, and what can't be told to concern others."""

        def fits(name: ClusterName | None) -> bool:
            return name is None or chosen(name)

        return replace(
            self,
            clusters=tuple(desired for desired in self.clusters if fits(desired.name)),
            readable=tuple(desired for desired in self.readable if fits(desired.name)),
            findings=tuple(each for each in self.findings if any(fits(name) for name in self._concern[each])),
            refused=tuple(refused for refused in self.refused if fits(refused.name)),
            concerns=lambda name: self.concerns(name) and chosen(name),
        )

    def locate(self, desired: Desired, path: FieldPath) -> Place:
        """Where `path`, from the document's root and in either spelling, stands in the cluster's files, read again."""
        return self._reader.locate(self._found[desired.source], desired.document, path)


def load(
    paths: Iterable[str | Path] = (DEFAULT_PATH,), *, cwd: Path, root: Path | None = None, checks: Sequence[Check] = ()
) -> Loaded:
    """The clusters of files and folders, which are relative to `cwd`.

    `root` is the repository; without it, that is the nearest folder with a `.git` above a file, or else `cwd`. Each
    check is run on each cluster that could be read, and its problems become findings.
    """
    return _load([Path(path).as_posix() for path in paths], DiskFiles(cwd, root), checks)


def load_text(
    files: Mapping[str, bytes], paths: Iterable[str] = (DEFAULT_PATH,), *, cwd: str = "", checks: Sequence[Check] = ()
) -> Loaded:
    """The same from files in memory, such as those of a git revision.

    Their names are posix paths from the repository's root; `paths` are relative to its folder `cwd`.
    """
    return _load(list(paths), MappingFiles(files, cwd), checks)


def _load(paths: list[str], files: Files, checks: Sequence[Check]) -> Loaded:
    common: list[Finding] = []  # what concerns no one cluster
    reader = Reader(files, checks, common.append)
    discovered = discover(paths, files)
    drafts = list(_drafts(discovered.files, reader))
    drafts += [
        Draft(files.shown(found.path), refusal="these defaults can't be used")
        for found in discovered.defaults
        if not reader.defaults(found)
    ]
    _refuse_twins(drafts)
    for each in discovered.findings:
        common.append(each)
        if each.severity is Severity.ERROR:
            drafts.append(Draft(files.shown(each.file), refusal=each.message))
    found_by_source = {files.shown(found.path): found for found in discovered.files}
    return _loaded(drafts, [reader.shown(each) for each in common], reader, found_by_source)


def _drafts(files: Iterable[Found], reader: Reader) -> Iterator[Draft]:
    sharing = Sharing()
    for found in files:
        for draft in reader.read(found):
            if draft.desired is not None:
                sharing.of(draft.desired.spec)
            yield draft


def _refuse_twins(drafts: list[Draft]) -> None:
    """Two documents for one cluster: neither can be used, and each names the other."""
    by_id: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        if draft.name is not None:
            by_id.setdefault((draft.name.location, draft.name.cluster_id), []).append(draft)
    for namesakes in by_id.values():
        for draft in namesakes if len(namesakes) > 1 else ():
            if other := next((each for each in namesakes if each is not draft and _are_twins(draft, each)), None):
                draft.add(_twin_finding(draft, other))


def _are_twins(one: Draft, other: Draft) -> bool:
    """Whether these namesakes are one cluster, or may be: only the service knows which number a project has."""
    first, second = (each.name.project if each.name else "" for each in (one, other))
    return first == second or first.isdigit() != second.isdigit()


def _twin_finding(draft: Draft, other: Draft) -> Finding:
    name = draft.name or ClusterName("", "", "")
    where = f"{other.place.file}:{other.place.line}"
    said = f"{name.cluster_id} in {name.project}/{name.location} is described twice: in {where} too"
    if other.name == draft.name:
        return finding(draft.place, "duplicate-cluster", said, "keep one of them")
    said = f"{said}, if {other.name.project if other.name else ''} is the same project"
    return finding(draft.place, "duplicate-cluster", said, "keep one of them, or name all projects by their ids")


def _loaded(drafts: list[Draft], common: list[Finding], reader: Reader, found: Mapping[str, Found]) -> Loaded:
    concern: dict[Finding, set[ClusterName | None]] = {each: {None} for each in common}
    for draft in drafts:
        for each in draft.findings:
            concern.setdefault(each, set()).add(draft.name)

    def sorted_clusters(drafts: list[Draft]) -> tuple[Desired, ...]:
        return tuple(sorted((each.desired for each in drafts if each.desired), key=lambda desired: desired.name))

    refused = [
        Refused(draft.source, _why(draft), draft.name, draft.document, frozenset(each.rule for each in draft.errors))
        for draft in drafts
        if not draft.is_usable
    ]
    return Loaded(
        clusters=sorted_clusters([draft for draft in drafts if draft.is_usable]),
        readable=sorted_clusters(drafts),
        findings=tuple(sorted(concern, key=lambda each: (each.file, each.line, each.column))),
        refused=tuple(sorted(refused, key=lambda each: (each.source, each.document))),
        names=frozenset(draft.name for draft in drafts if draft.name is not None),
        _concern={each: frozenset(names) for each, names in concern.items()},
        _reader=reader,
        _found=found,
    )


def _why(draft: Draft) -> str:
    errors = draft.errors
    if not errors:
        return draft.refusal
    first = min(errors, key=lambda each: (each.line, each.column))
    place = f"{posixpath.basename(first.file)}:{first.line}: " if first.line else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place}{first.message}{more}"


def _fits(name: ClusterName, pattern: str) -> bool:
    if "/" not in pattern:
        return fnmatchcase(name.cluster_id, pattern)
    return fnmatchcase("/".join(name), pattern) or ClusterName.parse(pattern) == name
