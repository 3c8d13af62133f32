"""Runs that are killed at random moments, and run again."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.contract.bench import Bench
from tests.contract.specs import pool
from tests.faults.rig import operations, spec
from tests.faults.scale import scaled
from tests.faults.scenarios import THREE
from tests.faults.zygote import Zygote

ROUND = 10  # kills in one test
LATENCY = 0.01  # seconds of each request, so that many a kill meets one under way
LRO_SECONDS = 0.2
POLITE = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Change:
    """What is applied, and the operations that it takes."""

    name: str
    prepare: Callable[[Bench, str], None]
    clusters: tuple[str, ...]
    done: Counter[str]
    options: tuple[str, ...] = ()


def _new(bench: Bench, cluster: str) -> None:
    bench.write(cluster, spec())


def _changed(bench: Bench, cluster: str) -> None:
    bench.control.put(bench.name(cluster), spec())
    bench.write(cluster, spec(changed="yes"))


def _unwanted(bench: Bench, cluster: str) -> None:
    bench.control.put(bench.name(cluster), spec())
    bench.write(cluster, spec(), state="absent", prevent_destroy=False)


def _other_machines(bench: Bench, cluster: str) -> None:
    bench.control.put(bench.name(cluster), spec())
    wanted = spec()
    pool(wanted, "cpu")["machine_spec"]["machine_type"] = "n2-standard-16"
    bench.write(cluster, wanted, prevent_destroy=False, replace_on=["immutable_change"])


def _other_zone(bench: Bench, cluster: str) -> None:
    bench.control.put(bench.name(cluster), spec())
    wanted = spec()
    pool(wanted, "cpu")["zone"] = "us-central1-b"
    bench.write(cluster, wanted)


CHANGES = (
    Change("create", _new, THREE, Counter(Create=3)),
    Change("update", _changed, THREE, Counter(Update=3)),
    Change("delete", _unwanted, THREE, Counter(Delete=3), ("--allow-delete",)),
    Change("replace", _other_machines, ("one",), Counter(Delete=1, Create=1), ("--allow-replace",)),
    # Held, changed, and let go again.
    Change("graceful", _other_zone, ("one",), Counter(Update=3), ("--graceful",)),
)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with Emulator(EmulatorConfig(lro_seconds=LRO_SECONDS, latency=LATENCY)) as running:
        yield running.url


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with Zygote() as running:
        yield running


class Killing:
    """Rounds of: prepare, apply, kill, apply again, look."""

    def __init__(self, url: str, zygote: Zygote, folder: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self._url = url
        self._zygote = zygote
        self._folder = folder
        self._seed = seed
        self._monkeypatch = monkeypatch
        self._random = random.Random(seed)
        self._usual = 1.0  # seconds that a run takes
        self.met: Counter[str] = Counter()

    def round(self, number: int, change: Change, signals: tuple[signal.Signals, ...]) -> None:
        """One kill."""
        root = self._folder / str(number)
        root.mkdir()
        bench = Bench(root, self._url, f"kill-{self._seed}-{number}", self._monkeypatch)
        for cluster in change.clusters:
            change.prepare(bench, cluster)
        command = ["apply", "--auto-approve", "--format", "json", *change.options]
        run = self._zygote.start(command, root, os.environ)
        time.sleep(self._moment())
        run.signal(chosen := self._random.choice(signals))
        code = run.end()
        self._judge(code, chosen, run.err)

        begin = time.monotonic()
        again = self._zygote.start(command, root, os.environ)
        assert again.end() == 0, f"{change.name}, number {number}: {again.out}\n{again.err}"
        self._usual = 0.7 * self._usual + 0.3 * (time.monotonic() - begin)
        assert operations(bench) == change.done, f"{change.name}, number {number}"

    def _moment(self) -> float:
        """Some time in a run; every other time early, when requests follow one another."""
        return self._random.uniform(0, self._usual * self._random.choice((0.4, 1.1)))

    def _judge(self, code: int, sent: signal.Signals, err: str) -> None:
        assert "Traceback" not in err, err
        assert "internal error" not in err, err
        self.met["killed" if code == -sent else "stopped" if code == 130 else "ended before"] += 1
        assert code in (0, -sent, *((130,) if sent in POLITE else ())), f"exit code {code}\n{err}"


@pytest.mark.parametrize("seed", range(scaled(4, 24)))
def test_killed_runs_converge(
    seed: int, service: str, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """After SIGKILL at any moment the same command ends converged, and nothing was done twice."""
    killing = Killing(service, zygote, tmp_path, seed, monkeypatch)
    for number in range(ROUND):
        killing.round(number, CHANGES[number % len(CHANGES)], (signal.SIGKILL,))
    record_property("count", ("kills", killing.met))


@pytest.mark.parametrize("seed", range(100, 100 + scaled(2, 6)))
def test_stopped_runs_converge(
    seed: int, service: str, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """So they do after SIGTERM and Ctrl-C, which end a run in order: exit code 130."""
    killing = Killing(service, zygote, tmp_path, seed, monkeypatch)
    for number in range(ROUND):
        killing.round(number, CHANGES[number % len(CHANGES)], POLITE)
    record_property("count", ("stops", killing.met))
