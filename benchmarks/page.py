"""The results in docs/performance.md: what stands between its two markers is written anew by each full run."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cases import Row
from benchmarks.plot import plot
from benchmarks.tables import rows_table, targets_table
from benchmarks.targets import Target

_DOCS = Path(__file__).parent.parent / "docs"
_BEGIN, _END = "<!-- results: written by make bench -->\n", "<!-- end of results -->\n"


def machine() -> str:
    """The machine in a line, and how busy it was besides."""
    cpu = next(iter(_matching("/proc/cpuinfo", "model name")), platform.machine())
    memory = next(iter(_matching("/proc/meminfo", "MemTotal")), "0 kB")
    gib = int(memory.split()[0]) / 2**20
    load = os.getloadavg()[2]
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        f"{cpu}, {os.cpu_count()} cores, {gib:.0f} GiB, {platform.system()}, {python}; load average of the last "
        f"quarter of an hour at the end: {load:.1f}"
    )


def _matching(path: str, key: str) -> list[str]:
    if not Path(path).exists():
        return []
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [value.strip() for name, _, value in (line.partition(":") for line in lines) if name.strip() == key]


def results(rows: Sequence[Row], found: Sequence[Target]) -> str:
    """Everything that a run has to say, as Markdown."""
    return f"{machine()}.\n\n### What must hold\n\n{targets_table(found)}\n### All measurements\n\n{rows_table(rows)}\n"


def write(rows: Sequence[Row], text: str) -> None:
    """Put a run's results into the page, and its plot beside it."""
    page = _DOCS / "performance.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    page.write_text(f"{before}{_BEGIN}\n{text}\n{_END}{after}", encoding="utf-8")
    if picture := plot(rows):
        (_DOCS / "performance.svg").write_text(picture, encoding="utf-8")
