"""How to reach the service: where, as whom, and the clocks. Values only; nothing here looks anything up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from reconciler.errors import UsageError

_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?", re.ASCII)
_HOST = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+")
_HEADER_SAFE = re.compile(r"[\x21-\x7e]*")
_VARIABLES = {
    "endpoint": "RECONCILER_ENDPOINT",
    "universe": "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
    "impersonate_service_account": "RECONCILER_IMPERSONATE_SERVICE_ACCOUNT",
    "access_token": "RECONCILER_ACCESS_TOKEN",
    "request_timeout": "RECONCILER_REQUEST_TIMEOUT",
    "retry_budget": "RECONCILER_RETRY_BUDGET",
    "queue_budget": "RECONCILER_QUEUE_BUDGET",
    "operation_timeout": "RECONCILER_OPERATION_TIMEOUT",
}
# Sockets take no more than 24 days, and no number of hours that anybody means is an overflow somewhere.
_LONGEST = 20 * 86_400
_LONGEST_TEXT = 1000 * 86_400
_CLOCKS = ("request_timeout", "retry_budget", "queue_budget", "operation_timeout")


@dataclass(frozen=True, slots=True)
class Settings:
    """Connection settings. Raises UsageError for a value that can't be meant.

    endpoint: base URL instead of `https://{location}-aiplatform.{universe}`; None for the service itself.
    universe: the universe domain; empty means that of the credentials.
    impersonate_service_account: the account's email address; empty for none.
    access_token: a bare token, used as it is and never refreshed. A secret: it's not in `repr`.
    request_timeout: seconds in which one answer must be complete, from sent request to last byte.
    retry_budget: seconds that the repetitions of one request may take altogether; 0 means one attempt.
    queue_budget: seconds that one look at a cluster's queue may take, repetitions and all, where that is less; a plan
        says then that nobody knows the jobs, and a wait for jobs looks again.
    operation_timeout: seconds to wait for a long-running operation (T allows 120 minutes).
    """

    endpoint: str | None = None
    universe: str = ""
    impersonate_service_account: str = ""
    access_token: str = field(default="", repr=False)
    request_timeout: float = 60.0
    retry_budget: float = 120.0
    queue_budget: float = 30.0
    operation_timeout: float = 7200.0

    def __post_init__(self) -> None:
        for clock in _CLOCKS:
            if not 0 <= getattr(self, clock) <= _LONGEST:
                told = f"{clock} ({_VARIABLES[clock]})"
                raise UsageError(f"{told} must be a number of seconds, zero or more, and 20 days at most")
        if self.request_timeout == 0:
            raise UsageError("request_timeout must be more than zero seconds")
        if self.universe and not _HOST.fullmatch(self.universe):
            raise UsageError(f"the universe domain {self.universe!r} is no domain name")
        if not _HEADER_SAFE.fullmatch(self.access_token):
            raise UsageError(
                "the access token holds spaces or characters that no token has", hint="it isn't shown here"
            )

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """Settings from environment variables; empty ones count as unset. Raises UsageError, naming the variable."""
        values: dict[str, str | float] = {}
        for item in fields(cls):
            variable = _VARIABLES[item.name]
            text = environ.get(variable, "").strip()
            if text and item.name in _CLOCKS:
                try:
                    values[item.name] = seconds(text)
                except ValueError as error:
                    raise UsageError(f"{variable}: {error}") from None
            elif text:
                values[item.name] = text
        return cls(**values)  # type: ignore[arg-type]  # keyed by field name: clocks are floats, all others text


def seconds(text: str) -> float:
    """A length of time for people, in seconds: `90`, `90s`, `5m`, `1h30m`. Raises ValueError with a sentence."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise ValueError(f"{text!r} is no length of time; write it like 90s, 5m or 1h30m")
    hours, minutes, rest = (float(part or 0) for part in match.groups())
    total = hours * 3600 + minutes * 60 + rest
    if total > _LONGEST_TEXT:
        raise ValueError(f"{text[:40]!r} is more than 1000 days")
    return total
