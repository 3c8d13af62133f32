"""Requests to GitHub: what is tried again and when, what is said in the end, and where the token never goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.cloud.github import Repository
from reconciler.cloud.github_api import GitHub
from reconciler.cloud.github_settings import GitHubSettings
from reconciler.errors import (
    AmbiguousError,
    ApiError,
    AuthError,
    NotFoundError,
    PermissionDeniedError,
    UnavailableError,
    UsageError,
)
from tests.workflows.standin import Reply, Standin, serve

WALL = 1_800_000_000.0
LIMITED = Reply(403, {"message": "You have exceeded a secondary rate limit."}, {"Retry-After": "7"})
SOON = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(WALL) + 30)}


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Note it, and let it pass."""
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def hub() -> Iterator[Standin]:
    """GitHub with a pull request."""
    with serve() as standin:
        standin.pull(7, "a" * 40)
        yield standin


@pytest.fixture
def clock() -> Clock:
    """The clock of the connection."""
    return Clock()


@pytest.fixture
def said() -> list[str]:
    """What is said before each pause."""
    return []


@pytest.fixture
def github(hub: Standin, clock: Clock, said: list[str]) -> Iterator[GitHub]:
    """A connection whose pauses take no time."""
    connection = GitHub(
        GitHubSettings(api=hub.url, token=hub.token),
        sleep=clock.sleep,
        clock=clock,
        wall=lambda: WALL,
        random=lambda: 0.5,
        on_retry=said.append,
    )
    yield connection
    connection.close()


@pytest.fixture
def repository(github: GitHub) -> Repository:
    """The repository over it."""
    return Repository(github, "acme/clusters")


@pytest.mark.parametrize(
    ("reply", "pause"),
    [
        (Reply(500, {"message": "oops"}), 0.5),
        (Reply(502, b"<html>Bad gateway</html>"), 0.5),
        (Reply(503, {}, {"Retry-After": "3"}), 3.5),
        (Reply(429, {"message": "slow down"}, {"Retry-After": "5"}), 5.5),
        (LIMITED, 7.5),
        (Reply(403, {"message": "API rate limit exceeded"}, SOON), 30.5),
        (Reply(403, {"message": "You have exceeded a secondary rate limit"}), 60.5),
        (Reply(200, b"<html>a proxy's page</html>"), 0.5),
        (None, 0.5),
    ],
)
def test_a_read_is_tried_again(
    repository: Repository, hub: Standin, clock: Clock, said: list[str], reply: Reply | None, pause: float
) -> None:
    """Trouble that passes is waited out, as long as GitHub asks for, and said."""
    hub.fault("GET .*/pulls/7", reply, times=1)
    assert repository.head(7) == "a" * 40
    assert clock.slept == [pause]
    assert said[0].startswith(f"retrying in {pause:.0f} s: GET {hub.url}/repos/acme/clusters/pulls/7: ")


def test_pauses_grow(repository: Repository, hub: Standin, clock: Clock) -> None:
    """Without a word from GitHub the pauses double, up to a limit, with jitter."""
    hub.fault("GET .*/pulls/7", Reply(500, {}), times=7)
    repository.head(7)
    assert clock.slept == [0.5, 1, 2, 4, 8, 15, 15]


def test_nobody_has_to_listen(hub: Standin, clock: Clock) -> None:
    """Without somebody to tell of pauses it is quiet."""
    quiet = GitHub(GitHubSettings(api=hub.url, token=hub.token), sleep=clock.sleep, clock=clock)
    hub.fault("GET .*/pulls/7", Reply(500, {}), times=1)
    assert Repository(quiet, "acme/clusters").head(7) == "a" * 40
    quiet.close()


def test_it_gives_up_when_the_budget_is_spent(repository: Repository, hub: Standin, clock: Clock) -> None:
    """What doesn't pass ends in a clear error with the number of attempts."""
    hub.fault("GET .*/pulls/7", Reply(500, {"message": "down"}))
    with pytest.raises(UnavailableError, match="500: down") as caught:
        repository.head(7)
    assert "attempts" in caught.value.hint
    assert clock.now < 120


def test_it_doesnt_wait_for_what_is_too_far_off(repository: Repository, hub: Standin, clock: Clock) -> None:
    """A limit that lasts an hour is told at once."""
    hub.fault("GET .*/pulls/7", Reply(429, {"message": "limit"}, {"Retry-After": "3600"}))
    with pytest.raises(UnavailableError, match="429: limit"):
        repository.head(7)
    assert clock.slept == []


@pytest.mark.parametrize("reply", [LIMITED, Reply(429, {"message": "slow down"})])
def test_a_refused_write_is_tried_again(repository: Repository, hub: Standin, reply: Reply) -> None:
    """What was refused for its rate wasn't done, and is sent again."""
    hub.fault("POST .*/comments", reply, times=1)
    repository.add_comment(7, "x")
    assert hub.bodies(7) == ["x"]


@pytest.mark.parametrize("reply", [Reply(500, {}), Reply(502, b""), Reply(201, b"not json"), None])
def test_a_write_whose_answer_is_lost_is_not_repeated(
    repository: Repository, hub: Standin, reply: Reply | None
) -> None:
    """It may have been carried out: a second try would make a second comment."""
    hub.fault("POST .*/comments", reply, done=True)
    with pytest.raises(AmbiguousError, match="may have been carried out"):
        repository.add_comment(7, "x")
    assert hub.bodies(7) == ["x"]


def test_an_edit_is_repeated(repository: Repository, hub: Standin) -> None:
    """An edit comes to the same however often it is made."""
    comment = repository.add_comment(7, "x")
    hub.fault("PATCH", Reply(502, b""), times=2, done=True)
    repository.edit_comment(comment, "y")
    assert hub.bodies(7) == ["y"]


@pytest.mark.parametrize(
    ("reply", "error", "told"),
    [
        (Reply(401, {"message": "Bad credentials"}), AuthError, "expired"),
        (
            Reply(403, {"message": "Resource not accessible by integration"}),
            PermissionDeniedError,
            "pull-requests: write",
        ),
        (Reply(404, {"message": "Not Found"}), NotFoundError, "is the repository right?"),
        (Reply(410, {"message": "Issues are disabled"}), ApiError, "disabled"),
        (Reply(301, {}, {"Location": "https://elsewhere.example/"}), ApiError, "renamed"),
        (Reply(422, {"message": "Validation Failed", "errors": [{"field": "body", "code": "x"}]}), ApiError, "body x"),
        (Reply(422, {"message": "Validation Failed", "errors": ["odd"]}), ApiError, "odd"),
        (Reply(400, b"\xff<b>what</b>"), ApiError, "what"),
    ],
)
def test_a_refusal_is_told_at_once(
    repository: Repository, hub: Standin, clock: Clock, reply: Reply, error: type[Exception], told: str
) -> None:
    """Status, GitHub's own words and what to do; nothing is repeated."""
    hub.fault("POST .*/comments", reply)
    with pytest.raises(error) as caught:
        repository.add_comment(7, "x")
    assert told in str(caught.value)
    assert clock.slept == []
    assert len(hub.did("POST")) == 1


def test_the_permissions_that_github_names_are_told(repository: Repository, hub: Standin) -> None:
    """The header that names them, as a workflow writes them; alternatives are told as such."""
    hub.fault(
        "POST", Reply(403, {"message": "no"}, {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"})
    )
    with pytest.raises(PermissionDeniedError) as caught:
        repository.add_comment(7, "x")
    assert "`issues: write` or `pull-requests: write`" in caught.value.hint


@pytest.mark.parametrize("next_url", ["https://elsewhere.example/page", "http://127.0.0.1:1/page", "//evil/x"])
def test_the_next_page_leads_nowhere_else(repository: Repository, hub: Standin, next_url: str) -> None:
    """A link to another host isn't followed: the token stays with the API."""
    hub.fault("GET .*/comments", Reply(200, [], {"Link": f'<{next_url}>; rel="next"'}))
    with pytest.raises(UnavailableError, match="next page is outside"):
        list(repository.comments(7))


def test_a_redirect_is_not_followed(repository: Repository, hub: Standin) -> None:
    """Not even to GitHub itself."""
    hub.fault("GET .*/pulls/7", Reply(302, {}, {"Location": f"{hub.url}/user"}))
    with pytest.raises(ApiError, match="redirects aren't followed"):
        repository.head(7)
    assert len(hub.requests) == 1


def test_pages_have_an_end(repository: Repository, hub: Standin) -> None:
    """A server that always names a next page isn't asked forever."""
    url = f"{hub.url}/repos/acme/clusters/issues/7/comments?page=2"
    hub.fault("GET .*/comments", Reply(200, [], {"Link": f'<{url}>; rel="next"'}))
    assert list(repository.comments(7)) == []
    assert 100 < len(hub.requests) < 1000


@pytest.mark.parametrize("body", [{"a": 1}, "text", 1, None])
def test_a_list_is_one(repository: Repository, hub: Standin, body: Any) -> None:
    """Something else where a list belongs is an error, and no empty list."""
    hub.fault("GET .*/comments", Reply(200, body))
    with pytest.raises(UnavailableError, match="something else than a list"):
        list(repository.comments(7))


def test_odd_members_are_passed_over(repository: Repository, hub: Standin) -> None:
    """A comment of a deleted account, and what is no comment at all."""
    hub.fault("GET .*/comments", Reply(200, ["x", {"id": 1, "body": None, "user": None}, {"id": 2, "user": {}}]))
    assert [(each.id, each.body, each.author.login) for each in repository.comments(7)] == [
        (1, "", None),
        (2, "", None),
    ]


@pytest.mark.parametrize("answer", [{"data": None, "errors": []}, {"data": {"viewer": None}}, []])
def test_a_login_that_isnt_told(repository: Repository, hub: Standin, answer: Any) -> None:
    """A query that answers nothing is followed by GET /user, and that may be refused too."""
    hub.fault("POST /graphql", Reply(200, answer))
    assert repository.login() is None
    hub.app_token = False
    assert repository.login() == hub.me["login"]


def test_a_head_that_isnt_told(repository: Repository, hub: Standin) -> None:
    """An odd answer about a pull request is no commit."""
    for body in ([], {"head": None}, {"head": {}}):
        hub.faults.clear()
        hub.fault("GET .*/pulls/7", Reply(200, body))
        assert repository.head(7) == ""


@pytest.mark.parametrize("body", [[], {}, {"workflow_runs": []}, {"workflow_runs": ["x"]}])
def test_runs_that_arent_told(repository: Repository, hub: Standin, body: Any) -> None:
    """An odd answer about runs is none."""
    hub.fault("GET .*/runs", Reply(200, body))
    assert repository.last_run("apply.yml", "main") is None


def test_nothing_listens() -> None:
    """A host where nobody answers is an error with its address."""
    github = GitHub(GitHubSettings(api="http://127.0.0.1:9", token="x", retry_budget=0))
    with pytest.raises(UnavailableError, match="no connection"):
        github.get("/user")
    github.close()


def test_settings_keep_the_token_to_themselves() -> None:
    """The token is in no representation; a URL's slash at the end means nothing."""
    settings = GitHubSettings.from_environ({"GITHUB_TOKEN": "made-up", "GITHUB_API_URL": "https://g.example/api/v3/"})
    assert "made-up" not in repr(settings)
    assert settings.api == "https://g.example/api/v3"
    assert settings.graphql == "https://g.example/api/graphql"
    assert GitHubSettings().graphql == "https://api.github.com/graphql"
    with pytest.raises(UsageError, match="GITHUB_API_URL"):
        GitHubSettings(api="http://g.example")
