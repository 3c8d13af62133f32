"""Credentials on the wire: where they go, how they're renewed, and that nobody gets to read them."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from reconciler.cloud.transport import Transport
from reconciler.errors import AmbiguousError, AuthError, ReconcilerError, UnavailableError, UsageError
from tests.unit.cloud.scripted import CLUSTER, TOKEN, FakeTime, Reply, Script, refusal

Connect = Callable[..., Transport]
GOOD = Reply(body={"name": "demo"})
DENIED = refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")


class Renewable:
    """Credentials whose token is counted up by each refresh; `ends_with` says how a refresh ends instead."""

    universe = "googleapis.com"

    def __init__(self, ends_with: ReconcilerError | None = None) -> None:
        self.number = 0
        self.refreshes = 0
        self.ends_with = ends_with
        self._lock = threading.Lock()

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {TOKEN}-{self.number}"}

    def refresh(self, rejected: Mapping[str, str]) -> bool:
        with self._lock:
            self.refreshes += 1
            if self.ends_with:
                raise self.ends_with
            if rejected == self.headers():
                self.number += 1
        return True


def get(transport: Transport, method: str = "GET") -> dict[str, object]:
    """A request."""
    return transport.request(method, CLUSTER, location="us-central1")


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_401_is_answered_with_a_fresh_token(script: Script, connect: Connect, time: FakeTime, method: str) -> None:
    """An expired token is renewed and the request repeated at once, a write too: it was refused."""
    script.answers(DENIED, GOOD)
    assert get(connect(script.url, credentials=Renewable()), method) == {"name": "demo"}
    assert [request.headers["authorization"] for request in script.requests] == [
        f"Bearer {TOKEN}-0",
        f"Bearer {TOKEN}-1",
    ]
    assert not time.naps


def test_401_twice_is_final(script: Script, connect: Connect, time: FakeTime) -> None:
    """A fresh token that is refused too won't get better."""
    script.answers(DENIED)
    credentials = Renewable()
    with pytest.raises(AuthError, match=f"GET {script.url}{CLUSTER}: 401 UNAUTHENTICATED: Request had invalid"):
        get(connect(script.url, credentials=credentials))
    assert len(script.requests) == 2
    assert credentials.refreshes == 1
    assert not time.naps


def test_a_refused_refresh_is_final(script: Script, connect: Connect, time: FakeTime) -> None:
    """Credentials that can't be renewed are an error of their own, not one of the service to be retried."""
    script.answers(DENIED)
    with pytest.raises(AuthError, match="a token of a finished job"):
        get(connect(script.url, credentials=Renewable(AuthError("a token of a finished job"))))
    assert len(script.requests) == 1
    assert not time.naps


def test_an_unreachable_identity_service_is_transient(script: Script, connect: Connect, time: FakeTime) -> None:
    """A network that is down for a moment while a token is due doesn't end a wait of hours."""
    script.answers(DENIED, GOOD)
    credentials = Renewable(UnavailableError("the identity service can't be reached"))

    def sleep(seconds: float) -> None:
        time.sleep(seconds)
        credentials.ends_with = None

    assert get(connect(script.url, credentials=credentials, sleep=sleep)) == {"name": "demo"}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_identity_service_that_stays_away(script: Script, connect: Connect, method: str) -> None:
    """It ends as unavailable; a write without credentials was never carried out."""
    script.answers(DENIED)
    with pytest.raises(UnavailableError, match="identity service") as caught:
        get(connect(script.url, credentials=Renewable(UnavailableError("the identity service is away"))), method)
    assert not isinstance(caught.value, AmbiguousError)


def test_a_bare_token_is_used_and_never_renewed(script: Script, connect: Connect) -> None:
    """It's what the user gave; when it's refused there is nothing else to try."""
    transport = connect(script.url, access_token=TOKEN)
    script.answers(GOOD, DENIED)
    get(transport)
    assert script.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
    with pytest.raises(AuthError, match="RECONCILER_ACCESS_TOKEN"):
        get(transport)
    assert len(script.requests) == 2


def test_a_loopback_endpoint_gets_no_credentials(script: Script, connect: Connect) -> None:
    """Without a bare token nothing is looked up, and nothing sent."""
    get(connect(script.url, impersonate_service_account="deployer@acme-ml.iam.gserviceaccount.com"))
    assert "authorization" not in script.requests[0].headers


def test_no_password_from_netrc(
    script: Script, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """requests would put a password from ~/.netrc in place of the token."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password something\n")
    monkeypatch.setenv("NETRC", str(netrc))
    get(connect(script.url, access_token=TOKEN))
    assert script.requests[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_loopback_never_goes_through_a_proxy(script: Script, connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment would see the plain-http request, token and all."""
    with Script() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        get(connect(script.url, access_token=TOKEN))
        assert not proxy.requests
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "proxy",
    [
        "http://user:{}@127.0.0.1:1",
        "https://user:{}@127.0.0.1:1",
        "http://user:{}@127.0.0.1:port",
        "http://user:{}@",
        "http://user:{}/x@127.0.0.1:1",
        "http://user:{}@[::1",
        "user:{}@127.0.0.1:1",
        "ftp://user:{}@127.0.0.1:1",
        "socks5://user:{}@127.0.0.1:1",
    ],
)
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """Nobody there, or an address that nobody can read: one error, and no part of the password in it or in the log."""
    secret = "hunter" + "2" * 4
    lines: list[str] = []
    monkeypatch.setenv("https_proxy", proxy.replace("{}", secret))
    monkeypatch.setenv("no_proxy", "")
    transport = connect(
        "https://us-central1-aiplatform.googleapis.com",
        credentials=Renewable(),
        debug=lines.append,
        retry_budget=0.0,
    )
    with pytest.raises(UnavailableError, match=r"the proxy made no connection|the request can't be made") as caught:
        transport.request("GET", CLUSTER, location="us-central1")
    assert secret not in f"{caught.value}{lines}"
    assert "_Https" not in str(caught.value)


def test_other_hosts_do_go_through_the_proxy(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """For https the proxy makes a tunnel, and sees the host alone."""
    with Script() as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "")
        proxy.answers(Reply(403, b"no tunnel"))
        with pytest.raises(UnavailableError, match="the proxy made no connection"):
            get(connect(None, access_token=TOKEN))
        assert len(proxy.requests) > 1
    for request in proxy.requests:
        assert request.method == "CONNECT"
        assert "authorization" not in request.headers


def test_without_credentials_nothing_is_sent(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, time: FakeTime
) -> None:
    """The service itself needs credentials; their absence is an error at once, before any connection."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "gone.json"))
    lines: list[str] = []
    with pytest.raises(AuthError, match=r"gone\.json"):
        get(connect(None, debug=lines.append))
    assert not lines
    assert not time.naps


def test_a_bare_token_stays_within_its_universe(connect: Connect) -> None:
    """An https endpoint of somebody else gets nothing; the error says why."""
    transport = connect("https://attacker.example", access_token=TOKEN)
    with pytest.raises(UsageError, match=r"attacker\.example is outside the credentials' universe, googleapis\.com"):
        get(transport)


def test_a_token_and_an_account_to_impersonate_contradict(connect: Connect) -> None:
    """Acting as the wrong one of two identities would be worse than an error."""
    transport = connect("https://googleapis.com", access_token=TOKEN, impersonate_service_account="a@b.example")
    with pytest.raises(UsageError, match="both a bare access token and a service account"):
        get(transport)


@pytest.mark.parametrize(
    "echo",
    [
        refusal(400, "INVALID_ARGUMENT", f"bad header Authorization: Bearer {TOKEN}-0"),
        refusal(403, "PERMISSION_DENIED", "no", details=[{"fieldViolations": [{"field": f"{TOKEN}-0"}]}]),
        Reply(404, f"<html>GET / HTTP/1.1 Authorization: Bearer {TOKEN}-0</html>".encode()),
        Reply(503, f"Bearer {TOKEN}-0".encode(), {"Retry-After": "1"}),
        Reply(200, f"<html>{TOKEN}-0</html>".encode()),
        Reply(302, b"", {"Location": f"https://evil.example/?token={TOKEN}-0"}),
        refusal(400, "INVALID_ARGUMENT", "ya29.a0AbCdEf_gh-ij and eyJhbGciOi.eyJzdWIiOi.c2ln"),
    ],
)
def test_an_echoed_token_is_not_shown(script: Script, connect: Connect, echo: Reply) -> None:
    """Whatever an answer quotes: no token in messages, notices, debug lines or tracebacks."""
    shown: list[str] = []
    script.answers(echo)
    transport = connect(script.url, credentials=Renewable(), debug=shown.append, on_retry=shown.append)
    with pytest.raises(ReconcilerError) as caught:
        get(transport)
    text = "\n".join([*shown, *traceback.format_exception(caught.value), repr(transport)])
    assert shown
    assert "[secret]" in str(caught.value)
    for secret in (TOKEN, "ya29.", "eyJhbGciOi"):
        assert secret not in text


def test_slow_libraries_are_loaded_when_they_are_needed() -> None:
    """Importing the cloud layer loads neither google-auth nor requests; a client for loopback needs no google-auth."""
    code = """
import sys
from reconciler.cloud import auth, clusters, endpoint, operations, paging, refusals, settings, transport
from reconciler.engine import waiter
assert not {"google.auth", "requests", "urllib3", "tenacity"} & set(sys.modules), "too early"
transport.Transport(settings.Settings(endpoint="http://127.0.0.1:1"))
assert "requests" in sys.modules
assert not {"google.auth", "tenacity"} & set(sys.modules), "not needed"
"""
    subprocess.run([sys.executable, "-c", code], check=True)


EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m"
RECEIVED = [
    Reply(body=f"{EVIL} {TOKEN}-0\r\n\r\n".encode(), fault="raw"),
    Reply(body=f"HTTP/1.1 {EVIL}{TOKEN}-0 OK\r\n\r\n".encode("latin-1"), fault="raw"),
    Reply(body=f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{EVIL}{TOKEN}-0\r\n".encode(), fault="raw"),
    Reply(body=f"{EVIL} {TOKEN}-0".encode(), headers={"Content-Type": f"text/{TOKEN}-0"}),
    refusal(503, "UNAVAILABLE", f"{EVIL} {TOKEN}-0"),
    refusal(429, "RESOURCE_EXHAUSTED", f"{EVIL} {TOKEN}-0"),
]


@pytest.mark.parametrize("reply", RECEIVED, ids=["status line", "status", "chunk", "body", "503", "429"])
def test_whatever_is_received_is_told_harmlessly(script: Script, connect: Connect, reply: Reply) -> None:
    """Sentences about retries, the debug log and the error: one printable line each, and no token in it."""
    said: list[str] = []
    script.answers(reply)
    transport = connect(script.url, retry_budget=5.0, credentials=Renewable(), on_retry=said.append, debug=said.append)
    with pytest.raises(UnavailableError) as caught:
        get(transport)
    assert any(text.startswith("retrying in ") for text in said)
    for text in [*said, str(caught.value)]:
        assert text.isprintable()
        assert TOKEN not in text


@pytest.mark.parametrize("spelling", [TOKEN, TOKEN.replace("m", "\\u006d"), TOKEN.replace("-", "\\u002D")])
def test_a_good_answer_quotes_no_token(script: Script, connect: Connect, spelling: str) -> None:
    """Also one that was renewed since, and one that is spelt with escapes; nothing else of the answer is touched."""
    message = f'{{"error": {{"message": "for {spelling}-0 and {spelling}-1"}}, "a": ["\\n\\u00e9", 1.5, null]}}'
    script.answers(DENIED, GOOD, Reply(body=message.encode()))
    transport = connect(script.url, credentials=Renewable())
    get(transport)
    assert get(transport) == {"error": {"message": "for [secret] and [secret]"}, "a": ["\n\xe9", 1.5, None]}


def test_a_short_token_takes_nothing_out_of_good_answers(script: Script, connect: Connect) -> None:
    """What might be a word of any answer is no credential."""
    script.answers(GOOD)
    assert get(connect(script.url, access_token="demo")) == {"name": "demo"}
