"""What a change touches in Slurm: pools, and through the partitions over them, the jobs that it could hurt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reconciler.plan.model import Action, Change
from reconciler.spec.fields import Impact
from reconciler.spec.reading import Typed

PARTITIONS = "orchestrator_spec.slurm_spec.partitions[]"
_NODE_SETS = "orchestrator_spec.slurm_spec.node_sets[]"
_DISRUPTIVE = frozenset({Impact.RECREATES_NODES, Impact.REMOVES_NODES, Impact.IMMUTABLE})


@dataclass(frozen=True, slots=True)
class Touched:
    """Live partitions whose running jobs a plan could hurt, and those of them that go, with their queues.

    dropped: those that go, or lose a pool, while the cluster's controller stays, which may still have records of jobs
    that name what is gone. known: all live partitions; what runs elsewhere may run anywhere. everything: the cluster
    goes, and all jobs with it.
    """

    partitions: frozenset[str] = frozenset()
    going: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    everything: bool = False

    def __bool__(self) -> bool:
        return self.everything or bool(self.partitions)


def is_disruptive(action: Action, changes: Iterable[Change]) -> bool:
    """Whether jobs could be hurt at all. Changes in place ask nothing."""
    if action in (Action.DELETE, Action.REPLACE):
        return True
    return action is Action.UPDATE and any(change.impact in _DISRUPTIVE for change in changes)


def touched(action: Action, changes: Iterable[Change], live: Typed) -> Touched:
    """What is touched, by the live partitions: they are what jobs were submitted to."""
    by_pool = partitions_by_pool(live)
    every = frozenset(str(partition.get("id")) for partition in partitions_of(live))
    if action in (Action.DELETE, Action.REPLACE):
        return Touched(every, going=every, known=every, everything=True)
    hurt: set[str] = set()
    going: set[str] = set()
    losing: set[str] = set()
    for change in changes:
        if change.impact not in _DISRUPTIVE:
            continue
        if change.field == PARTITIONS:
            going.add(change.item)
        elif change.field.startswith("node_pools[]"):
            hurt |= (over := by_pool.get(change.item, set()))
            losing |= over if change.field == "node_pools[]" else set()
        else:
            hurt |= every
    return Touched(frozenset(hurt | going), frozenset(going), dropped=frozenset(going | losing), known=every)


def partitions_by_pool(live: Typed) -> dict[str, set[str]]:
    """Pool id -> the ids of the live partitions that have it."""
    found: dict[str, set[str]] = {}
    for partition in partitions_of(live):
        pools = partition.get("node_pool_ids")
        for pool in pools if isinstance(pools, list) else ():
            found.setdefault(str(pool), set()).add(str(partition.get("id")))
    return found


def slurm_of(spec: Typed) -> Typed:
    """The Slurm part of a typed spec or answer; empty where there is none."""
    node = spec.get("orchestrator_spec")
    slurm = node.get("slurm_spec") if isinstance(node, dict) else None
    return slurm if isinstance(slurm, dict) else {}


def partitions_of(spec: Typed) -> list[Typed]:
    """The partitions of a typed spec or answer; what isn't one is left out."""
    partitions = slurm_of(spec).get("partitions")
    return [each for each in partitions if isinstance(each, dict)] if isinstance(partitions, list) else []


def concerned(changes: Iterable[Change], after: Typed) -> frozenset[str]:
    """The partitions that a change concerns, harmful or not: where a smoke check is worth a job."""
    by_pool = partitions_by_pool(after)
    every = frozenset(str(each.get("id")) for each in partitions_of(after))
    found: set[str] = set()
    for change in changes:
        if change.field.startswith(PARTITIONS) and change.item:
            found.add(change.item)
        elif change.field.startswith(("node_pools[]", _NODE_SETS)):
            found |= by_pool.get(change.item, set())
        elif change.field.startswith("orchestrator_spec"):  # scripts, global parameters, the home directory
            found |= every
    return frozenset(found & every)
