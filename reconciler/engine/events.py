"""Cluster events that came after an apply began: a prolog that fails on the new nodes shows there first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from reconciler.engine.observe import Answer
from reconciler.plan.status import live_status
from reconciler.spec.reading import read_live

_TIMES = ("eventTime", "event_time", "createTime", "create_time", "time", "timestamp")
_WORDS = ("type", "eventType", "event_type", "detail", "message", "description")
_SHOWN = 5


def events_since(answer: Answer, begin: datetime) -> list[str]:
    """The events newer than `begin`, newest first, each in a line; an event without a readable time isn't new.

    To the second: the service may tell no more of it.
    """
    begin = begin.replace(microsecond=0)
    events = live_status(read_live(answer)).events
    dated = [(moment, event) for event in events if (moment := _moment(event)) and moment >= begin]
    return [_line(event) for _, event in sorted(dated, key=lambda pair: pair[0], reverse=True)]


def in_words(events: list[str]) -> str:
    """The events in a sentence, empty for none."""
    if not events:
        return ""
    more = f" and {len(events) - _SHOWN} more" if len(events) > _SHOWN else ""
    return f"new cluster events: {'; '.join(events[:_SHOWN])}{more}"


def _moment(event: dict[str, Any]) -> datetime | None:
    text = next((event[name] for name in _TIMES if isinstance(event.get(name), str)), "")
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _line(event: dict[str, Any]) -> str:
    words = [str(event[name]) for name in _WORDS if event.get(name)]
    where = event.get("instanceName") or event.get("nodePoolId") or ""
    return ": ".join([*([str(where)] if where else []), *words]) or "an event of no type"
