"""Nothing that a server can send ends in anything but a named error."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.cloud.answers import Answer, json_object
from reconciler.cloud.auth import scrub
from reconciler.cloud.operations import Failed, Running, Succeeded, status, target
from reconciler.cloud.refusals import refused
from reconciler.cloud.text import one_line, snippet
from reconciler.cloud.wire import _DeadlineReader
from reconciler.errors import ReconcilerError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
KEYS = ["code", "status", "message", "details", "fieldViolations", "field", "metadata", "permission", "requestId"]
DETAIL = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=3)
ERROR = JSON | st.dictionaries(st.sampled_from(KEYS), JSON | st.lists(DETAIL, max_size=2), max_size=4)
BODY = JSON | st.fixed_dictionaries({"error": ERROR})
OPERATION = st.fixed_dictionaries(
    {}, optional={"done": JSON | st.just(True), "error": ERROR, "response": JSON, "metadata": JSON}
)
fuzz = settings(deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])


@fuzz
@given(st.binary(max_size=200))
def test_bytes(body: bytes) -> None:
    """An object, or a ValueError with a phrase."""
    try:
        assert isinstance(json_object(body), dict)
    except ValueError as error:
        assert str(error).isprintable()  # noqa: PT017 - either end is right


@fuzz
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_objects(value: dict[str, Any]) -> None:
    """What a good service sends comes through unchanged."""
    encodable = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    assert json_object(json.dumps(value).encode()) == encodable


@fuzz
@given(st.integers(300, 599), BODY, st.dictionaries(st.sampled_from(["location", "x-request-id"]), st.text()))
def test_refusals(code: int, body: Any, headers: dict[str, str]) -> None:
    """Each error answer becomes an error in one line."""
    found = refused("GET", "https://x/v1/y", Answer(code, headers, json.dumps(body).encode()))
    assert isinstance(found, ReconcilerError)
    assert str(found).isprintable()


@fuzz
@given(OPERATION)
def test_operations(operation: dict[str, Any]) -> None:
    """Each operation has one of three states."""
    assert isinstance(status(operation), Running | Succeeded | Failed)
    target(operation)


@fuzz
@given(st.text(), st.binary())
def test_text(text: str, body: bytes) -> None:
    """Foreign text is short and harmless."""
    assert one_line(text, 10).isprintable()
    assert len(one_line(text, 10)) <= 11
    assert snippet(body).isprintable()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def~ghi+/jkl=", "Authorization: Bearer [secret]"),
        ("authorization: basic bm9ib2R5Om5vdGhpbmc=", "authorization: basic [secret]"),
        ('{"access_token": "abc", "expires": 1}', '{"access_token": "[secret]", "expires": 1}'),
        (r'"{\"id_token\": \"abc\"}"', r'"{\"id_token\": \"[secret]\"}"'),
        ("'client_secret'='x'", "'client_secret'='[secret]'"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END", "-----BEGIN PRIVATE KEY-----[secret]-----END"),
        ("bearer of bad news", "bearer of bad news"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_looks_like_a_secret_is_not_shown(text: str, shown: str) -> None:
    """Tokens that somebody else put into a text."""
    assert scrub(text) == shown


def test_a_stream_whose_time_is_over() -> None:
    """Bytes that are there already don't count once the deadline has passed."""
    ours, theirs = socket.socketpair()
    with ours, theirs, ours.makefile("rb", buffering=0) as stream:
        theirs.send(b"late")
        with pytest.raises(TimeoutError):
            _DeadlineReader(stream, ours, deadline=0.0).readinto(bytearray(10))
