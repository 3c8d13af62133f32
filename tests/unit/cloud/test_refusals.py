"""What an error answer says, however it's built."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.cloud.answers import Answer
from reconciler.cloud.refusals import permission, read, refused
from reconciler.errors import ApiError, NotFoundError, PermissionDeniedError
from tests.unit.cloud.scripted import CLUSTER, CLUSTERS

URL = "https://us-central1-aiplatform.googleapis.com" + CLUSTER


def answer(status: int, body: Any, **headers: str) -> Answer:
    """An error answer."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, content)


def error(**fields: Any) -> dict[str, Any]:
    """The API's error format."""
    return {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "bad", **fields}}


def test_everything_that_helps_is_told() -> None:
    """Call, status, the service's message, each field, and the request's id for a support case."""
    details = [
        {"fieldViolations": [{"field": "node_pools[0].id", "description": "is taken"}, {"field": "labels"}]},
        {"violations": [{"type": "TOS", "subject": "p", "description": "accept the terms"}]},
    ]
    found = refused("PATCH", f"{URL}?updateMask=labels", answer(400, error(details=details), x_request_id="r-1"))
    assert str(found) == (
        f"PATCH {URL}?updateMask=labels: 400 INVALID_ARGUMENT: bad; node_pools[0].id: is taken; labels: refused; "
        "p: accept the terms [request id r-1]"
    )


@pytest.mark.parametrize(
    "body",
    [
        error(details="none"),
        error(details=[1, None, {"fieldViolations": "x"}, {"fieldViolations": [1]}, {"metadata": 3}]),
        error(details=[{"metadata": {"permission": 7}}]),
        [error()],
        error(message=None, status=None),
        error(message={"a": 1}, status=[2]),
        {"error": "boom"},
        {"error": []},
        ["x"],
        [],
        3,
        None,
        b"",
        b"\xff\xfe\x00",
        b"{" * 100_000,
        b'[{"error":' * 5,
    ],
)
@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 409, 418])
def test_no_answer_is_too_broken_to_be_told(status: int, body: Any) -> None:
    """Whatever an error answer holds, it becomes one line of an error."""
    text = str(refused("GET", URL, answer(status, body)))
    assert text.startswith(f"GET {URL}: {status}")
    assert text.isprintable()


def test_text_of_the_service_cannot_steer_a_terminal() -> None:
    """Control characters and line breaks are gone; endless messages end."""
    found = str(refused("GET", URL, answer(400, error(message="\x1b[31mred\r\nnew line\x07" + "x" * 100_000))))
    assert "[31mred new line x" in found
    assert found.isprintable()
    assert len(found) < 3000


def test_html_is_told_without_markup() -> None:
    """A proxy's page is cut down to its words."""
    page = b"<html><head><style>p {color: red}</style><script>alert(1)</script></head><p>Proxy <b>denied</b></p>"
    found = refused("GET", URL, answer(403, page))
    assert "403: Proxy denied" in str(found)
    assert "the answer isn't the API's own" in found.hint


def test_only_the_api_itself_can_say_that_nothing_is_there() -> None:
    """A 404 page of something in between must not look like an absent cluster."""
    assert isinstance(refused("GET", URL, answer(404, error(code=404, status="NOT_FOUND"))), NotFoundError)
    for body in (b"<html>404</html>", b"", {"message": "not found"}, {"error": "not found"}):
        found = refused("GET", URL, answer(404, body))
        assert isinstance(found, ApiError)
        assert not isinstance(found, NotFoundError)


def test_403_names_the_permission_of_the_answer() -> None:
    """ErrorInfo knows best."""
    details = [{"reason": "IAM_PERMISSION_DENIED", "metadata": {"permission": "compute.networks.use"}}]
    found = refused("PATCH", URL, answer(403, error(details=details)))
    assert isinstance(found, PermissionDeniedError)
    assert found.hint == "the caller needs the permission compute.networks.use"


@pytest.mark.parametrize(
    ("method", "path", "verb"),
    [
        ("GET", CLUSTERS, "list"),
        ("GET", f"{CLUSTERS}?pageSize=5", "list"),
        ("GET", CLUSTER, "get"),
        ("POST", f"{CLUSTERS}?model_development_cluster_id=x", "create"),
        ("PATCH", f"{CLUSTER}?updateMask=labels", "update"),
        ("DELETE", CLUSTER, "delete"),
        ("POST", f"{CLUSTER}:callSlurmRestApi", "run"),
    ],
)
def test_403_names_the_permission_of_the_call(method: str, path: str, verb: str) -> None:
    """Where the answer doesn't say what is missing, the documents do."""
    assert permission(method, path) == f"aiplatform.modelDevelopmentClusters.{verb}"
    assert permission(method, path) in refused(method, path, answer(403, error())).hint


def test_other_calls_have_no_known_permission() -> None:
    """The documents don't tell what operations need."""
    path = "/v1/projects/1/locations/us-central1/operations/7"
    assert permission("GET", path) == ""
    found = refused("GET", path, answer(403, error()))
    assert isinstance(found, ApiError)
    assert found.hint == ""


def test_the_request_id_may_stand_in_the_details() -> None:
    """RequestInfo is as good as a header."""
    assert read(answer(500, error(details=[{"requestId": "abc"}]))).request_id == "abc"
