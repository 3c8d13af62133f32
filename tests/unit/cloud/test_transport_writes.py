"""Writes: sent again only when it's certain that nothing happened."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconciler.cloud.transport import Kind, Transport
from reconciler.errors import AmbiguousError, ApiError, ConflictError, UnavailableError
from tests.unit.cloud.scripted import CLUSTER, CLUSTERS, FakeTime, Reply, Script, free_port, refusal

Connect = Callable[..., Transport]
GOOD = Reply(body={"name": "projects/1/locations/us-central1/operations/7"})
WRITES = [("POST", CLUSTERS), ("PATCH", CLUSTER), ("DELETE", CLUSTER)]
LOST = [
    *(refusal(status, "X") for status in (408, 499, 500, 502, 503, 504, 599)),
    Reply(503, b"<html>overloaded</html>", {"Retry-After": "1"}),
    Reply(fault="reset"),
    Reply(fault="truncate"),
    Reply(body=b"<html>"),
    Reply(body=b""),
    Reply(body=[]),
]


def write(transport: Transport, method: str = "PATCH", path: str = CLUSTER) -> dict[str, object]:
    """A write with a body, but for DELETE."""
    body = None if method == "DELETE" else {"labels": {"team": "ml"}}
    return transport.request(method, path, location="us-central1", body=body)


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize("lost", LOST, ids=lambda reply: f"{reply.status}-{reply.fault or str(reply.body)[:20]}")
def test_a_lost_answer_is_never_repeated_blindly(
    script: Script, connect: Connect, time: FakeTime, method: str, path: str, lost: Reply
) -> None:
    """Nobody knows whether it took effect: the caller must look."""
    script.answers(lost, GOOD)
    with pytest.raises(AmbiguousError, match=f"{method} {script.url}{path}: .+ may have taken effect"):
        write(connect(script.url), method, path)
    assert len(script.requests) == 1
    assert not time.naps


def test_a_silent_server_is_ambiguous(script: Script, connect: Connect) -> None:
    """A time-out after the request was sent says nothing about its effect."""
    script.answers(Reply(body={"a": "x" * 1000}, fault="drip_body"))
    with pytest.raises(AmbiguousError, match="may have taken effect"):
        write(connect(script.url, request_timeout=0.2))


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_429_is_asked_again(script: Script, connect: Connect, time: FakeTime, method: str, path: str) -> None:
    """A request over the quota was refused before anything happened."""
    script.answers(Reply(429, b"", {"Retry-After": "2"}), refusal(429, "RESOURCE_EXHAUSTED"), GOOD)
    assert write(connect(script.url), method, path) == GOOD.body
    assert len(script.requests) == 3
    assert time.naps[0] == 2.5


def test_429_for_ever_is_not_ambiguous(script: Script, connect: Connect) -> None:
    """Refused each time: it's certain that nothing happened."""
    script.answers(refusal(429, "RESOURCE_EXHAUSTED"))
    with pytest.raises(UnavailableError) as caught:
        write(connect(script.url))
    assert not isinstance(caught.value, AmbiguousError)


def test_an_unsent_write_is_sent_again(connect: Connect, time: FakeTime) -> None:
    """A refused connection carried nothing: the write is repeated when somebody is there."""
    port = free_port()
    with Script(port=None) as script:

        def sleep(seconds: float) -> None:
            time.sleep(seconds)
            script.listen(port)

        assert write(connect(f"http://127.0.0.1:{port}", sleep=sleep)) == {}
        assert len(script.requests) == 1


def test_a_write_that_never_left_is_not_ambiguous(connect: Connect) -> None:
    """Nobody there: nothing happened."""
    with pytest.raises(UnavailableError) as caught:
        write(connect(f"http://127.0.0.1:{free_port()}"))
    assert not isinstance(caught.value, AmbiguousError)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (refusal(409, "ALREADY_EXISTS"), "ALREADY_EXISTS"),
        (refusal(409, "ABORTED"), "ABORTED"),
        (refusal(412, "FAILED_PRECONDITION"), "FAILED_PRECONDITION"),
        (refusal(400, "FAILED_PRECONDITION", "The ETag provided doesn't match"), "FAILED_PRECONDITION"),
        (
            refusal(400, "INVALID_ARGUMENT", "bad", details=[{"fieldViolations": [{"field": "etag"}]}]),
            "INVALID_ARGUMENT",
        ),
    ],
)
def test_conflicts(script: Script, connect: Connect, reply: Reply, reason: str) -> None:
    """Somebody was quicker: 409, 412, and the 400 that some services use for an etag that has moved on."""
    script.answers(reply)
    with pytest.raises(ConflictError) as caught:
        write(connect(script.url))
    assert caught.value.reason == reason


@pytest.mark.parametrize("status", [400, 403, 404, 405, 413, 501])
def test_a_refused_write_is_an_error_at_once(script: Script, connect: Connect, time: FakeTime, status: int) -> None:
    """A refusal is certain, in the API's format or not."""
    script.answers(Reply(status, b"<html>no</html>"))
    with pytest.raises(ApiError, match="no"):
        write(connect(script.url))
    assert not time.naps


def test_a_redirected_write_is_not_followed(script: Script, connect: Connect) -> None:
    """The body goes nowhere else."""
    script.answers(Reply(307, b"", {"Location": f"{script.url}/elsewhere"}), GOOD)
    with pytest.raises(ApiError, match="redirect"):
        write(connect(script.url))
    assert len(script.requests) == 1


def test_a_post_that_only_reads_is_repeated(script: Script, connect: Connect) -> None:
    """The Slurm call is a POST whatever it carries; its caller says which kind it is."""
    script.answers(refusal(503, "UNAVAILABLE"), Reply(body={"status": 200}))
    path = f"{CLUSTER}:callSlurmRestApi"
    answer = connect(script.url).request("POST", path, location="us-central1", body={"method": "GET"}, kind=Kind.READ)
    assert answer == {"status": 200}
    assert script.requests[0].path == path


def test_the_request_as_it_arrives(script: Script, connect: Connect) -> None:
    """Query, body and headers reach the service as they were meant."""
    query = {"updateMask": "labels,node_pools", "updateMode": "USER_AND_SERVICE"}
    body = {"labels": {"team": "mл"}}
    connect(script.url).request("PATCH", CLUSTER, location="us-central1", query=query, body=body)
    (request,) = script.requests
    assert (request.method, request.path, request.query, request.body) == ("PATCH", CLUSTER, query, body)
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("reconciler/")
    assert "gzip" in request.headers["user-agent"]  # some Google front ends compress for such clients only
    assert request.headers["accept-encoding"] == "gzip"
    assert "authorization" not in request.headers
