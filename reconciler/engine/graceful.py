"""A graceful change, step by step: nothing new starts, jobs end, the change is made, jobs start again.

The steps keep no memory but the cluster's own: a partition is held by `State: INACTIVE` in its config map. A run that
is killed leaves that state behind, where the next plan shows it as what it is, a difference from the file to be undone,
and the next graceful apply finds the steps that are done already.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from reconciler.engine.observe import Answer
from reconciler.errors import InputError
from reconciler.plan.build import API
from reconciler.plan.canonical import SlurmKey
from reconciler.plan.model import Action, Change, ClusterPlan, Request
from reconciler.plan.payload import body
from reconciler.plan.touched import PARTITIONS, partitions_of
from reconciler.spec.model import Desired
from reconciler.spec.reading import Typed, read_live

HELD = "INACTIVE"
_MASK = PARTITIONS.removesuffix("[]")
_STATE = SlurmKey("State")
Compare = Callable[[Desired, Answer | None], ClusterPlan]


class Steps:
    """The steps for one cluster and the partitions that its change touches."""

    def __init__(self, desired: Desired, partitions: frozenset[str], compare: Compare) -> None:
        self._desired = desired
        self._partitions = partitions
        self._compare = compare

    def refuse_if_lasting(self, answer: Answer) -> None:
        """Raises InputError where the held state could not be undone: the file leaves partitions' config to others."""
        held = self._hold(read_live(answer))
        shown = self._compare(replace(self._desired, spec=held), answer)
        if not self.is_drained(answer) and not any(_is_state(change) for change in shown.changes):
            raise InputError(
                f"{self._desired.name}: lifecycle.ignore_changes covers the partitions' State, which --graceful sets",
                hint="apply without --graceful, or narrow ignore_changes",
            )

    def drain(self, answer: Answer) -> Request | None:
        """The call after which nothing new starts; None where that is so."""
        if self.is_drained(answer):
            return None
        live = read_live(answer)
        query = {"updateMask": _MASK, "updateMode": "USER_ONLY"}
        return Request("PATCH", f"{API}/{self._desired.name}", query, body(self._hold(live), live, {}))

    def is_drained(self, answer: Answer | None) -> bool:
        """Whether the partitions are held."""
        live = read_live(answer or {})
        return all(_state(each) == HELD for each in partitions_of(live) if str(each.get("id")) in self._partitions)

    def held(self, answer: Answer | None) -> ClusterPlan:
        """The change itself, with the partitions kept as they are held."""
        if answer is None or self._desired.lifecycle.state == "absent":
            return self._compare(self._desired, answer)
        plan = self._compare(self._desired, answer)
        if plan.action is not Action.UPDATE:
            return plan
        return self._compare(replace(self._desired, spec=self._hold(self._desired.spec)), answer)

    def _hold(self, spec: Typed) -> Typed:
        held = deepcopy(spec)
        for partition in partitions_of(held):
            if str(partition.get("id")) in self._partitions:
                config = partition.get("config") or {}
                kept = {key: value for key, value in config.items() if SlurmKey(key) != _STATE}
                partition["config"] = kept | {"State": HELD}
        return held


def is_same(approved: ClusterPlan, held: ClusterPlan, partitions: frozenset[str]) -> bool:
    """Whether a held plan makes the changes that were approved, but for the state that the steps set themselves."""

    def essence(plan: ClusterPlan) -> list[tuple[Any, ...]]:
        return [
            (change.path, change.before, change.after)
            for change in plan.changes
            if not (_is_state(change) and change.item in partitions)
        ]

    if approved.action is not held.action and held.action is not Action.NO_OP:
        return False
    return essence(approved) == essence(held) and approved.cluster == held.cluster


def _is_state(change: Change) -> bool:
    return change.field == f"{PARTITIONS}.config" and SlurmKey(change.path.rpartition(".")[2]) == _STATE


def _state(partition: Typed) -> str:
    config = partition.get("config")
    values = {SlurmKey(key): str(value) for key, value in config.items()} if isinstance(config, dict) else {}
    return values.get(_STATE, "UP").upper()
