"""When a cluster may be changed: `lifecycle.paused` and `lifecycle.maintenance_window`. Pure: time is an argument."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

from reconciler.plan.model import Note
from reconciler.spec.model import Lifecycle, MaintenanceWindow, Paused

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def is_paused(lifecycle: Lifecycle, now: datetime) -> bool:
    """Whether a pause is in force. `now` must be aware."""
    return lifecycle.paused is not None and not _has_ended(lifecycle.paused, now)


def schedule_notes(lifecycle: Lifecycle, now: datetime, *, disruptive: bool) -> tuple[Note, ...]:
    """What a plan says of pause and window. An expired pause is said, so that somebody takes it out."""
    notes = []
    if paused := lifecycle.paused:
        code, word = ("pause_expired", "was paused") if _has_ended(paused, now) else ("paused", "paused")
        advice = "remove lifecycle.paused" if code == "pause_expired" else "apply skips the cluster"
        notes.append(Note(code, f"{word}{_until(paused)}: {paused.reason}; {advice}"))
    if disruptive and (window := lifecycle.maintenance_window):
        is_open = opens(window, now) <= now
        said = "disruptive, and the window is open" if is_open else "disruptive, so apply waits for the window"
        notes.append(Note("maintenance_window", f"{said}: {in_words(window)}"))
    return tuple(notes)


def in_words(window: MaintenanceWindow) -> str:
    """`sat, sun from 02:00 for 4 h (Europe/Zurich)`."""
    return f"{', '.join(window.days)} from {window.start} for {window.hours:g} h ({window.time_zone})"


def opens(window: MaintenanceWindow, now: datetime) -> datetime:
    """When the window opens next, in UTC: now where it is open."""
    from zoneinfo import ZoneInfo  # most clusters have no window

    zone = ZoneInfo(window.time_zone)
    today = now.astimezone(zone).date()
    hour, minute = map(int, window.start.split(":"))
    # From yesterday, whose window may reach into today, to the same weekday of next week.
    for offset in range(-1, 9):
        day = today + timedelta(days=offset)
        if _DAYS[day.weekday()] not in window.days:
            continue
        # Reckoned in UTC from the opening on: a window keeps its length over a change of clocks.
        start = datetime.combine(day, time(hour, minute), zone).astimezone(UTC)
        if now < start + timedelta(hours=window.hours):
            return max(start, now.astimezone(UTC))
    raise AssertionError("a window with a day opens within nine days")  # pragma: no cover - the model wants a day


def _has_ended(paused: Paused, now: datetime) -> bool:
    return paused.until is not None and now >= paused.until


def _until(paused: Paused) -> str:
    return f" until {paused.until.isoformat()}" if paused.until else ""
