"""What a GitHub Actions run knows of itself: its repository, commits and pull request.

The names and meanings are those of GitHub's default environment variables and of the event's payload.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reconciler.errors import InputError, UsageError

DEFAULT_SERVER = "https://github.com"


@dataclass(frozen=True, slots=True)
class GitHubRun:
    """A run; what isn't known is empty, as it all is outside GitHub Actions.

    pull_request: the number. head: the pull request's newest commit at the time of the event, or the pushed commit.
    base: the commit that the pull request would change. summary: the file that collects this step's job summary.
    problem: why the event, which tells the pull request, can't be read.
    """

    repository: str = ""
    server: str = DEFAULT_SERVER
    pull_request: int = 0
    head: str = ""
    base: str = ""
    branch: str = ""
    run_url: str = ""
    summary: Path | None = None
    on_actions: bool = False
    problem: str = ""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> GitHubRun:
        """Read the environment, and the event's file if there is one."""
        event, problem = _event(environ.get("GITHUB_EVENT_PATH", ""))
        pull = _member(event, "pull_request")
        repository = environ.get("GITHUB_REPOSITORY", "")
        server = environ.get("GITHUB_SERVER_URL", "") or DEFAULT_SERVER
        run = environ.get("GITHUB_RUN_ID", "")
        summary = environ.get("GITHUB_STEP_SUMMARY", "")
        return cls(
            repository=repository,
            server=server,
            pull_request=_number(pull.get("number")),
            # GITHUB_SHA of a pull request is a merge commit that nobody has seen.
            head=str(_member(pull, "head").get("sha") or environ.get("GITHUB_SHA", "")),
            base=str(_member(pull, "base").get("sha") or ""),
            branch=environ.get("GITHUB_REF_NAME", ""),
            run_url=f"{server}/{repository}/actions/runs/{run}" if repository and run else "",
            summary=Path(summary) if summary else None,
            on_actions=environ.get("GITHUB_ACTIONS") == "true",
            problem=problem,
        )

    def number(self) -> int:
        """The event's pull request. Raises InputError where the event can't be read, UsageError where it has none."""
        if self.problem:
            raise InputError(self.problem)
        if not self.pull_request:
            raise UsageError("which pull request?", hint="say --pr N; only the event of a pull request names one")
        return self.pull_request


def _event(path: str) -> tuple[dict[str, Any], str]:
    """The event, or why it can't be read."""
    if not path:
        return {}, ""
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        return {}, f"GITHUB_EVENT_PATH: {path}: {error.strerror}"
    except (ValueError, RecursionError):
        return {}, f"GITHUB_EVENT_PATH: {path} isn't JSON"
    return (event if isinstance(event, dict) else {}), ""


def _member(value: dict[str, Any], name: str) -> dict[str, Any]:
    member = value.get(name)
    return member if isinstance(member, dict) else {}


def _number(value: Any) -> int:
    """A pull request's number; 0 for what is none: it becomes a part of URLs."""
    return value if type(value) is int and 0 < value < 2**63 else 0
