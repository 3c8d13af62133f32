"""Who asks: no credentials for a loopback endpoint, a bare token, or application default credentials.

google-auth is imported when application default credentials are looked up, and not before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from reconciler.errors import UsageError

if TYPE_CHECKING:
    from reconciler.cloud.endpoint import Endpoint
    from reconciler.cloud.settings import Settings

DEFAULT_UNIVERSE = "googleapis.com"
# What follows a key that names a secret. The key and the quotes stay: it may be in JSON that is still to be read.
_KEYED = re.compile(r"""((?:_token|_secret|assertion)\\?["']\s*[:=]\s*\\?["'])[^"'\\]+""")
_SECRETS = re.compile(
    r"(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{16,}"  # an Authorization header, echoed
    r"|ya29\.[\w.-]+"  # a Google access token
    r"|eyJ[\w-]{1,500}\.[\w-]{1,8000}\.[\w-]*"  # a JSON web token; bounded, for text that only begins like many
    r"|(?<=PRIVATE KEY-----)[^-]+"
)


class Credentials(Protocol):
    """What the transport needs of credentials. All methods may be called from any thread."""

    @property
    def universe(self) -> str:
        """The universe domain that the credentials are of; they go to its hosts only. Raises AuthError."""

    def headers(self) -> dict[str, str]:
        """Headers for one request, refreshed if due.

        Raises AuthError if there are none to be had, UnavailableError if the identity service can't be reached.
        """

    def refresh(self, rejected: Mapping[str, str]) -> bool:
        """Replace what the service answered 401 to. False if there is nothing else to try. Raises as `headers`."""


class NoCredentials:
    """For a loopback endpoint."""

    universe = DEFAULT_UNIVERSE

    def headers(self) -> dict[str, str]:
        return {}

    def refresh(self, rejected: Mapping[str, str]) -> bool:  # noqa: ARG002 - the protocol's signature
        return False


class BareToken:
    """A token used as it is: nobody here can renew it."""

    def __init__(self, token: str, universe: str) -> None:
        self._token = token
        self.universe = universe

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}

    def refresh(self, rejected: Mapping[str, str]) -> bool:  # noqa: ARG002 - the protocol's signature
        return False


def credentials_for(settings: Settings, endpoint: Endpoint) -> Credentials:
    """The credentials that the settings ask for. Raises UsageError, AuthError or UnavailableError."""
    if settings.access_token:
        if settings.impersonate_service_account:
            raise UsageError(
                "both a bare access token and a service account to impersonate are set",
                hint="unset RECONCILER_ACCESS_TOKEN, or give a token of that service account and no account",
            )
        return BareToken(settings.access_token, settings.universe or DEFAULT_UNIVERSE)
    if endpoint.is_loopback:
        return NoCredentials()
    from reconciler.cloud.adc import ApplicationDefault

    return ApplicationDefault(settings)


def scrub(text: str, headers: Mapping[str, str] | None = None) -> str:
    """`text` without what looks like a secret, and without the token in `headers`, which an answer may echo."""
    token = (headers or {}).get("Authorization", "").removeprefix("Bearer ")
    if token:
        text = text.replace(token, "[secret]")
    return _SECRETS.sub("[secret]", _KEYED.sub(r"\1[secret]", text))
