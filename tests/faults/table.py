"""What `make faults` prints: the matrix, its totals, and the other tests' figures."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.faults import FAULTS
from tests.faults.scenarios import OCCURRENCES, SCENARIOS

_LEGEND = "one sign per occurrence (first, middle, last, all): . converged at once; e a named error first; F failed"


class Table:
    """A pytest plugin that collects what the tests say of themselves, from all workers."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], dict[str, str]] = {}
        self.errors: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = {}
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take over the properties of a finished test."""
        told: dict[str, Any] = dict(report.user_properties)
        if report.when != "call":
            return
        if "cell" in told:
            scenario, fault, occurrence = told["cell"]
            end = told.get("end", "")
            sign = "F" if report.failed else "." if end == "converged" else "e"
            self.cells.setdefault((fault, scenario), {})[occurrence] = sign
            self.errors.update([end] if sign == "e" else [])
        if "count" in told:
            name, counted = told["count"]
            self.counts.setdefault(name, Counter()).update(counted)
            self.seconds[name] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print it all."""
        for line in (*self._matrix(), *self._counts()):
            terminalreporter.write_line(line)

    def _counts(self) -> Iterator[str]:
        for name, counted in sorted(self.counts.items()):
            said = ", ".join(f"{count:,} {what}" for what, count in counted.most_common())
            yield f"{name}: {said} ({self.seconds[name]:.0f} s)"

    def _matrix(self) -> list[str]:
        if not self.cells:
            return []
        columns = list(dict.fromkeys([*(each.name for each in SCENARIOS), *(name for _, name in self.cells)]))
        rows = [["", *columns]]
        rows += [[fault.name, *(self._signs(fault.name, column) for column in columns)] for fault in FAULTS]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        signs = Counter(itertools.chain.from_iterable(cell.values() for cell in self.cells.values()))
        total = f"{signs.total()} cells: {signs['.']} converged at once, {signs['e']} after a named error"
        named = ", ".join(f"{name} {count}" for name, count in self.errors.most_common())
        return ["", *lines, "", _LEGEND, f"{total}, {signs['F']} failed", f"errors: {named}"]

    def _signs(self, fault: str, scenario: str) -> str:
        ends = self.cells.get((fault, scenario), {})
        return "".join(ends[each] for each in OCCURRENCES if each in ends)
