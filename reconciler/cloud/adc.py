"""Application default credentials through google-auth, which is slow to load: imported only when they are needed."""

from __future__ import annotations

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any

import google.auth
from google.auth import exceptions, external_account, impersonated_credentials
from google.auth.credentials import Credentials as GoogleCredentials
from google.auth.transport import Response
from google.auth.transport.requests import Request

from reconciler.cloud.auth import scrub
from reconciler.cloud.settings import Settings
from reconciler.cloud.text import one_line
from reconciler.errors import AuthError, UnavailableError

SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
LOGIN = (
    "at a terminal: gcloud auth application-default login; in CI: workload identity federation, with an authentication "
    "step before this one in the same job (GitHub: google-github-actions/auth and permissions: id-token: write)"
)
_FEDERATED = (
    "the identity provider's token ends with the CI job that it was made for: authenticate again in this job, and "
    "don't hand a credentials file from one job to another"
)
_SKEW_SECONDS = 120.0

# It warns of a missing project id, which nothing here needs; without a handler that would go to standard error.
logging.getLogger("google.auth").addHandler(logging.NullHandler())


class _TimedRequest(Request):
    """google-auth's way to the identity service, with our timeout, and an eye on its clock."""

    def __init__(self, timeout: float, wall: Callable[[], float]) -> None:
        super().__init__()
        self._timeout = timeout
        self._wall = wall
        self.skew = 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Response:
        """As google-auth calls it; `skew` is then how many seconds the service's clock is ahead of ours."""
        options = {"timeout": self._timeout, **kwargs}
        answer: Response = super().__call__(*args, **options)  # type: ignore[no-untyped-call]  # typed in parts only
        try:
            date = parsedate_to_datetime(answer.headers.get("date", ""))
        except ValueError:
            return answer
        self.skew = date.timestamp() - self._wall()
        return answer


class ApplicationDefault:
    """Application default credentials, impersonating a service account where the settings say so.

    Raises AuthError where there are none, UnavailableError where the identity service can't be reached.
    """

    def __init__(self, settings: Settings, wall: Callable[[], float] = time.time) -> None:
        self._request = _TimedRequest(settings.request_timeout, wall)
        self._lock = threading.Lock()  # google-auth's credentials aren't made for several threads
        self._source = self._credentials = self._look_up()
        with self._explained():
            if settings.impersonate_service_account:
                # Scopes are given always: without them the identity service refuses, and says little.
                self._credentials = impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]  # as below
                    self._source, settings.impersonate_service_account, list(SCOPES)
                )
            self.universe: str = self._credentials.universe_domain  # a metadata server is asked for it
        if settings.universe and settings.universe != self.universe:
            raise AuthError(
                f"the credentials are of {self.universe}, but the universe domain is set to {settings.universe}",
                hint="use credentials of that universe, or unset GOOGLE_CLOUD_UNIVERSE_DOMAIN",
            )

    def headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        with self._lock, self._explained():
            # It refreshes a token that is about to expire, and adds the quota project of a person's credentials.
            self._credentials.before_request(  # type: ignore[no-untyped-call]  # as above
                self._request, "GET", f"https://aiplatform.{self.universe}/", headers
            )
        # google-auth writes some names in lower case.
        return {("Authorization" if name.lower() == "authorization" else name): headers[name] for name in headers}

    def refresh(self, rejected: Mapping[str, str]) -> bool:
        with self._lock, self._explained():
            # Many threads see the same 401: the first one refreshes, the others find another token in place.
            if rejected.get("Authorization") == f"Bearer {self._credentials.token}":
                self._credentials.refresh(self._request)  # type: ignore[no-untyped-call]  # as above
        return True

    def _look_up(self) -> GoogleCredentials:
        with self._explained(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice on quota projects, meant for the authors of programs
            credentials: GoogleCredentials
            credentials, _ = google.auth.default(scopes=SCOPES, request=self._request)
            return credentials

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Every failure of google-auth as one of ours. The cause is cut off: it may quote what the service was sent."""
        try:
            yield
        except exceptions.DefaultCredentialsError as error:
            raise AuthError(f"no usable application default credentials: {_words(error)}", hint=LOGIN) from None
        except exceptions.GoogleAuthError as error:
            if error.retryable or isinstance(error, exceptions.TransportError):
                raise UnavailableError(f"the identity service can't be reached: {_words(error)}") from None
            raise AuthError(f"the credentials can't be refreshed: {_words(error)}", hint=self._advice()) from None
        except (OSError, ValueError, TypeError, AttributeError, LookupError) as error:
            # Unreadable files and keys that are none; and google-auth trusts a credentials file to have its shape.
            raise AuthError(f"the credentials can't be used: {_words(error)}", hint=LOGIN) from None

    def _advice(self) -> str:
        skew = self._request.skew
        if abs(skew) > _SKEW_SECONDS:
            relation = "behind" if skew > 0 else "ahead of"
            return (
                f"this machine's clock is {abs(skew) / 60:.0f} minutes {relation} the identity service's: set it right"
            )
        # Only federated credentials are refreshed while they're still being looked up.
        source = getattr(self, "_source", None)
        return _FEDERATED if source is None or isinstance(source, external_account.Credentials) else LOGIN


def _words(error: Exception) -> str:
    """What an exception of google-auth says: its sentence, and the answer's text where it's the next argument."""
    said = [str(part) for part in error.args[:2] if isinstance(part, str | Exception)]
    return scrub(one_line(": ".join(said) or type(error).__name__, 500))
