"""A write whose answer was lost: what is looked at before it is sent again, and what is said when nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from reconciler.engine.settle import Waits
from reconciler.engine.traces import Traces
from reconciler.engine.waiter import Succeeded
from reconciler.engine.write import Check, Writer
from reconciler.errors import AmbiguousError, ApiError, PendingError, ReconcilerError, UnavailableError
from reconciler.plan.model import Request
from reconciler.spec.names import ClusterName

NAME = ClusterName("acme-ml", "us-central1", "demo")
OPERATION = "projects/123/locations/us-central1/operations/7"
BEGIN = datetime(2026, 12, 1, tzinfo=UTC)
PATCH = Request("PATCH", f"/v1beta1/{NAME}", {"updateMask": "labels"}, {})
RESET = "PATCH http://there: reset"
NOT_NOW = "PATCH http://there: 400: not now"


def operation(
    kind: str = "Update", created: datetime | str = BEGIN, *, done: bool = False, **more: Any
) -> dict[str, Any]:
    """An operation as the service lists it; `more` is of its metadata."""
    when = created if isinstance(created, str) else created.isoformat()
    told = {"@type": f"type.googleapis.com/v1beta1.{kind}ModelDevelopmentClusterOperationMetadata"}
    return {"name": OPERATION, "done": done, "metadata": {**told, "genericMetadata": {"createTime": when}, **more}}


def lost() -> ReconcilerError:
    """An answer that never came."""
    return AmbiguousError(RESET)


def not_now() -> ReconcilerError:
    """What the service says of a cluster that is busy."""
    return ApiError(NOT_NOW, status=400, reason="FAILED_PRECONDITION")


class Service:
    """Takes writes and loses the first one's answer. `shown` is what its list has, one look after the other."""

    def __init__(
        self, *shown: list[dict[str, Any]], fails: Callable[[], ReconcilerError] = lost, times: int = 1
    ) -> None:
        self.shown, self.fails, self.times = list(shown), fails, times
        self.did: list[str] = []
        self.slept = 0.0
        self.outage: list[Exception] = []
        self.shows_after = 99  # looks at the cluster

    def get(self, _: ClusterName) -> dict[str, Any]:
        self.did.append("GET")
        if self.outage:
            raise self.outage.pop(0)
        return {"clusterStatus": {"state": "RUNNING"}}

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        raise AssertionError("one cluster is read by its name")

    def send(self, method: str, *_: object) -> dict[str, Any]:
        self.did.append(method)
        if self.did.count(method) <= self.times:
            raise self.fails()
        return {"name": OPERATION}

    def operations(self, project: str, location: str) -> Iterable[dict[str, Any]]:
        self.did.append("LIST")
        return self.shown.pop(0) if self.shown else []

    def sleep(self, seconds: float) -> bool:
        self.slept += seconds
        return False

    def write(self, *, budget: float = 120.0, timeout: float = 600.0, taken: Iterable[str] = ()) -> list[str]:
        """Send the PATCH; what was asked on the way."""
        waits = Waits(self.sleep, lambda: self.slept, lambda: 1.0, timeout, retry_budget=budget)
        traces = Traces(self.operations, lambda: BEGIN, set(taken))
        writer = Writer(
            self, lambda *_: Succeeded({}), waits, NAME, lambda *_: None, no_wait=False, resume=str, traces=traces
        )
        writer.make(PATCH, Check(lambda _: self.did.count("GET") > self.shows_after, lambda _: None))
        return self.did


@pytest.mark.parametrize(
    "shown",
    [
        operation(),
        operation(created=BEGIN - timedelta(minutes=4)),
        operation(created="some day"),
        operation(created="2026-12-01"),
        operation(genericMetadata=None),
        operation(**{"@type": "unknown"}),
        operation(target=str(NAME)),
        {"name": OPERATION},
    ],
)
def test_what_may_be_the_write_is_waited_for(shown: dict[str, Any]) -> None:
    """While such an operation runs nothing is sent again, though the cluster shows nothing of it."""
    service = Service([shown], [shown], [{**shown, "done": True}])
    assert service.write() == ["PATCH", "GET", "LIST", "LIST", "LIST", "GET", "PATCH"]


def test_an_effect_that_lags_behind() -> None:
    """There by the time the operation has ended: never sent again."""
    service = Service([operation()])
    service.shows_after = 1
    assert service.write() == ["PATCH", "GET", "LIST", "LIST", "GET"]


@pytest.mark.parametrize(
    "shown",
    [
        operation(done=True),
        operation("Create"),
        operation(created=BEGIN - timedelta(minutes=6)),
        operation(target=str(NAME._replace(cluster_id="other"))),
    ],
)
def test_what_is_another_is_not_waited_for(shown: dict[str, Any]) -> None:
    """Operations that are over, of another kind, of before, or of another cluster."""
    assert Service([shown], [shown]).write() == ["PATCH", "GET", "LIST", "GET", "PATCH"]


def test_other_writes_of_the_same_run_are_known() -> None:
    """Their operations hold nobody up."""
    service = Service([operation()])
    assert service.write(taken={OPERATION}) == ["PATCH", "GET", "LIST", "GET", "PATCH"]


def test_a_list_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the cluster itself has to do."""
    service = Service()

    def refused(project: str, location: str) -> Iterable[dict[str, Any]]:
        raise ApiError("no", status=403)

    monkeypatch.setattr(service, "operations", refused)
    assert service.write() == ["PATCH", "GET", "GET", "PATCH"]


def test_an_operation_without_an_end() -> None:
    """After the timeout it is pending, and it isn't known what becomes of it."""
    service = Service(*[[operation()]] * 100)
    with pytest.raises(PendingError, match="it isn't known whether PATCH took effect"):
        service.write(timeout=300)
    assert service.did.count("PATCH") == 1


def test_an_outage_after_the_write() -> None:
    """What is said first is that something was sent, and may have taken effect."""
    service = Service()
    service.outage = [UnavailableError("GET http://there: 503")]
    with pytest.raises(AmbiguousError) as caught:
        service.write()
    assert "PATCH was sent, and it isn't known whether it took effect: GET http://there: 503" in caught.value.summary


@pytest.mark.parametrize(("fails", "said"), [(lost, RESET), (not_now, NOT_NOW)])
def test_the_last_words_are_the_services(fails: Callable[[], ReconcilerError], said: str) -> None:
    """When the budget is spent, the error is what the service said, and not a count of our own."""
    with pytest.raises(ReconcilerError) as caught:
        Service(fails=fails, times=9).write(budget=0)
    assert (caught.value.summary, caught.value.code) == (f"{said}; nothing came of it", fails().code)
    with pytest.raises(ReconcilerError, match="; sent 2 times, and nothing came of it"):
        Service(fails=fails, times=9).write(budget=5)
