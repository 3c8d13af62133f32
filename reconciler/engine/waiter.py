"""Waiting for long-running operations, many at a time. The service's last word decides, never a failed look at it."""

from __future__ import annotations

import random as randomness
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from reconciler.cloud.operations import Failed, Operations, Succeeded, parent_of
from reconciler.cloud.pace import Pace
from reconciler.engine.polling import Outcome, Pending, Poller, PollPolicy, Vanished, Wait

__all__ = ["Failed", "Outcome", "Pending", "PollPolicy", "Succeeded", "Vanished", "Waiter"]


class Waiter:
    """Waits for operations together: one schedule for each location, and one pace for all of them.

    A location that doesn't answer delays no other. All methods may be called from any thread. `say` gets the service's
    progress message whenever it changes and as a sign of life; it's called in a thread of the waiter and must not
    raise. `timeout` is in seconds from the start of each wait. A `sleep` that answers true says that the run was
    interrupted: every wait then ends, as after `cancel`.
    """

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
        self._operations = operations
        self._policy = policy or PollPolicy()
        self._timeout = timeout
        self._sleep, self._clock, self._random = sleep, clock, random
        self._pace = Pace(1 / self._policy.polls_per_second, clock)
        self._lock = threading.Lock()
        self._pollers: dict[str, Poller] = {}
        self._cancelled: Pending | None = None

    def submit(self, name: str, say: Callable[[str], object] | None = None) -> Future[Outcome]:
        """Begin to wait for an operation; one that is waited for already has one future, and its first `say`.

        The future's result is the outcome; it has no exception. Raises UsageError for what is no operation's name.
        """
        parent = parent_of(name)
        wait = Wait(name, say or _say_nothing, started=self._clock(), timeout=self._timeout)
        with self._lock:
            if self._cancelled:
                wait.future.set_result(self._cancelled)
                return wait.future
            poller = self._pollers.get(parent)
            if poller is None:
                poller = self._pollers[parent] = self._poller(parent)
                # A daemon: a poll that hangs must not keep a cancelled run from ending.
                threading.Thread(target=self._run, args=(poller,), name=f"wait {parent}", daemon=True).start()
            return poller.add(wait).future

    def wait(self, name: str, say: Callable[[str], object] | None = None) -> Outcome:
        """Wait for an operation. Raises as `submit`."""
        return self.submit(name, say).result()

    def wait_all(self, names: Iterable[str]) -> dict[str, Outcome]:
        """Wait until each of many operations has its outcome. Raises as `submit`."""
        futures = {name: self.submit(name) for name in names}
        return {name: future.result() for name, future in futures.items()}

    def cancel(self, reason: str = "the wait was interrupted") -> None:
        """Give every open and every further wait the outcome Pending, at once. The operations go on by themselves."""
        with self._lock:
            self._cancelled = Pending(reason)
            pollers = list(self._pollers.values())
        for poller in pollers:
            poller.abandon(self._cancelled)

    def _poller(self, parent: str) -> Poller:
        return Poller(
            self._operations,
            parent,
            policy=self._policy,
            pace=self._pace,
            sleep=self._doze,
            clock=self._clock,
            random=self._random,
        )

    def _doze(self, seconds: float) -> None:
        if self._sleep(seconds):
            self.cancel()

    def _run(self, poller: Poller) -> None:
        try:
            while not self._is_finished(poller):
                poller.step()
        finally:
            # Whatever ended the loop, nobody may wait for ever.
            poller.abandon(Pending("the wait broke off"))

    def _is_finished(self, poller: Poller) -> bool:
        """Whether nothing is left to poll; then the next operation of this location gets a new poller."""
        with self._lock:
            if poller.pending:
                return False
            del self._pollers[poller.parent]
            return True


def _say_nothing(_message: str) -> None:
    pass
