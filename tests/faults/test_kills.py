"""Runs that are killed at random moments, and run again."""

from __future__ import annotations

import os
import random
import signal
import socket
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
from tests.faults.scenarios import THREE, changed, new, unwanted
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


def _other_machines(bench: Bench, cluster: str) -> None:
    """An immutable change that may replace the cluster."""
    bench.control.put(bench.name(cluster), spec())
    wanted = spec()
    pool(wanted, "cpu")["machine_spec"]["machine_type"] = "n2-standard-16"
    bench.write(cluster, wanted, prevent_destroy=False, replace_on=["immutable_change"])


def _other_zone(bench: Bench, cluster: str) -> None:
    """A change that recreates nodes."""
    bench.control.put(bench.name(cluster), spec())
    wanted = spec()
    pool(wanted, "cpu")["zone"] = "us-central1-b"
    bench.write(cluster, wanted)


CHANGES = (
    Change("create", new, THREE, Counter(Create=3)),
    Change("update", changed, THREE, Counter(Update=3)),
    Change("delete", unwanted, THREE, Counter(Delete=3), ("--allow-delete",)),
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
        bench.control.clear_requests()
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
        assert operations(bench) == change.done, f"{change.name}, number {number}\n{self._log(bench)}"

    def _log(self, bench: Bench) -> str:
        """What was sent, for the one who has to find out."""
        sent = [each for each in bench.control.requests() if each["kind"] != "poll"]
        first = sent[0]["time"] if sent else 0.0
        return "\n".join(f"{e['time'] - first:.3f} {e['kind']} {e['cluster']} {e['status']}" for e in sent)

    def _moment(self) -> float:
        """Some time in a run; every other time early, when requests follow one another."""
        return self._random.uniform(0, self._usual * self._random.choice((0.4, 1.1)))

    def _judge(self, code: int, sent: signal.Signals, err: str) -> None:
        assert "Traceback" not in err, err
        assert "internal error" not in err, err
        self.met["killed" if code == -sent else "stopped" if code == 130 else "ended before"] += 1
        assert code in (0, -sent, *((130,) if sent in POLITE else ())), f"exit code {code}\n{err}"


@pytest.mark.parametrize("seed", range(scaled(3, 22)))
def test_killed_runs_converge(
    seed: int, service: str, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """After SIGKILL at any moment the same command ends converged, and nothing was done twice."""
    killing = Killing(service, zygote, tmp_path, seed, monkeypatch)
    for number in range(ROUND):
        killing.round(number, CHANGES[number % len(CHANGES)], (signal.SIGKILL,))
    record_property("count", ("SIGKILL", dict(killing.met)))


@pytest.mark.parametrize("seed", range(100, 100 + scaled(1, 6)))
def test_stopped_runs_converge(
    seed: int, service: str, zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """So they do after SIGTERM and Ctrl-C, which end a run in order: exit code 130."""
    killing = Killing(service, zygote, tmp_path, seed, monkeypatch)
    for number in range(ROUND):
        killing.round(number, CHANGES[number % len(CHANGES)], POLITE)
    record_property("count", ("SIGTERM and SIGINT", dict(killing.met)))


@pytest.mark.parametrize("number", range(scaled(2, 10)))
def test_killed_processes_converge(
    number: int, service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """The same for a process that was started as people start it, killed while it loads, too."""
    (tmp_path / "repository").mkdir()
    bench = Bench(tmp_path / "repository", service, f"process-{number}", monkeypatch)
    change = CHANGES[number % len(CHANGES)]
    for cluster in change.clusters:
        change.prepare(bench, cluster)
    process = bench.start("apply", "--auto-approve", *change.options)
    time.sleep(random.Random(number).uniform(0, 2))
    process.kill()
    bench.run("apply", "--auto-approve", *change.options).ok()
    assert operations(bench) == change.done
    record_property("count", ("SIGKILL of whole processes", {"killed": 1}))


def test_half_a_request_does_nothing(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that dies while it sends: a service that took the half for the whole would clear what is masked."""
    bench = Bench(tmp_path, service, "half", monkeypatch)
    bench.control.put(bench.name("one"), spec())
    before = bench.live("one")
    host, _, port = service.removeprefix("http://").partition(":")
    head = (
        f"PATCH /v1beta1/{bench.name('one')}?updateMask=labels HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n"
    )
    for body in ("", "{", '{"labels": {}}'):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall((head + body).encode())
    assert bench.live("one") == before
    assert operations(bench) == {}
