"""What is worth knowing beside the changes. Notes refuse nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reconciler.plan.model import Action, Change, Note
from reconciler.plan.policy import POOLS
from reconciler.plan.status import KNOWN_STATES, LiveStatus
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node


def notes_for(
    action: Action, changes: tuple[Change, ...], status: LiveStatus, live: Typed, update_mode: str
) -> tuple[Note, ...]:
    """The notes on a cluster that exists."""
    notes = []
    if status.is_busy:
        notes.append(Note("cluster_busy", f"the cluster is {status.state}: apply waits until that is over"))
    elif status.state not in KNOWN_STATES:
        notes.append(Note("unknown_live_state", f"the cluster is in state {status.state}, unknown to this version"))
    if unknown := sorted(set(_unknown(live, ROOT))):
        notes.append(Note("unknown_live_field", f"carried over as they are: {', '.join(unknown)}"))
    notes += [Note("looks_like_rename", text) for text in _renames(changes)]
    notes += [Note("project_number", text) for text in _numbers(changes)]
    if action is Action.REPLACE and (pools := [each.item for each in changes if each.field == _MACHINE]):
        chosen = "what the service filled in for the old machines (disk, image, provisioning model) is chosen anew"
        notes.append(Note("replace_resets", f"another machine type for {', '.join(pools)}: {chosen}"))
    if action is Action.UPDATE:
        notes.append(Note("update_mode", _UPDATE_MODES.get(update_mode, f"updateMode {update_mode}")))
    return tuple(notes)


_MACHINE = f"{POOLS}.machine_spec.machine_type"
_UPDATE_MODES = {
    "USER_AND_SERVICE": "updateMode USER_AND_SERVICE: the service also refreshes the scripts it manages itself",
    "USER_ONLY": "updateMode USER_ONLY: the service doesn't refresh the scripts it manages itself",
}


def _unknown(live: Any, node: Node) -> Iterator[str]:
    """Paths of the fields that the table doesn't have."""
    for name, value in live.items():
        child = node.children.get(name)
        if child is None:
            yield f"{node.path}.{name}" if node.path else name
        elif child.children and not child.row.output:
            for item in value if isinstance(value, list) else (value,):
                if isinstance(item, dict):
                    yield from _unknown(item, child)


def _renames(changes: tuple[Change, ...]) -> Iterator[str]:
    pools = [change for change in changes if change.field == POOLS]
    added = [change for change in pools if change.before is None]
    for gone in pools:
        if gone.after is not None:
            continue
        for new in added:
            if new.after == gone.before:
                yield (
                    f"node pool {gone.item} -> {new.item} looks like a rename; ids can't be renamed: "
                    f"the nodes of {gone.item} are destroyed and those of {new.item} made"
                )


def _numbers(changes: tuple[Change, ...]) -> Iterator[str]:
    """Names that differ in the project alone, which the answer gives by number: nothing here tells whose that is."""
    for change in changes:
        there = dict(_in_projects(change.before))
        for tail, project in _in_projects(change.after):
            number = there.get(tail, "")
            if number.isdigit() and not project.isdigit():
                yield (
                    f"{change.path}: the service says projects/{number}; if that is the number of {project}, "
                    "write the number in the file: nobody else can tell that they are the same"
                )


def _in_projects(value: Any) -> Iterator[tuple[str, str]]:
    """Of a resource name, or of each in a list: what comes after the project, and the project."""
    for name in value if isinstance(value, list) else [value]:
        if isinstance(name, str) and name.startswith("projects/"):
            project, _, tail = name.removeprefix("projects/").partition("/")
            yield tail, project
