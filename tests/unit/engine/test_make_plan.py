"""Planning a fleet: what is kept of answers, and how many locations are read at a time."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from reconciler.engine.assess import Assessor
from reconciler.engine.observe import LOCATIONS
from reconciler.engine.planning import make_plan
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from tests.unit.plan.cases import NAME, NUMBER, answer, desired, file_spec

NOW = datetime(2026, 12, 1, tzinfo=UTC)


class Answer(dict[str, Any]):
    """One that can be watched, each by itself."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # a dict has none


class Reads:
    """A service whose clusters are all as their files say; it counts the answers that somebody keeps."""

    def __init__(self) -> None:
        self.kept: weakref.WeakSet[Answer] = weakref.WeakSet()
        self.most = 0

    def get(self, name: ClusterName) -> dict[str, Any] | None:
        raise AssertionError(f"{name} is in the list")

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        for number in range(100):
            self.most = max(self.most, len(self.kept))
            name = ClusterName(NUMBER, location, f"c{number}")
            yield self._watched(Answer(answer(), name=str(name)))

    def _watched(self, given: Answer) -> Answer:
        self.kept.add(given)
        return given


def _fleet(locations: int) -> list[Desired]:
    one = desired(file_spec())
    return [
        replace(one, name=ClusterName(NAME.project, f"region{place}", f"c{number}"))
        for place in range(locations)
        for number in range(100)
    ]


def test_answers_of_clusters_that_do_not_differ_are_let_go() -> None:
    """Memory doesn't grow with them: one answer is looked at, the next one takes its place."""
    reads = Reads()
    plan = make_plan(reads, _fleet(1), assess=Assessor(NOW))
    assert plan.summary.no_op == 100
    assert reads.most <= 2


def test_few_locations_are_read_at_a_time() -> None:
    """Each holds a page of answers, so their number is bounded, however many there are."""
    reads = Reads()
    lock, reading, most = threading.Lock(), 0, 0
    whole = reads.list

    def counted(project: str, location: str) -> Iterator[dict[str, Any]]:
        nonlocal reading, most
        with lock:
            reading += 1
            most = max(most, reading)
        yield from whole(project, location)
        with lock:
            reading -= 1

    reads.list = counted  # type: ignore[method-assign]  # the same, counted
    assert make_plan(reads, _fleet(12), assess=Assessor(NOW)).summary.no_op == 1200
    assert 1 <= most <= LOCATIONS
