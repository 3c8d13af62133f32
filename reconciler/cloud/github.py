"""A GitHub repository's conversations: comments of pull requests, issues, and who we are there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote

from reconciler.cloud.github_api import GitHub
from reconciler.cloud.github_settings import check_repository
from reconciler.errors import ApiError, AuthError, InputError, UnavailableError

_COMMIT = re.compile(r"[0-9A-Fa-f]{4,64}")
_RECENT = 1000  # issues and pull requests that are looked through where none has the label


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote something. `login` is None where GitHub doesn't say."""

    login: str | None
    is_bot: bool


@dataclass(frozen=True, slots=True)
class Comment:
    id: int
    body: str
    author: Author
    url: str


@dataclass(frozen=True, slots=True)
class Issue:
    number: int
    body: str
    author: Author
    url: str
    is_open: bool
    labels: frozenset[str]


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a workflow: its commit, and when it ended."""

    commit: str
    ended: str
    url: str
    succeeded: bool


class Repository:
    """One repository. Every method raises AuthError, ApiError and its heirs, UnavailableError."""

    def __init__(self, github: GitHub, name: str) -> None:
        """Raises UsageError where `name` isn't OWNER/REPO."""
        self._github = github
        self._path = f"/repos/{check_repository(name)}"

    def login(self) -> str | None:
        """Whose token ours is, such as `github-actions[bot]`; None where GitHub doesn't tell.

        A query, since an installation's token (GITHUB_TOKEN is one) is refused at `GET /user`; and that where a
        server has no queries.
        """
        try:
            viewer = self._github.query("query { viewer { login } }").get("viewer")
            if isinstance(viewer, dict) and isinstance(viewer.get("login"), str):
                return str(viewer["login"])
        except (ApiError, AuthError, UnavailableError):
            pass  # the next question may be answered; what needs rights will be refused with a reason
        try:
            user = self._github.get("/user")
        except (ApiError, AuthError, UnavailableError):
            return None
        found = user.get("login") if isinstance(user, dict) else None
        return found if isinstance(found, str) else None

    def head(self, number: int) -> str:
        """The newest commit of a pull request."""
        pull = self._github.get(f"{self._path}/pulls/{number}")
        head = pull.get("head") if isinstance(pull, dict) else None
        return str(head.get("sha") or "") if isinstance(head, dict) else ""

    def pulls_with(self, commit: str) -> list[int]:
        """The merged pull requests that brought a commit. Raises also InputError, for what is no commit's id."""
        if not _COMMIT.fullmatch(commit):
            raise InputError(f"{commit!r} is no commit's id", hint="say --commit SHA, or --pr N")
        pulls = self._github.pages(f"{self._path}/commits/{commit}/pulls")
        return [int(pull["number"]) for pull in pulls if pull.get("merged_at")]

    def comments(self, number: int) -> Iterator[Comment]:
        """The comments of an issue or pull request, the oldest first."""
        return map(_comment, self._github.pages(f"{self._path}/issues/{number}/comments"))

    def add_comment(self, number: int, body: str) -> Comment:
        """Comment on an issue or pull request. Raises also AmbiguousError."""
        return _comment(self._github.post(f"{self._path}/issues/{number}/comments", {"body": body}))

    def edit_comment(self, comment: Comment, body: str) -> Comment:
        """Replace a comment's text."""
        return _comment(self._github.patch(f"{self._path}/issues/comments/{comment.id}", {"body": body}))

    def delete_comment(self, comment: Comment) -> None:
        """Delete a comment."""
        self._github.delete(f"{self._path}/issues/comments/{comment.id}")

    def issues(self, label: str) -> Iterator[Issue]:
        """The issues with a label, open and closed, the oldest first; no pull requests."""
        query = {"labels": label, "state": "all", "sort": "created", "direction": "asc"}
        found = self._github.pages(f"{self._path}/issues", **query)
        return (_issue(item) for item in found if "pull_request" not in item)

    def recent_issues(self) -> Iterator[Issue]:
        """The issues that something was done to last, open and closed, the latest first; no pull requests."""
        query = {"state": "all", "sort": "updated", "direction": "desc"}
        found = islice(self._github.pages(f"{self._path}/issues", **query), _RECENT)
        return (_issue(item) for item in found if "pull_request" not in item)

    def add_issue(self, title: str, body: str, labels: Sequence[str]) -> Issue:
        """Open an issue; labels that don't exist are made. Raises also AmbiguousError."""
        return _issue(self._github.post(f"{self._path}/issues", {"title": title, "body": body, "labels": list(labels)}))

    def add_label(self, number: int, label: str) -> None:
        """Put a label on an issue, beside those that it has."""
        self._github.add(f"{self._path}/issues/{number}/labels", {"labels": [label]})

    def edit_issue(self, number: int, **members: str) -> Issue:
        """Set an issue's title, body, state or state_reason."""
        return _issue(self._github.patch(f"{self._path}/issues/{number}", members))

    def last_run(self, workflow: str, branch: str, *, succeeded: bool = False) -> Run | None:
        """The newest ended run of a workflow's file on a branch; of those that succeeded, if asked for.

        Raises also InputError, for what can't be a file's name.
        """
        if workflow.strip(".") == "":
            raise InputError(f"{workflow!r} is no workflow's file", hint="say --apply-workflow apply.yml")
        status = "success" if succeeded else "completed"
        path = f"{self._path}/actions/workflows/{quote(workflow, safe='', errors='surrogatepass')}/runs"
        answer = self._github.get(path, branch=branch, status=status, per_page=1)
        runs = answer.get("workflow_runs") if isinstance(answer, dict) else None
        if not isinstance(runs, list) or not runs or not isinstance(runs[0], dict):
            return None
        run = runs[0]
        return Run(
            commit=str(run.get("head_sha") or ""),
            ended=str(run.get("updated_at") or ""),
            url=str(run.get("html_url") or ""),
            succeeded=run.get("conclusion") == "success",
        )


def _comment(item: dict[str, Any]) -> Comment:
    return Comment(
        int(item.get("id") or 0), str(item.get("body") or ""), _author(item), str(item.get("html_url") or "")
    )


def _issue(item: dict[str, Any]) -> Issue:
    return Issue(
        number=int(item.get("number") or 0),
        body=str(item.get("body") or ""),
        author=_author(item),
        url=str(item.get("html_url") or ""),
        is_open=item.get("state") != "closed",
        labels=frozenset(_labels(item.get("labels"))),
    )


def _labels(listed: Any) -> Iterator[str]:
    for label in listed if isinstance(listed, list) else ():
        yield str(label.get("name")) if isinstance(label, dict) else str(label)


def _author(item: dict[str, Any]) -> Author:
    user = item.get("user")
    if not isinstance(user, dict):
        return Author(None, is_bot=False)
    return Author(str(user.get("login") or "") or None, is_bot=user.get("type") == "Bot")
