"""Where requests go, and which hosts may see credentials (contract section 2)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from reconciler.errors import UsageError

# Stricter than any URL parser: two parsers that disagree about the host must not decide where a token goes.
_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?P<path>(?:/[\w~-][\w.~-]*)*)/?",
    re.ASCII,
)
_SECRETS = re.compile(r"(?<=//).*@|^(?!https?://).*@|(?<=\?).*", re.DOTALL)  # a password, a key in a query
# The location becomes a part of the host name, and it comes from a file.
_LOCATION = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The service's regional hosts (`base` is empty), or one base URL for all locations."""

    base: str = ""
    host: str = ""

    @classmethod
    def parse(cls, text: str | None) -> Endpoint:
        """Read an endpoint; None or empty is the service itself. Raises UsageError."""
        if not text:
            return cls()
        match = _ENDPOINT.fullmatch(text.strip())
        if not match:
            raise UsageError(
                f"the endpoint {_SECRETS.sub('…', text)!r} is no base URL",
                hint="write it like http://127.0.0.1:8080 or https://us-central1-aiplatform.googleapis.com",
            )
        endpoint = cls(text.strip().rstrip("/"), match["host"].strip("[]").lower())
        if match["scheme"] == "http" and not endpoint.is_loopback:
            raise UsageError(
                f"the endpoint {text} is plain http and not on this machine; no credentials go there",
                hint="use https, or an address such as http://127.0.0.1:8080",
            )
        return endpoint

    @property
    def is_loopback(self) -> bool:
        """Whether requests stay on this machine (127.0.0.0/8, ::1, localhost), so that no credentials are needed."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def url(self, location: str, universe: str) -> str:
        """The base URL for a location. Raises UsageError for a location that is none."""
        if self.base:
            return self.base
        if not _LOCATION.fullmatch(location):
            raise UsageError(f"{location!r} is no location", hint="a location is a region such as us-central1")
        return f"https://{location}-aiplatform.{universe}"

    def require_within(self, universe: str) -> None:
        """Raise UsageError unless credentials of `universe` may go to this endpoint."""
        if not self.base or self.is_loopback or self.host == universe or self.host.endswith(f".{universe}"):
            return
        raise UsageError(
            f"the endpoint's host {self.host} is outside the credentials' universe, {universe}: they don't go there",
            hint="use a host of that universe, or set GOOGLE_CLOUD_UNIVERSE_DOMAIN with credentials of the other one",
        )
