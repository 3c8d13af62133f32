"""The whole chain: command line, API (the emulator), slurmrestd, and a real Slurm with its partitions and scripts."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import NODE, RealSlurm, wait_until

from tests.contract.bench import Bench, Outcome, result
from tests.contract.process import Process
from tests.contract.specs import cpu_pool, login_pool, pool, slurm

pytestmark = [pytest.mark.slurm, pytest.mark.xdist_group("slurm")]

_projects = itertools.count()
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def endpoint(real_slurm: RealSlurm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`reconciler emulator` in front of the real Slurm, as one would start it."""
    options = ["--slurm-socket", real_slurm.socket_path, "--slurm-config-dir", real_slurm.config_dir]
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    process = Process(
        ["emulator", "--lro-seconds", "0.2", *map(str, options)], tmp_path_factory.mktemp("emulator"), environment
    )
    process.hear("listening on")
    yield re.findall(r"http://\S+", process.out)[0]
    process.kill()


@pytest.fixture
def bench(real_slurm: RealSlurm, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A repository with one applied cluster, which is what the real Slurm is configured by: partitions cpu and big."""
    real_slurm.cancel_all()
    made = Bench(tmp_path, endpoint, f"chain-{next(_projects)}", monkeypatch)
    made.control.clear_requests()
    made.text("sleep.sh", "#!/bin/bash\nsleep 600\n")
    made.text("quick.sh", "#!/bin/bash\necho hello from $SLURM_JOB_ID\n")
    made.created("demo", spec())
    real_slurm.resume_node()
    return made


def spec() -> dict[str, Any]:
    """Two pools, and a partition over each; all of them are the one real node."""
    return {
        "node_pools": [login_pool(), cpu_pool(), cpu_pool("big")],
        "orchestrator_spec": {
            "slurm_spec": {
                "home_directory_storage": "projects/storage/locations/us-central1-a/instances/home-a",
                "login_node_pool_id": "login",
                "partitions": [
                    {"id": "cpu", "node_pool_ids": ["cpu"]},
                    {"id": "big", "node_pool_ids": ["big"], "config": {"MaxTime": "60"}},
                ],
            }
        },
    }


def move(wanted: dict[str, Any]) -> None:
    """Nodes of the pool big are made anew elsewhere."""
    pool(wanted, "big")["zone"] = "us-central1-b"


def drop(wanted: dict[str, Any]) -> None:
    """The partition big goes, and its pool."""
    wanted["node_pools"].pop()
    slurm(wanted)["partitions"].pop()


def write(bench: Bench, *edits: Edit, **lifecycle: Any) -> None:
    """The file of the cluster, edited."""
    wanted = spec()
    for edit in edits:
        edit(wanted)
    bench.write("demo", wanted, **lifecycle)


def submit(bench: Bench, real: RealSlurm, script: str = "sleep.sh", *options: str) -> int:
    """Submit a job that must be taken; its id."""
    outcome = bench.run(
        "jobs", "submit", "demo", script, "--cwd", real.work_dir, "--partition", "big", "--format", "json", *options
    )
    return int(outcome.ok().json["job_id"])


def state(bench: Bench, job: int) -> str:
    """A job's state."""
    (shown,) = bench.run("jobs", "show", "demo", str(job), "--format", "json").ok().json["jobs"]
    return str(shown["state"])


def becomes(bench: Bench, job: int, wanted: str) -> None:
    """Wait until the job is in this state."""
    wait_until(lambda: state(bench, job) == wanted, f"job {job} to be {wanted}")


def running(bench: Bench, real: RealSlurm, *options: str) -> int:
    """A job that runs."""
    job = submit(bench, real, "sleep.sh", *options)
    becomes(bench, job, "RUNNING")
    return job


def refused(outcome: Outcome) -> dict[str, Any]:
    """The error of a command that failed."""
    return dict(outcome.ended(1).json["error"])


def partitions(real: RealSlurm) -> list[str]:
    """The partitions and whether they are up, as sinfo shows them."""
    return real.command("sinfo", "-h", "-o", "%P %a").splitlines()


# --- jobs


@pytest.mark.parametrize("version", [(), ("--slurm-api-version", "v0.0.38")], ids=["found out", "given"])
def test_submit_and_watch(bench: Bench, real_slurm: RealSlurm, version: tuple[str, ...]) -> None:
    """Submit, wait, list and show: what was asked for ran on the node, and its output is there."""
    options = ("--name", "hello", "--time-limit", "5", "--env", "A=1", *version)
    outcome = bench.run(
        "jobs", "submit", "demo", "quick.sh", "--cwd", real_slurm.work_dir, *options, "--wait", "--format", "json"
    ).ok()
    (job,) = outcome.json["jobs"]
    assert (job["name"], job["partition"], job["state"]) == ("hello", "cpu", "COMPLETED")
    if not version:
        assert "speaks version v0.0.38 of the Slurm API" in outcome.err
    output = real_slurm.work_dir / f"slurm-{job['job_id']}.out"
    assert output.read_text() == f"hello from {job['job_id']}\n"
    assert "hello" in bench.run("jobs", "list", "demo", "--state", "COMPLETED", *version).ok().out
    (shown,) = bench.run("jobs", "show", "demo", str(job["job_id"]), "--format", "json", *version).ok().json["jobs"]
    assert (shown["user"], shown["exit_code"], shown["time_limit_minutes"]) == ("slurmtest", 0, 5)


def test_a_job_that_fails(bench: Bench, real_slurm: RealSlurm) -> None:
    """Its exit code, and exit 1."""
    bench.text("bad.sh", "#!/bin/bash\nexit 3\n")
    job = submit(bench, real_slurm, "bad.sh")
    assert f"{job}: FAILED (exit code 3)" in bench.run("jobs", "wait", "demo", str(job)).ended(1).out


def test_cancel(bench: Bench, real_slurm: RealSlurm) -> None:
    """A running job is cancelled; cancelling it again is a success, and says that it was over."""
    job = running(bench, real_slurm)
    assert real_slurm.command("squeue", "-h", "-o", "%A %T") == f"{job} RUNNING"
    bench.run("jobs", "cancel", "demo", str(job), "--wait").ok()
    assert state(bench, job) == "CANCELLED"
    again = bench.run("jobs", "cancel", "demo", str(job), "--format", "json").ok()
    assert again.json["result"] == "already_finished"


def test_unknown_jobs(bench: Bench) -> None:
    """Neither shown nor cancelled."""
    for command in ("show", "cancel", "wait"):
        error = refused(bench.run("jobs", command, "demo", "999999", "--format", "json"))
        assert "job 999999 isn't in the live queue" in error["message"]
    assert "keeps no history" in refused(bench.run("jobs", "history", "demo", "1", "--format", "json"))["message"]


def test_an_unknown_partition(bench: Bench, real_slurm: RealSlurm) -> None:
    """A 500 that is a refusal: tried once, in Slurm's words."""
    outcome = bench.run("jobs", "submit", "demo", "quick.sh", "--partition", "nope", "--cwd", "/w", "--format", "json")
    error = refused(outcome)
    assert error["code"] == "slurm_2000"
    assert "Invalid partition name specified" in error["message"]
    posts = [entry["body"] for entry in bench.requests("slurm") if entry["body"]["path"].endswith("v0.0.38/job/submit")]
    assert len(posts) == 1


@pytest.mark.parametrize(
    ("job", "code", "words"),
    [
        ({"bogus_key": 1}, "slurm_9001", "bogus_key"),
        ({"time_limit": "soon"}, "slurm_-1", "Invalid time specification"),
        ({"environment": "PATH"}, "invalid_input", "environment is neither"),
    ],
)
def test_malformed_bodies(bench: Bench, real_slurm: RealSlurm, job: dict[str, Any], code: str, words: str) -> None:
    """What isn't a job in this version makes none, and Slurm's words are told."""
    bench.text("odd.json", json.dumps({"job": job, "script": "#!/bin/sh\ntrue\n"}))
    error = refused(bench.run("jobs", "submit", "demo", "--json", "odd.json", "--cwd", "/tmp", "--format", "json"))
    assert error["code"] == code
    assert words in error["message"]
    assert real_slurm.command("squeue", "-h") == ""


# --- the guard


def test_a_running_job_blocks(bench: Bench, real_slurm: RealSlurm) -> None:
    """The plan lists it, apply refuses; when it's over the change goes through."""
    job = running(bench, real_slurm, "--name", "train", "--time-limit", "30")
    write(bench, move)
    plan = bench.plan()
    assert plan["jobs"] == [
        {"job_id": job, "user": "slurmtest", "partition": "big", "state": "RUNNING", "name": "train", "nodes": 1}
    ]
    assert [blocker["code"] for blocker in plan["blockers"]] == ["running_jobs"]
    assert "the latest time limit ends at 2" in plan["blockers"][0]["message"]
    before = bench.writes()
    assert result(bench.apply().ended(1))["status"] == "blocked"
    assert bench.writes() == before
    real_slurm.cancel_all()
    bench.apply().ok()


def test_an_array(bench: Bench, real_slurm: RealSlurm) -> None:
    """Each of its tasks counts: those that run are hurt, the rest stays queued."""
    bench.text("array.json", json.dumps({"job": {"array": "0-9"}}))
    array = submit(bench, real_slurm, "sleep.sh", "--json", "array.json")
    listed = ("squeue", "-h", "-r", "-o", "%T")
    wait_until(lambda: real_slurm.command(*listed).split().count("RUNNING") == 4, "four tasks to run")
    write(bench, move)
    (blocker,) = bench.plan()["blockers"]
    assert f"4 jobs would be hurt: {array}_" in blocker["message"]
    assert "still queued: 6 jobs" in blocker["message"]
    bench.run("jobs", "cancel", "demo", str(array), "--wait").ok()
    assert real_slurm.command(*listed) == ""


def test_wait(bench: Bench, real_slurm: RealSlurm) -> None:
    """Apply goes on by itself once the job has ended."""
    bench.text("short.sh", "#!/bin/bash\nsleep 4\n")
    job = submit(bench, real_slurm, "short.sh")
    becomes(bench, job, "RUNNING")
    write(bench, move, running_jobs="wait")
    outcome = bench.apply().ok()
    assert f"waiting for jobs: 1 job would be hurt: {job}" in outcome.err
    assert state(bench, job) == "COMPLETED"


def test_a_record_that_lingers(bench: Bench, real_slurm: RealSlurm) -> None:
    """The controller knows a job for some minutes after its end; with `warn` its partition goes all the same."""
    submit(bench, real_slurm, "quick.sh", "--wait")
    write(bench, drop)
    (blocker,) = bench.plan()["blockers"]
    assert blocker["code"] == "recent_jobs"
    assert re.search(
        r"the controller keeps records of \d+ jobs? where a partition or its pool goes", blocker["message"]
    )
    write(bench, drop, running_jobs="warn")
    bench.apply().ok()
    assert partitions(real_slurm) == ["cpu* up"]


def test_nobody_there(real_slurm: RealSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slurmrestd that is gone: nobody knows what runs."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0")
    (tmp_path / "state").mkdir()
    process = Process(
        ["emulator", "--lro-seconds", "0", "--slurm-socket", str(tmp_path / "none")], tmp_path, os.environ
    )
    process.hear("listening on")
    bench = Bench(tmp_path, re.findall(r"http://\S+", process.out)[0], "nobody", monkeypatch)
    bench.created("demo", spec())
    write(bench, move)
    (blocker,) = bench.plan()["blockers"]
    assert blocker["code"] == "jobs_unknown"
    process.kill()


# --- what is applied is what runs


def test_a_new_partition(bench: Bench, real_slurm: RealSlurm) -> None:
    """It appears in sinfo, with its config map, and takes jobs; a dropped one is gone."""
    assert partitions(real_slurm) == ["cpu* up", "big up"]

    def add(wanted: dict[str, Any]) -> None:
        slurm(wanted)["partitions"].insert(
            0, {"id": "new", "node_pool_ids": ["cpu"], "config": {"max_time": "00:30:00"}}
        )

    write(bench, add)
    bench.apply().ok()
    assert real_slurm.command("sinfo", "-h", "-o", "%P %l").splitlines() == [
        "new* 30:00",
        "cpu infinite",
        "big 1:00:00",
    ]
    bench.run(
        "jobs", "submit", "demo", "quick.sh", "--cwd", real_slurm.work_dir, "--partition", "new", "--wait"
    ).ok()  # fmt: skip
    write(bench, running_jobs="warn")  # the record of that job
    bench.apply().ok()
    assert partitions(real_slurm) == ["cpu* up", "big up"]


def test_prologs(bench: Bench, real_slurm: RealSlurm, tmp_path: Path) -> None:
    """A new prolog and epilog run around the next job; removed ones don't."""
    log = tmp_path / "log"

    def scripts(wanted: dict[str, Any]) -> None:
        slurm(wanted)["prolog_bash_scripts"] = [f"#!/bin/bash\necho prolog $SLURM_JOB_ID >> {log}\n"]
        slurm(wanted)["epilog_bash_scripts"] = [f"#!/bin/bash\necho epilog $SLURM_JOB_ID >> {log}\n"]

    submit(bench, real_slurm, "quick.sh", "--wait")
    assert not log.exists()
    write(bench, scripts)
    bench.apply().ok()
    job = submit(bench, real_slurm, "quick.sh", "--wait")
    both = [f"prolog {job}", f"epilog {job}"]
    wait_until(lambda: log.read_text().splitlines() == both, "prolog and epilog to have run")
    write(bench)
    bench.apply().ok()
    submit(bench, real_slurm, "quick.sh", "--wait")
    assert log.read_text().splitlines() == both


# --- graceful changes, smoke checks


def gracefully(bench: Bench) -> Process:
    """A graceful apply that waits for a job."""
    process = bench.start("apply", "--graceful", "--auto-approve", "--format", "json")
    process.hear("waiting for jobs: 1 job would be hurt")
    return process


def test_graceful(bench: Bench, real_slurm: RealSlurm) -> None:
    """The partition is drained for real: what runs goes on, nothing new is taken, what waits comes after the change."""
    job = running(bench, real_slurm, "--cpus-per-task", "4")  # all there are
    waiting = submit(bench, real_slurm, "quick.sh")
    write(bench, move)
    process = gracefully(bench)
    assert partitions(real_slurm) == ["cpu* up", "big inactive"]
    late = bench.run("jobs", "submit", "demo", "quick.sh", "--partition", "big", "--cwd", "/w", "--format", "json")
    assert refused(late)["code"] == "slurm_2070"
    assert (state(bench, job), state(bench, waiting)) == ("RUNNING", "PENDING")
    bench.run("jobs", "cancel", "demo", str(job)).ok()
    assert process.end() == 0, process.err
    assert json.loads(process.out)["results"][0]["status"] == "applied"
    assert partitions(real_slurm) == ["cpu* up", "big up"]
    becomes(bench, waiting, "COMPLETED")
    bench.settled()


def test_graceful_killed(bench: Bench, real_slurm: RealSlurm) -> None:
    """Killed while the partition is held, the next run goes on, and the partition opens."""
    job = running(bench, real_slurm)
    write(bench, move)
    gracefully(bench).kill()
    assert partitions(real_slurm) == ["cpu* up", "big inactive"]
    assert [note["code"] for note in bench.plan()["notes"]].count("partition_held") == 1
    bench.run("jobs", "cancel", "demo", str(job), "--wait").ok()
    bench.apply("--graceful").ok()
    assert partitions(real_slurm) == ["cpu* up", "big up"]
    bench.settled()


def test_graceful_out_of_patience(bench: Bench, real_slurm: RealSlurm) -> None:
    """The job outlasts --jobs-timeout: the partition opens again, and the job runs on."""
    job = running(bench, real_slurm)
    write(bench, move)
    failed = result(bench.apply("--graceful", "--jobs-timeout", "1s").ended(1))
    assert (failed["status"], failed["error"]["code"]) == ("blocked", "running_jobs")
    assert partitions(real_slurm) == ["cpu* up", "big up"]
    assert state(bench, job) == "RUNNING"


def test_smoke(bench: Bench, real_slurm: RealSlurm) -> None:
    """A job on the partition that was changed, and on no other."""
    write(bench, lambda wanted: slurm(wanted)["partitions"][1]["config"].update(MaxTime="30"))
    bench.apply("--smoke", "quick.sh").ok()
    listed = bench.run("jobs", "list", "demo", "--format", "json").ok().json["jobs"]
    mine = [job["partition"] for job in listed if job["name"] == "reconciler-smoke"]
    assert mine[-1:] == ["big"]


def test_smoke_of_a_prolog_that_fails(bench: Bench, real_slurm: RealSlurm) -> None:
    """It drains the node and holds the job: the apply fails with that, and leaves no job behind."""
    write(bench, lambda wanted: slurm(wanted).update(prolog_bash_scripts=["#!/bin/bash\nexit 1\n"]))
    failed = result(bench.apply("--smoke", "quick.sh", "--smoke-timeout", "3s").ended(1))
    assert (failed["converged"], failed["error"]["code"]) == (True, "smoke_check")
    message = failed["error"]["message"]
    assert "couldn't be launched, as when a prolog fails: PENDING (JobHeldUser)" in message
    assert "partition cpu: job" in message  # which has but the one node that is drained by now
    assert "was cancelled after 3 s: PENDING" in message
    assert real_slurm.node_state() == "drained", NODE
    assert real_slurm.command("squeue", "-h") == ""
    write(bench)
    bench.apply().ok()
    real_slurm.resume_node()
