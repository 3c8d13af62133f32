"""The polls of one location: when each is due, and what its answer means for the wait.

What is polled is a `Source`'s to know: operations that run, or clusters that are busy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from reconciler.cloud.operations import Running
from reconciler.cloud.pace import Pace
from reconciler.cloud.transport import Limits
from reconciler.engine.threads import Aside
from reconciler.errors import ApiError, ReconcilerError, UnavailableError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
# A poll that takes longer than this is left to its thread, so many at a time in a location.
_PATIENCE = 2.0
_LEFT_ALONE = 8
# The last look is taken at the deadline; this long may it take.
_LAST_LOOK = 1.0
_NAP = 0.25
# After so many failures in a row the list is left alone.
_LIST_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Pending:
    """The wait is over, and as far as anybody knows what was waited for isn't."""

    reason: str


class Source(Protocol[T_co]):
    """What is waited for in one location, and how to look at it. `T_co` is how it ends.

    Both methods raise what the transport raises.
    """

    def look(self, name: str, limits: Limits, /) -> Running | T_co: ...

    def pages(self, limits: Limits, /) -> Iterator[Iterable[tuple[str, Running | T_co]]]:
        """All that the location's list shows, by name; each page costs a request."""
        ...

    def too_late(self, seconds: float, seen: str, message: str, /) -> str:
        """In words, that the time is over: what the last look showed, and what is to be said now, mostly the same."""
        ...


@dataclass(frozen=True, slots=True)
class PollPolicy:
    """How often to look. Times are in seconds.

    first: until the first poll. growth: by what each further interval is longer. longest: the longest interval; each is
    jittered by a quarter. polls_per_second: of all waits together. batch: from how many waits of a location on they are
    looked up in its list. list_timeout: a list may take so long; polls can do without it. heartbeat: after it a message
    is told again, with the next poll.
    """

    first: float = 0.25
    growth: float = 1.35
    longest: float = 30.0
    polls_per_second: float = 10.0
    batch: int = 5
    list_timeout: float = 10.0
    heartbeat: float = 30.0


@dataclass(slots=True, eq=False)
class Wait(Generic[T]):
    """One thing that is waited for. `is_listed`: worth looking for in the list. `is_polled`: now, until `given_up`."""

    name: str
    say: Callable[[str], object]
    started: float
    timeout: float
    interval: float = 0.0
    due: float = 0.0
    is_listed: bool = True
    is_polled: bool = False
    given_up: float = 0.0
    seen: str = ""
    message: str = ""
    told: float = float("-inf")
    future: Future[T | Pending] = field(default_factory=Future)

    @property
    def deadline(self) -> float:
        return self.started + self.timeout

    @property
    def turn(self) -> float:
        """When something is to be done about it."""
        return self.given_up if self.is_polled else self.due


class Poller(Generic[T]):
    """The waits of one location. `step` is for one thread, the rest for any.

    One poll at a time is made, but a poll that hangs is left alone: it holds up neither the others nor its own end.
    """

    def __init__(
        self,
        source: Source[T],
        *,
        policy: PollPolicy,
        pace: Pace,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        self.pending: dict[str, Wait[T]] = {}
        self._source = source
        self._policy = policy
        self._pace = pace
        self._sleep, self._clock, self._random = sleep, clock, random
        self._lock = threading.Lock()
        self._changed = threading.Event()  # something was added, a poll has ended, or all is over
        self._abandoned = threading.Event()
        self._list_failures = 0
        self._aside = Aside(_PATIENCE, _LEFT_ALONE)

    def add(self, wait: Wait[T]) -> Wait[T]:
        """Begin to poll for this wait. The answer is the wait that counts: the first of that name, if there is one."""
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
        first = min(waits, key=lambda wait: wait.turn)
        rest = first.turn - self._clock()
        if rest > 0:
            self._rest(rest, self._changed)
        elif first.is_polled:
            self._give_up(first)
        else:
            self._begin(first, [wait for wait in waits if not wait.is_polled])

    def _begin(self, first: Wait[T], free: list[Wait[T]]) -> None:
        listed = [wait for wait in free if wait.is_listed] if self._list_failures < _LIST_FAILURES else []
        if first.is_listed and len(listed) >= self._policy.batch:
            wanted = {wait.name: wait for wait in listed}
            self._set_aside(listed, lambda: self._look_up(wanted), self._policy.list_timeout)
        elif self._take_turn():
            self._set_aside([first], lambda: self._poll(first), first.timeout)

    def _give_up(self, wait: Wait[T]) -> None:
        """A poll that hangs is the end of its wait when that is over; a list that hangs is done without."""
        if self._clock() >= wait.deadline:
            self._finish(wait, self._too_late(wait, "no answer"))
        wait.is_polled = wait.is_listed = False

    def _set_aside(self, waits: list[Wait[T]], poll: Callable[[], None], timeout: float) -> None:
        def run() -> None:
            try:
                poll()
            except BaseException:
                # A bug, such as in a view: nobody may wait for ever.
                self.abandon(Pending("the wait broke off"))
                raise
            finally:
                for wait in waits:
                    wait.is_polled = False
                self._changed.set()

        for wait in waits:
            wait.given_up = min(self._clock() + timeout, wait.deadline + _LAST_LOOK)
            wait.is_polled = True
        self._aside.run(run)

    def _poll(self, wait: Wait[T]) -> None:
        limits = Limits(timeout=max(_LAST_LOOK, wait.deadline - self._clock()), retry_budget=0)
        try:
            seen = self._source.look(wait.name, limits)
        except UnavailableError as error:
            self._go_on(wait, f"no answer, trying on: {error.summary}")
        except ReconcilerError as error:
            # Whatever keeps us from looking, it says nothing about what is waited for.
            self._finish(wait, Pending(str(error)))
        else:
            self._judge(wait, seen)

    def _look_up(self, wanted: dict[str, Wait[T]]) -> None:
        """Walk through the list once, in place of a poll for each. What isn't in it is polled by itself from now on."""
        try:
            for name, seen in self._listed(len(wanted)):
                if name in wanted:
                    self._judge(wanted.pop(name), seen)
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

    def _listed(self, count: int) -> Iterator[tuple[str, Running | T]]:
        """The list's entries, as far as its pages cost less than polls: a location may remember years of operations."""
        pages = self._source.pages(Limits(timeout=self._policy.list_timeout, retry_budget=0))
        for _ in range(1 + count // self._policy.batch):
            page = next(pages, None) if self._take_turn() else None
            if page is None:
                return
            yield from page

    def _judge(self, wait: Wait[T], seen: Running | T) -> None:
        if isinstance(seen, Running):
            wait.seen = seen.progress or "running"
            self._go_on(wait, wait.seen)
        else:
            self._finish(wait, seen)

    def _go_on(self, wait: Wait[T], message: str) -> None:
        """Tell how it stands, and look again later; or not, if its time is over."""
        now = self._clock()
        if message != wait.message or now - wait.told >= self._policy.heartbeat:
            wait.message, wait.told = message, now
            wait.say(message)
        if now >= wait.deadline:
            self._finish(wait, self._too_late(wait, message))
        else:
            self._schedule(wait)

    def _too_late(self, wait: Wait[T], message: str) -> Pending:
        return Pending(self._source.too_late(self._clock() - wait.started, wait.seen, message))

    def _schedule(self, wait: Wait[T]) -> None:
        policy = self._policy
        wait.interval = min(policy.longest, wait.interval * policy.growth) if wait.interval else policy.first
        jittered = wait.interval * (0.75 + 0.5 * self._random())
        wait.due = min(self._clock() + jittered, wait.deadline)

    def _finish(self, wait: Wait[T], outcome: T | Pending) -> None:
        with self._lock:
            is_open = self.pending.get(wait.name) is wait
            if is_open:
                del self.pending[wait.name]
        if is_open:  # a cancellation may have been quicker
            wait.future.set_result(outcome)

    def _waits(self) -> list[Wait[T]]:
        with self._lock:
            return list(self.pending.values())

    def _take_turn(self) -> bool:
        """Wait for the pace that all waits share. False if there is nothing to poll for any more."""
        self._rest(self._pace.reserve(), self._abandoned)
        return not self._abandoned.is_set()

    def _rest(self, seconds: float, until: threading.Event) -> None:
        """Sleep in short naps, so that what happens meanwhile is noticed whatever `sleep` is."""
        end = self._clock() + seconds
        while (left := end - self._clock()) > 0 and not until.is_set():
            self._sleep(min(left, _NAP))
