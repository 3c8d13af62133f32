"""One attempt at a request: the host, the credentials, the pace, and a line for the debug log."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from reconciler import __version__
from reconciler.cloud.answers import Answer, WireError
from reconciler.cloud.auth import Credentials, credentials_for, scrub
from reconciler.cloud.endpoint import Endpoint
from reconciler.cloud.pace import Gate
from reconciler.cloud.text import one_line
from reconciler.errors import InterruptedRun, UnavailableError

if TYPE_CHECKING:
    from reconciler.cloud.settings import Settings


# A shorter one is no credential, and might be a word of any good answer.
_TOKEN_LENGTH = 12


class Kind(Enum):
    """Whether a request may be repeated freely, or only while it's certain that nothing happened."""

    READ = "read"
    WRITE = "write"


@dataclass(slots=True)
class Call:
    """One request, over all its attempts. `base` is empty until the host is known.

    `foreign` counts the good answers that were none of the API's: pages of a proxy or a login.
    """

    method: str
    target: str
    location: str
    kind: Kind
    body: bytes | None
    timeout: float
    started: float
    base: str = ""
    attempts: int = 0
    foreign: int = 0
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        return self.base + self.target

    def __str__(self) -> str:
        return f"{self.method} {self.url}"


class Exchange:
    """Sends single attempts, for all threads. The parameters are those of `Transport`."""

    def __init__(
        self,
        settings: Settings,
        credentials: Credentials | None,
        *,
        sleep: Callable[[float], object],
        clock: Callable[[], float],
        debug: Callable[[str], object] | None,
    ) -> None:
        from reconciler.cloud.wire import Wire

        self._settings = settings
        self._endpoint = Endpoint.parse(settings.endpoint)
        self._credentials = credentials
        self._lock = threading.Lock()
        self._sleep, self._clock, self._debug = sleep, clock, debug
        self._wire = Wire(f"reconciler/{__version__} (gzip)", is_loopback=self._endpoint.is_loopback)
        # Quotas are counted by region, and each region has a host of its own.
        self._gates: defaultdict[str, Gate] = defaultdict(lambda: Gate(clock))
        self._tokens: list[str] = []  # all that were sent: an answer may quote one that was renewed since

    def send(self, call: Call) -> Answer:
        """The answer, after a refresh of the credentials if the first one is 401.

        Raises WireError, UsageError, and AuthError if there are no credentials or they can't be refreshed.
        """
        call.attempts += 1
        try:
            credentials = self._ready_credentials()
            call.base = self._endpoint.url(call.location, credentials.universe)
            answer = self._send(call, credentials.headers())
            if answer.status == 401 and credentials.refresh(call.headers):
                answer = self._send(call, credentials.headers())
        except UnavailableError as error:
            # The identity service can't be reached: the request didn't leave, or was refused.
            raise WireError(error.summary, sent=False) from None
        return answer

    def slow_down(self, call: Call, pause: float) -> None:
        """Keep every thread from the host of this call for a while."""
        self._gates[call.base].slow_down(pause)

    def hide(self, text: str) -> str:
        """`text`, for people, without the tokens that were sent and without what looks like a secret."""
        for token in self._tokens:
            text = text.replace(token, "[secret]")
        return scrub(text)

    def without_tokens(self, answer: dict[str, Any], body: bytes) -> dict[str, Any]:
        """A good answer without the tokens that were sent; nothing else of it is touched. `body` is what it was."""
        tokens = [json.dumps(token)[1:-1] for token in self._tokens if len(token) >= _TOKEN_LENGTH]
        spelt = b"\\u00" in body or b"\\/" in body  # escapes that plain characters can be written with
        if not tokens or not (spelt or any(token.encode() in body for token in tokens)):
            return answer
        text = json.dumps(answer, ensure_ascii=False)
        if not any(token in text for token in tokens):
            return answer
        for token in tokens:
            text = text.replace(token, "[secret]")
        return dict(json.loads(text))

    def rest(self, seconds: float) -> None:
        """Sleep. Raises InterruptedRun if the run was interrupted meanwhile."""
        if self._sleep(seconds):
            raise InterruptedRun("interrupted before the request was sent again")

    def close(self) -> None:
        """Close idle connections."""
        self._wire.close()

    def _send(self, call: Call, headers: dict[str, str]) -> Answer:
        call.headers = headers
        self._remember(headers)
        gate = self._gates[call.base]
        if (wait := gate.reserve()) > 0:
            self.rest(wait)
        started = self._clock()
        content_type = {} if call.body is None else {"Content-Type": "application/json"}
        try:
            answer = self._wire.send(
                call.method, call.url, headers=headers | content_type, body=call.body, timeout=call.timeout
            )
        except WireError as error:
            self._log(call, started, str(error))
            raise
        self._log(call, started, str(answer.status))
        if answer.status < 400:
            gate.ease()
        return answer

    def _remember(self, headers: dict[str, str]) -> None:
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        if token and token not in self._tokens:
            self._tokens = [*self._tokens, token]  # anew: other threads may be going through the old one

    def _log(self, call: Call, started: float, outcome: str) -> None:
        if self._debug:
            milliseconds = (self._clock() - started) * 1000
            line = f"{call} -> {outcome} in {milliseconds:.0f} ms (attempt {call.attempts})"
            self._debug(one_line(self.hide(line)))

    def _ready_credentials(self) -> Credentials:
        """Looked up with the first request; refused if the endpoint is none of theirs."""
        with self._lock:
            if self._credentials is None:
                self._credentials = credentials_for(self._settings, self._endpoint)
            self._endpoint.require_within(self._credentials.universe)
            return self._credentials
