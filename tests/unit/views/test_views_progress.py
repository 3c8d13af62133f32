"""What long waits show: enough to know that they go on, never so much that it hides the rest."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import view_samples as samples

from reconciler.views.progress import Lines, Progress, Silent, for_stream
from reconciler.views.progress_live import Live

A, B = samples.name("a"), samples.name("b")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


def story(progress: Progress) -> None:
    """One cluster's update with everything that can happen on the way."""
    with progress:
        progress.started(A, "update", "projects/1/locations/r/operations/7")
        for elapsed in range(0, 100, 5):
            progress.update(A, "resizing" if elapsed >= 50 else "", float(elapsed))
        progress.retry(A, "GET …: 503", 2.5)
        progress.finished(A, "applied", 101.2)


def test_lines_say_each_change_once_and_a_heartbeat_each_half_minute() -> None:
    """A CI log gets a line per change, and one in 30 s where there is none."""
    stream = io.StringIO()
    story(Lines(stream))
    assert stream.getvalue().splitlines() == [
        "acme-ml/us-central1/a: sent, projects/1/locations/r/operations/7",
        "acme-ml/us-central1/a: still waiting (30s)",
        "acme-ml/us-central1/a: resizing (50s)",
        "acme-ml/us-central1/a: resizing (1m20s)",
        "acme-ml/us-central1/a: GET …: 503; trying again in 2s",
        "acme-ml/us-central1/a: applied after 1m41s",
    ]


def test_heartbeats_are_each_clusters_own() -> None:
    """One cluster's news doesn't silence another's heartbeat."""
    stream = io.StringIO()
    lines = Lines(stream)
    lines.started(A, "update")
    lines.started(B, "create")
    lines.update(A, "busy", 29)
    lines.update(B, "", 31)
    lines.update(A, "busy", 31)
    assert stream.getvalue().splitlines()[2:] == [
        "acme-ml/us-central1/a: busy (29s)",
        "acme-ml/us-central1/b: still waiting (31s)",
    ]


def test_a_wait_taken_up_again_needs_no_start() -> None:
    """`operations wait` reports on an operation that another run began."""
    stream = io.StringIO()
    Lines(stream).update(A, "resizing", 1)
    assert stream.getvalue() == "acme-ml/us-central1/a: resizing (1s)\n"


def test_lines_from_threads_are_whole() -> None:
    """Clusters are applied in parallel; their lines don't mix."""
    stream = io.StringIO()
    lines = Lines(stream)

    def work(number: int) -> None:
        lines.started(samples.name(f"c{number}"), "update")
        for step in range(50):
            lines.update(samples.name(f"c{number}"), f"step {step}", step)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    written = stream.getvalue().splitlines()
    assert len(written) == 8 * 51
    assert all(re.fullmatch(r"acme-ml/us-central1/c\d: (update started|step \d+ \(\d+s\))", line) for line in written)


class Closed(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        """Nobody reads it."""
        raise BrokenPipeError(32, text)


def test_a_log_that_is_gone_ends_no_wait() -> None:
    """`apply 2>&1 | head` must not abandon operations."""
    story(Lines(Closed()))
    closed = io.StringIO()
    closed.close()
    story(Lines(closed))


@pytest.mark.parametrize("make", [Lines, lambda stream: Live(stream, clock=lambda: 0.0)])
def test_messages_of_the_service_have_no_effect(make: Any) -> None:
    """Escape sequences, markup and line breaks in progress messages are shown as text."""
    stream = Terminal()
    with make(stream) as progress:
        progress.started(A, "update")
        progress.update(A, "[bold]x\x07\u202e\ny", 1)
        progress.finished(A, "failed\x07", 1)
    assert "\x07" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()
    assert r"failed\x07 after 1s" in stream.getvalue()


def test_silent_shows_nothing() -> None:
    """The default of the engine: all calls are accepted."""
    story(Silent())


def test_live_shows_what_runs_and_leaves_a_line() -> None:
    """A terminal sees cluster, action, time and the operation's own words while it lasts, and the fate afterwards."""
    stream = Terminal()
    now = 0.0
    live = Live(stream, colour=False, clock=lambda: now)
    with live:
        live.started(A, "update", "operations/7")
        now = 65.0
        live.update(A, "resizing pool gpu", 65.0)
        live.update(B, "", 5.0)
        live.retry(B, "GET …: 503", 2.0)
        shown = _rendered(live)
        live.finished(A, "applied", 70)
        live.finished(B, "failed", 10)
    assert re.search(r"acme-ml/us-central1/a +update +1m05s +resizing pool gpu", shown)
    assert re.search(r"acme-ml/us-central1/b +5s +GET …: 503; trying again in 2s", shown)
    assert "acme-ml/us-central1/a: applied after 1m10s" in stream.getvalue()
    assert "acme-ml/us-central1/b: failed after 10s" in stream.getvalue()


def test_live_counts_what_does_not_fit() -> None:
    """Two hundred clusters don't scroll the screen away."""
    live = Live(Terminal(), clock=lambda: 0.0)
    for number in range(200):
        live.started(samples.name(f"c{number}"), "update")
    shown = _rendered(live)
    assert len(shown.rstrip().splitlines()) == 21
    assert "and 180 more" in shown


def _rendered(live: Live) -> str:
    from rich.console import Console

    console = Console(file=io.StringIO(), width=120)
    console.print(live._render())
    text = console.file
    assert isinstance(text, io.StringIO)
    return text.getvalue()


def test_live_leaves_standard_output_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The result goes to standard output, also while lines are live on standard error."""
    stream = Terminal()
    with Live(stream, clock=lambda: 0.0):
        print("result")
    assert capsys.readouterr().out == "result\n"
    assert "result" not in stream.getvalue()


def test_live_from_threads_loses_nothing() -> None:
    """Every cluster's fate is printed, from whichever thread it comes."""
    stream = Terminal()

    def work(number: int) -> None:
        name = samples.name(f"c{number}")
        live.started(name, "update")
        for step in range(20):
            live.update(name, f"step {step}", step)
        live.finished(name, "applied", 20)

    with Live(stream, colour=False, clock=lambda: 0.0) as live, ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(32)))
    assert len(set(re.findall(r"/c(\d+): applied after 20s", stream.getvalue()))) == 32
    assert live._rows == {}


@pytest.mark.parametrize(
    ("stream", "environ", "quiet", "kind"),
    [
        (Terminal(), {}, False, Live),
        (Terminal(), {"CI": "1"}, False, Lines),
        (io.StringIO(), {}, False, Lines),
        (Terminal(), {}, True, Silent),
    ],
)
def test_progress_suits_its_stream(stream: io.StringIO, environ: dict[str, str], quiet: bool, kind: type) -> None:
    """Live lines for people, plain ones for logs, none on demand."""
    assert type(for_stream(stream, environ, quiet=quiet)) is kind


def test_rich_is_loaded_for_terminals_only() -> None:
    """A CI run doesn't pay for what it doesn't show."""
    code = (
        "import io, sys; from reconciler.views.progress import for_stream; for_stream(io.StringIO(), {}); "
        "print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
