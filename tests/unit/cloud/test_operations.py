"""Operations: reading them, and what they say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconciler.cloud.operations import (
    Failed,
    Operations,
    Running,
    Succeeded,
    is_name,
    location_of,
    parent_of,
    progress,
    status,
    target,
)
from reconciler.cloud.transport import Limits, Transport
from reconciler.errors import ApiError, NotFoundError, UnavailableError, UsageError
from reconciler.spec.names import ClusterName
from tests.unit.cloud.scripted import Reply, Script, refusal

Connect = Callable[..., Transport]
NAME = "projects/123/locations/us-central1/operations/7"
CLUSTER = "projects/123/locations/us-central1/modelDevelopmentClusters/demo"
NOTHING = "the operation ended without a response and without an error"


@pytest.mark.parametrize(
    ("operation", "found"),
    [
        ({}, Running()),
        ({"done": False, "metadata": {"progressMessage": "Creating node pool cpu"}}, Running("Creating node pool cpu")),
        ({"done": "false"}, Running()),
        ({"done": 1}, Running()),
        ({"error": {"code": 8}}, Running()),
        ({"done": True, "response": {"name": CLUSTER}}, Succeeded({"name": CLUSTER})),
        ({"done": "true", "response": {}}, Succeeded()),
        ({"done": True, "response": {}, "error": {}}, Succeeded()),
        ({"done": True, "response": "odd"}, Succeeded()),
        ({"done": True}, Failed("UNKNOWN", NOTHING)),
        ({"done": True, "response": None, "error": None}, Failed("UNKNOWN", NOTHING)),
        ({"done": True, "error": {"code": 8, "message": "stockout"}}, Failed("RESOURCE_EXHAUSTED", "stockout")),
        ({"done": True, "error": {"code": 8}, "response": {}}, Failed("RESOURCE_EXHAUSTED", "no message")),
        ({"done": True, "error": {"status": "ABORTED", "message": "x"}}, Failed("ABORTED", "x")),
        ({"done": True, "error": {"code": 99, "message": "x"}}, Failed("99", "x")),
        ({"done": True, "error": {"code": "8", "message": ["x"]}}, Failed("8", "['x']")),
        ({"done": True, "error": "boom"}, Failed("UNKNOWN", "boom")),
        (
            {
                "done": True,
                "error": {"code": 8, "message": "x", "details": [{"detail": "zone a"}, {"a": 1}, "b", None]},
            },
            Failed("RESOURCE_EXHAUSTED", "x", ("zone a", "{'a': 1}", "b", "None")),
        ),
        ({"done": True, "error": {"code": 8, "message": "x", "details": "y"}}, Failed("RESOURCE_EXHAUSTED", "x")),
    ],
)
def test_what_an_operation_says(operation: dict[str, Any], found: object) -> None:
    """Done counts, then the error, then the response; odd types are borne."""
    assert status(operation) == found


@pytest.mark.parametrize("metadata", [None, [], "x", {"progressMessage": 7}, {"genericMetadata": []}])
def test_no_progress(metadata: object) -> None:
    """Progress is for people: none is no problem."""
    assert progress({"metadata": metadata}) == ""


def test_progress_may_stand_deeper_and_is_one_line() -> None:
    """The generic part may hold it; it can't steer a terminal."""
    assert progress({"metadata": {"genericMetadata": {"progressMessage": "a\x1b[2J\nb"}}}) == "a [2J b"


def test_the_target() -> None:
    """The cluster is known where metadata or response name it."""
    expected = ClusterName("123", "us-central1", "demo")
    assert target({"metadata": {"@type": "x", "target": CLUSTER}}) == expected
    assert target({"metadata": [], "response": {"name": CLUSTER}}) == expected
    assert target({"metadata": {"target": 7}}) is None
    assert target({}) is None


def test_the_parts_of_a_name() -> None:
    """Parent and location, also of an operation below a cluster."""
    assert parent_of(NAME) == parent_of(f"{CLUSTER}/operations/7") == "projects/123/locations/us-central1"
    assert location_of(NAME) == "us-central1"


@pytest.mark.parametrize("name", ["", "7", "operations/7", f"{NAME}/", f"/{NAME}", f"https://x/{NAME}", CLUSTER])
def test_what_is_no_name(name: str) -> None:
    """Other text is refused in words."""
    with pytest.raises(UsageError, match="no operation's name"):
        parent_of(name)


def test_v1_is_asked_first(script: Script, connect: Connect) -> None:
    """S2 polls v1."""
    script.answers(Reply(body={"name": NAME}))
    assert Operations(connect(script.url)).get(NAME) == {"name": NAME}
    assert [request.path for request in script.requests] == [f"/v1/{NAME}"]


def test_the_version_that_answers_is_kept(script: Script, connect: Connect) -> None:
    """A 404 of v1 isn't believed before v1beta1 has said the same; then v1beta1 goes first."""
    script.answers(refusal(404, "NOT_FOUND"), Reply(body={"name": NAME}))
    operations = Operations(connect(script.url))
    operations.get(NAME)
    operations.get(NAME)
    assert [request.path.split("/")[1] for request in script.requests] == ["v1", "v1beta1", "v1beta1"]


def test_an_operation_that_neither_version_knows(script: Script, connect: Connect) -> None:
    """Gone."""
    script.answers(refusal(404, "NOT_FOUND"))
    with pytest.raises(NotFoundError):
        Operations(connect(script.url)).get(NAME)
    assert len(script.requests) == 2


def test_the_list(script: Script, connect: Connect) -> None:
    """All operations of a location, page by page."""
    script.answers(Reply(body={"operations": [{"name": NAME}], "nextPageToken": "t"}), Reply(body={}))
    assert list(Operations(connect(script.url)).list("p", "us-central1")) == [{"name": NAME}]
    assert {request.path for request in script.requests} == {"/v1/projects/p/locations/us-central1/operations"}


@pytest.mark.parametrize(
    "tail",
    [
        "7\n::error::pwn",
        "7\x1b[2J",
        "$(touch x)",
        "7;ls",
        "7 8",
        "7?a=b",
        "7#",
        "..",
        "\u202e7",
        "7%2e",
        "'7'",
        "7" * 201,
    ],
)
def test_a_name_holds_nothing_that_is_obeyed(tail: str) -> None:
    """Names come from answers, and go into terminals, logs and commands."""
    assert not is_name(f"projects/123/locations/us-central1/operations/{tail}")
    assert not is_name(f"projects/{tail}/locations/us-central1/operations/7")
    assert not is_name(f"projects/123/locations/{tail}/operations/7")


@pytest.mark.parametrize(
    "name", [NAME, f"{CLUSTER}/operations/op-7_a", "projects/example.com:ml/locations/us-central1/operations/7"]
)
def test_names_as_the_service_has_them(name: str) -> None:
    """By number, by id, by domain; below a cluster."""
    assert is_name(name)


FOREIGN = [
    Reply(404, b"<html>no such page</html>"),
    Reply(302, headers={"Location": "http://192.0.2.1/login"}),
    Reply(501, b"<html>not implemented</html>"),
    Reply(403, b"denied by the proxy"),
]


@pytest.mark.parametrize("reply", FOREIGN, ids=lambda reply: str(reply.status))
def test_a_poll_survives_what_is_not_the_apis(script: Script, connect: Connect, reply: Reply) -> None:
    """A proxy's page says nothing about an operation, so that the wait goes on; one that always comes is told."""
    operations = Operations(connect(script.url))
    poll = Limits(retry_budget=0)
    for _ in range(3):
        script.answers(*[reply] * 11, Reply(body={"name": NAME}))
        for _ in range(11):
            with pytest.raises(UnavailableError, match=f"{reply.status}"):
                operations.get(NAME, poll)
        assert operations.get(NAME, poll) == {"name": NAME}
    script.answers(reply)
    for _ in range(11):
        with pytest.raises(UnavailableError):
            operations.get(NAME, poll)
    with pytest.raises(ApiError, match=f"{reply.status}"):
        operations.get(NAME, poll)


@pytest.mark.parametrize("reply", FOREIGN, ids=lambda reply: str(reply.status))
def test_a_single_look_tells_at_once(script: Script, connect: Connect, reply: Reply) -> None:
    """Who doesn't wait is told what answered."""
    script.answers(reply)
    with pytest.raises(ApiError):
        Operations(connect(script.url)).get(NAME)


def test_a_refusal_of_the_api_ends_a_poll(script: Script, connect: Connect) -> None:
    """What the API itself says is an answer."""
    script.answers(refusal(403, "PERMISSION_DENIED"))
    with pytest.raises(ApiError):
        Operations(connect(script.url)).get(NAME, Limits(retry_budget=0))
