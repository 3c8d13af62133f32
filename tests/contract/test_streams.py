"""Standard output carries the result alone; progress goes to standard error; colours are for terminals."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

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
