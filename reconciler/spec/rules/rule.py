"""What a rule is, and the spec laid out for rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from reconciler.spec.findings import Path, Severity
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.places import Place
from reconciler.spec.reading import Typed
from reconciler.spec.slurm_parameters import Record

SLURM: Path = ("spec", "orchestrator_spec", "slurm_spec")


class Hit(NamedTuple):
    """One place that breaks a rule: what is wrong, with the value quoted, and what to do about it.

    `place` is where to look for it if that isn't where the path leads, such as a line of a script.
    """

    path: Path
    message: str
    hint: str = ""
    place: Place | None = None


class Item(NamedTuple):
    """An item of a list, and where it stands."""

    path: Path
    value: Typed


class Config(NamedTuple):
    """A map of Slurm parameters, where it stands and which record of slurm.conf it goes into."""

    path: Path
    record: Record
    value: dict[str, str]


@dataclass(frozen=True, slots=True)
class Subject:
    """One cluster as rules see it. What its file lacks, and what the reader left out as wrong, is empty here."""

    name: ClusterName
    lifecycle: Lifecycle
    spec: Typed
    pools: tuple[Item, ...]
    slurm: Typed
    partitions: tuple[Item, ...]
    node_sets: tuple[Item, ...]
    configs: tuple[Config, ...]  # all maps of Slurm parameters

    @classmethod
    def of(cls, desired: Desired) -> Subject:
        # Of a cluster that is to be deleted nothing is sent, so nothing of its spec can be wrong.
        spec = {} if desired.lifecycle.state == "absent" else desired.spec
        slurm = spec.get("orchestrator_spec", {}).get("slurm_spec", {})
        partitions = _items((*SLURM, "partitions"), slurm)
        node_sets = _items((*SLURM, "node_sets"), slurm)
        return cls(
            desired.name,
            desired.lifecycle,
            spec,
            _items(("spec", "node_pools"), spec),
            slurm,
            partitions,
            node_sets,
            (
                Config((*SLURM, "config"), Record.CLUSTER, slurm.get("config", {})),
                *(Config((*path, "config"), Record.PARTITION, item.get("config", {})) for path, item in partitions),
                *(Config((*path, "config"), Record.NODE, item.get("config", {})) for path, item in node_sets),
            ),
        )


def _items(path: Path, parent: Typed) -> tuple[Item, ...]:
    return tuple(Item((*path, index), value) for index, value in enumerate(parent.get(str(path[-1]), ())))


Check = Callable[[Subject], Iterator[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with a stable id. `meaning` is a sentence for the docs, `source` the letters of the API facts.

    `is_local` says that its hits depend on nothing that is missing: they hold even where parts of the file couldn't be
    read. A rule that looks for what is there elsewhere, or for what there should be, isn't.
    """

    id: str
    meaning: str
    source: str
    severity: Severity
    is_local: bool
    check: Check


def rule(
    identifier: str, meaning: str, *, source: str, severity: Severity = Severity.ERROR, is_local: bool = True
) -> Callable[[Check], Rule]:
    """Make a generator of hits a rule."""
    return lambda check: Rule(identifier, meaning, source, severity, is_local, check)


def pick(message: Typed, *names: str) -> Any:
    """The value below nested messages, or None where one of them is absent."""
    value: Any = message
    for name in names:
        value = value.get(name)
        if value is None:
            return None
    return value
