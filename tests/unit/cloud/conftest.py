"""Servers and clocks for the tests of the cloud layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.cloud.settings import Settings
from reconciler.cloud.transport import Transport
from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.unit.cloud.scripted import FakeTime, Script


@pytest.fixture
def script() -> Iterator[Script]:
    """A server that answers by script."""
    with Script() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    """A clock that only sleep moves."""
    return FakeTime()


@pytest.fixture(scope="module")
def _emulator() -> Iterator[Emulator]:
    with Emulator(EmulatorConfig(lro_seconds=0.05)) as running:
        yield running


@pytest.fixture
def emulator(_emulator: Emulator) -> Iterator[Emulator]:
    """The emulator, without faults and with an empty request log."""
    yield _emulator
    control = Control(_emulator.url)
    control.clear_faults()
    control.reset_quirks()
    control.clear_requests()


@pytest.fixture
def control(emulator: Emulator) -> Control:
    """What steers the emulator."""
    return Control(emulator.url)


@pytest.fixture
def connect(time: FakeTime) -> Iterator[Callable[..., Transport]]:
    """Makes transports that sleep in no time: `connect(url, retry_budget=…, debug=…)`."""
    made: list[Transport] = []

    def make(url: str, **options: Any) -> Transport:
        names = Settings.__dataclass_fields__
        settings = Settings(endpoint=url, **{name: options.pop(name) for name in list(options) if name in names})
        defaults = {"sleep": time.sleep, "clock": time.clock, "random": lambda: 0.5, "wall": lambda: 1_800_000_000.0}
        made.append(Transport(settings, **{**defaults, **options}))
        return made[-1]

    yield make
    for transport in made:
        transport.close()
