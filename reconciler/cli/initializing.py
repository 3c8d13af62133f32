"""The work of `init`: which files there are to be, and writing them, all or none."""

from __future__ import annotations

import os
import re
from pathlib import Path

import typer

from reconciler.cli.output import say, show, write_file
from reconciler.engine import scaffold
from reconciler.engine.scaffold import Files
from reconciler.errors import InputError, UsageError
from reconciler.plan.status import live_status
from reconciler.spec import rules
from reconciler.spec.findings import Severity
from reconciler.spec.loader import Loaded, load, load_text
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

# What can stand in YAML as it is; whether it is a name is told by the rules.
_PLAIN = re.compile(r"[A-Za-z0-9][\w.:-]*", re.ASCII)


def first_cluster(folder: Path, name: ClusterName, *, asked: bool) -> Files:
    """The starter, or nothing where there are clusters already, which is an InputError if it was `asked` for.

    Raises UsageError for names that are none.
    """
    for option, value in zip(("--project", "--location", "--cluster-id"), name, strict=True):
        _require_plain(option, value)
    others = _described(folder) - {str(scaffold.cluster_path(name.cluster_id))}
    if others and asked:
        raise InputError(
            f"{scaffold.FOLDER} has clusters already, such as {min(others)}",
            hint="only the first one is written here: copy a file, or leave out --project, --location and --cluster-id",
        )
    if others:
        say(f"no first cluster file: {scaffold.FOLDER} has clusters already")
        return {}
    files = scaffold.starter(name)
    for finding in _loaded(files).findings:
        if finding.severity is Severity.ERROR:
            raise UsageError(finding.message, hint=finding.hint)
    return files


def live_clusters(
    context: typer.Context, folder: Path, place: str, endpoint: str | None, impersonate: str | None
) -> Files:
    """Files for the clusters that are in a place; those that have a file already are left out.

    Raises InputError where there is none.
    """
    from reconciler.cli.clusters import places
    from reconciler.cli.session import connect
    from reconciler.views.findings import findings_text

    ((project, location),) = places(place)
    _require_plain("--from-live", project)
    _require_plain("--from-live", location)
    with connect(context, endpoint, impersonate) as cloud:
        answers = list(cloud.clusters.list(project, location))
    if not answers:
        raise InputError(f"there are no clusters in {project}/{location}", hint="leave out --from-live")
    has_defaults = (folder / scaffold.DEFAULTS).exists()  # kept, whatever they say
    files = {} if has_defaults else scaffold.defaults(project, location)
    known = _sources(folder)
    for answer in answers:
        shown = ClusterName.parse(answer["name"])
        assert shown is not None  # noqa: S101 - Clusters.list sees to it
        name = ClusterName(project, location, shown.cluster_id)
        path = str(scaffold.cluster_path(name.cluster_id))
        if known.get(name, path) != path:
            say(f"left out: {name.cluster_id} is in {known[name]}")
        elif live_status(read_live(answer)).state == "STOPPING":
            say(f"left out: {name.cluster_id} is being deleted")
        else:
            _merge(files, scaffold.taken_over(name, answer))
    if findings := _loaded(files).findings:
        say(findings_text(findings))
    return files


def write_all(folder: Path, files: Files, *, force: bool) -> None:
    """Write the files, each whole, and say of each what became of it. Raises InputError before the first one.

    Configurations of pre-commit and of an editor that are there already hold other things too: they stay as they are.
    """
    root = folder.resolve()
    current = {path: _current(root, root / path) for path in files}
    kept = {path for path in (scaffold.HOOK, scaffold.EDITOR) if current.get(path) is not None}
    taken = [path for path in files if current[path] not in (None, files[path]) and path not in kept]
    if taken and not force:
        raise InputError(
            f"already there, and different: {', '.join(map(str, taken))}",
            hint="nothing was written; say --force to overwrite them",
        )
    for path, text in files.items():
        target = root / path
        shown = os.path.relpath(target)
        if current[path] == text:
            show(f"unchanged {shown}")
        elif path in kept:
            show(f"kept {shown}")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, text)
            show(f"wrote {shown}")
    if scaffold.HOOK in kept and "reconciler-validate" not in (current[scaffold.HOOK] or ""):
        show(f"add to the repos of {os.path.relpath(root / scaffold.HOOK)}:\n{scaffold.hook_entry(files)}")
    _say_where_github_looks(root, files)


def _current(root: Path, target: Path) -> str | None:
    """The text that is there; None where nothing is. Raises InputError for what can't be a file of the repository."""
    shown = os.path.relpath(target)
    if not target.resolve().is_relative_to(root):
        raise InputError(f"{shown} leads out of {root} by a symbolic link", hint="nothing was written")
    try:
        return target.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except (IsADirectoryError, NotADirectoryError):
        raise InputError(f"{shown} can't be a file: a folder is there, or a file above it") from None


def _say_where_github_looks(root: Path, files: Files) -> None:
    flows = any(path.parts[0] == ".github" for path in files)
    above = next((parent for parent in root.parents if (parent / ".git").exists()), None)
    if flows and above and not (root / ".git").exists():
        say(f"note: GitHub looks for workflows at the repository's root alone, {os.path.relpath(above)}")


def _require_plain(option: str, value: str) -> None:
    if not _PLAIN.fullmatch(value):
        raise UsageError(f"{option}: {value!r} holds characters that no name has")


def _merge(files: Files, more: Files) -> None:
    if clash := files.keys() & more.keys():
        raise InputError(f"two clusters would have a file of the same name: {', '.join(map(str, clash))}")
    files.update(more)


def _loaded(files: Files) -> Loaded:
    texts = {str(path): text.encode() for path, text in files.items()}
    return load_text(texts, [str(scaffold.FOLDER)], checks=(rules.check,))


def _existing(folder: Path) -> Loaded | None:
    return load([str(scaffold.FOLDER)], cwd=folder.resolve()) if (folder / scaffold.FOLDER).exists() else None


def _described(folder: Path) -> set[str]:
    """The files that describe clusters, or try to."""
    loaded = _existing(folder)
    return {each.source for each in loaded.readable} | {each.source for each in loaded.refused} if loaded else set()


def _sources(folder: Path) -> dict[ClusterName, str]:
    """The clusters that have a file, and which."""
    loaded = _existing(folder)
    return {desired.name: desired.source for desired in loaded.readable} if loaded else {}
