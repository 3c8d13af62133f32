"""Reads: what is asked again, how long, and what is an error at once."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.cloud.transport import Limits, Transport
from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator
from reconciler.errors import ApiError, InterruptedRun, UnavailableError, UsageError
from tests.unit.cloud.certificate import write_certificate
from tests.unit.cloud.scripted import CLUSTER, CLUSTERS, FakeTime, Reply, Script, free_port, refusal

Connect = Callable[..., Transport]

GOOD = Reply(body={"name": "demo"})
TRANSIENT = [
    *(refusal(status, reason) for status, reason in [(408, "X"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL")]),
    *(refusal(status, "UNAVAILABLE") for status in (502, 503, 504)),
    Reply(503, b"<html>overloaded</html>"),
    Reply(fault="reset"),
    Reply(body={"name": "demo"}, fault="truncate"),
    Reply(body=b"<html><body>Welcome to the hotel's network</body></html>"),
    Reply(body=b""),
    Reply(body=b'{"name": "de'),
    Reply(body=b"\xff\xfe"),
    Reply(body=b'{"name": NaN}'),
    Reply(body=b"[" * 100_000),
    Reply(body=b'{"a":' * 70 + b"1" + b"}" * 70),
    Reply(body=b"true"),
    Reply(body=b"1e5"),
    Reply(body=["a", "list"]),
    Reply(body=b"null"),
    Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
]


def get(transport: Transport, path: str = CLUSTER, **options: Any) -> dict[str, Any]:
    """A read."""
    return transport.request("GET", path, location="us-central1", **options)


@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda reply: f"{reply.status}-{reply.fault or str(reply.body)[:20]}")
def test_a_transient_fault_is_survived(script: Script, connect: Connect, fault: Reply) -> None:
    """A read is repeated until there is a usable answer."""
    script.answers(fault, fault, GOOD)
    assert get(connect(script.url)) == {"name": "demo"}
    assert len(script.requests) == 3


@pytest.mark.parametrize("fault", TRANSIENT, ids=lambda reply: f"{reply.status}-{reply.fault or str(reply.body)[:20]}")
def test_the_budget_ends_the_repetitions(script: Script, connect: Connect, time: FakeTime, fault: Reply) -> None:
    """What stays broken is an UnavailableError that says which request, what came back, and how long it was tried."""
    script.answers(fault)
    with pytest.raises(UnavailableError, match=f"GET {script.url}{CLUSTER}: .+gave up after") as caught:
        get(connect(script.url, retry_budget=30.0))
    assert type(caught.value) is UnavailableError
    assert len(script.requests) > 3
    assert sum(time.naps) <= 30


LOGIN = Reply(body=b"<html><h1>Sign in</h1></html>", headers={"Content-Type": "text/html; charset=UTF-8"})


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (LOGIN, "answered 200 (text/html; charset=UTF-8) with what is no JSON: Sign in"),
        (Reply(203, b"hello"), "answered 203 (no content type) with what is no JSON: hello"),
        (Reply(body=b""), "answered 200 (no content type) with what is no JSON: an empty answer"),
        (
            Reply(body=[1], headers={"Content-Type": "application/json"}),
            "(application/json) with a list where an object",
        ),
    ],
)
def test_a_page_in_place_of_the_api_is_told_soon(
    script: Script, connect: Connect, time: FakeTime, reply: Reply, said: str
) -> None:
    """A login page stays one: after four of them the error says who was asked, and what came instead of an answer."""
    script.answers(reply)
    with pytest.raises(UnavailableError) as caught:
        get(connect(script.url, retry_budget=600.0))
    assert caught.value.summary.startswith(f"GET {script.url}{CLUSTER}: ")
    assert said in caught.value.summary
    assert caught.value.hint == (
        "gave up after 4 attempts in 4 s; is the endpoint right, and is a proxy or a login page in between?"
    )
    assert sum(time.naps) < 7


def test_other_faults_in_between_are_no_pages(script: Script, connect: Connect) -> None:
    """Only pages count: an outage that shows one now and then is still waited for, and so is JSON that is cut off."""
    outage = [refusal(503, "UNAVAILABLE"), Reply(body=b'{"name": "de')] * 3
    script.answers(LOGIN, *outage, LOGIN, *outage[:2], LOGIN, GOOD)
    assert get(connect(script.url, retry_budget=600.0)) == {"name": "demo"}
    assert len(script.requests) == 12


@pytest.mark.parametrize("kind", ["reset", "hang", "truncate", "slow_drip", "html", "empty", "wrong_type"])
def test_the_emulators_faults_are_survived(emulator: Emulator, control: Control, connect: Connect, kind: str) -> None:
    """The same through the emulator, which the fault matrix uses."""
    more = {"seconds": 0.6} if kind in ("hang", "slow_drip") else {}
    control.faults([{"match": {"kind": "list"}, "fault": {"kind": kind, **more}, "times": 2}])
    assert get(connect(emulator.url, request_timeout=0.3), CLUSTERS) == {}
    assert len(control.requests("list")) >= 3  # a slow machine may need one more


@pytest.mark.parametrize("fault", ["drip_head", "drip_body"])
def test_a_dripping_answer_is_cut_off(script: Script, connect: Connect, fault: str) -> None:
    """The request timeout is for the whole answer, however alive the connection looks."""
    script.answers(Reply(body={"name": "x" * 5000}, fault=fault), GOOD)
    assert get(connect(script.url, request_timeout=0.3)) == {"name": "demo"}
    assert len(script.requests) >= 2  # a slow machine may need one more


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (400, "INVALID_ARGUMENT"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (409, "ABORTED"),
        (501, "UNIMPLEMENTED"),
    ],
)
def test_a_refusal_is_final(script: Script, connect: Connect, time: FakeTime, status: int, reason: str) -> None:
    """What the service refuses is refused at once, in its own words."""
    script.answers(refusal(status, reason, "not like this"))
    with pytest.raises(ApiError, match=f"GET {script.url}{CLUSTER}: {status} {reason}: not like this") as caught:
        get(connect(script.url))
    assert (caught.value.status, caught.value.reason) == (status, reason)
    assert len(script.requests) == 1
    assert not time.naps


@pytest.mark.parametrize("status", [301, 302, 303, 304, 307, 308])
def test_a_redirect_is_not_followed(script: Script, connect: Connect, status: int) -> None:
    """Whoever redirects doesn't get to choose where the credentials go; the error names the target."""
    script.answers(Reply(status, b"", {"Location": "https://evil.example/login"}), GOOD)
    with pytest.raises(ApiError, match=r"redirect to https://evil\.example/login; redirects aren't followed"):
        get(connect(script.url))
    assert len(script.requests) == 1


def test_retry_after_in_seconds_is_honoured(script: Script, connect: Connect, time: FakeTime) -> None:
    """The service's own wish comes before our schedule."""
    script.answers(Reply(503, b"", {"Retry-After": "7"}), GOOD)
    get(connect(script.url))
    assert time.naps == [7.5]


@pytest.mark.parametrize(
    ("date", "pause"),
    [("Fri, 15 Jan 2027 07:59:30 GMT", 50.5), ("", 20.5), ("yesterday", 20.5), ("Fri, 15 Jan 2027 09:00:00 GMT", 0.5)],
)
def test_retry_after_as_a_date(script: Script, connect: Connect, time: FakeTime, date: str, pause: float) -> None:
    """A date is read by the clock of whoever wrote it, and by ours (8:00:00) only where that isn't told."""
    script.answers(Reply(503, b"", {"Retry-After": "Fri, 15 Jan 2027 08:00:20 GMT", "Date": date}), GOOD)
    get(connect(script.url))
    assert time.naps == [pause]


@pytest.mark.parametrize("value", ["soon", "-5", "", "9" * 40, "Fri, 99 Foo", "٣"])
def test_a_broken_retry_after_is_ignored(script: Script, connect: Connect, time: FakeTime, value: str) -> None:
    """Nonsense in the header leaves our own schedule."""
    script.answers(Reply(503, b"", {"Retry-After": value.encode().decode("latin-1")}), GOOD)
    get(connect(script.url))
    assert time.naps == [0.5]


def test_a_pause_beyond_the_budget_is_not_begun(script: Script, connect: Connect, time: FakeTime) -> None:
    """An hour's Retry-After ends the request now, not in an hour."""
    script.answers(Reply(429, b"", {"Retry-After": "3600"}))
    with pytest.raises(UnavailableError, match="429"):
        get(connect(script.url))
    assert not time.naps


def test_pauses_grow_with_full_jitter(script: Script, connect: Connect, time: FakeTime) -> None:
    """Each span is twice the last one, up to a limit, and the pause is anywhere in it."""
    script.answers(refusal(503, "UNAVAILABLE"))
    with pytest.raises(UnavailableError):
        get(connect(script.url, retry_budget=100.0))
    assert time.naps == [0.5, 1, 2, 4, 8, *[16] * 5]


def test_no_budget_means_one_attempt(script: Script, connect: Connect) -> None:
    """Limits of a single request replace the settings'."""
    script.answers(refusal(503, "UNAVAILABLE"))
    with pytest.raises(UnavailableError):
        get(connect(script.url), limits=Limits(retry_budget=0))
    assert len(script.requests) == 1


def test_nobody_there_is_given_up_early(connect: Connect, time: FakeTime) -> None:
    """A wrong address, or a location that is down, doesn't use up the whole budget of the run."""
    with pytest.raises(UnavailableError, match=r"no connection: .+is the endpoint or location right"):
        get(connect(f"http://127.0.0.1:{free_port()}"))
    assert 5 < sum(time.naps) <= 15


def test_retries_are_announced(script: Script, connect: Connect) -> None:
    """People see why it takes long: the pause, the request and the service's words."""
    notices: list[str] = []
    script.answers(Reply(429, b"", {"Retry-After": "3"}), refusal(503, "UNAVAILABLE", "try later"), GOOD)
    get(connect(script.url, on_retry=notices.append))
    assert notices == [
        f"retrying in 4 s: GET {script.url}{CLUSTER}: 429: an empty answer",
        f"retrying in 1 s: GET {script.url}{CLUSTER}: 503 UNAVAILABLE: try later",
    ]


def test_each_exchange_has_a_debug_line(script: Script, connect: Connect) -> None:
    """Verbose output tells every request with its status and number."""
    lines: list[str] = []
    script.answers(Reply(fault="reset"), GOOD)
    get(connect(script.url, debug=lines.append), query={"pageSize": "5"})
    assert len(lines) == 2
    assert lines[0].startswith(f"GET {script.url}{CLUSTER}?pageSize=5 -> ")
    assert lines[0].endswith("(attempt 1)")
    assert lines[1].endswith("-> 200 in 0 ms (attempt 2)")


def test_an_interrupted_pause_ends_the_request(script: Script, connect: Connect) -> None:
    """A sleep that answers true stops the repetitions at once."""
    script.answers(refusal(503, "UNAVAILABLE"))
    with pytest.raises(InterruptedRun):
        get(connect(script.url, sleep=lambda _: True))
    assert len(script.requests) == 1


def test_too_many_requests_slow_every_thread_down(script: Script, connect: Connect, time: FakeTime) -> None:
    """After one 429 no other request leaves before the pause is over."""
    arrivals: list[float] = []
    transport = connect(script.url, debug=lambda _: arrivals.append(time.now))
    script.answers(Reply(429, b"", {"Retry-After": "20"}), GOOD)
    with pytest.raises(UnavailableError):
        get(transport, limits=Limits(retry_budget=0))
    threads = [threading.Thread(target=get, args=(transport,)) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(arrivals) == 6
    assert arrivals[0] == 1000
    assert min(arrivals[1:]) >= 1020


def test_half_a_character_becomes_a_question_mark(script: Script, connect: Connect) -> None:
    """A lone surrogate in an answer can't be written anywhere; whole pairs stay."""
    script.answers(Reply(body=b'{"a": "\\ud800x", "b": "\\ud83d\\ude00"}'))
    assert get(connect(script.url)) == {"a": "?x", "b": "😀"}


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta1/projects/../x",
        "/v1beta1/projects/p?x=y",
        "/v1/a#b",
        "//evil.example/v1/a",
        "/v1/a b",
        "/v1/a/.",
        "/v2/a",
        "/v1/a\\b",
    ],
)
def test_names_cannot_leave_their_place(script: Script, connect: Connect, path: str) -> None:
    """A name from a file or an answer never becomes a query, a fragment or a way up."""
    with pytest.raises(UsageError, match="no path of the API"):
        get(connect(script.url), path)
    assert not script.requests


def test_odd_characters_in_names_are_escaped(script: Script, connect: Connect) -> None:
    """What passes is sent as a part of the path."""
    get(connect(script.url), "/v1beta1/projects/example.com:p%2e/ü")
    assert script.requests[0].path == "/v1beta1/projects/example.com:p%252e/%C3%BC"


def test_an_untrusted_certificate_is_not_asked_again(tmp_path: Path, connect: Connect, time: FakeTime) -> None:
    """Nobody becomes trustworthy by being asked twice."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(write_certificate(tmp_path))
    with Script(port=None) as script:
        script.listen(0, tls=context)
        with pytest.raises(UnavailableError, match="certificate isn't trusted"):
            get(connect(script.url))
    assert not time.naps
    assert not script.requests
