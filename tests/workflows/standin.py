"""A stand-in for GitHub's REST API: the conversations of repositories, over real HTTP, with its limits and refusals."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

BOT = "github-actions[bot]"
LONGEST = 65_536  # characters of a body; above, GitHub answers 422
_REPO = r"/repos/(?P<repo>[^/]+/[^/]+)"


@dataclass(frozen=True)
class Reply:
    """An answer. `body` other than bytes is sent as JSON; None closes the connection without an answer."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Fault:
    """What happens instead, for requests whose method and path it fits. `done`: carried out all the same."""

    match: str
    reply: Reply | None
    times: int = 1_000_000
    done: bool = False


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class Standin:
    """State and manners. `me` is whose token it is; `app_token`: whether that is an installation's."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.me = {"login": BOT, "type": "Bot"}
        self.app_token = True
        self.has_graphql = True
        self.token = "made-up-for-this-test"
        self.tokens: dict[str, dict[str, str] | None] = {self.token: None}
        self.page = 100
        self.comments: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.pulls: dict[int, dict[str, Any]] = {}
        self.commits: dict[str, list[int]] = {}
        self.runs: list[dict[str, Any]] = []
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.drops_labels = False
        self._meanwhile: list[tuple[str, Callable[[], object]]] = []
        self._ids = iter(range(1001, 1_000_000))
        self._lock = threading.RLock()

    # What tests do and see

    def grant(self, permissions: dict[str, str]) -> str:
        """A token that may do what a job's `permissions:` say, and no more."""
        token = f"made-up-{len(self.tokens)}"
        self.tokens[token] = permissions
        return token

    def fault(self, match: str, reply: Reply | None, *, times: int = 1_000_000, done: bool = False) -> None:
        """Let requests go wrong: `match` is a regular expression over `METHOD PATH`."""
        self.faults.append(Fault(match, reply, times, done))

    def meanwhile(self, match: str, action: Callable[[], object]) -> None:
        """Let something happen once, right after the answer to such a request was made up: another run, a person."""
        self._meanwhile.append((match, action))

    def pull(self, number: int, head: str = "", **members: Any) -> dict[str, Any]:
        """A pull request."""
        self.pulls[number] = {"number": number, "head": {"sha": head}, "merged_at": None, **members}
        return self.pulls[number]

    def write(self, number: int, body: str, login: str = "somebody", kind: str = "User") -> dict[str, Any]:
        """A comment by somebody."""
        comment = {"id": next(self._ids), "number": number, "body": body, "user": {"login": login, "type": kind}}
        comment["html_url"] = f"https://github.example/pull/{number}#issuecomment-{comment['id']}"
        self.comments.append(comment)
        return comment

    def bodies(self, number: int) -> list[str]:
        """The comments of an issue or pull request."""
        return [comment["body"] for comment in self.comments if comment["number"] == number]

    def did(self, *methods: str) -> list[str]:
        """`METHOD PATH` of the requests so far."""
        return [f"{each.method} {each.path}" for each in self.requests if not methods or each.method in methods]

    # What GitHub does

    def answer(self, request: Request) -> Reply | None:
        with self._lock:
            self.requests.append(request)
            line = f"{request.method} {request.path}"
            fault = next((each for each in self.faults if each.times and re.search(each.match, line)), None)
            if fault:
                fault.times -= 1
                if fault.done:
                    self._answer(request)
                return fault.reply
            reply = self._answer(request)
            due = [each for each in self._meanwhile if re.search(each[0], line)][:1]
            for each in due:
                self._meanwhile.remove(each)
                each[1]()
            return reply

    def _answer(self, request: Request) -> Reply:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            return Reply(401, {"message": "Bad credentials"})
        for method, pattern, handle, needs in _ROUTES:
            found = re.fullmatch(pattern, request.path)
            if found and method == request.method:
                return self._refused(request, self.tokens[token], needs) or handle(self, request, found)
        return Reply(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})

    def _refused(self, request: Request, granted: dict[str, str] | None, needs: tuple[str, ...]) -> Reply | None:
        """403, unless one of the needed permissions is granted: to write for anything but GET."""
        if not needs or granted is None:
            return None
        level = "read" if request.method == "GET" else "write"
        if any(granted.get(name) in (level, "write") for name in needs):
            return None
        accepted = "; ".join(f"{name.replace('-', '_')}={level}" for name in needs)
        return Reply(
            403,
            {"message": "Resource not accessible by integration"},
            {"X-Accepted-GitHub-Permissions": accepted},
        )

    def _graphql(self, request: Request, _: re.Match[str]) -> Reply:
        if not self.has_graphql:
            return Reply(404, {"message": "Not Found"})
        return Reply(200, {"data": {"viewer": {"login": self.me["login"]}}})

    def _user(self, _request: Request, _: re.Match[str]) -> Reply:
        if self.app_token:
            return Reply(403, {"message": "Resource not accessible by integration"})
        return Reply(200, self.me)

    def _pull(self, _request: Request, found: re.Match[str]) -> Reply:
        pull = self.pulls.get(int(found["number"]))
        return Reply(200, pull) if pull else Reply(404, {"message": "Not Found"})

    def _pulls_of(self, request: Request, found: re.Match[str]) -> Reply:
        return self._paged(request, [self.pulls[number] for number in self.commits.get(found["sha"], [])])

    def _list_comments(self, request: Request, found: re.Match[str]) -> Reply:
        mine = [comment for comment in self.comments if comment["number"] == int(found["number"])]
        return self._paged(request, mine)

    def _add_comment(self, request: Request, found: re.Match[str]) -> Reply:
        number = int(found["number"])
        if number not in self.pulls and not any(issue["number"] == number for issue in self.issues):
            return Reply(404, {"message": "Not Found"})
        return _too_long(request.body) or Reply(
            201, self.write(number, request.body["body"], self.me["login"], self.me["type"])
        )

    def _edit_comment(self, request: Request, found: re.Match[str]) -> Reply:
        comment = next((each for each in self.comments if each["id"] == int(found["id"])), None)
        if comment is None:
            return Reply(404, {"message": "Not Found"})
        if refused := _too_long(request.body):
            return refused
        comment["body"] = request.body["body"]
        return Reply(200, comment)

    def _delete_comment(self, _request: Request, found: re.Match[str]) -> Reply:
        self.comments = [each for each in self.comments if each["id"] != int(found["id"])]
        return Reply(204, b"")

    def _list_issues(self, request: Request, _: re.Match[str]) -> Reply:
        label, state = request.query.get("labels"), request.query.get("state", "open")
        found = [
            issue
            for issue in self.issues
            if (not label or label in [each["name"] for each in issue["labels"]]) and state in ("all", issue["state"])
        ]
        found.sort(key=lambda issue: issue["number"], reverse=request.query.get("direction") != "asc")
        return self._paged(request, found)

    def issue(self, title: str, body: str, labels: list[str], user: dict[str, str] | None = None) -> dict[str, Any]:
        """An issue, opened by us unless by somebody else."""
        number = next(self._ids)
        issue = {
            "number": number,
            "state": "open",
            "title": title,
            "body": body,
            "labels": [{"name": name} for name in labels],
            "user": user or self.me,
            "html_url": f"https://github.example/issues/{number}",
        }
        self.issues.append(issue)
        return issue

    def _add_labels(self, request: Request, found: re.Match[str]) -> Reply:
        issue = next(each for each in self.issues if each["number"] == int(found["number"]))
        issue["labels"] += [{"name": name} for name in request.body["labels"]]
        return Reply(200, issue["labels"])

    def _add_issue(self, request: Request, _: re.Match[str]) -> Reply:
        if refused := _too_long(request.body):
            return refused
        labels = [] if self.drops_labels else request.body.get("labels", [])
        return Reply(201, self.issue(request.body["title"], request.body["body"], labels))

    def _edit_issue(self, request: Request, found: re.Match[str]) -> Reply:
        issue = next(each for each in self.issues if each["number"] == int(found["number"]))
        if refused := _too_long(request.body):
            return refused
        issue.update(request.body)
        return Reply(200, issue)

    def _list_runs(self, request: Request, found: re.Match[str]) -> Reply:
        wanted = request.query.get("status")
        runs = [run for run in self.runs if run["workflow"] == found["workflow"]]
        runs = [run for run in runs if wanted in (None, "completed", run["conclusion"])]
        return Reply(200, {"total_count": len(runs), "workflow_runs": runs[::-1][: int(request.query["per_page"])]})

    def _paged(self, request: Request, items: list[Any]) -> Reply:
        size = min(self.page, int(request.query.get("per_page", "30")))
        page = int(request.query.get("page", "1"))
        links = {}
        if len(items) > page * size:
            query = urlencode({**request.query, "per_page": size, "page": page + 1})
            following = f"{self.url}{request.path}?{query}"
            links = {"Link": f'<{following}>; rel="next", <{self.url}{request.path}?page=9>; rel="last"'}
        return Reply(200, items[(page - 1) * size : page * size], links)


Handler = Callable[[Standin, Request, re.Match[str]], Reply]
_EITHER = ("issues", "pull-requests")
_ROUTES: list[tuple[str, str, Handler, tuple[str, ...]]] = [
    ("POST", r"/graphql", Standin._graphql, ()),
    ("GET", r"/user", Standin._user, ()),
    ("GET", rf"{_REPO}/pulls/(?P<number>\d+)", Standin._pull, ("pull-requests",)),
    ("GET", rf"{_REPO}/commits/(?P<sha>\w+)/pulls", Standin._pulls_of, ("pull-requests",)),
    ("GET", rf"{_REPO}/issues/(?P<number>\d+)/comments", Standin._list_comments, _EITHER),
    ("POST", rf"{_REPO}/issues/(?P<number>\d+)/comments", Standin._add_comment, _EITHER),
    ("PATCH", rf"{_REPO}/issues/comments/(?P<id>\d+)", Standin._edit_comment, _EITHER),
    ("DELETE", rf"{_REPO}/issues/comments/(?P<id>\d+)", Standin._delete_comment, _EITHER),
    ("GET", rf"{_REPO}/issues", Standin._list_issues, ("issues",)),
    ("POST", rf"{_REPO}/issues", Standin._add_issue, ("issues",)),
    ("POST", rf"{_REPO}/issues/(?P<number>\d+)/labels", Standin._add_labels, ("issues",)),
    ("PATCH", rf"{_REPO}/issues/(?P<number>\d+)", Standin._edit_issue, ("issues",)),
    ("GET", rf"{_REPO}/actions/workflows/(?P<workflow>[^/]+)/runs", Standin._list_runs, ("actions",)),
]


def _too_long(body: dict[str, Any]) -> Reply | None:
    if len(body.get("body", "")) <= LONGEST:
        return None
    error = {"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long"}
    return Reply(422, {"message": "Validation Failed", "errors": [error]})


class _Http(BaseHTTPRequestHandler):
    standin: Standin
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        url = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        prefix = urlsplit(self.standin.url).path
        request = Request(
            self.command, url.path.removeprefix(prefix), dict(parse_qsl(url.query)), headers, json.loads(raw or b"null")
        )
        reply = self.standin.answer(request)
        if reply is None:
            self.close_connection = True
            return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_DELETE = _handle

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serve() -> Iterator[Standin]:
    """A stand-in that answers on loopback while the block runs."""
    standin = Standin()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Http,), {"standin": standin}))
    server.daemon_threads = True
    standin.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
