"""Rules on the lifecycle: paths to ignore, pauses, time zones."""

from __future__ import annotations

import pytest

from tests.unit.spec.rule_cases import Broken, Fine, assert_broken, assert_fine, label

IGNORE = "lifecycle.ignore_changes"
ZONE = "lifecycle.maintenance_window.time_zone"


def window(zone: str) -> dict[str, object]:
    return {"lifecycle.maintenance_window": {"days": ["sat"], "start": "02:00", "hours": 4, "time_zone": zone}}


def pause(reason: str) -> dict[str, object]:
    return {"lifecycle.paused": {"reason": reason}}


BROKEN = [
    Broken(
        "a field mistyped",
        "ignore-changes",
        {IGNORE: ["labels", "node_pools[a4].scaling_spek"]},
        f"{IGNORE}.1",
        ('"node_pools[a4].scaling_spek"', 'did you mean "scaling_spec"?'),
    ),
    Broken("no path at all", "ignore-changes", {IGNORE: ["a..b"]}, f"{IGNORE}.0", ('"a..b"',)),
    Broken(
        "unknown fields can't be ignored either",
        "ignore-changes",
        {IGNORE: ["future_knob"], "lifecycle.allow_unknown_fields": True},
        f"{IGNORE}.0",
        ('"future_knob"',),
    ),
    Broken("a pause of blanks", "pause-reason", pause(" \t"), "lifecycle.paused.reason", ("says nothing",)),
    *(
        Broken(f"time zone {zone!r}", "time-zone", window(zone), ZONE, ("Europe/Zurich",))
        for zone in ("Mars/Olympus", "", "../etc/passwd", "Europe")
    ),
]

FINE = [
    Fine("paths in either spelling", {IGNORE: ["labels.cost-center", "nodePools[*].scalingSpec"]}),
    Fine("a pause", pause("holidays")),
    Fine("the default time zone", window("UTC")),
    Fine("a named time zone", window("Europe/Zurich")),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)
