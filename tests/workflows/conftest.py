"""A world for each test: a repository, a GitHub that answers, and a service of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.workflows.standin import serve
from tests.workflows.world import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A repository with one cluster file on main, not applied yet; operations are done at once."""
    with serve() as hub, Emulator(EmulatorConfig(lro_seconds=0)) as emulator:
        yield World(tmp_path, hub, emulator.url)


@pytest.fixture
def slow_world(tmp_path: Path) -> Iterator[World]:
    """The same where operations take an hour."""
    with serve() as hub, Emulator(EmulatorConfig(lro_seconds=3600)) as emulator:
        yield World(tmp_path, hub, emulator.url)
