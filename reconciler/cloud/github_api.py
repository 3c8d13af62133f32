"""Requests to GitHub: which are repeated, and which pages belong to an answer.

| answer                                   | GET, PATCH, DELETE, queries | POST that makes something |
|------------------------------------------|-----------------------------|---------------------------|
| no connection was made                   | again                       | again: nothing was sent   |
| 429, or 403 for asking too often         | again, when GitHub says     | the same: it was refused  |
| 5xx, reset, time-out, no JSON            | again                       | AmbiguousError            |
| any other refusal, a redirect            | at once                     | at once                   |

The waits are tenacity's, as in the transport to the service; the wire is the same one.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import random as uniform
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from reconciler.cloud import github_refusals as refusals
from reconciler.cloud.answers import Answer, WireError
from reconciler.cloud.auth import scrub
from reconciler.cloud.github_settings import GitHubSettings
from reconciler.cloud.text import snippet
from reconciler.errors import AmbiguousError, UnavailableError

if TYPE_CHECKING:
    from tenacity import RetryCallState

_FIRST_PAUSE, _LAST_PAUSE = 1.0, 30.0
_PAGES = 300  # of a hundred: beyond any conversation, and an end to a server that always names a next page
_NEXT = re.compile(r'<([^<>]+)>[^,<]*;\s*rel="?next"?')
_VERSION = "2022-11-28"


@dataclass(slots=True)
class _Call:
    """One request, over all its attempts. `makes`: done twice, it has made two things."""

    method: str
    url: str
    content: bytes | None
    makes: bool
    started: float
    attempts: int = 0

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


class _Transient(Exception):  # noqa: N818 - private control flow, no error until the budget is spent
    """An attempt that may be made again after `pause` seconds."""

    def __init__(self, message: str, pause: float) -> None:
        super().__init__(message)
        self.pause = pause


class GitHub:
    """The way to GitHub's API. `debug` gets a line for each exchange, `on_retry` one before each pause."""

    def __init__(
        self,
        settings: GitHubSettings,
        *,
        sleep: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        random: Callable[[], float] = uniform,
        debug: Callable[[str], object] | None = None,
        on_retry: Callable[[str], object] | None = None,
    ) -> None:
        from reconciler.cloud.wire import Wire

        self._settings = settings
        self._sleep, self._clock, self._wall, self._random = sleep, clock, wall, random
        self._debug, self._on_retry = debug, on_retry
        self._wire = Wire("reconciler", is_loopback=settings.is_loopback)
        self._headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {settings.token}",
            "X-GitHub-Api-Version": _VERSION,
        }

    def get(self, path: str, **query: str | int) -> Any:
        """The JSON value at a path. Raises AuthError, ApiError and its heirs, UnavailableError."""
        return self._send("GET", self._url(path, query))[0]

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """The items of all pages of a list. Raises as `get`."""
        url = self._url(path, {"per_page": 100, **query})
        for _ in range(_PAGES):
            items, answer = self._send("GET", url)
            if not isinstance(items, list):
                raise UnavailableError(f"GET {url} answered something else than a list: is the URL right?")
            yield from (item for item in items if isinstance(item, dict))
            following = _NEXT.search(answer.headers.get("link", ""))
            if not following:
                return
            url = following[1]
            if not url.startswith(f"{self._settings.api}/"):
                raise UnavailableError(f"the next page is outside {self._settings.api}: the token doesn't go there")

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Make something. Raises as `get`, and AmbiguousError where it may have been made."""
        return _object(self._send("POST", self._url(path), body)[0])

    def add(self, path: str, body: Mapping[str, Any]) -> None:
        """Add to a set by POST, to the same effect however often. Raises as `get`."""
        self._send("POST", self._url(path), body, makes=False)

    def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Set members of something, to the same effect however often. Raises as `get`."""
        return _object(self._send("PATCH", self._url(path), body)[0])

    def delete(self, path: str) -> None:
        """Remove something. Raises as `get`."""
        self._send("DELETE", self._url(path))

    def query(self, graphql: str) -> dict[str, Any]:
        """The data that a GraphQL query answers; empty where there is none. It must only read. Raises as `get`."""
        answered, _ = self._send("POST", self._settings.graphql, {"query": graphql}, makes=False)
        return _object(_object(answered).get("data"))

    def close(self) -> None:
        """Close idle connections."""
        self._wire.close()

    def _url(self, path: str, query: Mapping[str, str | int] | None = None) -> str:
        return f"{self._settings.api}{path}" + (f"?{urlencode(query, errors='surrogatepass')}" if query else "")

    def _send(
        self, method: str, url: str, body: Mapping[str, Any] | None = None, *, makes: bool | None = None
    ) -> tuple[Any, Answer]:
        from tenacity import Retrying, retry_if_exception_type

        if not self._settings.token:
            raise refusals.no_token()
        content = None if body is None else json.dumps(body).encode()
        call = _Call(method, url, content, method == "POST" if makes is None else makes, self._clock())
        loop = Retrying(
            retry=retry_if_exception_type(_Transient),
            wait=lambda state: _problem(state).pause,
            stop=lambda state: self._clock() + state.upcoming_sleep >= call.started + self._settings.retry_budget,
            sleep=self._rest,
            before_sleep=lambda state: self._announce(call, _problem(state)),
            retry_error_callback=lambda state: self._give_up(call, _problem(state)),
        )
        return loop(lambda: self._attempt(call))

    def _rest(self, seconds: float) -> None:
        self._sleep(seconds)

    def _announce(self, call: _Call, problem: _Transient) -> None:
        if self._on_retry:
            self._on_retry(f"retrying in {problem.pause:.0f} s: {call}: {problem}")

    def _give_up(self, call: _Call, problem: _Transient) -> tuple[Any, Answer]:
        attempts = "1 attempt" if call.attempts == 1 else f"{call.attempts} attempts"
        hint = f"gave up after {attempts} in {self._clock() - call.started:.0f} s"
        raise UnavailableError(f"{call}: {problem}", hint=hint)

    def _attempt(self, call: _Call) -> tuple[Any, Answer]:
        call.attempts += 1
        pause = self._random() * min(_LAST_PAUSE, _FIRST_PAUSE * 2.0 ** min(call.attempts - 1, 16))
        headers = self._headers | ({} if call.content is None else {"Content-Type": "application/json"})
        timeout = self._settings.request_timeout
        try:
            answer = self._wire.send(call.method, call.url, headers=headers, body=call.content, timeout=timeout)
        except WireError as error:
            self._log(f"{call} -> {error}")
            raise _lost(call, str(error), pause, sent=error.sent, permanent=error.permanent) from error
        self._log(f"{call} -> {answer.status}")
        if 200 <= answer.status < 300:
            try:
                return (json.loads(answer.body) if answer.body.strip() else {}), answer
            except (ValueError, RecursionError):
                message = self._scrub(f"answered {answer.status} with what is no JSON: {snippet(answer.body)}")
                raise _lost(call, message, pause) from None
        answer = Answer(answer.status, answer.headers, self._scrub(answer.body.decode("utf-8", "replace")).encode())
        message = f"{answer.status}: {refusals.said(answer)}"
        if refusals.is_rate_limit(answer):
            raise _Transient(message, self._asked(answer) or pause)
        if answer.status >= 500:
            raise _lost(call, message, self._asked(answer) or pause)
        raise refusals.refused(str(call), answer)

    def _asked(self, answer: Answer) -> float:
        """Seconds that GitHub asks for: Retry-After, or until its limit starts anew; 0 where it doesn't say."""
        after = answer.headers.get("retry-after", "").strip()
        if after.isascii() and after.isdigit() and len(after) < 10:
            return float(after) + self._random()
        reset = answer.headers.get("x-ratelimit-reset", "").strip()
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
            return max(0.0, float(reset[:12]) - self._wall()) + self._random()
        # A secondary limit without either header: GitHub asks for at least a minute.
        return 60.0 + self._random() if "secondary rate limit" in refusals.said(answer).lower() else 0.0

    def _log(self, line: str) -> None:
        if self._debug:
            self._debug(self._scrub(line))

    def _scrub(self, text: str) -> str:
        return scrub(text, self._headers)


def _lost(call: _Call, message: str, pause: float, *, sent: bool = True, permanent: bool = False) -> Exception:
    """The exception for an attempt after which nobody knows whether it was carried out."""
    if sent and call.makes:
        return AmbiguousError(f"{call}: {message}; it may have been carried out")
    return UnavailableError(f"{call}: {message}") if permanent else _Transient(message, pause)


def _problem(state: RetryCallState) -> _Transient:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, _Transient)  # noqa: S101 - the loop asks about nothing else
    return error


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
