"""Cluster files for commands: loading them, choosing among them, saying what is wrong with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reconciler.cli.inputs import check_text
from reconciler.cli.output import say
from reconciler.errors import InputError, UsageError
from reconciler.plan.model import ClusterPlan, PlanError
from reconciler.spec.loader import Loaded, Refused, load, load_text
from reconciler.spec.names import ClusterName

if TYPE_CHECKING:
    from reconciler.engine.revision import RevisionFiles
    from reconciler.plan.base import Base
    from reconciler.plan.shard import Shard
    from reconciler.spec.model import Desired

DEFAULT_PATHS = (Path("clusters.d"),)


def load_files(paths: Sequence[Path] | None, only: Sequence[str] | None, shard: str | None = None) -> Loaded:
    """The clusters of the files, checked by every rule. Findings are in the result; nothing is raised for them.

    `shard` is I/N or auto, None for all clusters. Raises UsageError where it makes no sense, and where `--cluster` fits
    no cluster.
    """
    from reconciler.spec import rules

    part = _shard(shard) if shard is not None else None
    loaded = load(paths or DEFAULT_PATHS, cwd=Path.cwd(), checks=(rules.check,))
    chosen = loaded.select(only) if only else loaded
    if only and not chosen.clusters and not chosen.refused:
        known = ", ".join(desired.name.cluster_id for desired in loaded.clusters) or "none"
        raise UsageError(f"--cluster {' '.join(only)} fits no cluster of the files", hint=f"known: {known}")
    if part is None:
        return chosen
    mine = chosen.only(part.has)
    say(f"shard {part}: {len(mine.clusters)} of {len(chosen.clusters)} clusters")
    return mine


def _shard(text: str) -> Shard:
    from reconciler.plan.shard import parse

    try:
        return parse(text, os.environ)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from None


def refused(loaded: Loaded) -> list[PlanError]:
    """The files and clusters that can't be used, as errors that stand in the plan beside the others."""
    waived = doubtful(loaded)
    return [_as_error(each) for each in loaded.refused if each.name not in waived]


def doubtful(loaded: Loaded) -> dict[ClusterName, PlanError]:
    """Clusters that only break rules of the service, each with the error that this is unless it is live just so.

    A live cluster may break a rule that isn't the service's own any more, or never was: sources differ. Its file, as
    `import` writes it, must plan to nothing.
    """
    from reconciler.spec.rules import RULES

    waivable = frozenset(rule.id for rule in RULES) - _NEVER_WAIVED
    readable = {desired.name for desired in loaded.readable}
    return {
        each.name: _as_error(each)
        for each in loaded.refused
        if each.name in readable and each.rules and each.rules <= waivable
    }


# What stands for one thing twice, or says how the file is to be read, can't be compared in spite of it.
_NEVER_WAIVED = frozenset(
    {"duplicate-id", "empty-id", "slurm-same-parameter", "ignore-changes", "time-zone", "project", "location"}
)


def _as_error(each: Refused) -> PlanError:
    return PlanError(source=each.source, code="invalid_input", message=each.message, cluster=str(each.name or ""))


def to_plan(loaded: Loaded) -> list[Desired]:
    """The clusters to be planned: the usable ones, and those in doubt."""
    waived = doubtful(loaded)
    return [*loaded.clusters, *(desired for desired in loaded.readable if desired.name in waived)]


def files_at(revision: str, paths: Sequence[Path] | None, head: Loaded) -> tuple[Base, list[ClusterPlan]]:
    """The files at a git revision, and what is to be said of clusters that had files there and have none in the tree.

    Both are narrowed down as `head`, the files of the tree, is. Raises InputError where git can't give them.
    """
    from reconciler.engine.revision import RevisionFiles
    from reconciler.plan.base import Base, removed

    with RevisionFiles(revision, Path.cwd()) as files:
        loaded = load_text(files, [_relative(path) for path in paths or DEFAULT_PATHS], cwd=files.prefix)
        loaded = loaded.only(head.concerns)
        base = Base(
            {desired.name: desired for desired in loaded.clusters},
            frozenset(each.name for each in loaded.refused if each.name),
            blind=bool(files.submodules) or any(each.name is None and each.rules for each in loaded.refused),
        )
        base = _with_moved(base, files, head)
    here = Base({desired.name: desired for desired in head.readable})
    named = {each.name for each in head.refused}
    broken = {each.source for each in head.refused if each.name is None}
    gone = [
        removed(desired)
        for desired in loaded.clusters
        if not here.find(desired.name) and not {desired.name} & named and desired.source not in broken
        if desired.lifecycle.state == "present"
    ]
    return base, gone


def _relative(path: Path) -> str:
    """As the revision's files are named: from the working directory."""
    return Path(os.path.relpath(path)).as_posix()


def _with_moved(base: Base, files: RevisionFiles, head: Loaded) -> Base:
    """The base with what it says of clusters that may go, wherever in the repository their files were then."""
    may_go = [each for each in head.readable if each.lifecycle.state == "absent" or each.lifecycle.replace_on]
    if all(base.find(each.name) for each in may_go):
        return base
    from reconciler.plan.base import Base

    whole = Base({desired.name: desired for desired in load_text(files, ["."]).clusters})
    moved = {each.name: found for each in may_go if not base.find(each.name) and (found := whole.find(each.name))}
    return Base({**base.clusters, **moved}, base.unreadable, base.blind)


def resolve(cluster: str) -> ClusterName:
    """The name that a CLUSTER argument means. Raises InputError where it is unknown, UsageError where it is no text."""
    check_text({"CLUSTER": cluster})
    if name := ClusterName.parse(cluster):
        return name
    loaded = load(DEFAULT_PATHS, cwd=Path.cwd()) if DEFAULT_PATHS[0].exists() else None
    named = [desired.name for desired in loaded.clusters if desired.name.cluster_id == cluster] if loaded else []
    if len(named) == 1:
        return named[0]
    if named:
        raise InputError(
            f"{cluster} is in several places: {', '.join(map(str, named))}", hint="say PROJECT/LOCATION/ID"
        )
    raise InputError(f"no file in {DEFAULT_PATHS[0]} describes a cluster {cluster}", hint="say PROJECT/LOCATION/ID")
