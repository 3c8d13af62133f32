"""Hundreds of random histories of edits, commands, faults and deaths, the same ones in every run."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from reconciler.emulator.server import Emulator
from tests.faults.machine import STEPS, Reconciliation
from tests.faults.scale import scaled

CHUNKS, WHOLE = 20, 25  # 500 histories of all their steps; shorter ones, which come by the way, aren't counted
RUNS = 10  # at a time
BOX = scaled(120, 900)  # seconds for a chunk, after which it begins no more


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_histories(chunk: int, emulator: Emulator, record_property: Any) -> None:
    """The contract's section 5 holds after every step and at every end."""

    class Machine(Reconciliation):
        url = emulator.url
        counts: ClassVar[Counter[str]] = Counter()

    limits = settings(
        max_examples=RUNS,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),  # whoever looks into a failure adds Phase.shrink: it takes minutes
    )
    begin = time.monotonic()
    for part in itertools.count(chunk * 1000):
        if Machine.counts["whole"] >= WHOLE or time.monotonic() - begin > BOX:
            break
        seed(part)(Machine)
        run_state_machine_as_test(Machine, settings=limits)
    record_property("count", ("histories", dict(Machine.counts)))
