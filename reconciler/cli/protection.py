"""What the files say of a cluster that is to be deleted by its name alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from reconciler.cli.files import DEFAULT_PATHS
from reconciler.cli.output import say
from reconciler.errors import InputError
from reconciler.spec.loader import load
from reconciler.spec.model import Lifecycle
from reconciler.spec.names import ClusterName

Get = Callable[[ClusterName], "dict[str, Any] | None"]


def protection_of(name: ClusterName, get: Get) -> Lifecycle:
    """The lifecycle of the cluster's file, in `clusters.d` here or in a folder above, up to the repository's own.

    A cluster that no file describes isn't protected by one. `get` reads a live cluster: whether a project's id in a
    file and a number in `name` mean one project, only the service knows. Raises InputError where a file that may
    describe the cluster can't be read, and what `get` does.
    """
    folder = _nearest(Path.cwd())
    if folder is None:
        say(f"there is no {DEFAULT_PATHS[0]} here or above: no file says whether {name} is protected")
        return Lifecycle(prevent_destroy=False)
    loaded = load([folder], cwd=Path.cwd())
    if any(each.name is None or _may_be(each.name, name) for each in loaded.refused):
        raise InputError(f"a file that may describe {name} can't be used", hint="see 'reconciler validate'")
    for desired in loaded.clusters:
        if desired.name == name or (_may_be(desired.name, name) and _is_one(desired.name, name, get)):
            return desired.lifecycle
    say(f"no file in {folder} describes {name}, so none protects it")
    return Lifecycle(prevent_destroy=False)


def _nearest(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / DEFAULT_PATHS[0]).is_dir():
            return folder / DEFAULT_PATHS[0]
        if (folder / ".git").exists():
            return None
    return None


def _may_be(one: ClusterName, other: ClusterName) -> bool:
    """Whether two names are one, or one but for a project that is a number here and an id there."""
    alike = (one.location, one.cluster_id) == (other.location, other.cluster_id)
    return alike and (one.project == other.project or one.project.isdigit() != other.project.isdigit())


def _is_one(one: ClusterName, other: ClusterName, get: Get) -> bool:
    first, second = get(one), get(other)
    return first is not None and second is not None and first.get("name") == second.get("name")
