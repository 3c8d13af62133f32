"""Ctrl-C, SIGTERM and kill -9: the service goes on, nothing is sent twice, and the way back is named. (Cases 41, 85)"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.contract.bench import Bench, result
from tests.contract.conftest import LONG
from tests.contract.process import Process, until
from tests.contract.specs import pool

STOPS = [signal.SIGINT, signal.SIGTERM]
FOREVER = 100_000  # seconds; whoever waits for it fails


def _raise_max(spec: dict[str, Any]) -> None:
    pool(spec, "cpu")["scaling_spec"].update(max_node_count=6)


@pytest.fixture
def edited(slow: Bench) -> Path:
    """A cluster that is there, with an edit that is one PATCH."""
    slow.control.put(slow.name(), slow.base())
    path = slow.write("demo", slow.base())
    assert slow.plan()["action"] == "no_op"
    slow.edit(path, _raise_max)
    return path


def _waiting(slow: Bench, *more: str) -> tuple[Process, str]:
    """An apply that waits for its operation, and the operation's name."""
    process = slow.start("apply", "--auto-approve", *more)
    process.hear("/operations/")
    (operation,) = slow.run("operations", "list", f"{slow.project}/us-central1", "--format", "json").json["operations"]
    return process, operation["name"]


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_stopped_wait_is_taken_up_again(slow: Bench, edited: Path, number: signal.Signals, format_: str) -> None:
    """Exit 130 with the operation and the command that waits on; that command ends well; one PATCH in all."""
    process, operation = _waiting(slow, "--format", format_)
    assert operation in process.err  # before anything happened to us
    process.signal(number)
    assert process.end() == 130
    assert f"reconciler operations wait {operation}" in process.err
    if format_ == "json":
        (pending,) = json.loads(process.out)["results"]
        assert (pending["status"], pending["operation"]) == ("pending", operation)
    slow.control.advance(LONG)
    slow.run("operations", "wait", operation).ok()
    slow.settled()
    assert slow.writes() == ["PATCH"]


@pytest.mark.parametrize("number", [*STOPS, signal.SIGKILL], ids=lambda number: number.name)
def test_the_next_run_waits_for_what_the_last_began(slow: Bench, edited: Path, number: signal.Signals) -> None:
    """While the cluster is UPDATING another apply waits instead of sending a second PATCH."""
    process, _ = _waiting(slow)
    process.signal(number)
    process.end()
    again = slow.start("apply", "--auto-approve", "--format", "json")
    again.hear("waiting: UPDATING")
    assert slow.writes() == ["PATCH"]
    slow.control.advance(LONG)
    assert again.end() == 0
    assert json.loads(again.out)["results"][0]["status"] == "no_op"
    assert slow.writes() == ["PATCH"]


def test_a_killed_create_is_simply_run_again(slow: Bench) -> None:
    """kill -9 during a create: the next run waits for it, and creates nothing twice."""
    slow.write("demo", slow.base())
    process, _ = _waiting(slow)
    process.kill()
    again = slow.start("apply", "--auto-approve")
    again.hear("waiting: PROVISIONING")
    slow.control.advance(LONG)
    assert again.end() == 0
    slow.settled()
    assert slow.writes() == ["POST"]


def test_sigint_then_sigterm_then_sigkill(slow: Bench, edited: Path) -> None:
    """As CI runners escalate; whatever state it is left in, the next run goes through."""
    process, _ = _waiting(slow)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process.signal(number)
    process.end()
    slow.control.advance(LONG)
    slow.run("apply", "--auto-approve").ok()
    assert slow.writes() == ["PATCH"]


@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_write_without_an_answer_is_left_within_seconds(slow: Bench, edited: Path, number: signal.Signals) -> None:
    """The service took the PATCH and doesn't answer: the run is left all the same, and nothing is sent twice later."""
    slow.fault("hang", "patch", times=1, seconds=FOREVER)
    process = slow.start("apply", "--auto-approve", "--format", "json", RECONCILER_REQUEST_TIMEOUT=str(FOREVER))
    until(lambda: slow.writes() == ["PATCH"])
    process.signal(number)
    assert process.end() == 130
    (unsure,) = json.loads(process.out)["results"]
    assert (unsure["status"], unsure["operation"]) == ("pending", None)
    assert "it isn't known whether PATCH took effect" in unsure["error"]["message"]


def test_the_way_back_names_the_endpoint(slow: Bench, edited: Path) -> None:
    """Whoever said --endpoint gets it said in the command that goes on."""
    url = slow.url
    pending = result(slow.apply("--endpoint", url, "--timeout", "0s").ended(1))
    assert pending["error"]["hint"] == f"reconciler operations wait {pending['operation']} --endpoint {url}"


# Few clusters are read one by one, in threads; many of one location in pages, by the main thread.
FLEETS = [("get", ["second"]), ("list", ["second", "third"])]


def _hung(slow: Bench, command: list[str], kind: str, more: list[str]) -> Process:
    """A command in the middle of reads that are never answered."""
    for cluster in more:
        slow.write(cluster, slow.small())
    slow.control.clear_requests()
    slow.fault("hang", kind, seconds=FOREVER)
    process = slow.start(*command, "--format", "json", RECONCILER_REQUEST_TIMEOUT=str(FOREVER))
    until(lambda: bool(slow.requests(kind)))
    return process


@pytest.mark.parametrize(("kind", "more"), FLEETS, ids=["get", "list"])
@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_look_without_an_answer_is_left_at_once(
    slow: Bench, edited: Path, number: signal.Signals, kind: str, more: list[str]
) -> None:
    """While apply still plans, an interruption ends the run with nothing sent."""
    process = _hung(slow, ["apply", "--auto-approve"], kind, more)
    process.signal(number)
    assert process.end() == 130
    assert json.loads(process.out)["error"]["code"] == "interrupted"
    assert slow.writes() == []


@pytest.mark.parametrize(("kind", "more"), FLEETS, ids=["get", "list"])
@pytest.mark.parametrize("command", ["plan", "drift"])
@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_report_that_is_interrupted(
    slow: Bench, edited: Path, number: signal.Signals, command: str, kind: str, more: list[str]
) -> None:
    """Ctrl-C or SIGTERM end it at once, with exit 130 and, under --format json, JSON."""
    _interrupted(_hung(slow, [command], kind, more), number)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("list", "list"),
        ("get demo", "get"),
        ("status demo", "get"),
        ("doctor", "list"),
        ("operations list", "operations_list"),
        ("jobs list demo", "slurm"),
        ("jobs show demo 1", "slurm"),
        ("jobs cancel demo 1", "slurm"),
    ],
)
@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_any_command_that_is_interrupted(
    slow: Bench, edited: Path, number: signal.Signals, command: str, kind: str
) -> None:
    """Whatever a command is at: exit 130, a sentence for people, and JSON where JSON was asked for."""
    _interrupted(_hung(slow, command.split(), kind, []), number)


def _interrupted(process: Process, number: signal.Signals) -> None:
    process.signal(number)
    assert process.end() == 130
    assert json.loads(process.out)["error"]["code"] == "interrupted"
    assert "error: interrupted" in process.err


@pytest.mark.parametrize("kind", ["poll", "operations_list"])
@pytest.mark.parametrize("number", STOPS, ids=lambda number: number.name)
def test_a_poll_without_an_answer_is_left_at_once(slow: Bench, edited: Path, number: signal.Signals, kind: str) -> None:
    """`operations wait` and `operations get` don't wait for a look that hangs; the wait names the way back."""
    process, operation = _waiting(slow)
    process.kill()
    command = ["operations", "wait", operation] if kind == "poll" else ["operations", "list"]
    hung = _hung(slow, command, kind, [])
    hung.signal(number)
    assert hung.end() == 130
    assert json.loads(hung.out)["error"]["code"] == "interrupted"
    if kind == "poll":
        assert f"reconciler operations wait {operation}" in hung.err


def test_an_ignored_signal_stays_ignored(slow: Bench, edited: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever started us with SIGTERM ignored gets the run to its end."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        slow.run("plan").ok()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_operations_wait_can_be_interrupted_too(slow: Bench, edited: Path) -> None:
    """It names itself as the command to go on with."""
    process, operation = _waiting(slow)
    process.kill()
    waiting = slow.start("operations", "wait", operation)
    waiting.hear("Validating the request")
    waiting.signal(signal.SIGINT)
    assert waiting.end() == 130
    assert f"reconciler operations wait {operation}" in waiting.err


def test_killed_between_delete_and_create(slow: Bench) -> None:
    """A replace that was killed after its delete is simply run again, and only creates then."""
    slow.control.put(slow.name(), slow.small())
    path = slow.write("demo", slow.small(), replace_on=["immutable_change"], prevent_destroy=False)
    slow.edit(path, lambda spec: pool(spec, "cpu").update(machine_spec={"machine_type": "n2-standard-16"}))
    slow.fault("hang", "create", times=1, seconds=FOREVER)
    process = slow.start("apply", "--auto-approve", "--allow-replace")
    process.hear("/operations/")
    slow.control.advance(LONG)
    until(lambda: slow.writes() == ["DELETE", "POST"])
    process.kill()
    assert slow.plan()["action"] == "create"
    again = slow.start("apply", "--auto-approve")
    again.hear("/operations/")
    slow.control.advance(LONG)
    assert again.end() == 0
    slow.settled()
    assert slow.writes() == ["DELETE", "POST", "POST"]  # the first POST never arrived


def test_several_clusters_are_all_named(slow: Bench) -> None:
    """Every operation that still runs is named, with its command."""
    for cluster in ("one", "two", "three"):
        slow.write(cluster, slow.small())
    process = slow.start("apply", "--auto-approve", "--parallelism", "3")
    until(lambda: len(slow.writes()) == 3)
    until(lambda: process.err.count("/operations/") >= 3)
    process.signal(signal.SIGTERM)
    assert process.end() == 130
    assert process.err.count("reconciler operations wait projects/") == 3


def test_interrupted_in_this_process(slow: Bench, edited: Path) -> None:
    """A run with --timeout of nothing ends as pending: exit 1, and the same way back."""
    pending = result(slow.apply("--timeout", "0s").ended(1))
    assert (pending["status"], pending["converged"]) == ("pending", False)
    assert pending["error"]["hint"] == f"reconciler operations wait {pending['operation']}"
