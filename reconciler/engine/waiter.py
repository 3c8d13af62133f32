"""Waiting for long-running operations, many at a time. The service's last word decides, never a failed look at it."""

from __future__ import annotations

import random as randomness
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Generic, TypeVar

from reconciler.cloud.operations import Failed, Operations, Running, Succeeded, parent_of, status
from reconciler.cloud.pace import Pace
from reconciler.cloud.transport import Limits
from reconciler.engine.polling import Pending, Poller, PollPolicy, Source, Wait
from reconciler.errors import NotFoundError

__all__ = ["Failed", "Outcome", "Pending", "PollPolicy", "Succeeded", "Vanished", "Waiter", "Waiting"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Vanished:
    """The service doesn't know the operation any more: only the cluster can tell what became of it."""


Ended = Succeeded | Failed | Vanished
Outcome = Ended | Pending


class Waiting(Generic[T]):
    """Waits for many things together: one schedule for each location, and one pace for all of them.

    `source` makes what knows to look at those of a location, by its name, `projects/…/locations/…`. A location that
    doesn't answer delays no other, and a poll that hangs none of its location's. All methods may be called from any
    thread. `say` gets the service's progress message whenever it changes and as a sign of life; it's called in a thread
    of the waiter and must not raise. `timeout` is in seconds from the start of each wait. A `sleep` that answers true
    says that the run was interrupted: every wait then ends, as after `cancel`.
    """

    def __init__(
        self,
        source: Callable[[str], Source[T]],
        *,
        timeout: float,
        policy: PollPolicy,
        pace: Pace | None,
        sleep: Callable[[float], object],
        clock: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        self._source = source
        self._policy = policy
        self._timeout = timeout
        self._sleep, self._clock, self._random = sleep, clock, random
        self.pace = pace or Pace(1 / self._policy.polls_per_second, clock)
        self._lock = threading.Lock()
        self._pollers: dict[str, Poller[T]] = {}
        self._cancelled: Pending | None = None

    def begin(
        self, parent: str, name: str, say: Callable[[str], object] | None = None, seen: str = ""
    ) -> Future[T | Pending]:
        """Begin to wait for what has this name in a location; what is waited for already has one future, and its
        first `say`. `seen` is what is known of it, as a look would tell.

        The future's result is the outcome; it has no exception.
        """
        wait: Wait[T] = Wait(name, say or _say_nothing, started=self._clock(), timeout=self._timeout, seen=seen)
        with self._lock:
            if self._cancelled:
                wait.future.set_result(self._cancelled)
                return wait.future
            poller = self._pollers.get(parent)
            if poller is None:
                poller = self._pollers[parent] = self._poller(parent)
                # A daemon: a poll that hangs must not keep a cancelled run from ending.
                run = threading.Thread(target=self._run, args=(parent, poller), name=f"wait {parent}", daemon=True)
                run.start()
            return poller.add(wait).future

    def cancel(self, reason: str = "the wait was interrupted") -> None:
        """Give every open and every further wait the outcome Pending, at once. The service goes on by itself."""
        with self._lock:
            self._cancelled = Pending(reason)
            pollers = list(self._pollers.values())
        for poller in pollers:
            poller.abandon(self._cancelled)

    def _poller(self, parent: str) -> Poller[T]:
        return Poller(
            self._source(parent),
            policy=self._policy,
            pace=self.pace,
            sleep=self._doze,
            clock=self._clock,
            random=self._random,
        )

    def _doze(self, seconds: float) -> None:
        if self._sleep(seconds):
            self.cancel()

    def _run(self, parent: str, poller: Poller[T]) -> None:
        try:
            while not self._is_finished(parent, poller):
                poller.step()
        finally:
            # Whatever ended the loop, nobody may wait for ever: neither those that are there, nor those to come.
            with self._lock:
                if self._pollers.get(parent) is poller:
                    del self._pollers[parent]
            poller.abandon(Pending("the wait broke off"))

    def _is_finished(self, parent: str, poller: Poller[T]) -> bool:
        """Whether nothing is left to poll; then the next wait of this location gets a new poller."""
        with self._lock:
            if poller.pending:
                return False
            del self._pollers[parent]
            return True


class Waiter(Waiting[Ended]):
    """Waits for operations. `timeout` is in seconds from the start of each wait."""

    def __init__(
        self,
        operations: Operations,
        *,
        timeout: float,
        policy: PollPolicy | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = randomness.random,
    ) -> None:
        super().__init__(
            lambda parent: _OfLocation(operations, parent),
            timeout=timeout,
            policy=policy or PollPolicy(),
            pace=None,
            sleep=sleep,
            clock=clock,
            random=random,
        )

    def submit(self, name: str, say: Callable[[str], object] | None = None) -> Future[Outcome]:
        """Begin to wait for an operation, as `begin`. Raises UsageError for what is no operation's name."""
        return self.begin(parent_of(name), name, say)

    def wait(self, name: str, say: Callable[[str], object] | None = None) -> Outcome:
        """Wait for an operation. Raises as `submit`."""
        return self.submit(name, say).result()

    def wait_all(self, names: Iterable[str]) -> dict[str, Outcome]:
        """Wait until each of many operations has its outcome. Raises as `submit`."""
        futures = {name: self.submit(name) for name in names}
        return {name: future.result() for name, future in futures.items()}


class _OfLocation:
    """The operations of a project and location."""

    def __init__(self, operations: Operations, parent: str) -> None:
        self._operations = operations
        self._parent = parent

    def look(self, name: str, limits: Limits) -> Running | Ended:
        try:
            return status(self._operations.get(name, limits))
        except NotFoundError:
            return Vanished()

    def pages(self, limits: Limits) -> Iterator[Iterable[tuple[str, Running | Ended]]]:
        _, project, _, location = self._parent.split("/")
        for page in self._operations.pages(project, location, limits):
            yield ((str(operation.get("name")), status(operation)) for operation in page)

    def too_late(self, seconds: float, _seen: str, message: str) -> str:
        return f"not done after {seconds:.0f} s: {message}"


def _say_nothing(_message: str) -> None:
    pass
