"""Which cluster events are new, however the service spells them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.engine.events import events_since, in_words

BEGIN = datetime(2026, 12, 1, 12, 0, 0, 900_000, UTC)
NEW, OLD = "2026-12-01T12:00:05Z", "2026-12-01T11:59:59Z"


def since(*events: Any) -> list[str]:
    """The lines of those that are new."""
    return events_since({"clusterEvents": list(events)}, BEGIN)


@pytest.mark.parametrize(
    "time",
    [
        "2026-12-01T12:00:01Z",
        "2026-12-01T12:00:00Z",  # in the same second: the service may tell no more
        "2026-12-01T12:00:01.123456789Z",
        "2026-12-01T13:00:01+01:00",
        "2026-12-01T12:00:01",
    ],
)
def test_new(time: str) -> None:
    """However the time is written; without a zone it is UTC."""
    assert since({"type": "VM_DELETION", "eventTime": time}) == ["VM_DELETION"]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "X", "eventTime": OLD},
        {"type": "X", "eventTime": "2026-12-01T12:59:59+01:00"},
        {"type": "X", "eventTime": "yesterday"},
        {"type": "X", "eventTime": 5},
        {"type": "X"},
        "X",
    ],
)
def test_not_new(event: Any) -> None:
    """What is older, or has no readable time."""
    assert since(event) == []


@pytest.mark.parametrize("name", ["eventTime", "event_time", "createTime", "create_time", "time", "timestamp"])
def test_names_of_the_time(name: str) -> None:
    """Its spelling isn't documented."""
    assert since({name: NEW, "type": "X"}) == ["X"]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"type": "VM_PROLOG_ERROR", "instanceName": "gpu-0", "detail": "exit 1"}, "gpu-0: VM_PROLOG_ERROR: exit 1"),
        ({"eventType": "VM_DELETION", "nodePoolId": "gpu"}, "gpu: VM_DELETION"),
        ({"event_type": "X", "description": "y"}, "X: y"),
        ({}, "an event of no type"),
    ],
)
def test_lines(event: dict[str, Any], line: str) -> None:
    """Where, what, and why."""
    assert since({**event, "eventTime": NEW}) == [line]


def test_newest_first() -> None:
    """Whatever the order of the answer."""
    times = ["2026-12-01T12:00:02Z", "2026-12-01T12:00:09Z", "2026-12-01T12:00:05Z"]
    assert since(*({"type": time, "time": time} for time in times)) == [times[1], times[2], times[0]]


def test_in_words() -> None:
    """Five, and how many more."""
    assert in_words([]) == ""
    assert in_words(["a", "b"]) == "new cluster events: a; b"
    assert in_words(list("abcdefg")) == "new cluster events: a; b; c; d; e and 2 more"


def test_no_events() -> None:
    """An answer without any."""
    assert events_since({}, BEGIN) == []
