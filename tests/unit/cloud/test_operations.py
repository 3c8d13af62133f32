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
    location_of,
    parent_of,
    progress,
    status,
    target,
)
from reconciler.cloud.transport import Transport
from reconciler.errors import NotFoundError, UsageError
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
