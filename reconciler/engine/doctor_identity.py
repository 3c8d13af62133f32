"""Which credentials there are, and whose: looked up and refreshed, so that what is said of them has been tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from reconciler.cloud.answers import WireError, json_object
from reconciler.cloud.auth import DEFAULT_UNIVERSE, BareToken, Credentials, NoCredentials, credentials_for, scrub
from reconciler.cloud.endpoint import Endpoint
from reconciler.cloud.settings import Settings
from reconciler.engine.doctor import Check, Level
from reconciler.errors import ReconcilerError, UsageError

# Google's public description of an access token; it wants the token itself, and goes to no other host.
TOKEN_INFO = "https://oauth2.googleapis.com/tokeninfo"  # noqa: S105 - an address
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_TIMEOUT = 10.0
_SOON = 300  # seconds


@dataclass(frozen=True, slots=True)
class Identity:
    """The checks, and the credentials if there are usable ones."""

    checks: tuple[Check, ...]
    credentials: Credentials | None
    universe: str

    @property
    def is_usable(self) -> bool:
        return self.credentials is not None and all(check.level is not Level.FAIL for check in self.checks)


def check_identity(settings: Settings, *, token_info: str = TOKEN_INFO) -> Identity:
    """The credentials that the settings lead to, and their universe.

    `token_info` describes tokens that don't say whose they are; it isn't asked where the endpoint is on this machine,
    nor in other universes. Raises UsageError for an endpoint that is none.
    """
    endpoint = Endpoint.parse(settings.endpoint)
    try:
        credentials = _look_up(settings, endpoint)
        headers = credentials.headers()
    except ReconcilerError as error:
        universe = settings.universe or DEFAULT_UNIVERSE
        check = Check("universe", Level.OK, f"{universe}, {'as set' if settings.universe else 'the default'}")
        return Identity((Check.failure("credentials", error), check), None, universe)
    told: dict[str, Any] = {}
    if not endpoint.is_loopback and credentials.universe == DEFAULT_UNIVERSE:
        told = _describe(headers, token_info)
    said = _bare(told, endpoint) if isinstance(credentials, BareToken) else _found(credentials, settings, told)
    found = Check(said.name, said.level, scrub(said.found, headers), said.advice)
    return Identity((found, _universe(credentials, settings, endpoint)), credentials, credentials.universe)


def _look_up(settings: Settings, endpoint: Endpoint) -> Credentials:
    if settings.access_token or endpoint.is_loopback:
        return credentials_for(settings, endpoint)
    from reconciler.engine.doctor_adc import KnownDefault

    return KnownDefault(settings)


def _found(credentials: Credentials, settings: Settings, told: dict[str, Any]) -> Check:
    if isinstance(credentials, NoCredentials):
        return Check("credentials", Level.OK, "none, and none are needed: the endpoint is on this machine")
    from reconciler.engine.doctor_adc import KnownDefault

    assert isinstance(credentials, KnownDefault)  # noqa: S101 - the only other kind that is looked up here
    principal = credentials.principal()
    target = settings.impersonate_service_account
    # The token is that of the account which is impersonated.
    who = principal.who or ("" if target else str(told.get("email") or ""))
    owner = f" of {who}" if who else ", which don't say whose"
    place = f" from {principal.place}" if principal.place else ""
    acting = f", acting as {target}" if target else ""
    return Check("credentials", Level.OK, f"application default: {principal.kind}{owner}{place}{acting}")


def _bare(told: dict[str, Any], endpoint: Endpoint) -> Check:
    kind = "a bare token, from RECONCILER_ACCESS_TOKEN"
    if endpoint.is_loopback:
        return Check("credentials", Level.OK, f"{kind}; the endpoint is on this machine and needs none")
    if not told:
        found = f"{kind}, of which the identity service has nothing to say: it has expired, or is a federated one"
        return Check("credentials", Level.WARN, found, "whether it works is told by the checks of permissions")
    seconds = _seconds(told)
    found = f"{kind}, of {told.get('email') or told.get('sub') or 'somebody unnamed'}, for {seconds // 60} more minutes"
    if _SCOPE not in str(told.get("scope", "")).split():
        return Check("credentials", Level.FAIL, f"{found}, without the scope {_SCOPE}", "make a token with that scope")
    if seconds < _SOON:
        return Check("credentials", Level.WARN, found, "renew it: nobody here can")
    return Check("credentials", Level.OK, found)


def _seconds(told: dict[str, Any]) -> int:
    text = str(told.get("expires_in", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _describe(headers: dict[str, str], url: str) -> dict[str, Any]:
    """What is known of a token; empty where nothing is. The token goes in the body: URLs get into logs."""
    from reconciler.cloud.wire import Wire

    token = headers.get("Authorization", "").removeprefix("Bearer ")
    wire = Wire("reconciler doctor", is_loopback=False)
    try:
        answer = wire.send(
            "POST",
            url,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            body=urlencode({"access_token": token}).encode(),
            timeout=_TIMEOUT,
        )
        return json_object(answer.body) if answer.status == 200 else {}
    except (WireError, ValueError):
        return {}
    finally:
        wire.close()


def _universe(credentials: Credentials, settings: Settings, endpoint: Endpoint) -> Check:
    try:
        endpoint.require_within(credentials.universe)
    except UsageError as error:
        return Check.failure("universe", error)
    origin = "the default" if isinstance(credentials, NoCredentials) else "that of the credentials"
    return Check("universe", Level.OK, f"{credentials.universe}, {'as set' if settings.universe else origin}")
