"""Pauses and maintenance windows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from reconciler.plan.schedule import is_paused, opens, schedule_notes
from reconciler.spec.model import Day, Lifecycle, MaintenanceWindow, Paused

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)  # a Monday


def codes(lifecycle: Lifecycle, *, disruptive: bool = True) -> list[str]:
    return [note.code for note in schedule_notes(lifecycle, NOW, disruptive=disruptive)]


@pytest.mark.parametrize(
    ("until", "paused", "code"),
    [
        (None, True, "paused"),
        ("2026-12-24T08:00:00Z", True, "paused"),
        ("2026-11-30T12:00:00Z", False, "pause_expired"),
        ("2026-11-30T12:30:00+01:00", False, "pause_expired"),
    ],
)
def test_pauses(until: str | None, paused: bool, code: str) -> None:
    """In force until their time; an expired one is said (pain 103)."""
    lifecycle = Lifecycle(paused=Paused("holidays", datetime.fromisoformat(until) if until else None))
    assert is_paused(lifecycle, NOW) is paused
    assert codes(lifecycle) == [code]
    assert "holidays" in schedule_notes(lifecycle, NOW, disruptive=False)[0].message


WINDOWS = [
    ("closed until Saturday", ("sat", "sun"), "02:00", 4, "Europe/Zurich", "2026-12-05T01:00:00+00:00"),
    ("open since this morning", ("mon",), "10:00", 3, "UTC", "2026-11-30T12:00:00+00:00"),
    ("open since yesterday evening", ("sun",), "20:00", 24, "UTC", "2026-11-30T12:00:00+00:00"),
    ("over, again in a week", ("mon",), "10:00", 2, "UTC", "2026-12-07T10:00:00+00:00"),
    ("later today", ("mon",), "23:30", 1, "UTC", "2026-11-30T23:30:00+00:00"),
    ("today there, tomorrow here", ("tue",), "00:30", 1, "Asia/Tokyo", "2026-11-30T15:30:00+00:00"),
]


@pytest.mark.parametrize(("reason", "days", "start", "hours", "zone", "expected"), WINDOWS, ids=[w[0] for w in WINDOWS])
def test_when_a_window_opens(
    reason: str, days: tuple[Day, ...], start: str, hours: float, zone: str, expected: str
) -> None:
    """The next opening, in UTC; now where it is open."""
    window = MaintenanceWindow(days, start, hours, zone)
    assert opens(window, NOW).isoformat() == expected, reason


def test_a_window_keeps_its_length_over_a_change_of_clocks() -> None:
    """Four hours from 01:00 in the night that loses one end at 06:00 by the wall."""
    window = MaintenanceWindow(("sun",), "01:00", 4, "Europe/Zurich")
    just_before = datetime(2027, 3, 28, 3, 59, tzinfo=UTC)
    assert opens(window, just_before) == just_before
    assert opens(window, datetime(2027, 3, 28, 4, 0, tzinfo=UTC)).isoformat() == "2027-04-03T23:00:00+00:00"


def test_only_disruptive_changes_wait_for_a_window() -> None:
    """Changes in place ask for none."""
    lifecycle = Lifecycle(maintenance_window=MaintenanceWindow(("sat",), "02:00", 4))
    assert codes(lifecycle) == ["maintenance_window"]
    assert codes(lifecycle, disruptive=False) == []
    assert not is_paused(lifecycle, NOW)
