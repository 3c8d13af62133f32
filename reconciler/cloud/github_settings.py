"""How to reach GitHub: the API's URL, the token, and the clocks. Values only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from reconciler.cloud.endpoint import Endpoint
from reconciler.cloud.settings import Settings
from reconciler.errors import UsageError

DEFAULT_API = "https://api.github.com"
_HEADER_SAFE = re.compile(r"[\x21-\x7e]*")
_REPOSITORY = re.compile(r"(?!\.{1,2}/)[\w.-]{1,100}/(?!\.{1,2}$)[\w.-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class GitHubSettings:
    """Raises UsageError for a value that can't be meant.

    api: base URL of the REST API, without a slash at its end; https, or plain http on this machine.
    token: goes to that host and nowhere else. A secret: it's not in `repr`.
    request_timeout, retry_budget: seconds, as in `Settings`.
    """

    api: str = DEFAULT_API
    token: str = field(default="", repr=False)
    request_timeout: float = 60.0
    retry_budget: float = 120.0

    def __post_init__(self) -> None:
        try:
            Endpoint.parse(self.api)
        except UsageError as error:
            raise UsageError(
                f"GITHUB_API_URL: {error.summary}",
                hint="write it like https://api.github.com or https://github.example.com/api/v3",
            ) from None
        if not _HEADER_SAFE.fullmatch(self.token):
            raise UsageError("GITHUB_TOKEN holds spaces or characters that no token has", hint="it isn't shown here")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> GitHubSettings:
        """From GITHUB_API_URL, GITHUB_TOKEN and the tool's own clocks; what is empty counts as unset."""
        clocks = Settings.from_environ(environ)
        return cls(
            api=(environ.get("GITHUB_API_URL", "").strip() or DEFAULT_API).rstrip("/"),
            token=environ.get("GITHUB_TOKEN", "").strip(),
            request_timeout=clocks.request_timeout,
            retry_budget=clocks.retry_budget,
        )

    @property
    def graphql(self) -> str:
        """Where queries go: beside the REST API, which GitHub Enterprise Server has under `/api/v3`."""
        return f"{self.api.removesuffix('/v3') if self.api.endswith('/api/v3') else self.api}/graphql"

    @property
    def is_loopback(self) -> bool:
        return Endpoint.parse(self.api).is_loopback


def check_repository(name: str) -> str:
    """`OWNER/REPO` as it is, since it becomes a part of URLs. Raises UsageError where it is none."""
    if not _REPOSITORY.fullmatch(name):
        raise UsageError(f"{name!r} is no repository", hint="say --repository OWNER/REPO, or set GITHUB_REPOSITORY")
    return name
