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
from tests.unit.cloud.scripted import FakeTime, Script
from tests.unit.cloud.slurm_samples import NAME, job, jobs, paths, slurm

PLAN = ClusterPlan(str(NAME), "demo.yaml", Action.CREATE)
TAKEN = slurm(200, {"job_id": 17, "errors": [], "warnings": []})


def live(*partitions: dict[str, Any]) -> dict[str, Any]:
    """An answer with these partitions."""
    return {"orchestratorSpec": {"slurmSpec": {"partitions": list(partitions)}}}


@pytest.fixture
def script() -> Iterator[Script]:
    """A Slurm that answers by script."""
    with Script() as running:
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


def test_a_cancel_that_fails(check: Check, script: Script) -> None:
    """The job that may be left is named."""
    held = jobs(job(17, ["PENDING"], state_reason="JobHeldUser"))
    refused = slurm(500, {"errors": [{"error": "Access/permission denied", "error_number": 2002}]})
    script.answers(TAKEN, held, held, refused)
    (wrong,) = check(ONE)
    assert wrong.startswith("partition gpu: job 17: DELETE ")
    assert "Access/permission denied" in wrong


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
