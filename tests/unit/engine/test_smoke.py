"""How a smoke check's job is judged, in the versions of Slurm that word it differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reconciler.cloud.settings import Settings
from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_script import read_script
from reconciler.cloud.slurm_wait import JobWait
from reconciler.cloud.transport import Transport
from reconciler.engine.smoke import Smoke
from reconciler.plan.model import Action, ClusterPlan
from tests.unit.cloud.scripted import FakeTime, Reply, Request, Script
from tests.unit.cloud.slurm_samples import NAME, job, jobs, paths, slurm

PLAN = ClusterPlan(str(NAME), "demo.yaml", Action.CREATE)
TAKEN = slurm(200, {"job_id": 17, "errors": [], "warnings": []})


def live(*partitions: dict[str, Any]) -> dict[str, Any]:
    """An answer with these partitions."""
    return {"orchestratorSpec": {"slurmSpec": {"partitions": list(partitions)}}}


class ScriptedSlurm(Script):
    """A Slurm that answers by script, or by what it is asked."""

    _choose: Callable[[str], Reply] | None = None

    def answers_by(self, choose: Callable[[str], Reply]) -> None:
        """`choose` gets such as `GET /slurm/v0.0.42/job/17`."""
        self._choose = choose

    def next(self, request: Request) -> Reply:
        reply = super().next(request)
        return self._choose(paths(self)[-1]) if self._choose else reply


@pytest.fixture
def script() -> Iterator[ScriptedSlurm]:
    """A Slurm that answers by script."""
    with ScriptedSlurm() as running:
        yield running


class Check:
    """A smoke check in no time."""

    def __init__(self, script: Script) -> None:
        self.time = FakeTime()
        settings = Settings(endpoint=script.url, retry_budget=0)
        self._slurm = Slurm(Transport(settings, sleep=self.time.sleep, clock=self.time.clock))
        self.said: list[str] = []
        self.is_interrupted = False

    def __call__(self, answer: dict[str, Any], plan: ClusterPlan = PLAN) -> list[str]:
        script = read_script("#!/bin/sh\ntrue\n", "smoke.sh")
        smoke = Smoke(self._slurm, self._wait, script, 60, lambda: self.is_interrupted)
        return smoke.check(NAME, plan, answer, self.said.append)

    def _wait(self, say: Callable[[str], object]) -> JobWait:
        return JobWait(self._slurm, sleep=self.time.sleep, clock=self.time.clock, random=lambda: 0.5, say=say)


@pytest.fixture
def check(script: Script) -> Check:
    """A smoke check on that Slurm."""
    return Check(script)


ONE = live({"id": "gpu"})


def test_completed(check: Check, script: Script) -> None:
    """Nothing to say."""
    script.answers(TAKEN, jobs(job(17, "RUNNING")), jobs(job(17, ["COMPLETED"])))
    assert check(ONE) == []
    assert check.said == ["smoke check on partition gpu", "job 17: RUNNING"]


@pytest.mark.parametrize("reason", ["JobHeldUser", "JobHeldAdmin", "launch failed requeued held"])
def test_held(check: Check, script: Script, reason: str) -> None:
    """A job that was requeued and held will never run, so it isn't waited for."""
    held = jobs(job(17, ["PENDING"], state_reason=reason))
    script.answers(TAKEN, held, held, slurm(200, {"status": [], "errors": []}))
    (wrong,) = check(ONE)
    told = f"job 17 couldn't be launched, as when a prolog fails: PENDING ({reason}); it was cancelled"
    assert wrong == f"partition gpu: {told}"
    assert check.time.naps == []
    assert paths(script)[-1] == "DELETE /slurm/v0.0.42/job/17"


def test_queued_is_not_held(check: Check, script: Script) -> None:
    """Another reason passes."""
    script.answers(TAKEN, jobs(job(17, ["PENDING"], state_reason="Resources")), jobs(job(17, ["COMPLETED"])))
    assert check(ONE) == []


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (
            job(17, ["FAILED"], exit_code={"return_code": {"set": True, "number": 3}}),
            "job 17 ended: FAILED (exit code 3)",
        ),
        (job(17, ["NODE_FAIL"]), "job 17 ended: NODE_FAIL"),
        (job(17, ["CANCELLED"]), "job 17 ended: CANCELLED"),
    ],
)
def test_ended_otherwise(check: Check, script: Script, ended: dict[str, Any], words: str) -> None:
    """How, and with which exit code."""
    script.answers(TAKEN, jobs(ended))
    assert check(ONE) == [f"partition gpu: {words}"]


@pytest.mark.parametrize(
    ("reason", "state", "words"),
    [
        ("JobHeldUser", "PENDING", "job 17 couldn't be launched, as when a prolog fails: PENDING (JobHeldUser)"),
        ("Resources", "PENDING", "job 17 hadn't ended after 60 s: PENDING (Resources)"),
        ("None", "RUNNING", "job 17 hadn't ended after 60 s: RUNNING"),
    ],
)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (slurm(500, {"errors": [{"error": "Access/permission denied", "error_number": 2002}]}), "permission denied"),
        (slurm(500, {}), "Slurm answered 500: {}"),
        (slurm(200, {}), "is still shown as"),
    ],
)
def test_a_cancel_that_fails(  # what happened, what was tried, what came of it
    check: Check, script: ScriptedSlurm, reason: str, state: str, words: str, answer: Reply, said: str
) -> None:
    """It is told why the job isn't waited for, that it may still be there, and how to cancel it."""
    look = jobs(job(17, [state], state_reason=reason))
    script.answers_by(lambda asked: TAKEN if "submit" in asked else answer if asked.startswith("DELETE") else look)
    (wrong,) = check(ONE)
    assert wrong.startswith(f"partition gpu: {words}; it couldn't be cancelled, and may still be there (to cancel it: ")
    assert "'reconciler jobs cancel p/us-central1/demo 17'" in wrong
    assert said in wrong


def test_a_job_that_ends_as_it_is_given_up(check: Check, script: ScriptedSlurm) -> None:
    """A cancel that came too late cancelled nothing: what counts is how the job ended."""
    ended = False

    def answer(asked: str) -> Reply:
        nonlocal ended
        ended = ended or asked.startswith("DELETE")
        if asked.startswith("DELETE"):
            return slurm(200, {"status": [{"error": {"string": "already completed", "code": 2021}}], "errors": []})
        return TAKEN if "submit" in asked else jobs(job(17, ["COMPLETED" if ended else "RUNNING"]))

    script.answers_by(answer)
    assert check(ONE) == []


def test_a_submit_whose_answer_is_lost(check: Check, script: Script) -> None:
    """The job may exist, and the message says how to look for it."""
    script.answers(slurm(504, "<html>Gateway Timeout</html>"))
    (wrong,) = check(ONE)
    assert "may exist" in wrong
    assert "'reconciler jobs list p/us-central1/demo --partition gpu', for the name reconciler-smoke" in wrong


def test_a_refusal_names_no_option_of_another_command(check: Check, script: Script) -> None:
    """`apply` has no --time-limit."""
    script.answers(slurm(500, {"errors": [{"error": "Time limit specification required", "error_number": 8000}]}))
    (wrong,) = check(ONE)
    assert "Time limit specification required" in wrong
    assert "--time-limit" not in wrong


def test_a_job_that_cannot_be_watched(check: Check, script: Script) -> None:
    """It may still run, and the message says how to look."""
    script.answers(TAKEN, slurm(502, "<html>Bad Gateway</html>"))
    (wrong,) = check(ONE)
    look = "to look: 'reconciler jobs show p/us-central1/demo 17'"
    assert wrong.startswith(f"partition gpu: job 17 can't be watched, and may still run ({look}): GET ")


def test_each_partition_on_its_own(check: Check, script: Script) -> None:
    """One that is refused keeps no other from being checked; closed ones aren't tried."""
    refused = slurm(500, {"errors": [{"error": "Invalid partition name specified", "error_number": 2000}]})
    script.answers(refused, TAKEN, jobs(job(17, ["COMPLETED"])))
    closed = {"id": "c", "config": {"state": "down"}}
    (wrong,) = check(live({"id": "b"}, closed, {"id": "a"}))
    assert wrong.startswith("partition a: no job was made")
    assert check.said == [
        "no smoke check on partition c: its State is DOWN",
        "smoke check on partition a",
        "smoke check on partition b",
    ]


def test_interrupted(check: Check, script: Script) -> None:
    """Nothing more is submitted."""
    check.is_interrupted = True
    assert check(ONE) == ["partition gpu: not checked, since the run was interrupted"]
    assert paths(script) == []
