"""Clusters that are busy before we come are waited for together: few requests, few threads, none held up by another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.engine.idle import IdleWaiter
from reconciler.engine.settle import Waits
from reconciler.errors import ApiError, PendingError, UnavailableError
from reconciler.spec.names import ClusterName
from tests.unit.cloud.scripted import FakeTime

Answer = dict[str, Any]


class Service:
    """Clusters of project 7 that are busy until their time has come; it counts requests, and threads meanwhile."""

    def __init__(
        self, time: FakeTime, ends: dict[str, float], *, listed: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._time = time
        self._ends = ends
        self._listed = listed
        self.requests: list[str] = []
        self.refuses = False
        self.threads = 0

    def get(self, name: ClusterName) -> Answer | None:
        self._count("get")
        return self._answer(name.location, name.cluster_id)

    def list(self, _project: str, location: str) -> Iterator[Answer]:
        self._count("list")
        if self.refuses:
            raise ApiError("no", status=403)
        for cluster in filter(self._listed, self._ends):
            yield self._answer(location, cluster)

    def _count(self, kind: str) -> None:
        self.requests.append(kind)
        self.threads = max(self.threads, threading.active_count())

    def _answer(self, location: str, cluster: str) -> Answer:
        is_busy = self._time.now - 1000 < self._ends[cluster]
        name = f"projects/7/locations/{location}/modelDevelopmentClusters/{cluster}"
        return {"name": name, "clusterStatus": {"state": "UPDATING" if is_busy else "RUNNING"}}


class Ends:
    """What came of each wait."""

    def __init__(self, names: list[ClusterName]) -> None:
        self.names = names
        self.found: dict[str, Any] = {}
        self._all = threading.Event()

    def wait(self, waiter: IdleWaiter) -> dict[str, Any]:
        for name in self.names:
            waiter.submit(name, "UPDATING", lambda _: None, self._note(name), self._note(name))
        assert self._all.wait(60)
        return self.found

    def _note(self, name: ClusterName) -> Callable[[Any], None]:
        def note(end: Any) -> None:
            self.found[name.cluster_id] = end
            if len(self.found) == len(self.names):
                self._all.set()

        return note


def _names(count: int) -> list[ClusterName]:
    return [ClusterName("acme", "us-central1", f"c{number}") for number in range(count)]


def _waiter(service: Any, time: FakeTime, timeout: float = 7200.0) -> IdleWaiter:
    def sleep(seconds: float) -> bool:
        time.sleep(seconds)
        return False

    return IdleWaiter(service, Waits(sleep, time.clock, lambda: 0.5, timeout))


def test_a_thousand_cost_a_few_lists_and_threads() -> None:
    """One look at the location's list in place of a thousand, and no thread for each."""
    time, before = FakeTime(), threading.active_count()
    service = Service(time, {f"c{number}": 60 + number % 50 for number in range(1000)})
    ends = Ends(_names(1000)).wait(_waiter(service, time))
    assert {end["clusterStatus"]["state"] for end in ends.values()} == {"RUNNING"}
    assert len(service.requests) < 40  # the first ones may be asked for before the others have come
    assert service.threads - before < 8


@pytest.mark.parametrize("refuses", [False, True])
def test_what_the_list_doesnt_show_is_asked_for(refuses: bool) -> None:
    """Absence is proved by GET, and so it goes where there is no list."""
    time = FakeTime()
    service = Service(
        time, dict.fromkeys((f"c{number}" for number in range(10)), 5.0), listed=lambda each: each != "c3"
    )
    service.refuses = refuses
    ends = Ends(_names(10)).wait(_waiter(service, time))
    assert {end["clusterStatus"]["state"] for end in ends.values()} == {"RUNNING"}
    assert "get" in service.requests


def test_asked_for_one_by_one_they_are_paced() -> None:
    """Without a list no more than ten in a second, whatever their number."""
    time = FakeTime()
    service = Service(time, dict.fromkeys((f"c{number}" for number in range(100)), 5.0))
    service.refuses = True
    Ends(_names(100)).wait(_waiter(service, time))
    assert time.now - 1000 >= (len(service.requests) - 2) / 10


def test_what_is_gone() -> None:
    """A cluster that was deleted is idle, and there is none."""
    time = FakeTime()
    service = Service(time, {"c0": 5.0})

    def gone(name: ClusterName) -> Answer | None:
        return None

    service.get = gone  # type: ignore[method-assign]  # as `Clusters` answers a 404
    assert Ends(_names(1)).wait(_waiter(service, time)) == {"c0": None}


def test_an_outage_leaves_them_pending() -> None:
    """Nobody answers until the time is over: they were busy, and nothing has failed."""
    time = FakeTime()
    service = Service(time, {"c0": 5.0})

    def down(name: ClusterName) -> Answer | None:
        raise UnavailableError("it is down")

    service.get = down  # type: ignore[method-assign]  # as above
    end = Ends(_names(1)).wait(_waiter(service, time, 300.0))["c0"]
    assert isinstance(end, PendingError)
    assert "still UPDATING after 300 s, no answer, trying on: it is down; the service goes on" in end.summary
    assert end.hint == "run the same command again"


def test_the_timeout_is_told_with_the_state() -> None:
    """And with the time that has passed."""
    time = FakeTime()
    end = Ends(_names(1)).wait(_waiter(Service(time, {"c0": 5000.0}), time, 100.0))["c0"]
    assert "still UPDATING after 100 s; the service goes on" in end.summary
