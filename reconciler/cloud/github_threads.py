"""One comment and one issue that are found again, kept up to date, and never doubled.

They are found by a marker, an HTML comment that is the first line of the text. Anybody can write such a line, and the
token may edit what others wrote: so only what our own token wrote is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from reconciler.cloud.github import Author, Comment, Issue, Repository
from reconciler.errors import AmbiguousError, NotFoundError

LABEL = "reconciler-drift"


class Kept(StrEnum):
    """What was done to a comment or an issue."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # something newer stands there
    NONE = "none"  # there is none, and none is needed
    CLOSED = "closed"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, and where it can be seen."""

    kept: Kept
    url: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class IssueTexts:
    """An issue and the short comments that go with it. `content` changes when what the issue says has changed."""

    marker: str
    title: str
    body: str
    content: str
    changed: str
    back: str
    gone: str


def keep_comment(
    repository: Repository,
    number: int,
    marker: str,
    body: str,
    *,
    create: bool = True,
    unless: Callable[[str], bool] = lambda _body: False,
) -> Outcome:
    """Have one comment with this marker on a pull request, and make it say `body`, which begins with the marker.

    create: whether to make one where there is none. unless: asked with what the comment says now; true leaves it.
    Further comments with the marker, from two runs at once, are deleted. Raises as `Repository` does.
    """
    login = repository.login()

    def find() -> list[Comment]:
        comments = repository.comments(number)
        return [each for each in comments if _is_marked(each.body, marker) and _is_ours(each.author, login)]

    found = find()
    if not found:
        if not create:
            return Outcome(Kept.NONE)
        made = _once(lambda: repository.add_comment(number, body), find)
        if isinstance(made, Comment):
            return Outcome(Kept.CREATED, made.url)
        found = made
    first, *others = found
    if any(unless(each.body) for each in found):
        return Outcome(Kept.SKIPPED, first.url)
    for other in others:
        _if_there(repository.delete_comment, other)
    if first.body.strip() == body.strip():
        return Outcome(Kept.UNCHANGED, first.url)
    try:
        return Outcome(Kept.UPDATED, repository.edit_comment(first, body).url or first.url)
    except NotFoundError:  # somebody has just deleted it
        return Outcome(Kept.CREATED, repository.add_comment(number, body).url)


def keep_issue(repository: Repository, texts: IssueTexts, *, wanted: bool, certain: bool = True) -> Outcome:
    """Have one issue with this marker while it is wanted: opened, updated, closed with a word, opened again.

    certain: whether "not wanted" was really seen; where it wasn't, an open issue stays open. Raises as `Repository`.
    """
    login = repository.login()

    def find() -> list[Issue]:
        issues = repository.issues(LABEL)
        return [each for each in issues if _is_marked(each.body, texts.marker) and _is_ours(each.author, login)]

    found = find()
    issue = next((each for each in found if each.is_open), found[-1] if found else None)
    if issue is None:
        return _open(repository, texts, find) if wanted else Outcome(Kept.NONE)
    if wanted and issue.is_open:
        return _update(repository, issue, texts)
    if wanted:
        repository.edit_issue(issue.number, state="open", title=texts.title, body=texts.body)
        _say(repository, issue, texts.back)
        return Outcome(Kept.REOPENED, issue.url)
    if issue.is_open and certain:
        _say(repository, issue, texts.gone)
        repository.edit_issue(issue.number, state="closed", state_reason="completed")
        return Outcome(Kept.CLOSED, issue.url)
    return Outcome(Kept.UNCHANGED, issue.url)


def _open(repository: Repository, texts: IssueTexts, find: Callable[[], list[Issue]]) -> Outcome:
    made = _once(lambda: repository.add_issue(texts.title, texts.body, [LABEL]), find)
    issue = made if isinstance(made, Issue) else made[-1]
    warning = ""
    if LABEL not in issue.labels:
        warning = f"GitHub dropped the label {LABEL}, by which the issue is found again: put it on by hand"
    return Outcome(Kept.CREATED, issue.url, warning)


def _update(repository: Repository, issue: Issue, texts: IssueTexts) -> Outcome:
    """The text in place, with the time of the last look; a comment, which notifies people, only for news."""
    repository.edit_issue(issue.number, title=texts.title, body=texts.body)
    if texts.content in issue.body.splitlines():
        return Outcome(Kept.UNCHANGED, issue.url)
    _say(repository, issue, texts.changed)
    return Outcome(Kept.UPDATED, issue.url)


def _say(repository: Repository, issue: Issue, text: str) -> None:
    try:
        repository.add_comment(issue.number, text)
    except AmbiguousError:
        return  # it may stand there; saying it twice is worse than not at all, as the issue itself says it too


Made = TypeVar("Made")


def _once(make: Callable[[], Made], find: Callable[[], list[Made]]) -> Made | list[Made]:
    """Make a thing; where nobody knows whether that worked, look, and try once more only if it isn't there."""
    try:
        return make()
    except AmbiguousError:
        return find() or make()


def _if_there(action: Callable[[Comment], None], comment: Comment) -> None:
    try:
        action(comment)
    except NotFoundError:
        return  # it is gone, which is what was wanted


def _is_marked(body: str, marker: str) -> bool:
    return body.partition("\n")[0].rstrip() == marker


def _is_ours(author: Author, login: str | None) -> bool:
    """Where GitHub doesn't say who we are, we are a bot: a person's token would have been told."""
    return author.login == login if login else author.is_bot or author.login is None
