"""Emulators for the command line's tests: one whose operations take no time, one where the tests move the clock."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.contract.bench import Bench
from tests.contract.queue import DEFAULTS, Queue, two_partitions
from tests.faults.clock import FakeTime

LONG = 3600.0  # seconds that an operation takes unless the clock is moved
_projects = itertools.count()


@pytest.fixture(scope="session")
def _quick() -> Iterator[Emulator]:
    with Emulator(EmulatorConfig(lro_seconds=0)) as running:
        yield running


@pytest.fixture(scope="session")
def _slow() -> Iterator[Emulator]:
    with Emulator(EmulatorConfig(lro_seconds=LONG)) as running:
        yield running


def _bench(emulator: Emulator, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = Bench(root, emulator.url, f"proj-{next(_projects)}", monkeypatch)
    yield bench
    bench.control.clear_faults()
    bench.control.reset_quirks()
    bench.control.clear_requests()


@pytest.fixture
def bench(_quick: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A repository and a project of its own; operations are done at once."""
    yield from _bench(_quick, tmp_path, monkeypatch)


@pytest.fixture
def slow(_slow: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """The same where operations end when `control.advance(LONG)` is called."""
    yield from _bench(_slow, tmp_path, monkeypatch)


@pytest.fixture
def demo(bench: Bench) -> Bench:
    """The base cluster, live and as its file says."""
    bench.created("demo", bench.base())
    return bench


@pytest.fixture
def queue(bench: Bench) -> Iterator[Queue]:
    """The queue of a cluster `demo` that is there, with the partitions cpu and big."""
    bench.created("demo", two_partitions(bench))
    made = Queue(bench)
    yield made
    made.switch(**DEFAULTS)


@pytest.fixture
def time(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """Time passes by sleeping alone."""
    made = FakeTime()
    made.install(monkeypatch)
    return made
