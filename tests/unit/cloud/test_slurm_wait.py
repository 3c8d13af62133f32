"""Waiting for a job: until it's over, past what passes, and no longer than asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_job import JobId
from reconciler.cloud.slurm_wait import JobWait, Waited
from reconciler.cloud.transport import Transport
from reconciler.errors import AuthError, SlurmError, UnavailableError
from tests.unit.cloud.scripted import FakeTime, Reply, refusal
from tests.unit.cloud.scripted import Script as Server
from tests.unit.cloud.slurm_samples import MODERN, NAME, error, job, jobs, recorded, slurm

RUNNING = jobs(job())
DONE = jobs(job(17, ["COMPLETED"]))
NO_JOB = recorded(MODERN, "get_unknown")
REFUSED = refusal(401, "UNAUTHENTICATED")
DOWN = slurm(502, error(1800, "Unable to contact slurm controller (connect failure)"))


class Watch:
    """A wait on the scripted server, in no time; what it said."""

    def __init__(self, slurm: Slurm, time: FakeTime) -> None:
        self.said: list[str] = []
        self._wait = JobWait(slurm, sleep=time.sleep, clock=time.clock, random=lambda: 0.5, say=self.said.append)

    def __call__(self, job_id: str = "17", timeout: float | None = None) -> Waited:
        return self._wait.wait(NAME, JobId.parse(job_id), timeout)


@pytest.fixture
def watch(script: Server, connect: Callable[..., Transport], time: FakeTime) -> Watch:
    """A wait whose transport gives up at once."""
    return Watch(Slurm(connect(script.url, retry_budget=0)), time)


def past(job_id: int, state: str) -> Reply:
    """A job as the history has it."""
    return jobs({"job_id": job_id, "state": {"current": [state]}})


def test_until_it_is_over(watch: Watch, script: Server, time: FakeTime) -> None:
    """COMPLETING isn't the end; pauses grow up to a limit; each state is said once."""
    pending = jobs(job(17, ["PENDING"], state_reason="Resources"))
    completing = jobs(job(17, ["COMPLETED", "COMPLETING"]))
    script.answers(pending, pending, *[RUNNING] * 20, completing, DONE)
    waited = watch()
    assert (waited.is_over, waited.is_completed) == (True, True)
    assert watch.said == ["job 17: PENDING (Resources)", "job 17: RUNNING", "job 17: COMPLETED+COMPLETING"]
    assert time.naps[0] == 0.5
    assert time.naps == sorted(time.naps)
    assert time.naps[-1] == 30


@pytest.mark.parametrize("state", ["FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY"])
def test_an_end_that_is_no_success(watch: Watch, script: Server, state: str) -> None:
    """Over, but not completed."""
    script.answers(RUNNING, jobs(job(17, [state])))
    waited = watch()
    assert (waited.is_over, waited.is_completed) == (True, False)


def test_pauses_are_scattered(script: Server, connect: Callable[..., Transport], time: FakeTime) -> None:
    """Many waits at once don't ask in step."""
    for random in (0.0, 0.9):
        script.answers(RUNNING, DONE)
        wait = JobWait(
            Slurm(connect(script.url)), sleep=time.sleep, clock=time.clock, random=lambda value=random: value
        )
        wait.wait(NAME, JobId(17))
    assert time.naps == [0.25, 0.7]


def test_no_longer_than_asked(watch: Watch, script: Server, time: FakeTime) -> None:
    """The last pause is cut short, and a last look taken."""
    script.answers(RUNNING)
    began = time.clock()
    waited = watch(timeout=10)
    assert not waited.is_over
    assert waited.jobs[0].state == "RUNNING"
    assert time.clock() - began == pytest.approx(10)


def test_a_sleep_that_is_interrupted_ends_it(script: Server, connect: Callable[..., Transport]) -> None:
    """As Ctrl-C does."""
    script.answers(RUNNING)
    wait = JobWait(Slurm(connect(script.url)), sleep=lambda _: True)
    assert not wait.wait(NAME, JobId(17)).is_over
    assert len(script.requests) == 1


def test_k122_one_401_in_the_middle(watch: Watch, script: Server) -> None:
    """K122: a refused token at the tenth poll doesn't end the wait; whether Google or Slurm refused it."""
    slurms = slurm(401, "Authentication failure")
    script.answers(*[RUNNING] * 9, REFUSED, RUNNING, slurms, RUNNING, DONE)
    assert watch().is_completed
    assert sum("can't be asked" in words for words in watch.said) == 2


def test_k122_a_401_that_stays(watch: Watch, script: Server) -> None:
    """K122: no loop; two in a row end it."""
    script.answers(RUNNING, REFUSED)
    with pytest.raises(AuthError):
        watch()
    assert len(script.requests) == 3


def test_a_controller_that_restarts(watch: Watch, script: Server) -> None:
    """Polls may fail for a while, with Slurm's errors or the service's."""
    script.answers(RUNNING, DOWN, refusal(503, "UNAVAILABLE"), slurm(502, "<html>"), RUNNING, DOWN, DONE)
    assert watch().is_completed


def test_a_controller_that_stays_away(watch: Watch, script: Server) -> None:
    """After some polls in a row the error ends it."""
    script.answers(RUNNING, DOWN)
    with pytest.raises(UnavailableError, match="connect failure"):
        watch()
    assert len(script.requests) == 7


@pytest.mark.parametrize("reply", [DOWN, REFUSED, slurm(500, error(2000))])
def test_the_first_look_must_succeed(watch: Watch, script: Server, reply: Reply) -> None:
    """What can't be asked from the start isn't waited for."""
    script.answers(reply)
    with pytest.raises((UnavailableError, AuthError, SlurmError)):
        watch()
    assert len(script.requests) == 1


def test_a_job_that_nobody_knows(watch: Watch, script: Server) -> None:
    """An error at once, from queue and history."""
    script.answers(NO_JOB, recorded(MODERN, "db_unknown"))
    with pytest.raises(SlurmError, match="no job 17"):
        watch()


def test_a_job_that_the_queue_forgets_meanwhile(watch: Watch, script: Server) -> None:
    """Its end comes from the history, once that knows it."""
    script.answers(RUNNING, NO_JOB, recorded(MODERN, "db_unknown"), NO_JOB, past(17, "FAILED"))
    waited = watch()
    assert (waited.is_over, waited.jobs[0].state) == (True, "FAILED")


def test_k125_all_tasks_of_an_array(watch: Watch, script: Server) -> None:
    """K125: every task counts, also one that the queue has forgotten between two polls."""

    def task(job_id: int, number: int, state: str) -> dict[str, object]:
        return job(job_id, [state], array_job_id=5, array_task_id=number)

    waiting = job(5, ["PENDING"], array_job_id=5, array_task_string="1-2")
    script.answers(
        jobs(task(6, 0, "RUNNING"), waiting),
        jobs(task(5, 2, "RUNNING"), task(7, 1, "COMPLETED")),
        past(6, "FAILED"),
        jobs(task(5, 2, "COMPLETED")),
    )
    waited = watch("5")
    assert {each.job_id: each.state for each in waited.jobs} == {5: "COMPLETED", 6: "FAILED", 7: "COMPLETED"}
    assert (waited.is_over, waited.is_completed) == (True, False)
    assert watch.said[0] == "job 5: 1 RUNNING, 2 PENDING"


def test_k125_one_task_of_an_array(watch: Watch, script: Server) -> None:
    """K125: it leaves the record of those that wait when it starts; that record isn't waited for."""
    waiting = job(5, ["PENDING"], array_job_id=5, array_task_string="1-2")
    left = job(5, ["PENDING"], array_job_id=5, array_task_string="2")
    started = job(6, ["COMPLETED"], array_job_id=5, array_task_id=1)
    script.answers(jobs(waiting), jobs(left, started))
    waited = watch("5_1")
    assert ([each.label for each in waited.jobs], waited.is_completed) == (["5_1"], True)
