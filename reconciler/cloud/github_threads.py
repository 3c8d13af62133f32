"""One comment and one issue that are found again, kept up to date, and never doubled.

They are found by a marker, an HTML comment that is the first line of the text. Anybody can write such a line, and the
token may edit what others wrote: so only what our own token wrote is taken.

Two runs at once may each make one before they see the other's. So after making one they look again, and both keep the
oldest. What only helps may fail: the news comes first, and the next run makes good what was missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeVar

from reconciler.cloud.github import Author, Comment, Issue, Repository
from reconciler.errors import AmbiguousError, ApiError, NotFoundError, UnavailableError

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
    """An issue and the short comments that go with it. `content` changes when what the issue says has changed.

    `settled` is a line in place of `content` once the drift is gone. `back` is said where it has come back, `still`
    where somebody closed the issue and it never went.
    """

    marker: str
    title: str
    body: str
    content: str
    settled: str
    changed: str
    back: str
    still: str
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
    Further comments with the marker are deleted. Raises as `Repository` does.
    """
    login = repository.login()

    def find() -> list[Comment]:
        ours = (each for each in repository.comments(number) if _is_ours(each.author, login))
        return sorted((each for each in ours if _is_marked(each.body, marker)), key=lambda each: each.id)

    # Where the others can't be listed, a plan that nobody sees is worse than a double, which the next run removes.
    found, made = _tried(find) if create else find(), 0
    if not found and not create:
        return Outcome(Kept.NONE)
    if not found:
        added = _once(lambda: repository.add_comment(number, body), find)
        found, made = (_tried(find) or [added], added.id) if isinstance(added, Comment) else (added, 0)
    first, *others = found
    # Also where another run was faster: both leave the oldest alone, with the newest of what they have to say.
    newer = next((each.body for each in found if unless(each.body)), "")
    wanted = newer or body
    for other in others:
        _try(partial(repository.delete_comment, other))
    if first.body.strip() == wanted.strip():
        same = Kept.CREATED if first.id == made else Kept.UNCHANGED
        return Outcome(Kept.SKIPPED if newer else same, first.url)
    try:
        url = repository.edit_comment(first, wanted).url or first.url
    except NotFoundError:  # somebody has just deleted it
        return Outcome(Kept.CREATED, repository.add_comment(number, wanted).url)
    return Outcome(Kept.SKIPPED if newer else Kept.UPDATED, url)


def keep_issue(repository: Repository, texts: IssueTexts, *, wanted: bool, certain: bool = True) -> Outcome:
    """Have one issue with this marker while it is wanted: opened, updated, closed with a word, opened again.

    certain: whether "not wanted" was really seen; where it wasn't, an open issue stays open. Raises as `Repository`.
    """
    return _Issues(repository, texts, repository.login()).keep(wanted=wanted, certain=certain)


class _Issues:
    """The issues with a marker; what is said of them in vain is collected as warnings."""

    def __init__(self, repository: Repository, texts: IssueTexts, login: str | None) -> None:
        self._repository = repository
        self._texts = texts
        self._login = login
        self._warnings: list[str] = []

    def keep(self, *, wanted: bool, certain: bool) -> Outcome:
        found = self._find()
        issue = next((each for each in found if each.is_open), found[-1] if found else None)
        if issue is None:
            kept, url = self._open() if wanted else (Kept.NONE, "")
        elif wanted:
            kept, url = self._update(issue, found) if issue.is_open else self._reopen(issue), issue.url
        else:
            kept, url = self._gone(issue, found) if certain else Kept.UNCHANGED, issue.url
        return Outcome(kept, url, "; ".join(self._warnings))

    def _find(self) -> list[Issue]:
        """By the label; where none has it, among all: somebody may have taken it off."""
        labelled = _tried(lambda: self._ours(self._repository.issues(LABEL)))
        return labelled or self._ours(self._repository.recent_issues())

    def _ours(self, issues: Iterable[Issue]) -> list[Issue]:
        marked = (each for each in issues if _is_marked(each.body, self._texts.marker))
        return sorted((each for each in marked if _is_ours(each.author, self._login)), key=lambda each: each.number)

    def _open(self) -> tuple[Kept, str]:
        texts = self._texts
        made = _once(lambda: self._repository.add_issue(texts.title, texts.body, [LABEL]), self._find)
        issue = made if isinstance(made, Issue) else made[-1]
        if LABEL not in issue.labels:
            self._warnings.append(f"GitHub dropped the label {LABEL}, by which the issue is found again: put it on")
        found = [each for each in _tried(self._find) if each.is_open] or [issue]
        if found[0].number == issue.number:
            self._close_doubles(found)
            return Kept.CREATED, issue.url
        return self._update(found[0], found), found[0].url

    def _update(self, issue: Issue, found: list[Issue]) -> Kept:
        """The text in place, with the time of the last look; a comment, which notifies people, only for news."""
        self._repository.edit_issue(issue.number, title=self._texts.title, body=self._texts.body)
        self._label(issue)
        self._close_doubles([each for each in found if each.is_open])
        if self._texts.content in issue.body.splitlines():
            return Kept.UNCHANGED
        self._say(issue, self._texts.changed)
        return Kept.UPDATED

    def _reopen(self, issue: Issue) -> Kept:
        self._repository.edit_issue(issue.number, state="open", title=self._texts.title, body=self._texts.body)
        self._label(issue)
        self._say(issue, self._texts.back if self._is_settled(issue) else self._texts.still)
        return Kept.REOPENED

    def _gone(self, issue: Issue, found: list[Issue]) -> Kept:
        if not issue.is_open:
            if not self._is_settled(issue):  # a person closed it, and now it's true
                _try(lambda: self._repository.edit_issue(issue.number, body=self._settled(issue)))
            return Kept.UNCHANGED
        self._say(issue, self._texts.gone)
        for each in (each for each in found if each.is_open):
            body = self._settled(each)
            self._repository.edit_issue(each.number, state="closed", state_reason="completed", body=body)
        return Kept.CLOSED

    def _is_settled(self, issue: Issue) -> bool:
        return self._texts.settled in issue.body.splitlines()[:2]

    def _settled(self, issue: Issue) -> str:
        first, _content, *rest = [*issue.body.splitlines(), ""]
        return "\n".join([first, self._texts.settled, *rest])

    def _close_doubles(self, found: list[Issue]) -> None:
        kept, *others = found
        for each in others:
            self._say(each, f"#{kept.number} says the same, and is kept up to date.")
            closing = {"state": "closed", "state_reason": "not_planned", "body": self._settled(each)}
            _try(partial(self._repository.edit_issue, each.number, **closing))

    def _label(self, issue: Issue) -> None:
        if LABEL not in issue.labels:
            _try(lambda: self._repository.add_label(issue.number, LABEL))

    def _say(self, issue: Issue, text: str) -> None:
        try:
            self._repository.add_comment(issue.number, text)
        except AmbiguousError:
            return  # it may stand there; saying it twice is worse than not at all, as the issue itself says it too
        except (ApiError, UnavailableError) as error:  # a locked conversation, for one
            self._warnings.append(f"the issue is as it should be, but nothing could be said there: {error}")


Made = TypeVar("Made")


def _once(make: Callable[[], Made], find: Callable[[], list[Made]]) -> Made | list[Made]:
    """Make a thing; where nobody knows whether that worked, look, and try once more only if it isn't there."""
    try:
        return make()
    except AmbiguousError:
        return find() or make()


def _tried(find: Callable[[], list[Made]]) -> list[Made]:
    """What is found; nothing where GitHub has no answer."""
    try:
        return find()
    except UnavailableError:
        return []


def _try(action: Callable[[], object]) -> None:
    """What would be good, and what the next run does otherwise."""
    try:
        action()
    except (ApiError, UnavailableError):
        return


def _is_marked(body: str, marker: str) -> bool:
    return body.partition("\n")[0].rstrip() == marker


def _is_ours(author: Author, login: str | None) -> bool:
    """Where GitHub doesn't say who we are, we are a bot: a person's token would have been told."""
    return author.login == login if login else author.is_bot or author.login is None
