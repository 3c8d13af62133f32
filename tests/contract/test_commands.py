"""Every other command and option, as the contract's table has them."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import jsonschema
import pytest
import requests
import yaml

from reconciler.emulator.control import Control
from tests.contract.bench import Bench
from tests.contract.conftest import LONG
from tests.contract.process import Process

SCHEMAS = Path(__file__).parents[2] / "schemas"
COMMANDS = [
    "validate", "plan", "apply", "delete", "drift", "import", "list", "get", "status", "operations", "operations list",
    "operations get", "operations wait", "emulator", "schema",
]  # fmt: skip


# --- help


@pytest.mark.parametrize("command", ["", *COMMANDS])
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(bench: Bench, command: str, option: str) -> None:
    """Help is the result of asking for it: standard output, exit 0."""
    outcome = bench.run(*command.split(), option).ok()
    assert outcome.out.startswith(f"Usage: reconciler {command}".rstrip())
    assert outcome.err == ""


def test_version(bench: Bench) -> None:
    """--version says it and exits."""
    assert bench.run("--version").ok().out.startswith("reconciler ")


# --- where to


@pytest.mark.parametrize("where", ["before", "after", "environment"])
def test_the_endpoint_is_said_in_three_ways(bench: Bench, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """--endpoint before or after the command, or RECONCILER_ENDPOINT; the command line wins."""
    bench.created("demo", bench.small())
    if where != "environment":
        monkeypatch.setenv("RECONCILER_ENDPOINT", "http://127.0.0.1:9")
    option = ("--endpoint", bench.url)
    before, after = (option if where == each else () for each in ("before", "after"))
    bench.run(*before, "plan", "--detailed-exitcode", *after).ok()


def test_the_embedded_emulator_lives_for_one_command(bench: Bench) -> None:
    """`--endpoint emulator` needs nothing else, and forgets all."""
    bench.write("demo", bench.small())
    for _ in range(2):
        assert bench.run("--endpoint", "emulator", "apply", "--auto-approve", "--format", "json").ok().json["summary"][
            "applied"
        ] == 1  # fmt: skip
    assert bench.requests() == []


def test_a_token_goes_to_no_other_plain_http_endpoint(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials are refused to an http:// address that isn't loopback, before anything is sent."""
    monkeypatch.setenv("RECONCILER_ACCESS_TOKEN", "not-a-token")
    outcome = bench.run("--endpoint", "http://example.invalid", "get", "p/us-central1/demo")
    assert outcome.code in (1, 64)
    assert "https" in outcome.err


def test_nobody_answers(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dead endpoint is an error with its URL."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0s")
    outcome = bench.run("--endpoint", "http://127.0.0.1:9", "get", "p/us-central1/demo").ended(1)
    assert "http://127.0.0.1:9/v1beta1/projects/p" in outcome.err


# --- looking


def test_list(bench: Bench) -> None:
    """Every cluster of the files' locations, or of the one that is named."""
    bench.created("demo", bench.small())
    bench.control.put(bench.name("stray"), {"displayName": "stray"})
    for arguments in ([], [f"{bench.project}/us-central1"], [f"projects/{bench.project}/locations/us-central1"]):
        found = bench.run("list", *arguments, "--format", "json").ok().json["clusters"]
        assert [each["name"].rpartition("/")[2] for each in found] == ["demo", "stray"]
    assert "stray" in bench.run("list").ok().out
    assert bench.run("list", f"{bench.project}/us-east1").ok().out == "No clusters.\n"


@pytest.mark.parametrize("spelling", ["demo", "{project}/us-central1/demo", "{name}"])
def test_get(bench: Bench, spelling: str) -> None:
    """One cluster, as the service answers it, in JSON and as YAML."""
    bench.created("demo", bench.small())
    cluster = spelling.format(project=bench.project, name=bench.name())
    assert bench.run("get", cluster, "--format", "json").ok().json == bench.get()
    assert yaml.safe_load(bench.run("get", cluster).ok().out)["nodePools"] == bench.get()["nodePools"]


def test_status(bench: Bench) -> None:
    """State, nodes by pool with their states, recent events, errors."""
    bench.created("demo", bench.base())
    bench.control.live(bench.name(), {"_nodes": {"cpu": {"count": 3, "state": "PREPARING"}}})
    event = {"eventType": "VM_SLURM_DRAIN", "message": "disk full", "instanceName": "demo-cpu-1"}
    bench.control.live(bench.name(), {"clusterEvents": [event]})
    text = bench.run("status", "demo").ok().out
    for word in ("RUNNING", "3 PREPARING", "VM_SLURM_DRAIN", "disk full"):
        assert word in text
    document = json.dumps(bench.run("status", "demo", "--format", "json").ok().json)
    for word in ("RUNNING", "PREPARING", "VM_SLURM_DRAIN"):
        assert word in document


def test_operations(slow: Bench) -> None:
    """list, get and wait, from the start of an operation to its end; both versions of its name's API."""
    slow.write("demo", slow.small())
    place = f"{slow.project}/us-central1"
    assert slow.run("operations", "list", place).ok().out == "No operations.\n"
    name = slow.apply("--no-wait").ok().json["results"][0]["operation"]
    assert name in slow.run("operations", "list").ok().out
    assert slow.run("operations", "get", name, "--format", "json").ok().json.get("done") is None
    pending = slow.run("operations", "wait", name, "--timeout", "0s", "--format", "json").ended(1).json["error"]
    assert (pending["code"], pending["operation"]) == ("pending", name)
    assert pending["hint"] == f"reconciler operations wait {name}"
    slow.control.advance(LONG)
    done = slow.run("operations", "wait", name, "--format", "json").ok().json
    assert (done["name"], done["done"]) == (name, True)
    assert "done" in slow.run("operations", "list").ok().out
    assert slow.run("operations", "get", name).ok().out


def test_waiting_for_an_operation_that_fails(bench: Bench) -> None:
    """Its own code and message, exit 1."""
    bench.write("demo", bench.small())
    bench.fault("operation_error", "create", code=8, message="stockout")
    name = bench.apply("--no-wait").ok().json["results"][0]["operation"]
    error = bench.run("operations", "wait", name, "--format", "json").ended(1).json["error"]
    assert (error["code"], error["operation"]) == ("operation_failed", name)
    assert "stockout" in error["message"]


def test_no_wait_then_apply(slow: Bench) -> None:
    """--no-wait starts the operation and leaves, exit 0; the next apply finds nothing left to do."""
    slow.write("demo", slow.small())
    outcome = slow.apply("--no-wait").ok()
    assert outcome.json["results"][0]["status"] == "pending"
    slow.control.advance(LONG)
    slow.settled()
    assert slow.writes() == ["POST"]


def test_the_report_of_an_apply(bench: Bench) -> None:
    """The members that the contract fixes, in good and bad ends (contract section 4)."""
    bench.write("good", bench.small())
    bench.write("bad", bench.small())
    denied = {"kind": "status", "code": 403, "status": "PERMISSION_DENIED", "message": "not yours"}
    bench.control.faults([{"match": {"kind": "create", "cluster": "bad"}, "fault": denied}])
    bad, good = bench.apply().ended(1).json["results"]
    members = {"cluster", "action", "status", "operation", "converged", "error"}
    assert members <= good.keys() & bad.keys()
    assert (good["cluster"], good["action"], good["status"]) == (bench.name("good"), "create", "applied")
    assert (good["converged"], good["error"]) == (True, None)
    assert good["operation"].startswith(f"projects/{bench.number}/locations/us-central1/operations/")
    assert (bad["status"], bad["converged"], bad["operation"]) == ("failed", False, None)
    assert bad["error"]["code"] == "permission_denied"
    assert "not yours" in bad["error"]["message"]


# --- schema


@pytest.mark.parametrize("which", ["cluster", "plan"])
def test_schema(bench: Bench, which: str) -> None:
    """A JSON Schema of the dialect that the contract names, in step with the committed one."""
    schema = bench.run("schema", which).ok().json
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema == json.loads((SCHEMAS / f"{which}.schema.json").read_text())


def test_every_example_is_valid_by_the_schema(bench: Bench) -> None:
    """A file that validates is one that editors with the schema accept."""
    validator = jsonschema.Draft202012Validator(bench.run("schema", "cluster").ok().json)
    path = bench.write("demo", bench.base(), prevent_destroy=False)
    assert list(validator.iter_errors(json.loads(path.read_text()))) == []
    assert list(validator.iter_errors({"project": "p", "location": "l", "cluster_id": "c", "spec": {"nodepool": 1}}))


# --- validate


def test_validate_formats(bench: Bench) -> None:
    """Each finding has file, line, column, rule, severity and what to do, in three formats."""
    bench.text("clusters.d/a.yaml", "project: p\nlocation: us-central1\ncluster_id: a\nspec:\n  displyName: x\n")
    document = bench.run("validate", "--format", "json").ended(1).json
    unknown = next(each for each in document["findings"] if each["rule"] == "unknown-field")
    assert (unknown["file"], unknown["line"], unknown["column"]) == ("clusters.d/a.yaml", 5, 3)
    assert unknown["severity"] == "error"
    assert "display" in unknown["hint"]
    text = bench.run("validate").ended(1).out
    assert "clusters.d/a.yaml:5:3: error:" in text
    github = bench.run("validate", "--format", "github").ended(1).out
    assert "::error file=clusters.d/a.yaml,line=5,col=3" in github


def test_validate_is_offline(bench: Bench) -> None:
    """No request is made."""
    bench.write("demo", bench.small())
    bench.run("validate").ok()
    assert bench.requests() == []


def test_validate_runs_bash_over_scripts(bench: Bench) -> None:
    """A syntax error is found at its line of the script's own file; CR line ends too. (Case 20)"""
    bench.text("scripts/bad.sh", "#!/bin/bash\nif true; then\necho x\n")
    bench.text("scripts/dos.sh", "#!/bin/bash\r\nexit 0\r\n")
    spec = bench.small()
    spec["orchestrator_spec"]["slurm_spec"]["prolog_bash_scripts"] = [
        {"file": "../scripts/bad.sh"},
        {"file": "../scripts/dos.sh"},
    ]
    bench.write("demo", spec)
    text = bench.run("validate").ended(1).out
    assert "scripts/bad.sh:" in text
    assert "[script-syntax]" in text
    assert "scripts/dos.sh:1" in text
    assert [each["code"] for each in bench.plan()["blockers"]] == ["broken_script", "broken_script"]
    bench.apply().ended(1)
    assert bench.writes() == []


# --- emulator


def _emulator(bench: Bench, *arguments: str | Path) -> tuple[Process, str]:
    process = bench.start("emulator", *arguments)
    process.hear("listening on http://127.0.0.1:")
    return process, process.out.split()[-1]


def test_the_emulator_as_a_process(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says where it is, takes seeds, keeps its state through kill -9, and ends well on Ctrl-C."""
    seed = bench.write("demo", bench.small())
    arguments = ("--state-dir", "state", "--seed", seed, "--lro-seconds", "0", "--latency", "0.01")
    process, url = _emulator(bench, *arguments)
    monkeypatch.setenv("RECONCILER_ENDPOINT", url)
    bench.run("plan", "--detailed-exitcode").ok()
    bench.edit(seed, lambda spec: spec.update(display_name="changed"))
    bench.apply().ok()
    process.kill()
    port = url.rpartition(":")[2]
    process, url = _emulator(bench, *arguments, "--port", port)
    assert url.endswith(port)
    assert Control(url).get(bench.name())["displayName"] == "changed"
    process.signal(signal.SIGINT)
    assert process.end() == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--port", "99999"], 64),
        (["--lro-seconds", "-1"], 64),
        (["--seed", "none.yaml"], 1),
        (["--seed", "clusters.d"], 1),
        (["--state-dir", "file"], 1),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_an_emulator_that_cannot_start(bench: Bench, arguments: list[str], code: int) -> None:
    """An error in a line, no traceback."""
    bench.text("file", "")
    assert bench.run("emulator", *arguments).ended(code).err.startswith("error: ")


def test_the_emulator_on_a_port_in_use(bench: Bench) -> None:
    """Says what is wrong."""
    assert "in use" in bench.run("emulator", "--port", bench.url.rpartition(":")[2]).ended(1).err


# --- curl


def test_the_documented_calls(bench: Bench) -> None:
    """list, get, patch, operation and delete as the documentation has them, but for the host (S2)."""
    bench.created("demo", bench.base(), prevent_destroy=False)
    base = f"{bench.url}/v1beta1/projects/{bench.project}/locations/us-central1/modelDevelopmentClusters"
    assert len(requests.get(f"{base}?pageSize=5", timeout=30).json()["modelDevelopmentClusters"]) == 1
    assert requests.get(f"{base}/demo", timeout=30).json()["displayName"] == "demo"
    payload = bench.base()
    payload["node_pools"][1]["scaling_spec"]["max_node_count"] = 9
    mask = "updateMask=orchestrator_spec.slurm_spec.partitions,node_pools&updateMode=USER_AND_SERVICE"
    # curl -d @file without a content type of its own
    headers = {"Content-Type": "application/json"}
    started = requests.patch(f"{base}/demo?{mask}", data=json.dumps(payload), headers=headers, timeout=30).json()
    operation = requests.get(f"{bench.url}/v1/{started['name']}", timeout=30).json()
    assert operation["done"] is True
    (change,) = bench.plan()["changes"]
    assert (change["path"], change["before"]) == ("node_pools[cpu].scaling_spec.max_node_count", 9)
    assert "done" in requests.delete(f"{base}/demo", timeout=30).json() or bench.plan()["action"] == "create"
    assert bench.plan()["action"] == "create"


@pytest.mark.parametrize("command", ["get", "status", "import", "delete", "jobs list"])
def test_a_cluster_that_is_no_text(bench: Bench, command: str) -> None:
    """The shell passes any bytes on; names are text."""
    assert "CLUSTER isn't UTF-8 text" in bench.run(*command.split(), "acme/us-central1/\udcff").ended(64).err


@pytest.mark.parametrize("command", ["list x", "operations list x", "init --from-live x", "validate --slurm=/nope"])
def test_what_no_place_and_no_program_is(bench: Bench, command: str) -> None:
    """Usage: a typo reads neither as an error of the service nor as passed."""
    bench.write("demo", bench.small())
    bench.run(*command.split()).ended(64)


def test_an_emulator_with_several_seeds(bench: Bench) -> None:
    """--seed FILE..., as shells expand it."""
    files = [bench.write(cluster, bench.small()) for cluster in ("one", "two", "three")]
    process = bench.start("emulator", "--seed", *files)
    process.hear("listening on")
    url = process.out.split()[-1]
    assert (
        len(
            requests.get(
                f"{url}/v1beta1/projects/{bench.project}/locations/us-central1/modelDevelopmentClusters", timeout=30
            ).json()["modelDevelopmentClusters"]
        )
        == 3
    )
    process.kill()


# --- what can't be meant


@pytest.mark.parametrize("out", ["loop", "loop/plan.json", "pair"])
def test_a_link_in_circles_is_no_place_for_a_plan(bench: Bench, out: str) -> None:
    """It's told like any file that can't be written, and the plan is shown all the same."""
    bench.write("demo", bench.small())
    (bench.root / "loop").symlink_to("loop")
    (bench.root / "pair").symlink_to("back")
    (bench.root / "back").symlink_to("pair")
    outcome = bench.run("plan", "--out", out).ended(1)
    assert f"{out} can't be written: Too many levels of symbolic links" in outcome.err
    assert "demo" in outcome.out
    assert (bench.root / "loop").is_symlink()


@pytest.mark.parametrize("command", ["plan", "list", "get demo", "doctor --format json"])
def test_a_clock_that_nobody_means(bench: Bench, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting beyond all sockets is a usage error that names the variable; doctor has it among its checks."""
    bench.write("demo", bench.small())
    monkeypatch.setenv("RECONCILER_REQUEST_TIMEOUT", "99999999999h")
    outcome = bench.run(*command.split())
    assert outcome.code == (1 if command.startswith("doctor") else 64)
    assert "RECONCILER_REQUEST_TIMEOUT" in outcome.out + outcome.err


def test_memory_that_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It's nobody's bug, and is told as what it is."""

    def none(*_: object, **__: object) -> None:
        raise MemoryError

    bench.write("demo", bench.small())
    monkeypatch.setattr("reconciler.cli.files.load_files", none)
    outcome = bench.run("plan", "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "memory"
    assert "there isn't enough memory" in outcome.err
