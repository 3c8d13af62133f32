"""What is measured: start-up, validate, plan and apply, over fleet sizes and latencies, and many creates at a time."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fleet import Fleet
from benchmarks.measure import FLOOR, TOOL, Pairs, Usage, measure, run
from benchmarks.service import Service, service

CREATES, CREATE_SECONDS = 100, 4.0
_PAIRS = {1: 15, 100: 7, 1000: 5, 10_000: 3}
# Greatest numbers of nodes that edits ask for: plans, and applies by turns, so that there is always something to do.
_PLANNED, _APPLIED = 19, (17, 18)

Command = tuple[str, ...]


def _edits(fleet: Fleet) -> Callable[[], None]:
    """Each call edits what the one before has edited."""
    turns = itertools.cycle(_APPLIED)
    return lambda: fleet.want(next(turns))


@dataclass(frozen=True)
class Row:
    """One measurement. `latency` is in seconds; `requests` are those of one run, of `pages` that list the fleet."""

    what: str
    size: int
    latency: float
    pairs: Pairs
    requests: int = 0
    pages: int = 0


class Cases:
    """Measures in a scratch folder. `pairs` overrides how often; `say` gets a line before each measurement."""

    def __init__(self, scratch: Path, pairs: int | None, say: Callable[[str], None]) -> None:
        self._scratch = scratch
        self._pairs = pairs
        self._say = say
        self._count = itertools.count()

    def start_up(self) -> Row:
        """`--help` against `import typer`."""
        return self._offline("--help", 1, self._scratch, (*TOOL, "--help"), (sys.executable, "-c", "import typer"))

    def validate(self, size: int) -> Row:
        """`validate` against a load of the files."""
        fleet = self._fleet(size)
        return self._offline("validate", size, fleet.root, (*TOOL, "validate"), (*FLOOR, "load", "clusters.d"))

    def online(self, size: int, latencies: Sequence[float], commands: Collection[str]) -> Iterator[Row]:
        """`plan` and `apply`, with one cluster in a hundred changed, against a load of the files and a list."""
        fleet, state, seed = self._fleet(size), self._folder("state"), self._folder("seed")
        fleet.seed(seed)
        for latency in latencies:
            with service(state, seed=seed, latency=latency) as live:
                if "plan" in commands:
                    fleet.want(_PLANNED)
                    yield self._online("plan", fleet, latency, live, (*TOOL, "plan"))
                if "apply" in commands:
                    apply = (*TOOL, "apply", "--auto-approve", "--parallelism", "16")
                    yield self._online("apply", fleet, latency, live, apply, _edits(fleet))

    def creates(self) -> Usage:
        """So many creates at a time, each an operation of some seconds."""
        fleet = self._fleet(CREATES)
        self._say(f"{CREATES} creates of {CREATE_SECONDS:.0f} s each, --parallelism {CREATES}")
        with service(self._folder("state"), lro_seconds=CREATE_SECONDS) as live:
            return run((*TOOL, "apply", "--auto-approve", "--parallelism", str(CREATES)), fleet.root, live.url)

    def _offline(self, what: str, size: int, cwd: Path, tool: Command, floor: Command) -> Row:
        self._say(f"{what}, {size:,} clusters")
        return Row(what, size, 0.0, measure(lambda: run(tool, cwd), lambda: run(floor, cwd), self._often(size)))

    def _online(
        self,
        what: str,
        fleet: Fleet,
        latency: float,
        live: Service,
        tool: Command,
        before: Callable[[], None] = lambda: None,
    ) -> Row:
        self._say(f"{what}, {fleet.size:,} clusters, {latency * 1000:.0f} ms")
        floor = (*FLOOR, "plan", "clusters.d", live.url)

        def once() -> Usage:
            before()
            return run(tool, fleet.root, live.url)

        pairs = measure(once, lambda: run(floor, fleet.root, live.url), self._often(fleet.size))
        live.forget_requests()
        once()
        return Row(what, fleet.size, latency, pairs, live.requests(), fleet.pages)

    def _often(self, size: int) -> int:
        return self._pairs or _PAIRS.get(size, 5)

    def _fleet(self, size: int) -> Fleet:
        fleet = Fleet(self._folder("fleet"), size)
        fleet.write()
        return fleet

    def _folder(self, name: str) -> Path:
        return self._scratch / f"{name}-{next(self._count)}"
