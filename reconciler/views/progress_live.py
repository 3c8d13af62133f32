"""Live lines for a terminal: what runs, for how long, and what the service says of it. Only here is rich loaded."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console, Group
from rich.live import Live as RichLive
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from reconciler.views.outcome import duration
from reconciler.views.safe import safe
from reconciler.views.wording import short_name

_STYLES = {"applied": "green", "no_op": "dim", "failed": "bold red", "blocked": "bold red"}
_ROWS = 20  # so many clusters at a time; a list longer than the screen would scroll and leave traces


@dataclass(frozen=True, slots=True)
class _Row:
    action: str
    since: float
    message: str = ""


class Live:
    """A line with a spinner per running cluster; a finished one leaves a plain line behind."""

    def __init__(self, stream: TextIO, *, colour: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = Console(
            file=stream, force_terminal=True, no_color=not colour, highlight=False, markup=False, emoji=False
        )
        self._clock = clock
        self._lock = Lock()
        self._rows: dict[str, _Row] = {}
        self._spinner = Spinner("dots")
        self._live = RichLive(
            console=self._console,
            get_renderable=self._render,
            refresh_per_second=8,
            transient=True,
            redirect_stdout=False,  # the result goes to standard output, and nowhere else
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def started(self, cluster: str, action: str, operation: str = "") -> None:  # noqa: ARG002 - as Progress has it
        with self._lock:
            self._rows[cluster] = _Row(action, self._clock())

    def update(self, cluster: str, message: str, elapsed: float) -> None:
        since = self._clock() - elapsed
        with self._lock:
            row = self._rows.get(cluster, _Row("", since))
            self._rows[cluster] = replace(row, since=since, message=message or row.message)

    def retry(self, cluster: str, reason: str, delay: float) -> None:
        with self._lock:
            row = self._rows.get(cluster, _Row("", self._clock()))
            self._rows[cluster] = replace(row, message=f"{reason}; trying again in {duration(delay)}")

    def finished(self, cluster: str, status: str, seconds: float) -> None:
        with self._lock:
            self._rows.pop(cluster, None)
        # Outside our lock: printing renders the live lines again, and that takes it.
        line = f"{safe(short_name(cluster))}: {safe(status)} after {duration(seconds)}"
        self._console.print(Text(line, style=_STYLES.get(status, "yellow")))

    def _render(self) -> Group:
        with self._lock:
            rows = list(self._rows.items())
        now = self._clock()
        grid = Table.grid(padding=(0, 1))
        for cluster, row in rows[:_ROWS]:
            cells = (short_name(cluster), row.action, duration(now - row.since), row.message)
            grid.add_row(self._spinner, *(Text(safe(cell), no_wrap=True, overflow="ellipsis") for cell in cells))
        more = len(rows) - _ROWS
        return Group(grid, Text(f"and {more} more")) if more > 0 else Group(grid)
