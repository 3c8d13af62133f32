"""`jobs`: submit, watch and cancel without SSH, on the emulator's built-in Slurm."""

from __future__ import annotations

import io
import json
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.cli.app import run
from reconciler.emulator.slurm_settings import Settings
from tests.contract.bench import Bench
from tests.contract.process import Process

QUICK = "#!/bin/bash\nsleep 0.2\n"
ENDLESS = "#!/bin/bash\nsleep inf\n"
USER = Settings().user


@pytest.fixture
def cluster(bench: Bench) -> Iterator[Bench]:
    """A running cluster `demo` with the partitions cpu and gpu; jobs start at once."""
    bench.created("demo", bench.base())
    bench.control.slurm(pending_seconds=0, completing_seconds=0.2)
    bench.text("quick.sh", QUICK)
    bench.text("endless.sh", ENDLESS)
    bench.text("bad.sh", "#!/bin/bash\nexit 3\n")
    yield bench
    bench.control.slurm(**_switches(Settings()))


def _switches(settings: Settings) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(settings).items()}


def submit(bench: Bench, script: str = "endless.sh", *options: str) -> str:
    """Submit a job that must be taken; its id."""
    outcome = bench.run("jobs", "submit", "demo", script, "--cwd", "/home/me", "--format", "json", *options)
    return str(outcome.ok().json["job_id"])


def shown(bench: Bench, job: str) -> dict[str, Any]:
    """The only record of a job."""
    (only,) = bench.run("jobs", "show", "demo", job, "--format", "json").ok().json["jobs"]
    return dict(only)


def inject(bench: Bench, **fields: Any) -> None:
    """Put a job into the queue by hand."""
    bench.control.slurm(inject_jobs=[{"cluster": _key(bench), **fields}])


def _key(bench: Bench) -> str:
    return bench.get()["name"]


def test_submit_show_and_list(cluster: Bench) -> None:
    """What was asked for is what runs."""
    options = ("--partition", "gpu", "--name", "train", "--nodes", "2", "--time-limit", "90", "--env", "A=1")
    job = submit(cluster, "endless.sh", *options)
    found = shown(cluster, job)
    assert found["job_id"] == int(job)
    assert (found["name"], found["user"], found["partition"], found["state"]) == ("train", USER, "gpu", "RUNNING")
    assert (found["nodes"], found["time_limit_minutes"], found["working_directory"]) == (2, 90, "/home/me")
    table = cluster.run("jobs", "list", "demo").ok().out
    assert "train" in table
    assert "1:30:00" in table
    assert "1 running, 0 pending, 0 ended" in table
    assert "RUNNING" in cluster.run("jobs", "show", "demo", job).ok().out


def test_submit_in_words(cluster: Bench) -> None:
    """The id on standard output; notes on standard error."""
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh").ok()
    assert outcome.out.startswith("submitted job ")
    assert "note: no working directory was given: the job runs in /tmp" in outcome.err


def test_submit_from_standard_input(cluster: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads the script there."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(QUICK.encode())))
    assert run(["jobs", "submit", cluster.name(), "-", "--cwd", "/w"]) == 0


def test_submit_with_a_json_file(cluster: Bench) -> None:
    """More of a job than there are options for; also the script."""
    given = {"job": {"comment": "by file", "time_limit": 60.0, "partition": "cpu"}, "script": ENDLESS}
    cluster.text("job.json", json.dumps(given))
    outcome = cluster.run("jobs", "submit", "demo", "--json", "job.json", "--partition", "gpu", "--format", "json").ok()
    found = shown(cluster, str(outcome.json["job_id"]))
    assert (found["time_limit_minutes"], found["partition"]) == (60, "gpu")


def test_submit_and_wait(cluster: Bench) -> None:
    """0 for a job that COMPLETED, 1 for one that didn't, with how it ended."""
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh", "--cwd", "/w", "--wait").ok()
    assert outcome.out.splitlines()[-1].endswith(": COMPLETED")
    outcome = cluster.run("jobs", "submit", "demo", "bad.sh", "--cwd", "/w", "--wait").ended(1)
    assert outcome.out.splitlines()[-1].endswith(": FAILED (exit code 3)")
    outcome = cluster.run("jobs", "submit", "demo", "bad.sh", "--cwd", "/w", "--wait", "--format", "json").ended(1)
    assert (outcome.json["jobs"][0]["state"], outcome.json["jobs"][0]["exit_code"]) == ("FAILED", 3)
    assert outcome.json["job_id"] == outcome.json["jobs"][0]["job_id"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("demo",), 64, "there is no script"),
        (("demo", "missing.sh"), 1, "missing.sh"),
        (("demo", "quick.sh", "--env", "A"), 64, "NAME=VALUE"),
        (("demo", "quick.sh", "--env", "=1"), 64, "NAME=VALUE"),
        (("demo", "quick.sh", "--time-limit", "60.5"), 64, "'--time-limit'"),
        (("demo", "quick.sh", "--wait", "--timeout", "soon"), 64, "--timeout"),
        (("demo", "quick.sh", "--timeout", "5m"), 64, "there is no --wait"),
        (("demo", "quick.sh", "--name", "caf\udce9"), 64, "--name isn't UTF-8 text"),
        (("demo", "quick.sh", "--env", "A=\udcff"), 64, "--env isn't UTF-8 text"),
        (("demo", "quick.sh", "--partition", "\udcff"), 64, "--partition isn't UTF-8 text"),
        (("demo", "quick.sh", "--cwd", "/\udcff"), 64, "--cwd isn't UTF-8 text"),
        (("demo", "quick.sh", "--slurm-api-version", "new"), 64, "no version"),
        (("demo", "quick.sh", "--cwd", "here"), 1, "no absolute path"),
        (("demo", "binary.sh"), 1, "UTF-8"),
        (("demo", "marked.sh"), 1, "byte order mark"),
        (("demo", "quick.sh", "--json", "quick.sh"), 1, "no JSON"),
        (("demo", "quick.sh", "--json", "list.json"), 1, "no JSON object"),
        (("nowhere", "quick.sh"), 1, "nowhere"),
        (("acme/us-central1/\udcff", "quick.sh"), 64, "CLUSTER isn't UTF-8 text"),
        (("demo", "huge.sh"), 1, "must stay below 1000000"),
    ],
)
def test_what_is_not_submitted(cluster: Bench, arguments: tuple[str, ...], code: int, words: str) -> None:
    """Said in words, with nothing sent."""
    cluster.text("binary.sh", b"#!/bin/sh\n\xff\n")
    cluster.text("marked.sh", b"\xef\xbb\xbf#!/bin/sh\ntrue\n")
    cluster.text("list.json", "[]")
    cluster.text("huge.sh", "#!/bin/sh\n#" + "x" * 1_000_000)
    assert words in cluster.run("jobs", "submit", *arguments).ended(code).err
    assert cluster.requests("slurm") == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"job": {"name": "a"}, "jobs": [{"name": "b"}]}', "both job and jobs"),
        ('{"job": {"name": "a", "name": "b"}}', "name is there twice"),
        ('{"job": {"environment": {"A": "1", "A": "2"}}}', "A is there twice"),
        ('{"job": {"environment": ["A=1", "A=2"]}}', "a variable twice"),
        ('{"script": "#!/bin/sh\\n", "job": {"script": "#!/bin/sh\\n"}}', "script"),
        ('{"time_limit": true}', "time_limit must be a whole number, and is true"),
        ('{"time_limit": 90.5}', "time_limit must be a whole number, and is 90.5"),
        ('{"time_limit": NaN}', "NaN is no number"),
        ('{"priority": -Infinity}', "-Infinity is no number"),
        ('{"priority": 1e999}', "no JSON"),
        ('{"comment": "\\ud800"}', "half a character"),
        ('{"\\udfff": 1}', "half a character"),
        ('{"current_working_directory": ["/w"]}', "working directory must be a text"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_json_that_is_not_submitted(cluster: Bench, content: str, words: str) -> None:
    """What would be dropped, changed on the way or refused by the service alone is said, with nothing sent."""
    cluster.text("job.json", content)
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh", "--json", "job.json", "--format", "json").ended(1)
    assert words in outcome.json["error"]["message"]
    assert cluster.requests("slurm") == []


def test_json_with_a_byte_order_mark(cluster: Bench) -> None:
    """As some editors write it: harmless in JSON."""
    cluster.text("job.json", b'\xef\xbb\xbf{"name": "marked", "current_working_directory": "/w"}')
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh", "--json", "job.json", "--format", "json").ok()
    assert shown(cluster, str(outcome.json["job_id"]))["name"] == "marked"


def test_no_note_on_a_job_that_was_not_made(cluster: Bench) -> None:
    """Where it would have run is nobody's business then: no such cluster, no such partition."""
    for arguments in (("nope", "quick.sh"), ("demo", "quick.sh", "--partition", "nope")):
        assert "note:" not in cluster.run("jobs", "submit", *arguments).ended(1).err
    name = f"{cluster.project}/us-central1/nope"
    assert "note:" not in cluster.run("jobs", "submit", name, "quick.sh").ended(1).err


def test_an_unknown_partition_is_not_tried_again(cluster: Bench) -> None:
    """A 500 of Slurm's that is a refusal."""
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh", "--partition", "nope", "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "slurm_2000"
    assert "Invalid partition name specified" in outcome.err
    assert len(cluster.requests("slurm")) == 1


def test_k127_no_working_directory_in_slurms_words(cluster: Bench) -> None:
    """K127: a refusal for what is missing quotes Slurm and names the option."""
    refused = {"errors": [{"error": "Time limit specification required, but not provided", "error_number": 8000}]}
    cluster.control.slurm(fault={"status": 500, "body": json.dumps(refused), "times": 1})
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh").ended(1)
    assert "Time limit specification required" in outcome.err
    assert "--time-limit" in outcome.err


def test_warnings_reach_the_user(cluster: Bench) -> None:
    """A job that will not start as things are: taken, with Slurm's warning."""
    outcome = cluster.run("jobs", "submit", "demo", "quick.sh", "--nodes", "99", "--format", "json").ok()
    assert any("not available" in warning for warning in outcome.json["warnings"])
    assert "warning: " in outcome.err


@pytest.mark.parametrize("fault", [{"kind": "reset", "effect": True}, {"kind": "status", "code": 503, "effect": True}])
def test_a_submit_whose_answer_is_lost(cluster: Bench, fault: dict[str, Any]) -> None:
    """Sent once; the job is there, and the command that the message names finds it."""
    cluster.fault(request="slurm", times=1, **fault)
    outcome = cluster.run("jobs", "submit", "demo", "endless.sh", "--name", "train", "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "ambiguous"
    assert "may exist" in outcome.json["error"]["message"]
    (hint,) = [part for part in outcome.json["error"]["hint"].split("'") if part.startswith("reconciler ")]
    assert len(cluster.requests("slurm")) == 1
    assert "train" in cluster.run(*hint.split()[1:]).ok().out


def test_list_filters(cluster: Bench) -> None:
    """By partition, user and state."""
    inject(cluster, name="mine", partition="cpu", state="RUNNING", seconds=1000)
    inject(cluster, name="theirs", partition="gpu", user_name="bob", held=True)

    def names(*options: str) -> list[str]:
        found = cluster.run("jobs", "list", "demo", "--format", "json", *options).ok().json["jobs"]
        return [job["name"] for job in found]

    assert names() == ["mine", "theirs"]
    assert names("--partition", "gpu") == ["theirs"]
    assert names("--user", USER) == ["mine"]
    assert names("--state", "pending") == ["theirs"]
    assert names("--state", "PENDING,RUNNING") == names("--state", "PENDING", "--state", "RUNNING") == names()
    assert names("--state", "COMPLETING") == []


@pytest.mark.parametrize(
    ("given", "hint"),
    [("RUNING", 'did you mean "RUNNING"?'), ("pending,xyz", "known: PENDING, RUNNING"), ("", "known")],
)
def test_an_unknown_state_is_a_usage_error(cluster: Bench, given: str, hint: str) -> None:
    """A typo must not read as an empty queue."""
    outcome = cluster.run("jobs", "list", "demo", "--state", given).ended(64)
    assert hint in outcome.err
    assert cluster.requests("slurm") == []


def test_an_unknown_partition_is_said(cluster: Bench) -> None:
    """An empty list is none of a partition that isn't there; one without jobs is just empty."""
    outcome = cluster.run("jobs", "list", "demo", "--partition", "gpus", "--format", "json").ok()
    (warning,) = outcome.json["warnings"]
    assert warning == f'{cluster.project}/us-central1/demo has no partition gpus; did you mean "gpu"?'
    assert warning in outcome.err
    assert "it has: cpu, gpu" in cluster.run("jobs", "list", "demo", "--partition", "nope").ok().err
    assert cluster.run("jobs", "list", "demo", "--partition", "gpu").ok().err == ""


def test_partitions_that_cannot_be_asked_for(cluster: Bench) -> None:
    """The list stands, and what isn't known is said."""
    inject(cluster, partition="cpu", state="RUNNING", seconds=1000)
    listed = {"status": 200, "body": json.dumps({"jobs": [], "errors": [], "warnings": []})}
    cluster.control.slurm(fault={**listed, "method": "GET"})
    outcome = cluster.run("jobs", "list", "demo", "--partition", "nope").ok()
    assert outcome.out == "No jobs.\n"
    assert "it isn't known whether there is a partition nope" in outcome.err


def test_an_empty_queue(cluster: Bench) -> None:
    """Said as such, without Slurm's own remark on it."""
    outcome = cluster.run("jobs", "list", "demo").ok()
    assert (outcome.out, outcome.err) == ("No jobs.\n", "")


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
def test_the_history(cluster: Bench, version: str) -> None:
    """A job that the queue has forgotten is shown from the history; `history` asks for nothing else."""
    cluster.control.slurm(versions=[version])
    job = submit(cluster, "quick.sh", "--wait")
    cluster.control.advance(Settings().min_job_age + 1)
    assert cluster.run("jobs", "list", "demo").ok().out == "No jobs.\n"
    assert shown(cluster, job)["state"] == "COMPLETED"
    assert "COMPLETED" in cluster.run("jobs", "history", "demo", job).ok().out
    assert cluster.run("jobs", "wait", "demo", job).ok().out.endswith(": COMPLETED\n")


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
@pytest.mark.parametrize("verb", ["show", "history", "cancel", "wait"])
def test_a_job_that_nobody_knows(cluster: Bench, version: str, verb: str) -> None:
    """An error, in every version and for every verb."""
    cluster.control.slurm(versions=[version])
    assert "no job 999" in cluster.run("jobs", verb, "demo", "999").ended(1).err


@pytest.mark.parametrize("verb", ["show", "history", "cancel", "wait"])
def test_what_is_no_job_id(cluster: Bench, verb: str) -> None:
    """A usage error, with nothing sent."""
    cluster.run("jobs", verb, "demo", "abc").ended(64)
    assert cluster.requests("slurm") == []


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
def test_k124_cancel(cluster: Bench, version: str) -> None:
    """K124: a running job is cancelled, a finished and a purged one is told as finished, an unknown one is an error."""
    cluster.control.slurm(versions=[version])
    job = submit(cluster)
    assert "cancel accepted" in cluster.run("jobs", "cancel", "demo", job).ok().out
    cluster.run("jobs", "wait", "demo", job).ended(1)
    assert "already finished: CANCELLED" in cluster.run("jobs", "cancel", "demo", job).ok().out
    cluster.control.advance(Settings().min_job_age + 1)
    outcome = cluster.run("jobs", "cancel", "demo", job, "--format", "json").ok()
    assert (outcome.json["result"], outcome.json["jobs"][0]["state"]) == ("already_finished", "CANCELLED")


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
def test_k124_a_foreign_job_is_not_cancelled(cluster: Bench, version: str) -> None:
    """K124: one's own jobs only."""
    cluster.control.slurm(versions=[version])
    inject(cluster, user_name="bob", state="RUNNING", seconds=1000)
    (found,) = cluster.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    assert "own jobs only" in cluster.run("jobs", "cancel", "demo", str(found["job_id"])).ended(1).err
    assert shown(cluster, str(found["job_id"]))["state"] == "RUNNING"


def test_cancel_of_a_job_that_is_ending(cluster: Bench) -> None:
    """It hasn't finished, and nothing says so."""
    cluster.control.slurm(completing_seconds=1000)
    job = submit(cluster)
    for _ in range(2):
        assert "cancel accepted" in cluster.run("jobs", "cancel", "demo", job).ok().out
    assert shown(cluster, job)["states"] == ["CANCELLED", "COMPLETING"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "Slurm answered 200: {}; but job {job} is still shown as RUNNING"),
        (
            {"status": [{"error": {"string": "already completed", "code": 2021}}], "errors": []},
            "already completed (error 2021); but job {job} is still shown as RUNNING",
        ),
    ],
)
def test_a_cancel_that_nothing_proves(cluster: Bench, body: dict[str, Any], words: str) -> None:
    """The job is looked at: as long as it runs on, nothing is claimed."""
    job = submit(cluster)
    cluster.control.slurm(fault={"status": 200, "body": json.dumps(body), "method": "DELETE"})
    outcome = cluster.run("jobs", "cancel", "demo", job, "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "not_cancelled"
    assert words.replace("{job}", job) in outcome.json["error"]["message"]
    assert f"reconciler jobs show {cluster.project}/us-central1/demo {job}" in outcome.json["error"]["hint"]
    cluster.control.slurm(fault={"status": 200, "body": "{}", "method": "DELETE", "after": True})
    assert "cancel accepted" in cluster.run("jobs", "cancel", "demo", job).ok().out


def test_a_time_limit_without_a_wait(cluster: Bench) -> None:
    """Nothing is waited for, so it would be passed over."""
    assert "there is no --wait" in cluster.run("jobs", "cancel", "demo", "1", "--timeout", "5m").ended(64).err
    assert cluster.requests("slurm") == []


def test_cancel_and_wait(cluster: Bench) -> None:
    """Until COMPLETING is over: a cancelled job is what was wished for."""
    job = submit(cluster)
    outcome = cluster.run("jobs", "cancel", "demo", job, "--wait", "--format", "json").ok()
    assert (outcome.json["result"], outcome.json["jobs"][0]["states"]) == ("ended", ["CANCELLED"])
    assert cluster.run("jobs", "cancel", "demo", submit(cluster), "--wait").ok().out.endswith("CANCELLED (signal 15)\n")


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
def test_k125_arrays(cluster: Bench, version: str) -> None:
    """K125: counted by tasks, the pending ones shown as a range, cancelled as a whole."""
    cluster.control.slurm(versions=[version])
    inject(cluster, name="sweep", partition="cpu", array="0-99%3", script=ENDLESS)
    outcome = cluster.run("jobs", "list", "demo").ok()
    assert "3 running, 97 pending, 0 ended" in outcome.out
    listed = cluster.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    (rest,) = [job for job in listed if job["state"] == "PENDING"]
    assert (rest["array"]["tasks"], rest["array"]["count"]) == ("3-99%3", 97)
    parent = str(rest["array"]["job_id"])
    assert shown(cluster, f"{parent}_1")["label"] == f"{parent}_1"
    assert "not all COMPLETED" in cluster.run("jobs", "cancel", "demo", parent, "--wait").ok().out
    assert "0 running, 0 pending, 100 ended" in cluster.run("jobs", "list", "demo").ok().out


def test_k125_an_array_that_completes(cluster: Bench) -> None:
    """K125: `wait` is for all its tasks; `show` has a line for each."""
    inject(cluster, partition="cpu", array="1-3", script=QUICK)
    listed = cluster.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    parent = str(listed[0]["array"]["job_id"])
    assert cluster.run("jobs", "wait", "demo", parent).ok().out == f"job {parent}: 3 tasks, all COMPLETED\n"
    out = cluster.run("jobs", "show", "demo", parent).ok().out
    assert all(f"{parent}_{task} " in out for task in (1, 2, 3))
    assert "0 running, 0 pending, 3 ended" in out


def test_heterogeneous_jobs(cluster: Bench) -> None:
    """Each component has its own line."""
    inject(cluster, components=[{"partition": "cpu"}, {"partition": "gpu"}], state="RUNNING", seconds=1000)
    listed = cluster.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    leader = listed[0]["job_id"]
    assert [job["label"] for job in listed] == [f"{leader}+0", f"{leader}+1"]
    assert shown(cluster, f"{leader}+1")["partition"] == "gpu"


def test_wait_no_longer_than_asked(cluster: Bench) -> None:
    """Exit code 1, the state, and the command to go on."""
    job = submit(cluster)
    outcome = cluster.run("jobs", "wait", "demo", job, "--timeout", "0s", "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "pending"
    assert "RUNNING" in outcome.json["error"]["message"]
    assert f"reconciler jobs wait {cluster.project}/us-central1/demo {job}" in outcome.json["error"]["hint"]


def test_k122_one_401_in_the_middle_of_a_wait(cluster: Bench) -> None:
    """K122: a refused token doesn't end a wait that has begun."""
    job = submit(cluster, "quick.sh")
    cluster.fault("status", "slurm", after=1, times=1, code=401, status="UNAUTHENTICATED", message="expired")
    cluster.run("jobs", "wait", "demo", job).ok()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["wait", "submit", "cancel"])
def test_ctrl_c_leaves_the_job_alone(cluster: Bench, command: str, number: signal.Signals) -> None:
    """130, the job's id, and the command to go on; a cancel that was accepted stays so."""
    if command == "submit":
        process = cluster.start("jobs", "submit", "demo", "endless.sh", "--cwd", "/w", "--wait")
    elif command == "wait":
        process = cluster.start("jobs", "wait", "demo", submit(cluster))
    else:
        cluster.control.slurm(completing_seconds=1000)
        process = cluster.start("jobs", "cancel", "demo", submit(cluster), "--wait")
    _interrupt(process, "COMPLETING" if command == "cancel" else "RUNNING", number)
    (job,) = cluster.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    assert f"reconciler jobs wait {cluster.project}/us-central1/demo {job['job_id']}" in process.err
    assert job["state"] == ("CANCELLED" if command == "cancel" else "RUNNING")


def _interrupt(process: Process, state: str, number: signal.Signals) -> None:
    process.hear(state)
    process.signal(number)
    assert process.end() == 130, process.err


def test_ctrl_c_while_slurm_hangs(cluster: Bench) -> None:
    """A request under way doesn't hold it up for long."""
    job = submit(cluster)
    process = cluster.start("--verbose", "jobs", "wait", "demo", job)
    process.hear("RUNNING")
    cluster.control.slurm(fault={"hang_seconds": 50})
    _interrupt(process, "RUNNING", signal.SIGINT)


def test_ctrl_c_while_a_job_is_submitted(cluster: Bench) -> None:
    """Nobody knows whether it exists, and the message says so."""
    cluster.control.slurm(fault={"hang_seconds": 50, "method": "POST", "after": True})
    process = cluster.start("jobs", "submit", "demo", "endless.sh", "--name", "train")
    for _ in range(1000):  # the request says nothing before its answer
        if cluster.requests("slurm"):
            break
        time.sleep(0.02)
    process.signal(signal.SIGINT)
    assert process.end() == 130
    assert "it may exist" in process.err
    assert f"reconciler jobs list {cluster.project}/us-central1/demo" in process.err


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"status": 502, "body": "<html><h1>Bad Gateway</h1></html>"}, "Slurm answered 502: Bad Gateway"),
        ({"status": 200, "body": ""}, "Slurm answered 200: "),
        ({"status": 200, "body": '{"errors": [{"error": "broken", "source": "f()"}], "jobs": []}'}, "broken (f())"),
        ({"status": 500, "body": '{"errors": [{"error": "broken"}], "jobs": [{"job_id": 1}]}'}, "500: broken"),
        ({"status": 401, "body": "Authentication failure"}, "it's Slurm on the cluster that refuses"),
    ],
)
def test_k119_answers_that_are_none(cluster: Bench, fault: dict[str, Any], words: str) -> None:
    """K119: an error in words with the status, whatever came."""
    cluster.control.slurm(fault=fault)
    assert words in cluster.run("jobs", "list", "demo").ended(1).err


def test_k121_versions(cluster: Bench) -> None:
    """K121: found out where it isn't the usual one; a chosen one that isn't served is named."""
    cluster.control.slurm(versions=["v0.0.38"])
    job = submit(cluster, "quick.sh", "--time-limit", "5", "--nodes", "1")
    assert shown(cluster, job)["time_limit_minutes"] == 5
    assert "speaks version v0.0.38" in cluster.run("jobs", "list", "demo").ok().err
    assert cluster.run("jobs", "list", "demo", "--slurm-api-version", "v0.0.38").ok().err == ""
    assert "v0.0.42" in cluster.run("jobs", "list", "demo", "--slurm-api-version", "v0.0.42").ended(1).err


def test_foreign_text_is_harmless(cluster: Bench) -> None:
    """A job's name may hold what a terminal would obey."""
    inject(cluster, name="a\x1b[2Jb", state="RUNNING", seconds=1000)
    for arguments in (("list", "demo"), ("show", "demo", "1")):
        out = cluster.run("jobs", *arguments).ok().out
        assert "\x1b" not in out
        assert "[2Jb" in out


def test_an_unknown_cluster(bench: Bench) -> None:
    """NOT_FOUND of the service, with the cluster's name."""
    outcome = bench.run("jobs", "list", f"{bench.project}/us-central1/nope", "--format", "json").ended(1)
    assert outcome.json["error"]["code"] == "not_found"
    assert "nope" in outcome.json["error"]["message"]
