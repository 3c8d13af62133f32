"""Hundreds of random histories of edits, commands, faults and deaths, the same ones in every run."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from reconciler.emulator.server import Emulator
from tests.faults.machine import Reconciliation
from tests.faults.scale import scaled

RUNS, STEPS = 25, 20


@pytest.mark.parametrize("number", range(scaled(2, 20)))
def test_histories(number: int, emulator: Emulator, record_property: Any) -> None:
    """The contract's section 5 holds after every step and at every end."""

    class Machine(Reconciliation):
        url = emulator.url
        counts: ClassVar[Counter[str]] = Counter()

    seed(number)(Machine)
    limits = settings(
        max_examples=RUNS,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),  # whoever looks into a failure adds Phase.shrink: it takes minutes
    )
    run_state_machine_as_test(Machine, settings=limits)
    record_property("count", ("histories", dict(Machine.counts)))
