"""The polls of one location's operations: when each is due, and what its answer means for the wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from reconciler.cloud.operations import Failed, Operations, Running, Succeeded, status
from reconciler.cloud.pace import Pace
from reconciler.cloud.transport import Limits
from reconciler.errors import ApiError, NotFoundError, ReconcilerError, UnavailableError

# The last look is taken at the deadline; this long may it take.
_LAST_LOOK = 1.0
_NAP = 0.25
# After so many failures in a row the list is left alone.
_LIST_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Vanished:
    """The service doesn't know the operation any more: only the cluster can tell what became of it."""


@dataclass(frozen=True, slots=True)
class Pending:
    """The wait is over, and as far as anybody knows the operation isn't."""

    reason: str


Outcome = Succeeded | Failed | Vanished | Pending


@dataclass(frozen=True, slots=True)
class PollPolicy:
    """How often to look. Times are in seconds.

    first: until the first poll of an operation. growth: by what each further interval is longer. longest: the longest
    interval; each is jittered by a quarter. polls_per_second: of all operations together. batch: from how many
    operations of a location on they are looked up in its list. heartbeat: after it a message is told again, with the
    next poll.
    """

    first: float = 0.25
    growth: float = 1.35
    longest: float = 30.0
    polls_per_second: float = 10.0
    batch: int = 5
    heartbeat: float = 30.0


@dataclass(slots=True, eq=False)
class Wait:
    """One operation that is waited for. `is_listed`: worth looking for in the list."""

    name: str
    say: Callable[[str], object]
    started: float
    timeout: float
    interval: float = 0.0
    due: float = 0.0
    is_listed: bool = True
    message: str = ""
    told: float = float("-inf")
    future: Future[Outcome] = field(default_factory=Future)

    @property
    def deadline(self) -> float:
        return self.started + self.timeout


class Poller:
    """The operations of `parent`, a project and location. `step` is for one thread, the rest for any."""

    def __init__(
        self,
        operations: Operations,
        parent: str,
        *,
        policy: PollPolicy,
        pace: Pace,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        self.parent = parent
        self.pending: dict[str, Wait] = {}
        self._operations = operations
        self._policy = policy
        self._pace = pace
        self._sleep, self._clock, self._random = sleep, clock, random
        self._lock = threading.Lock()
        self._changed = threading.Event()  # something was added, or all is over
        self._abandoned = threading.Event()
        self._list_failures = 0

    def add(self, wait: Wait) -> Wait:
        """Begin to poll for this wait. The answer is the wait that counts: the operation's first, if it had one."""
        wait.future.set_running_or_notify_cancel()
        self._schedule(wait)
        with self._lock:
            present = self.pending.setdefault(wait.name, wait)
        self._changed.set()
        return present

    def abandon(self, outcome: Pending) -> None:
        """Give all open waits this outcome."""
        self._abandoned.set()
        for wait in self._waits():
            self._finish(wait, outcome)
        self._changed.set()

    def step(self) -> None:
        """Poll what is most overdue, or sleep until something is due."""
        self._changed.clear()
        waits = self._waits()
        if not waits:
            return
        first = min(waits, key=lambda wait: wait.due)
        rest = first.due - self._clock()
        if rest > 0:
            self._rest(rest, self._changed)
            return
        listed = [wait for wait in waits if wait.is_listed] if self._list_failures < _LIST_FAILURES else []
        if first.is_listed and len(listed) >= self._policy.batch:
            self._look_up({wait.name: wait for wait in listed})
        elif self._take_turn():
            self._poll(first)

    def _poll(self, wait: Wait) -> None:
        limits = Limits(timeout=max(_LAST_LOOK, wait.deadline - self._clock()), retry_budget=0)
        try:
            operation = self._operations.get(wait.name, limits)
        except NotFoundError:
            self._finish(wait, Vanished())
        except UnavailableError as error:
            self._go_on(wait, f"no answer, trying on: {error.summary}")
        except ReconcilerError as error:
            # Whatever keeps us from looking, it says nothing about the operation.
            self._finish(wait, Pending(str(error)))
        else:
            self._judge(wait, operation)

    def _look_up(self, wanted: dict[str, Wait]) -> None:
        """Walk through the list once, in place of a poll for each. What isn't in it is polled by itself from now on."""
        try:
            for operation in self._listed(len(wanted)):
                name = operation.get("name")
                if isinstance(name, str) and name in wanted:
                    self._judge(wanted.pop(name), operation)
                if not wanted:
                    break
        except UnavailableError as error:
            self._list_failures += 1
            for wait in wanted.values():
                self._go_on(wait, f"no answer, trying on: {error.summary}")
        except ApiError:
            self._list_failures = _LIST_FAILURES  # there is no list, or not for us
        except ReconcilerError as error:
            for wait in wanted.values():
                self._finish(wait, Pending(str(error)))
        else:
            self._list_failures = 0
            for wait in wanted.values():
                wait.is_listed = False

    def _listed(self, count: int) -> Iterator[dict[str, Any]]:
        """The list's entries, as far as its pages cost less than polls: a location may remember years of operations."""
        _, project, _, location = self.parent.split("/")
        pages = self._operations.pages(project, location, Limits(retry_budget=0))
        for _ in range(1 + count // self._policy.batch):
            page = next(pages, None) if self._take_turn() else None
            if page is None:
                return
            yield from page

    def _judge(self, wait: Wait, operation: dict[str, Any]) -> None:
        state = status(operation)
        if isinstance(state, Running):
            self._go_on(wait, state.progress or "running")
        else:
            self._finish(wait, state)

    def _go_on(self, wait: Wait, message: str) -> None:
        """Tell how it stands, and look again later; or not, if its time is over."""
        now = self._clock()
        if message != wait.message or now - wait.told >= self._policy.heartbeat:
            wait.message, wait.told = message, now
            wait.say(message)
        if now >= wait.deadline:
            self._finish(wait, Pending(f"not done after {wait.timeout:.0f} s: {message}"))
        else:
            self._schedule(wait)

    def _schedule(self, wait: Wait) -> None:
        policy = self._policy
        wait.interval = min(policy.longest, wait.interval * policy.growth) if wait.interval else policy.first
        jittered = wait.interval * (0.75 + 0.5 * self._random())
        wait.due = min(self._clock() + jittered, wait.deadline)

    def _finish(self, wait: Wait, outcome: Outcome) -> None:
        with self._lock:
            is_open = self.pending.pop(wait.name, None) is not None
        if is_open:  # a cancellation may have been quicker
            wait.future.set_result(outcome)

    def _waits(self) -> list[Wait]:
        with self._lock:
            return list(self.pending.values())

    def _take_turn(self) -> bool:
        """Wait for the pace that all operations share. False if there is nothing to poll for any more."""
        self._rest(self._pace.reserve(), self._abandoned)
        return not self._abandoned.is_set()

    def _rest(self, seconds: float, until: threading.Event) -> None:
        """Sleep in short naps, so that what happens meanwhile is noticed whatever `sleep` is."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0 and not until.is_set():
            self._sleep(min(left, _NAP))
