"""Partitions that are held: `State: INACTIVE` in the config map, by which `apply --graceful` keeps jobs from starting.

A run that is killed leaves that state behind. It is told from a wish by the file alone: what the file doesn't say is a
difference to be undone, and named as what it may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.plan.canonical import SlurmKey
from reconciler.plan.model import Change, Note
from reconciler.plan.touched import PARTITIONS, partitions_of
from reconciler.spec.reading import Typed, read_live

HELD = "INACTIVE"
_STATE = SlurmKey("State")
States = Mapping[str, Mapping[str, str]]


def state(partition: Typed) -> str:
    """A partition's State as its config map has it, in upper case; UP, which is Slurm's default, where it doesn't."""
    return next((value.upper() for value in _entries(partition).values()), "UP")


def is_held(partition: Typed) -> bool:
    """Whether nothing new starts there and nothing is taken."""
    return state(partition) == HELD


def held_partitions(answer: dict[str, Any]) -> tuple[str, ...]:
    """The ids of an answer's partitions that are held."""
    return tuple(str(each.get("id")) for each in partitions_of(read_live(answer)) if is_held(each))


def states(spec: Typed, ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """Partition id -> the State entry of its config map as it is spelled, empty for none; of those that are there."""
    there = {str(partition.get("id")): _entries(partition) for partition in partitions_of(spec)}
    return {name: there[name] for name in ids if name in there}


def with_states(spec: Typed, wanted: States) -> Typed:
    """A typed spec or answer with these State entries in place of its own; all else is the same."""
    changed = [_with_state(each, wanted.get(str(each.get("id")))) for each in partitions_of(spec)]
    if not changed:
        return spec
    node = spec["orchestrator_spec"]
    return {**spec, "orchestrator_spec": {**node, "slurm_spec": {**node["slurm_spec"], "partitions": changed}}}


def same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two State entries mean the same, however they are spelled."""
    first, second = ({SlurmKey(key): value.upper() for key, value in entry.items()} for entry in (one, other))
    return first == second


def alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two State entries are equal as a diff has it: their keys by meaning, their values to the letter."""
    first, second = ({SlurmKey(key): value for key, value in entry.items()} for entry in (one, other))
    return first == second


def is_state(change: Change) -> bool:
    """Whether it is a partition's State that changes."""
    return change.field == f"{PARTITIONS}.config" and SlurmKey(change.path.rpartition(".")[2]) == _STATE


def held_notes(changes: Iterable[Change], live: Typed, wanted: Typed) -> tuple[Note, ...]:
    """What a plan says of partitions that are held, and that the file wants otherwise.

    `live` need not be given where no change is ignored: then `changes` show all there is.
    """
    released = {change.item for change in changes if _releases(change)}
    meant = {str(each.get("id")): is_held(each) for each in partitions_of(wanted)}
    there = {str(each.get("id")) for each in partitions_of(live) if is_held(each)}
    lasting = [name for name in there - released if not meant.get(name, True)]
    notes = []
    if released:
        notes.append(
            f"{_named(released)}, which the file doesn't say: perhaps an 'apply --graceful' ended early; "
            "the same command goes on with it, and any apply that goes through lets jobs start again"
        )
    if lasting:
        notes.append(f"{_named(lasting)}; lifecycle.ignore_changes leaves that as it is")
    return tuple(Note("partition_held", said) for said in notes)


def _named(partitions: Iterable[str]) -> str:
    return f"held by State: {HELD}: {', '.join(sorted(partitions))}"


def _releases(change: Change) -> bool:
    if is_state(change):
        return str(change.before).upper() == HELD != str(change.after).upper()
    return change.field == PARTITIONS and isinstance(change.before, dict) and is_held(change.before)


def _entries(partition: Mapping[str, Any]) -> dict[str, str]:
    config = partition.get("config")
    entries = config.items() if isinstance(config, dict) else ()
    return {key: str(value) for key, value in entries if SlurmKey(key) == _STATE}


def _with_state(partition: Typed, entry: Mapping[str, str] | None) -> Typed:
    if entry is None:
        return partition
    config = partition.get("config") or {}
    kept = {key: value for key, value in config.items() if SlurmKey(key) != _STATE}
    rest = {key: value for key, value in partition.items() if key != "config"}
    return {**rest, "config": {**kept, **entry}} if kept or entry else rest
