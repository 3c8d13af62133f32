"""Requests to the service: which are repeated, and what an answer must look like.

| answer                                   | READ                    | WRITE                                   |
|------------------------------------------|-------------------------|-----------------------------------------|
| no connection was made                   | again                   | again: nothing was sent                 |
| 429                                      | again, all threads wait | again, all threads wait: it was refused |
| 401                                      | once more, refreshed    | once more, refreshed: it was refused    |
| 408, 499, 5xx but 501                    | again                   | AmbiguousError                          |
| reset, time-out, truncated               | again                   | AmbiguousError                          |
| 2xx, but no JSON object: a login page    | again, a few times      | AmbiguousError                          |
| more than is read or held in memory      | at once                 | AmbiguousError                          |
| any other refusal, a redirect            | at once                 | at once                                 |

A 503 isn't a refusal: whatever answered may have passed the request on, and UNAVAILABLE promises nothing about writes.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from random import random as uniform
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from reconciler.cloud.answers import Answer, WireError, json_object
from reconciler.cloud.auth import Credentials
from reconciler.cloud.exchange import Call, Exchange, Kind
from reconciler.cloud.text import one_line
from reconciler.errors import AmbiguousError, UnavailableError, UsageError

if TYPE_CHECKING:
    from tenacity import RetryCallState

    from reconciler.cloud.settings import Settings

__all__ = ["Kind", "Limits", "Transport"]

# More of an error answer isn't read.
_ERROR_LIMIT = 2**16
_FIRST_PAUSE = 1.0
_LAST_PAUSE = 32.0
# Nobody there for this long is a wrong address or an outage, not a restart: don't hold the other locations up.
_UNREACHABLE_BUDGET = 15.0
# A proxy that is restarted may show a page or two; one that wants a login shows them for ever.
_FOREIGN_ANSWERS = 4
# Names come from files and from answers: no query, no fragment, and no way up.
_PATH = re.compile(r"/v1(?:beta1)?(?:/(?!\.{1,2}(?:/|$))[^/?#\\\s]+)+")


@dataclass(frozen=True, slots=True)
class Limits:
    """Clocks of one request, in seconds, in place of the settings' (None). The timeout can only be shortened."""

    timeout: float | None = None
    retry_budget: float | None = None


class _Transient(Exception):  # noqa: N818 - private control flow, no error until the budget is spent
    """An attempt that may be made again after `pause` seconds. `reached`: whether anybody was there."""

    def __init__(self, message: str, pause: float, *, reached: bool) -> None:
        super().__init__(message)
        self.pause = pause
        self.reached = reached


class Transport:
    """The way to the service, for all threads of a process.

    `debug` gets a line for each exchange, `on_retry` a sentence before each pause; neither ever holds a secret. They
    are called in the thread of the request. A `sleep` that answers true says that the run was interrupted: the request
    ends with InterruptedRun. `wall` is the time of day.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        credentials: Credentials | None = None,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        random: Callable[[], float] = uniform,
        wall: Callable[[], float] = time.time,
        debug: Callable[[str], object] | None = None,
        on_retry: Callable[[str], object] | None = None,
    ) -> None:
        """Connects to nothing yet. Raises UsageError for an endpoint that can't be used."""
        self._settings = settings
        self._clock, self._random, self._wall = clock, random, wall
        self._on_retry = on_retry
        self._exchange = Exchange(settings, credentials, sleep=sleep, clock=clock, debug=debug)

    def request(
        self,
        method: str,
        path: str,
        *,
        location: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        kind: Kind | None = None,
        limits: Limits | None = None,
    ) -> dict[str, Any]:
        """The JSON object that the service answers.

        path: begins with the version: `/v1beta1/projects/…`. kind: READ for GET and WRITE for the rest unless given.

        Raises UsageError (path, location, endpoint), AuthError, ApiError and its heirs (the service said no),
        UnavailableError (no usable answer in time), AmbiguousError (a write may have taken effect).
        """
        if not _PATH.fullmatch(path):
            raise UsageError(f"{path!r} is no path of the API")
        limits = limits or Limits()
        call = Call(
            method=method,
            target=quote(path, safe="/:~@") + (f"?{urlencode(query, safe=',')}" if query else ""),
            location=location,
            kind=kind or (Kind.READ if method == "GET" else Kind.WRITE),
            body=None if body is None else json.dumps(body).encode(),
            timeout=min(self._settings.request_timeout, limits.timeout or float("inf")),
            started=self._clock(),
        )
        try:
            return self._attempt(call)
        except _Transient as problem:
            budget = self._settings.retry_budget if limits.retry_budget is None else limits.retry_budget
            return self._repeat(call, problem, budget)

    @property
    def for_queues(self) -> Limits:
        """The clocks of a look at a cluster's queue: a controller that is down must not hold a plan up for long."""
        budget = self._settings.queue_budget
        return Limits(timeout=budget, retry_budget=min(budget, self._settings.retry_budget))

    def close(self) -> None:
        """Close idle connections. The transport can still be used."""
        self._exchange.close()

    def _repeat(self, call: Call, first: _Transient, budget: float) -> dict[str, Any]:
        from tenacity import Retrying, retry_if_exception_type  # here, since a good run never pays for it

        failed = [first]

        def attempt() -> dict[str, Any]:
            if failed:  # the attempt that was made already is the loop's first
                raise failed.pop()
            return self._attempt(call)

        def is_spent(state: RetryCallState) -> bool:
            if call.foreign >= _FOREIGN_ANSWERS:
                return True
            allowed = budget if _problem(state).reached else min(budget, _UNREACHABLE_BUDGET)
            return self._clock() + state.upcoming_sleep >= call.started + allowed

        loop = Retrying(
            retry=retry_if_exception_type(_Transient),
            wait=lambda state: _problem(state).pause,
            stop=is_spent,
            sleep=self._exchange.rest,
            before_sleep=lambda state: self._announce(call, _problem(state)),
            retry_error_callback=lambda state: self._give_up(call, _problem(state)),
        )
        return loop(attempt)

    def _announce(self, call: Call, problem: _Transient) -> None:
        if self._on_retry:
            self._on_retry(self._exchange.hide(f"retrying in {problem.pause:.0f} s: {call}: {problem}"))

    def _give_up(self, call: Call, problem: _Transient) -> dict[str, Any]:
        attempts = "1 attempt" if call.attempts == 1 else f"{call.attempts} attempts"
        spent = f"gave up after {attempts} in {self._clock() - call.started:.0f} s"
        if not problem.reached:
            spent += "; is the endpoint or location right, and the network up?"
        elif call.foreign:
            spent += "; is the endpoint right, and is a proxy or a login page in between?"
        raise UnavailableError(f"{call}: {problem}", hint=spent)

    def _attempt(self, call: Call) -> dict[str, Any]:
        try:
            answer = self._exchange.send(call)
            if 200 <= answer.status < 300:
                return self._object(call, answer)
        except WireError as error:
            raise self._lost(call, str(error), sent=error.sent, permanent=error.permanent) from error
        from reconciler.cloud import refusals  # here, since a good run never pays for it

        answer = self._scrubbed(answer)
        if answer.status == 429:
            pause = self._pause(call, answer)
            self._exchange.slow_down(call, min(pause, self._settings.retry_budget))
            raise _Transient(str(refusals.read(answer)), pause, reached=True)
        if answer.status in (408, 499) or (answer.status >= 500 and answer.status != 501):
            raise self._lost(call, str(refusals.read(answer)), pause=self._pause(call, answer))
        raise refusals.refused(call.method, call.url, answer)

    def _object(self, call: Call, answer: Answer) -> dict[str, Any]:
        try:
            return self._exchange.without_tokens(json_object(answer.body), answer.body)
        except ValueError as error:
            # What begins like an object is the API's, garbled on its way.
            call.foreign += not answer.body.lstrip().startswith(b"{")
            kind = one_line(answer.headers.get("content-type", ""), 60) or "no content type"
            raise self._lost(call, f"answered {answer.status} ({kind}) with {error}") from None

    def _scrubbed(self, answer: Answer) -> Answer:
        """An error answer without the credentials that it may quote."""
        hide = self._exchange.hide
        body = hide(answer.body[:_ERROR_LIMIT].decode("utf-8", "replace")).encode()
        return Answer(answer.status, {name: hide(value) for name, value in answer.headers.items()}, body)

    def _lost(
        self, call: Call, message: str, *, sent: bool = True, permanent: bool = False, pause: float | None = None
    ) -> Exception:
        """The exception for an attempt after which nobody knows whether it was carried out."""
        message = one_line(self._exchange.hide(message))  # it may quote whatever was received
        if sent and call.kind is Kind.WRITE:
            hint = "look at the cluster before it is sent again"
            return AmbiguousError(f"{call}: {message}; it may have taken effect", hint=hint)
        if permanent:
            return UnavailableError(f"{call}: {message}")
        return _Transient(message, self._pause(call) if pause is None else pause, reached=sent)

    def _pause(self, call: Call, answer: Answer | None = None) -> float:
        """Seconds until the next attempt: full jitter over a doubling span, after what the service asks for."""
        asked = _retry_after(answer, self._wall) if answer else None
        if asked is not None:
            return asked + self._random()
        return self._random() * min(_LAST_PAUSE, _FIRST_PAUSE * 2.0 ** min(call.attempts - 1, 16))


def _problem(state: RetryCallState) -> _Transient:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _Transient)  # noqa: S101 - the loop asks about nothing else
    return error


def _retry_after(answer: Answer, wall: Callable[[], float]) -> float | None:
    """Seconds to wait by the Retry-After header: a number, or a date by the clock of whoever answered."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    until = _timestamp(text)
    if until is None:
        return None
    now = _timestamp(answer.headers.get("date", ""))
    return max(0.0, until - (wall() if now is None else now))


def _timestamp(http_date: str) -> float | None:
    try:
        return parsedate_to_datetime(http_date).timestamp()
    except (ValueError, OverflowError):
        return None
