"""Exit codes, and that `--format json` leaves JSON and nothing else on standard output, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from tests.contract.bench import Bench
from tests.contract.specs import pool

Prepare = Callable[[Bench], object]
DONE, ERROR, DIFFERENCES, USAGE = 0, 1, 2, 64
DENIED = {"code": 403, "status": "PERMISSION_DENIED", "message": "not yours"}


def _nothing(_: Bench) -> None:
    """No cluster, no file."""


def _no_folder(bench: Bench) -> None:
    (bench.root / "clusters.d").rmdir()


def _clean(bench: Bench) -> None:
    bench.created("demo", bench.base())


def _new(bench: Bench) -> None:
    bench.write("demo", bench.base())


def _drifted(bench: Bench) -> None:
    _clean(bench)
    bench.control.live(bench.name(), {"labels": {"team": "other"}})


def _unmanaged(bench: Bench) -> None:
    _clean(bench)
    bench.control.put(bench.name("stray"), {"displayName": "stray"})


def _warned(bench: Bench) -> None:
    bench.write("demo", bench.base() | {"display_name": "More than ten characters"})


def _bad_file(bench: Bench) -> None:
    bench.text("clusters.d/bad.yaml", "project: [")


def _denied(kind: str) -> Prepare:
    def prepare(bench: Bench) -> None:
        _drifted(bench)
        bench.fault("status", kind, **DENIED)

    return prepare


def _blocked(bench: Bench) -> None:
    path = bench.created("demo", bench.base())
    bench.edit(path, lambda spec: pool(spec, "gpu")["machine_spec"].update(machine_type="a4-highgpu-8g"))


def _failing(bench: Bench) -> None:
    _drifted(bench)
    bench.fault("operation_error", "patch", code=8, message="no capacity")


class Case(NamedTuple):
    """A command, in a situation, and the exit code that it must end with."""

    code: int
    prepare: Prepare
    command: str


CASES = (
    Case(DONE, _clean, "plan"),
    Case(DONE, _clean, "plan --detailed-exitcode"),
    Case(DONE, _drifted, "plan"),
    Case(DONE, _new, "plan"),
    Case(DONE, _clean, "apply --auto-approve"),
    Case(DONE, _new, "apply --auto-approve"),
    Case(DONE, _drifted, "apply --auto-approve"),
    Case(DONE, _clean, "drift"),
    Case(DONE, _clean, "drift --include-unmanaged"),
    Case(DONE, _unmanaged, "drift"),
    Case(DONE, _new, "validate"),
    Case(DONE, _warned, "validate"),
    Case(DONE, _clean, "get demo"),
    Case(DONE, _clean, "status demo"),
    Case(DONE, _clean, "list"),
    Case(DONE, _clean, "operations list"),
    Case(DIFFERENCES, _new, "plan --detailed-exitcode"),
    Case(DIFFERENCES, _drifted, "plan --detailed-exitcode"),
    Case(DIFFERENCES, _drifted, "drift"),
    Case(DIFFERENCES, _new, "drift"),
    Case(DIFFERENCES, _unmanaged, "drift --include-unmanaged"),
    Case(ERROR, _bad_file, "validate"),
    Case(ERROR, _bad_file, "plan"),
    Case(ERROR, _bad_file, "plan --detailed-exitcode"),
    Case(ERROR, _bad_file, "apply --auto-approve"),
    Case(ERROR, _bad_file, "drift"),
    Case(ERROR, _nothing, "plan no/such/file.yaml"),
    Case(ERROR, _denied("get"), "plan --detailed-exitcode"),
    Case(ERROR, _denied("get"), "drift"),
    Case(ERROR, _denied("get"), "get demo"),
    Case(ERROR, _denied("get"), "status demo"),
    Case(ERROR, _denied("get"), "apply --auto-approve"),
    Case(ERROR, _denied("get"), "delete demo --auto-approve"),
    Case(ERROR, _denied("patch"), "apply --auto-approve"),
    Case(ERROR, _denied("list"), "list"),
    Case(ERROR, _denied("list"), "drift --include-unmanaged"),
    Case(ERROR, _denied("operations_list"), "operations list"),
    Case(ERROR, _blocked, "plan --detailed-exitcode"),
    Case(ERROR, _blocked, "apply --auto-approve"),
    Case(ERROR, _failing, "apply --auto-approve"),
    Case(ERROR, _drifted, "apply"),
    Case(ERROR, _clean, "delete demo --auto-approve"),
    Case(ERROR, _nothing, "delete proj-x/us-central1/none --auto-approve"),
    Case(ERROR, _nothing, "get proj-x/us-central1/none"),
    Case(ERROR, _clean, "get other"),
    Case(DONE, _nothing, "list"),
    Case(ERROR, _no_folder, "list"),
    Case(ERROR, _no_folder, "plan"),
    Case(USAGE, _clean, "list somewhere"),
    Case(ERROR, _clean, "apply --plan no-such-plan.json"),
    Case(ERROR, _nothing, "operations get projects/1/locations/us-central1/operations/7"),
    Case(ERROR, _nothing, "operations wait projects/1/locations/us-central1/operations/7"),
    Case(USAGE, _nothing, "plan --no-such-option"),
    Case(USAGE, _nothing, "apply --timeout soon"),
    Case(USAGE, _nothing, "apply --parallelism 0"),
    Case(USAGE, _nothing, "apply --parallelism many"),
    Case(USAGE, _nothing, "apply --update-mode SOMETIMES"),
    Case(USAGE, _clean, "plan --cluster none"),
    Case(USAGE, _clean, "plan --endpoint nonsense"),
    Case(USAGE, _nothing, "get"),
    Case(USAGE, _nothing, "delete"),
    Case(USAGE, _nothing, "operations wait"),
    Case(USAGE, _nothing, "operations get one/two/three"),
    Case(USAGE, _nothing, "operations"),
)
IDS = [f"{case.code}-{case.prepare.__qualname__.split('.')[0].strip('_')}-{case.command}" for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_exit_code(bench: Bench, case: Case) -> None:
    """Clean, differences and errors are told apart by the exit code alone. (Case 65)"""
    case.prepare(bench)
    outcome = bench.run(*case.command.split()).ended(case.code)
    assert "Traceback" not in outcome.err
    if case.code in (ERROR, USAGE):
        assert outcome.out.strip() or outcome.err.strip()


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_json_whatever_happens(bench: Bench, case: Case) -> None:
    """With --format json standard output is JSON, an object, with the same exit code."""
    case.prepare(bench)
    outcome = bench.run(*case.command.split(), "--format", "json").ended(case.code)
    assert isinstance(outcome.json, dict)


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["--no-such-option"], ["--format", "json"]])
def test_usage_errors_before_any_command(bench: Bench, arguments: list[str]) -> None:
    """No command, or none that there is, is a usage error too."""
    outcome = bench.run(*arguments).ended(USAGE)
    assert "--help" in outcome.err
    if "json" in arguments:
        assert outcome.json["error"]["code"] == "usage"


@pytest.mark.parametrize("format_", ["yaml", "markdown", ""])
def test_an_unknown_format_is_a_usage_error(bench: Bench, format_: str) -> None:
    """A format that a command doesn't have is refused before anything is done."""
    _new(bench)
    bench.run("apply", "--auto-approve", "--format", format_).ended(USAGE)
    assert bench.writes() == []


@pytest.mark.parametrize("spelling", [["--format=json"], ["--format", "json"]])
def test_a_usage_error_is_json_too(bench: Bench, spelling: list[str]) -> None:
    """The format is honoured although the arguments can't be parsed."""
    error = bench.run("plan", "--typo", *spelling).ended(USAGE).json["error"]
    assert error["code"] == "usage"
    assert "--typo" in error["message"]
