"""The emulator, and rigs on it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.faults.clock import FakeTime
from tests.faults.rig import LRO_SECONDS, Rig

_projects = itertools.count()


@pytest.fixture(scope="session")
def emulator() -> Iterator[Emulator]:
    """One for all tests; only one of them uses it at a time."""
    with Emulator(EmulatorConfig(lro_seconds=LRO_SECONDS)) as running:
        yield running


@pytest.fixture
def rig(emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """A repository and a project of its own, where time passes by sleeping alone."""
    made = Rig(tmp_path, emulator.url, f"fault-{next(_projects)}", monkeypatch, FakeTime())
    yield made
    made.control.clear_faults()
    made.control.reset_quirks()
    made.control.clear_requests()
