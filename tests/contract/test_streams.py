"""Standard output carries the result alone; progress goes to standard error; colours are for terminals."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

from reconciler.cli.output import say
from reconciler.cli.session import Cloud
from reconciler.views.findings import annotation
from tests.contract.bench import Bench
from tests.contract.process import COMMAND, ROOT

ESCAPE = "\x1b["
TOKEN = "c0ffee-not-a-real-token"


def _drifted(bench: Bench) -> None:
    bench.created("demo", bench.base(), prevent_destroy=False)
    bench.control.live(bench.name(), {"labels": {"team": "other"}})


RESULTS = ["plan", "drift", "get demo", "status demo", "list", "operations list", "validate", "apply --auto-approve"]


@pytest.mark.parametrize("command", RESULTS)
@pytest.mark.parametrize("format_", ["text", "json"])
def test_verbose_and_progress_are_no_part_of_the_result(bench: Bench, command: str, format_: str) -> None:
    """--verbose, warnings and progress go to standard error: the result is the same without them."""
    _drifted(bench)
    bench.text("clusters.d/stranger.yaml", "cluster_id: [")
    outcome = bench.run("--verbose", *command.split(), "--format", format_)
    if command not in ("validate",):
        assert "/v1" in outcome.err
        assert "/v1beta1/projects" not in outcome.out.replace('"path": "/v1beta1', "")
    if format_ == "json":
        assert isinstance(outcome.json, dict)


def test_the_plan_of_an_apply_is_shown_beside_its_result(bench: Bench) -> None:
    """What is about to be done is told on standard error, before it is done; the report is the result."""
    _drifted(bench)
    outcome = bench.run("apply", "--auto-approve").ok()
    assert "labels.team" in outcome.err
    assert "operations/" in outcome.err
    assert "applied" in outcome.out
    assert "labels.team" not in outcome.out


@pytest.mark.parametrize("command", RESULTS)
def test_no_colours_without_a_terminal(bench: Bench, command: str) -> None:
    """Piped output is plain text, on both streams."""
    _drifted(bench)
    outcome = bench.run(*command.split())
    assert ESCAPE not in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
    ids=["terminal", "NO_COLOR", "dumb"],
)
def test_colours_at_a_terminal(bench: Bench, environment: dict[str, str], coloured: bool) -> None:
    """A terminal gets colours, unless NO_COLOR is set."""
    _drifted(bench)
    terminal = bench.at_terminal("plan", **environment)
    assert terminal.end() == 0
    assert (ESCAPE in terminal.out) is coloured


def test_no_colour_holds_for_progress_too(bench: Bench) -> None:
    """Nothing that apply shows at a terminal is coloured under NO_COLOR."""
    _drifted(bench)
    terminal = bench.at_terminal("apply", "--auto-approve", NO_COLOR="1")
    assert terminal.end() == 0
    for code in ("31m", "32m", "33m", "36m", "1m"):
        assert f"{ESCAPE}{code}" not in terminal.out


def test_json_in_a_pipe_while_people_watch(bench: Bench) -> None:
    """A process of its own: standard output is JSON to the last byte, standard error is for people."""
    bench.write("demo", bench.small())
    process = bench.start("apply", "--auto-approve", "--format", "json")
    assert process.end() == 0
    assert json.loads(process.out)["summary"]["applied"] == 1
    assert "sent, projects/" in process.err


def test_a_reader_that_leaves_early(bench: Bench) -> None:
    """`plan | head -1`: no traceback when nobody reads on."""
    for number in range(40):
        bench.write(f"c{number}", bench.base())
    environment = {**os.environ, "PYTHONPATH": ROOT}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, "plan"], cwd=bench.root, env=environment, **pipes) as process:
        process.stdout.close()
        said = process.stderr.read().decode()
    assert "Traceback" not in said
    assert "BrokenPipe" not in said


def test_the_token_is_shown_nowhere(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in output, logs and errors nor in plan files, although it was sent. (Contract 5.5)"""
    monkeypatch.setenv("RECONCILER_ACCESS_TOKEN", TOKEN)
    bench.write("demo", bench.small())
    said = [bench.run("--verbose", "plan", "--out", "plan.json")]
    bench.fault("status", "create", times=1, code=400, body=f"bad token Bearer {TOKEN}")
    said += [bench.run("--verbose", "apply", "--auto-approve", "--format", format_) for format_ in ("json", "text")]
    said += [bench.run("--verbose", "get", "demo"), bench.run("--verbose", "operations", "list")]
    assert not [outcome for outcome in said if TOKEN in outcome.out + outcome.err]
    assert TOKEN not in (bench.root / "plan.json").read_text()
    assert {outcome.code for outcome in said} == {0, 1}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_knows_few_characters(bench: Bench, encoding: str) -> None:
    """Output that can't be encoded is replaced, not a traceback."""
    bench.write("demo", bench.small() | {"labels": {"team": "日本"}})
    process = bench.start("plan", PYTHONIOENCODING=encoding, PYTHONUTF8="0", LC_ALL="C")
    assert process.end() == 0, process.err
    assert "labels.team" in process.out


def test_outputs_are_files_in_whatever_folder(bench: Bench) -> None:
    """--out writes the whole plan or nothing: no half file is left when it can't be replaced."""
    bench.write("demo", bench.small())
    (bench.root / "out").mkdir()
    bench.run("plan", "--out", "out/plan.json").ok()
    assert [path.name for path in (bench.root / "out").iterdir()] == ["plan.json"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain: a\tb é 日", "plain: a\tb é 日"),
        ("two\nlines", "two\nlines"),
        ("a\x1b[2J\x1b]0;owned\x07", r"a\x1b[2J\x1b]0;owned\x07"),
        ("red \x1b[31mand\x1b[0m", r"red \x1b[31mand\x1b[0m"),
        ("over\rwritten\r\n", "over\\rwritten\\r\n"),
        ("\x9b31m\u202etxt", r"\x9b31m\u202etxt"),
        ("name\n::error::pwn", "name\n\\x3a:error::pwn"),
        ("name\n \t::add-mask::x", "name\n \t\\x3a:add-mask::x"),
        ("::error::pwn", r"\x3a:error::pwn"),
        ("::stop-commands::x", r"\x3a:stop-commands::x"),
        ("::add-path title=x::/tmp", r"\x3a:add-path title=x::/tmp"),
        ("a\u2028::error::x", r"a\u2028::error::x"),
        ("##[error]x", r"##\x5berror]x"),
        ("a::b", "a::b"),
    ],
)
def test_what_is_said_is_obeyed_by_nobody(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last line of defence: whatever a message quotes, no terminal and no CI log takes it for a command."""
    say(text)
    assert capsys.readouterr().err == f"{shown}\n"


def test_annotations_of_our_own_get_through(capsys: pytest.CaptureFixture[str]) -> None:
    """They escape what they hold; a second line is none of them."""
    ours = annotation("warning", "a\n::error::b", title="reconciler", file="x,y:z")
    say(ours)
    say(f"{ours}\n{ours}")
    assert capsys.readouterr().err == f"{ours}\n{ours}\n\\x3a{ours[1:]}\n"


def test_our_own_colours_get_to_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing else does."""
    monkeypatch.setattr("reconciler.cli.output.use_colour", lambda *_: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    say("\x1b[1;31mred\x1b[0m\x1b[2Jclear\x07\n\x1b[32mgreen\x1b[0m")
    assert capsys.readouterr().err == "\x1b[1;31mred\x1b[0m\\x1b[2Jclear\\x07\n\x1b[32mgreen\x1b[0m\n"


def test_the_command_that_goes_on_can_be_pasted() -> None:
    """Whatever a name or an endpoint holds, a shell takes it for one word."""
    parts: dict[str, Any] = {each.name: None for each in fields(Cloud)}
    cloud = Cloud(**{**parts, "endpoint": "http://127.0.0.1:1/$(b)"})
    words = shlex.split(cloud.resume("projects/$(a)/operations/7; ls"))
    assert words[3:] == ["projects/$(a)/operations/7; ls", "--endpoint", "http://127.0.0.1:1/$(b)"]
