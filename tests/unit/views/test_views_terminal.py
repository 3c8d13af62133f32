"""Colours only where a person watches; tables that line up; formats by their names; start-up that stays light."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
import view_samples as samples

from reconciler.errors import UsageError
from reconciler.views import registry
from reconciler.views.table import table, width
from reconciler.views.terminal import is_interactive, painter, use_colour


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is."""
        return True


@pytest.mark.parametrize(
    ("environ", "interactive", "colour"),
    [
        ({}, True, True),
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"CI": "true"}, False, False),
        ({"CI": "false"}, True, True),
        ({"CI": ""}, True, True),
    ],
)
def test_colours_on_a_terminal(environ: dict[str, str], interactive: bool, colour: bool) -> None:
    """NO_COLOR takes colours only; a CI or a dumb terminal takes moving lines too."""
    assert is_interactive(Terminal(), environ) is interactive
    assert use_colour(Terminal(), environ) is colour


def test_no_colours_in_a_pipe() -> None:
    """What is piped or written to a file is plain, whatever the environment says."""
    assert not is_interactive(io.StringIO(), {})
    assert not use_colour(io.StringIO(), {"TERM": "xterm", "FORCE_COLOR": "1"})


def test_paint() -> None:
    """Codes stand around the text and end after it; without colour, or text, there are none."""
    assert painter(colour=True)("bold red", "x") == "\x1b[1;31mx\x1b[0m"
    assert painter(colour=True)("", "x") == "x"
    assert painter(colour=True)("red", "") == ""
    assert painter(colour=False)("bold red", "x") == "x"


def test_table_lines_up() -> None:
    """Columns start at the same cell, numbers end there; wide characters count twice, nothing is a dash."""
    assert table(("NAME", "N", "X"), [("集群", 5, "a"), ("abc", 10, ""), ("e\u0301", None, None)]) == [
        "NAME   N  X",
        "集群   5  a",
        "abc   10  -",
        "e\u0301      -  -",
    ]


def test_table_cells_are_one_line() -> None:
    """A line break or an escape sequence in a cell can't make rows."""
    assert table(("A",), [("x\ny\x1b",)]) == ["A", r"x\ny\x1b"]


@pytest.mark.parametrize(("text", "cells"), [("abc", 3), ("集", 2), ("é", 1), ("e\u0301", 1), ("", 0)])
def test_width(text: str, cells: int) -> None:
    """Cells, not characters."""
    assert width(text) == cells


def test_formats_by_name() -> None:
    """Each name of --format gives its view."""
    plan, drift = samples.one_of_each(), samples.drift()
    assert registry.for_plan("text")(plan).startswith("-/+ ")
    assert registry.for_plan("markdown")(plan).startswith("## Plan")
    assert registry.for_plan("json")(plan).startswith('{\n"format_version"')
    assert registry.for_drift("text")(drift).startswith("~ ")
    assert registry.for_drift("markdown")(drift).startswith("## Drift")
    assert '"unmanaged"' in registry.for_drift("json")(drift)
    assert registry.for_apply("text")(samples.report()).startswith("CLUSTER")
    assert '"results"' in registry.for_apply("json")(samples.report())
    assert [registry.for_findings(name)([])[:8] for name in ("text", "github", "json")] == ["Nothing "] * 2 + [
        '{\n"summa'
    ]


def test_options_reach_the_view() -> None:
    """Colour and verbosity are the text's, --full is Markdown's."""
    assert "\x1b[" in registry.for_plan("text", colour=True)(samples.one_of_each())
    assert "/same " in registry.for_plan("text", verbose=True)(samples.one_of_each())
    long = samples.plan_of(samples.update("a", samples.change("s", None, "x\n" * 60_000)))
    assert len(registry.for_plan("markdown")(long)) <= 65_000
    assert len(registry.for_plan("markdown", full=True)(long)) > 65_000


def test_unknown_format_is_a_usage_error() -> None:
    """The message names the formats that there are."""
    with pytest.raises(UsageError, match="one of text, markdown, json"):
        registry.for_plan("xml")


def test_views_are_light_to_load() -> None:
    """Choosing a view costs no start-up time for libraries that only some views need."""
    code = (
        "import sys, reconciler.views.registry, reconciler.views.progress, reconciler.views.inventory, "
        "reconciler.views.plan_file; print([name for name in ('rich', 'pydantic', 'yaml', 'jsonschema', 'requests', "
        "'google.auth', 'deepdiff', 'reconciler.views.markdown') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
