"""Profiles of hypothesis, and the place where generated clusters are applied."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from reconciler.emulator.server import Emulator, EmulatorConfig
from reconciler.engine import waiter
from reconciler.engine.polling import PollPolicy
from tests.contract.bench import Bench

# In CI the same examples each time: a failure there is the change's, not the weather's.
settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
settings.load_profile("ci")


@pytest.fixture(scope="module")
def new_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Bench]]:
    """Makes repositories with projects of their own, on an emulator whose operations take no time."""
    with Emulator(EmulatorConfig(lro_seconds=0)) as emulator, pytest.MonkeyPatch.context() as patch:
        patch.setattr(waiter, "PollPolicy", functools.partial(PollPolicy, first=0.001))
        numbers = itertools.count()

        def make() -> Bench:
            root: Path = tmp_path_factory.mktemp("repository")
            return Bench(root, emulator.url, f"gen-{next(numbers)}", patch)

        yield make
