"""Pacing: slots, and the gate that a 429 narrows."""

from __future__ import annotations

import pytest

from reconciler.cloud.pace import Gate, Pace
from tests.unit.cloud.scripted import FakeTime


def test_slots_come_one_after_the_other(time: FakeTime) -> None:
    """Whoever asks at the same time gets different slots."""
    pace = Pace(0.5, time.clock)
    assert [pace.reserve() for _ in range(3)] == [0, 0.5, 1.0]


def test_a_slot_that_nobody_took_is_lost(time: FakeTime) -> None:
    """Idle time isn't saved up for a burst."""
    pace = Pace(0.5, time.clock)
    pace.reserve()
    time.sleep(100)
    assert [pace.reserve() for _ in range(2)] == [0, 0.5]


def test_an_open_gate_holds_nobody_up(time: FakeTime) -> None:
    """Without a 429 there is no pacing."""
    gate = Gate(time.clock)
    gate.ease()
    assert [gate.reserve() for _ in range(100)] == [0] * 100


def test_a_gate_closes_and_opens_narrow(time: FakeTime) -> None:
    """Those who waited leave one by one, further apart after each refusal, up to a limit."""
    gate = Gate(time.clock)
    gate.slow_down(10)
    assert [gate.reserve() for _ in range(3)] == pytest.approx([10, 10.05, 10.1])
    gate.slow_down(20)
    assert [gate.reserve() for _ in range(3)] == pytest.approx([20, 20.1, 20.2])
    for _ in range(20):
        gate.slow_down(0)
    time.sleep(1000)
    assert [gate.reserve() for _ in range(2)] == [0, 2.0]


def test_a_shorter_pause_does_not_open_it(time: FakeTime) -> None:
    """The longest wish counts."""
    gate = Gate(time.clock)
    gate.slow_down(30)
    gate.slow_down(1)
    assert gate.reserve() == 30


def test_success_opens_it_wide_again(time: FakeTime) -> None:
    """The distance melts and is gone."""
    gate = Gate(time.clock)
    for _ in range(5):
        gate.slow_down(0)
    for _ in range(30):
        gate.ease()
    time.sleep(10)
    assert [gate.reserve() for _ in range(3)] == [0, 0, 0]
