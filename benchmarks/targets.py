"""What must hold, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.cases import CREATE_SECONDS, CREATES, Row
from benchmarks.measure import Usage

Figure = float | None


@dataclass(frozen=True)
class Target:
    """A limit and the figure that must not exceed it; None where it wasn't measured. `unit` stands behind both."""

    what: str
    limit: float
    figure: Figure
    unit: str = "x"

    @property
    def is_met(self) -> bool:
        return self.figure is not None and self.figure <= self.limit

    @property
    def verdict(self) -> str:
        """A word for the table."""
        if self.figure is None:
            return "not measured"
        return "ok" if self.is_met else "NOT OK"


def targets(rows: Sequence[Row], creates: Usage | None) -> list[Target]:
    """The table of what must hold, from what was measured without latency."""

    def of(what: str, size: int, figure: Callable[[Row], float]) -> Figure:
        return next((figure(row) for row in rows if (row.what, row.size, row.latency) == (what, size, 0.0)), None)

    start_up = of("--help", 1, lambda row: row.pairs.ratio("wall"))
    one = of("plan", 1, lambda row: row.pairs.ratio("wall"))
    small, large = (of("plan", size, lambda row: row.pairs.median("cpu")) for size in (1000, 10_000))
    pages = of("plan", 1000, lambda row: row.pages) or 0
    return [
        Target("`--help` against `python -c 'import typer'`, wall", 2.0, start_up),
        Target("plan of one cluster against the floor, wall", 2.0, one),
        Target("plan of 1,000 clusters, 1% changed, CPU", 2.0, of("plan", 1000, lambda row: row.pairs.ratio("cpu"))),
        Target("CPU to plan 10,000 clusters against 1,000", 11.0, large / small if large and small else None),
        Target("peak memory to plan 10,000", 600.0, of("plan", 10_000, lambda row: row.pairs.median("memory")), "MiB"),
        Target("requests to plan 1,000 in one location", pages + 2, of("plan", 1000, lambda row: row.requests), ""),
        Target(
            f"{CREATES} creates of {CREATE_SECONDS:.0f} s each, `--parallelism {CREATES}`",
            3 * CREATE_SECONDS,
            creates.wall if creates else None,
            "s",
        ),
    ]
