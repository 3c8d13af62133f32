"""A day in the life of a cron, with faults in it: nothing piles up, and no change is lost."""

from __future__ import annotations

import gc
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from reconciler.cloud.answers import Answer
from reconciler.cloud.wire import Wire
from reconciler.emulator.control import Control
from tests.contract.bench import Outcome, result
from tests.contract.process import Process
from tests.contract.specs import pool
from tests.faults.clock import FakeTime
from tests.faults.faults import PASSING
from tests.faults.rig import Rig, spec
from tests.faults.scale import scaled

HOUR = 3600.0
CLUSTERS = ("one", "three", "two")
DRIFT_EVERY, APPLY_EVERY = 600.0, HOUR
# Of the soak: what the first hour needs to warm up is no leak.
_LEAK_BYTES = 24 * 2**20


@dataclass(frozen=True)
class Held:
    """What this process holds."""

    memory: int
    threads: int
    files: int
    sockets: int

    @classmethod
    def now(cls) -> Held:
        """After a collection: only what is still referred to counts."""
        gc.collect()
        process = psutil.Process()
        connections = [each for each in process.net_connections() if each.status != psutil.CONN_LISTEN]
        return cls(process.memory_info().rss, threading.active_count(), process.num_fds(), len(connections))

    def has_grown_since(self, before: Held) -> bool:
        """Whether anything piles up."""
        return (
            self.memory > before.memory + _LEAK_BYTES
            or self.threads > before.threads
            or self.files > before.files + 2
            or self.sockets > before.sockets + 2
        )


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """An emulator in a process of its own: what piles up there, such as its log, isn't ours."""
    process = Process(["emulator", "--lro-seconds", "20"], Path.cwd(), {})
    process.hear("listening on")
    yield process.out.split()[-1]
    process.kill()


class Day(FakeTime):
    """A clock that takes the service's along, whenever that is asked something."""

    def __init__(self, control: Control) -> None:
        super().__init__()
        self._control = control
        self._shown = 0.0

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """As before, and in step with the other process."""
        super().install(patch)
        send = Wire.send

        def in_step(wire: Wire, *arguments: Any, **options: Any) -> Answer:
            self.show()
            return send(wire, *arguments, **options)

        patch.setattr(Wire, "send", in_step)

    def show(self) -> None:
        """Let the service's clock catch up."""
        behind, self._shown = self.slept - self._shown, self.slept
        if behind > 0:
            self._control.advance(behind)


@pytest.fixture
def day(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    """A repository at the beginning of a day."""
    return Rig(tmp_path, service, "soak", monkeypatch, Day(Control(service)))


def _something_goes_wrong(rig: Rig, dice: random.Random) -> None:
    rig.control.clear_faults()
    for _ in range(dice.randrange(3)):
        fault = dice.choice([each for each in PASSING if not each.never_ends])
        kind = dice.choice(("list", "get", "patch", "create", "poll", "operations_list"))
        rule = {"match": {"kind": kind}, "fault": fault.rule, "after": dice.randrange(4), "times": dice.randrange(1, 4)}
        rig.control.faults([rule])


class Life:
    """People at work: files are edited, and now and then somebody edits a cluster by hand."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self.rig = rig
        self.dice = random.Random(seed)
        self.wanted = {cluster: spec(edit="0") for cluster in CLUSTERS}
        self.edits = 0
        self.ends: dict[str, int] = {}
        for cluster in CLUSTERS:
            rig.write(cluster, self.wanted[cluster])

    def work(self) -> None:
        """One edit, of a file or of a cluster."""
        cluster = self.dice.choice(CLUSTERS)
        self.edits += 1
        if self.dice.random() < 0.5 and self.rig.stored(cluster):
            self.rig.control.live(self.rig.name(cluster), {"labels": {"console": str(self.edits)}})
            return
        self.wanted[cluster]["labels"]["edit"] = str(self.edits)
        pool(self.wanted[cluster], "cpu")["scaling_spec"]["max_node_count"] = self.dice.randrange(4, 20)
        self.rig.write(cluster, self.wanted[cluster])

    def drift(self) -> None:
        """The cron."""
        _something_goes_wrong(self.rig, self.dice)
        self.note("drift", self.rig.run("drift", "--include-unmanaged", "--format", "json"))

    def apply(self) -> None:
        """A merge. What it says is done is done."""
        _something_goes_wrong(self.rig, self.dice)
        outcome = self.rig.apply("--timeout", "20m")
        self.note("apply", outcome)
        for each in outcome.json["results"]:
            if each["status"] in ("applied", "no_op"):
                self.is_as_wanted(each["cluster"].rpartition("/")[2])

    def is_as_wanted(self, cluster: str) -> None:
        """No change is lost, and what was done by hand is undone."""
        there = self.rig.live(cluster)
        assert there["labels"] == self.wanted[cluster]["labels"]
        scaling = next(each for each in there["nodePools"] if each["id"] == "cpu")["scalingSpec"]
        assert int(scaling["maxNodeCount"]) == pool(self.wanted[cluster], "cpu")["scaling_spec"]["max_node_count"]

    def note(self, command: str, outcome: Outcome) -> None:
        """Count how it ended."""
        assert outcome.code in (0, 1, 2)
        end = f"{command} exit {outcome.code}"
        self.ends[end] = self.ends.get(end, 0) + 1


def test_a_day_of_crons(day: Rig, record_property: Any) -> None:
    """Drift every ten minutes, an apply every hour, an edit every half hour, faults in all of it."""
    life = Life(day, seed=24)
    hours = scaled(3, 24)
    before: Held | None = None
    for turn in range(int(hours * HOUR / DRIFT_EVERY)):
        if turn % 3 == 0:
            life.work()
        life.drift()
        if turn % (APPLY_EVERY // DRIFT_EVERY) == 0:
            life.apply()
        if turn == 2 * APPLY_EVERY // DRIFT_EVERY:
            before = Held.now()
        day.time.sleep(max(0.0, (turn + 1) * DRIFT_EVERY - day.time.slept))
    after = Held.now()
    assert before
    assert not after.has_grown_since(before), f"{before} -> {after}"
    day.control.clear_faults()
    day.apply().ok()
    day.run("drift", "--include-unmanaged").ok()
    for cluster in CLUSTERS:
        life.is_as_wanted(cluster)
    assert life.ends.keys() >= {"drift exit 0", "drift exit 2"}
    figures = {"simulated hours": hours, "edits": life.edits, "KiB more": (after.memory - before.memory) // 1024}
    record_property("count", ("soak", {**figures, **life.ends}))


def test_a_wait_of_a_day(day: Rig, monkeypatch: pytest.MonkeyPatch, record_property: Any) -> None:
    """One process that waits for one operation, through faults: it holds in the end what it held in the beginning."""
    hours = scaled(3, 24)
    dice = random.Random(25)
    day.control.put(day.name("four"), spec())
    day.write("four", spec(edit="1"))
    day.control.faults([{"match": {"kind": "patch"}, "fault": {"kind": "operation_never_done"}, "times": 1}])
    rules = [
        {"match": {"kind": "poll"}, "fault": fault.rule, "after": dice.randrange(2000), "times": 1}
        for fault in PASSING * 12
        if not fault.never_ends
    ]
    day.control.faults(rules)
    held: list[Held] = []
    send = Wire.send

    def watched(wire: Wire, *arguments: Any, **options: Any) -> Answer:
        if day.time.slept > HOUR * (len(held) + 1):
            held.append(Held.now())
        return send(wire, *arguments, **options)

    monkeypatch.setattr(Wire, "send", watched)
    pending = result(day.apply("--timeout", f"{hours}h").ended(1))
    assert pending["status"] == "pending"
    assert len(held) >= hours - 1
    assert not held[-1].has_grown_since(held[0]), f"{held[0]} -> {held[-1]}"
    polls = len(day.control.requests("poll"))
    figures = {"simulated hours": hours, "polls": polls, "KiB more": (held[-1].memory - held[0].memory) // 1024}
    record_property("count", ("soak: one wait", figures))
