"""The waiter: what ends a wait, what doesn't, and how often it asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from reconciler.cloud.clusters import Clusters
from reconciler.cloud.operations import Operations
from reconciler.cloud.transport import Transport
from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator
from reconciler.engine.waiter import Failed, Pending, PollPolicy, Succeeded, Vanished, Waiter
from reconciler.errors import UsageError
from reconciler.spec.names import ClusterName
from tests.unit.cloud.scripted import FakeTime, Reply, Request, Script, refusal
from tests.unit.cloud.test_clusters import body

Connect = Callable[..., Transport]
MakeWaiter = Callable[..., Waiter]
PARENT = "projects/123/locations/us-central1"
NAME = f"{PARENT}/operations/7"
RUNNING = Reply(body={"name": NAME, "metadata": {"progressMessage": "Creating node pool cpu (1 of 2)"}})
DONE = Reply(body={"name": NAME, "done": True, "response": {"name": "x"}})


@pytest.fixture
def waiter(connect: Connect, time: FakeTime) -> MakeWaiter:
    """Makes waiters that sleep in no time."""

    def make(url: str, *, timeout: float = 600.0, policy: PollPolicy | None = None, **options: Any) -> Waiter:
        transport = connect(url, **options)
        return Waiter(
            Operations(transport),
            timeout=timeout,
            policy=policy,
            sleep=time.sleep,
            clock=time.clock,
            random=lambda: 0.5,
        )

    return make


def test_success(script: Script, waiter: MakeWaiter) -> None:
    """Polled until it's done; the response is the outcome."""
    script.answers(RUNNING, RUNNING, DONE)
    assert waiter(script.url).wait(NAME) == Succeeded({"name": "x"})
    assert [request.path for request in script.requests] == [f"/v1/{NAME}"] * 3


def test_failure(script: Script, waiter: MakeWaiter) -> None:
    """The operation's own error is the outcome."""
    script.answers(RUNNING, Reply(body={"name": NAME, "done": True, "error": {"code": 8, "message": "stockout"}}))
    assert waiter(script.url).wait(NAME) == Failed("RESOURCE_EXHAUSTED", "stockout")


def test_done_without_anything_is_a_failure(script: Script, waiter: MakeWaiter) -> None:
    """Neither response nor error: nobody knows, so it's no success."""
    script.answers(Reply(body={"name": NAME, "done": True}))
    assert isinstance(waiter(script.url).wait(NAME), Failed)


def test_an_operation_that_vanishes(script: Script, waiter: MakeWaiter) -> None:
    """The cluster must be asked instead; both versions of the API were."""
    script.answers(RUNNING, refusal(404, "NOT_FOUND"))
    assert waiter(script.url).wait(NAME) == Vanished()
    assert len(script.requests) == 3


@pytest.mark.parametrize(
    "fault",
    [
        refusal(503, "UNAVAILABLE"),
        refusal(429, "RESOURCE_EXHAUSTED"),
        Reply(429, b"", {"Retry-After": "2"}),
        refusal(500, "INTERNAL"),
        Reply(fault="reset"),
        Reply(fault="truncate"),
        Reply(body=b"<html>"),
        Reply(body=[]),
    ],
)
def test_a_failed_look_is_no_failure(script: Script, waiter: MakeWaiter, fault: Reply) -> None:
    """Only the operation's last word decides, however often a poll goes wrong."""
    script.answers(RUNNING, *[fault] * 20, RUNNING, DONE)
    assert waiter(script.url).wait(NAME) == Succeeded({"name": "x"})


def test_the_timeout_leaves_it_pending(script: Script, waiter: MakeWaiter, time: FakeTime) -> None:
    """The whole wait is bounded; there is a last look at the end of it, and the last message is told."""
    script.answers(RUNNING)
    outcome = waiter(script.url, timeout=100.0).wait(NAME)
    assert outcome == Pending("not done after 100 s: Creating node pool cpu (1 of 2)")
    assert time.now == pytest.approx(1100)


def test_the_last_look_counts(script: Script, waiter: MakeWaiter) -> None:
    """An operation that ends just in time has succeeded."""
    script.answers(DONE)
    assert waiter(script.url, timeout=0.0).wait(NAME) == Succeeded({"name": "x"})


def test_an_unreachable_service_leaves_it_pending(script: Script, waiter: MakeWaiter) -> None:
    """Nobody answers until the time is over: unknown, not failed."""
    script.answers(refusal(503, "UNAVAILABLE", "try later"))
    outcome = waiter(script.url, timeout=100.0).wait(NAME)
    assert isinstance(outcome, Pending)
    assert "503 UNAVAILABLE: try later" in outcome.reason


@pytest.mark.parametrize("reply", [refusal(401, "UNAUTHENTICATED"), refusal(403, "PERMISSION_DENIED")])
def test_whoever_may_not_look_leaves_it_pending(script: Script, waiter: MakeWaiter, reply: Reply) -> None:
    """401 for ever, or no permission for operations: the update goes on, and isn't reported as failed."""
    script.answers(RUNNING, reply)
    outcome = waiter(script.url, timeout=7200.0).wait(NAME)
    assert isinstance(outcome, Pending)
    assert f"{reply.status}" in outcome.reason
    assert len(script.requests) == 2


def test_polls_begin_quickly_and_grow_rare(script: Script, waiter: MakeWaiter, time: FakeTime) -> None:
    """A short operation isn't waited for long, a long one isn't asked all the time."""
    times: list[float] = []
    script.answers(RUNNING)
    waiter(script.url, timeout=300.0, debug=lambda _: times.append(time.now - 1000)).wait(NAME)
    gaps = [after - before for before, after in zip([0.0, *times], times, strict=False)]
    assert times[0] == pytest.approx(0.25)
    assert gaps[1:6] == pytest.approx([0.25 * 1.35**step for step in range(1, 6)])
    assert max(gaps) == pytest.approx(30)
    assert len(times) < 25


def test_progress_is_told_when_it_changes_and_as_a_sign_of_life(
    script: Script, waiter: MakeWaiter, time: FakeTime
) -> None:
    """The same message isn't repeated with each poll, but there is never a long silence."""
    told: list[str] = []
    other = Reply(body={"name": NAME, "metadata": {"progressMessage": "Installing Slurm"}})
    script.answers(*[RUNNING] * 6, other, *[other] * 20, refusal(503, "UNAVAILABLE"), DONE)
    waiter(script.url).wait(NAME, told.append)
    assert told[:2] == ["Creating node pool cpu (1 of 2)", "Installing Slurm"]
    assert 3 < told.count("Installing Slurm") < 20
    assert told[-1].startswith("no answer, trying on: GET ")


def test_an_operation_without_a_message_is_told_of_too(script: Script, waiter: MakeWaiter) -> None:
    """Some services tell nothing."""
    told: list[str] = []
    script.answers(Reply(body={"name": NAME}), DONE)
    waiter(script.url).wait(NAME, told.append)
    assert told == ["running"]


def test_cancelling_ends_every_wait_at_once(script: Script, connect: Connect) -> None:
    """Open waits and later ones become pending, also while a poll hangs."""
    script.answers(Reply(body={"a": "x" * 10_000}, fault="drip_body"))
    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, policy=PollPolicy(first=0.01))
    future = waiter.submit(NAME)
    while not script.requests:
        threading.Event().wait(0.01)
    waiter.cancel("interrupted")
    assert future.result(timeout=5) == Pending("interrupted")
    assert waiter.wait(f"{PARENT}/operations/8") == Pending("interrupted")


def test_an_interrupted_sleep_cancels(script: Script, connect: Connect) -> None:
    """A sleep that answers true is how a signal reaches the waiter."""
    script.answers(RUNNING)
    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, sleep=lambda _: True)
    assert waiter.wait(NAME) == Pending("the wait was interrupted")


def test_what_is_no_operation(script: Script, waiter: MakeWaiter) -> None:
    """A mistyped name is told at once."""
    with pytest.raises(UsageError, match="no operation's name"):
        waiter(script.url).wait("7")


def test_the_same_operation_twice(script: Script, connect: Connect) -> None:
    """Two threads that wait for one operation share its polls and its outcome."""
    script.answers(DONE)
    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, policy=PollPolicy(first=0.1))
    assert waiter.submit(NAME) is waiter.submit(NAME)
    assert waiter.wait(NAME) == Succeeded({"name": "x"})


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_callback_that_breaks_leaves_nobody_waiting(script: Script, connect: Connect) -> None:
    """A bug in a view must not hang the run."""
    script.answers(RUNNING)
    threads: list[threading.Thread] = []

    def broken(_: str) -> None:
        threads.append(threading.current_thread())
        raise ValueError

    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, policy=PollPolicy(first=0.01))
    assert waiter.submit(NAME, broken).result(timeout=5) == Pending("the wait broke off")
    threads[0].join()  # its end is told here, and not in the next test


class Fleet:
    """Many operations of one location, each done at its time by the fake clock."""

    def __init__(self, script: Script, time: FakeTime, durations: dict[str, float], *, can_list: bool) -> None:
        self._time = time
        self._durations = durations
        self._can_list = can_list
        self.names = [f"{PARENT}/operations/{number}" for number in durations]
        script.next = self.answer  # type: ignore[method-assign]  # this script depends on the clock
        self.requests = script.requests
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
        number = request.path.rpartition("/")[2]
        if number != "operations":
            return Reply(body=self._operation(number))
        if not self._can_list:
            return refusal(403, "PERMISSION_DENIED")
        return Reply(body={"operations": [self._operation(each) for each in self._durations]})

    def _operation(self, number: str) -> dict[str, Any]:
        name = f"{PARENT}/operations/{number}"
        if self._time.now - 1000 < self._durations[number]:
            return {"name": name}
        return {"name": name, "done": True, "response": {"name": number}}

    def listed(self) -> int:
        return sum(request.path.endswith("/operations") for request in self.requests)


def test_a_thousand_operations_cost_a_few_lists(script: Script, waiter: MakeWaiter, time: FakeTime) -> None:
    """Operations of one location are looked up together, and each is found soon after it's done."""
    fleet = Fleet(script, time, {str(number): 5 + number % 100 for number in range(1000)}, can_list=True)
    outcomes = waiter(script.url).wait_all(fleet.names)
    assert outcomes == {name: Succeeded({"name": name.rpartition("/")[2]}) for name in fleet.names}
    # The first ones may be polled before the others have come.
    assert fleet.listed() + 5 >= len(fleet.requests)
    assert len(fleet.requests) < 35
    assert time.now - 1000 < 105 + 31


def test_a_thousand_operations_without_a_list_are_paced(script: Script, waiter: MakeWaiter, time: FakeTime) -> None:
    """Where there is no list they are polled one by one, never more than the policy's number in a second."""
    fleet = Fleet(script, time, {str(number): 5.0 for number in range(1000)}, can_list=False)
    times: list[float] = []
    policy = PollPolicy(polls_per_second=50.0)
    outcomes = waiter(script.url, policy=policy, debug=lambda _: times.append(time.now)).wait_all(fleet.names)
    assert all(isinstance(outcome, Succeeded) for outcome in outcomes.values())
    assert fleet.listed() == 1
    # Any 51 polls in a row take a second.
    assert min(after - before for before, after in zip(times, times[50:], strict=False)) >= 1 - 1e-6
    assert len(fleet.requests) < 3000


def test_operations_missing_in_the_list_are_polled(script: Script, waiter: MakeWaiter, time: FakeTime) -> None:
    """A list that is late or filtered isn't taken for the whole truth."""
    fleet = Fleet(script, time, {str(number): 3.0 for number in range(20)}, can_list=True)
    hidden = f"{PARENT}/operations/hidden"
    whole = fleet.answer

    def answer(request: Request) -> Reply:
        if request.path.endswith("/hidden"):
            return Reply(body={"name": hidden, "done": True, "response": {}})
        return whole(request)

    script.next = answer  # type: ignore[method-assign]  # as above
    outcomes = waiter(script.url).wait_all([*fleet.names, hidden])
    assert set(outcomes) == {*fleet.names, hidden}
    assert all(isinstance(outcome, Succeeded) for outcome in outcomes.values())


@pytest.mark.parametrize("reply", [Reply(body={"operations": "x"}), refusal(503, "UNAVAILABLE")])
def test_a_list_that_stays_broken_is_done_without(
    script: Script, waiter: MakeWaiter, time: FakeTime, reply: Reply
) -> None:
    """If only the list is broken, the operations still have their outcomes."""
    fleet = Fleet(script, time, {str(number): 3.0 for number in range(10)}, can_list=True)
    whole = fleet.answer
    script.next = lambda request: reply if request.path.endswith("/operations") else whole(request)  # type: ignore[method-assign]  # as above
    outcomes = waiter(script.url).wait_all(fleet.names)
    assert all(isinstance(outcome, Succeeded) for outcome in outcomes.values())


def test_credentials_that_end_in_mid_list(script: Script, waiter: MakeWaiter) -> None:
    """401 for ever: all of them are pending, none has failed."""
    script.answers(refusal(401, "UNAUTHENTICATED"))
    outcomes = waiter(script.url).wait_all(f"{PARENT}/operations/{number}" for number in range(10))
    assert {type(outcome) for outcome in outcomes.values()} == {Pending}
    assert len(script.requests) < 10


def test_a_location_that_hangs_delays_no_other(script: Script, connect: Connect) -> None:
    """Each location has its own schedule."""
    elsewhere = "projects/123/locations/us-east1/operations/8"
    asked = threading.Event()

    def answer(request: Request) -> Reply:
        if "us-east1" in request.path:
            asked.set()
            return Reply(body={"a": "x" * 10_000}, fault="drip_body")
        return DONE if asked.wait(5) else RUNNING

    script.next = answer  # type: ignore[method-assign]  # the answer depends on the location
    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, policy=PollPolicy(first=0.01))
    stuck = waiter.submit(elsewhere)
    assert waiter.wait(NAME) == Succeeded({"name": "x"})
    assert not stuck.done()
    waiter.cancel()


@pytest.mark.parametrize("others", [2, 20])
def test_a_poll_that_hangs_delays_no_other(script: Script, connect: Connect, others: int) -> None:
    """Nor does a list that hangs: the operations of one location end while the hung answer still isn't there."""
    stuck, *names = [f"{PARENT}/operations/{number}" for number in range(others + 1)]

    def answer(request: Request) -> Reply:
        if request.path.endswith((stuck, "/operations")):
            return Reply(body={"a": "x" * 10_000}, fault="drip_body")
        return Reply(body={"name": request.path.removeprefix("/v1/"), "done": True, "response": {}})

    script.next = answer  # type: ignore[method-assign]  # the answer depends on the operation
    policy = PollPolicy(first=0.01, polls_per_second=100.0, list_timeout=0.5)
    waiter = Waiter(Operations(connect(script.url)), timeout=600.0, policy=policy)
    first = waiter.submit(stuck)
    assert all(each == Succeeded({}) for each in waiter.wait_all(names).values())
    assert not first.done()
    waiter.cancel()


def test_a_poll_that_hangs_doesnt_outlast_the_wait(script: Script, connect: Connect) -> None:
    """At the timeout the wait is pending, though the request may take much longer."""
    script.answers(RUNNING, Reply(body={"a": "x" * 10_000}, fault="drip_body"))
    waiter = Waiter(Operations(connect(script.url)), timeout=1.0, policy=PollPolicy(first=0.01))
    outcome = waiter.submit(NAME).result(timeout=15)
    assert isinstance(outcome, Pending)
    assert "no answer" in outcome.reason


def test_operations_may_come_while_others_are_waited_for(
    emulator: Emulator, control: Control, connect: Connect
) -> None:
    """Many threads, each with a cluster of its own, share one waiter on a real clock."""
    transport = connect(emulator.url)
    clusters = Clusters(transport)
    waiter = Waiter(Operations(transport), timeout=30.0, policy=PollPolicy(first=0.02, polls_per_second=100.0))
    outcomes = {}

    def make(number: int) -> None:
        operation = clusters.create(ClusterName("fleet", "us-central1", f"c{number}"), body())
        outcomes[number] = waiter.wait(operation["name"])

    threads = [threading.Thread(target=make, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == list(range(12))
    assert all(isinstance(outcome, Succeeded) for outcome in outcomes.values())


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"kind": "operation_error", "code": 8, "message": "stockout"}, Failed),
        ({"kind": "operation_empty"}, Failed),
        ({"kind": "operation_vanishes"}, Vanished),
        ({"kind": "operation_never_done"}, Pending),
    ],
)
def test_the_emulators_broken_operations(
    emulator: Emulator, control: Control, connect: Connect, fault: dict[str, Any], expected: type
) -> None:
    """Each end of an operation that the emulator knows has its outcome."""
    control.faults([{"match": {"kind": "create"}, "fault": fault}])
    transport = connect(emulator.url)
    name = ClusterName(f"broken-{fault['kind'].replace('_', '-')}", "us-central1", "demo")
    operation = Clusters(transport).create(name, body())
    timeout = 0.3 if expected is Pending else 30.0
    waiter = Waiter(Operations(transport), timeout=timeout, policy=PollPolicy(first=0.02))
    assert type(waiter.wait(operation["name"])) is expected
