"""What running and waiting jobs make of a plan, and the wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from reconciler.cloud.slurm_job import SlurmJob
from reconciler.cloud.slurm_shapes import SlurmPartition
from reconciler.engine.guard import Affected, guard
from reconciler.engine.jobs_wait import JobsWait
from reconciler.engine.settle import Waits
from reconciler.errors import (
    AuthError,
    BlockedError,
    InterruptedRun,
    NotFoundError,
    PermissionDeniedError,
    UnavailableError,
)
from reconciler.plan.build import plan_cluster
from reconciler.plan.model import ClusterPlan
from reconciler.plan.touched import Touched
from tests.unit.plan.cases import NAME, answer, at, desired, file_spec

RUNNING = SlurmJob(17, user="ann", partition="gpu", states=("RUNNING",), node_count=2, time_limit=60)
QUEUED = SlurmJob(18, user="bob", partition="gpu", states=("PENDING",))
ENDED = SlurmJob(16, user="bob", partition="gpu", states=("COMPLETED",))
ELSEWHERE = SlurmJob(19, user="eve", partition="cpu", states=("RUNNING",))
GPU = frozenset({"gpu"})
KNOWN = frozenset({"gpu", "gpu2", "cpu"})
STAYS = Touched(GPU, known=KNOWN)
GOES = Touched(GPU, GPU, known=KNOWN)
DROPPED = Touched(GPU, GPU, GPU, known=KNOWN)
ALL = Touched(everything=True)


def other_zone(spec: dict[str, Any]) -> None:
    """The nodes of the pool gpu are made anew."""
    at(spec, "node_pools[gpu]").update(zone="us-central1-b")


def no_partition(spec: dict[str, Any]) -> None:
    """The partition gpu goes."""
    spec["orchestrator_spec"]["slurm_spec"]["partitions"].pop()


def guarded(
    *jobs: SlurmJob, policy: str = "block", edit: Callable[[dict[str, Any]], None] = other_zone, waits: bool = False
) -> ClusterPlan:
    """The plan of an edit in front of these jobs."""
    spec = file_spec()
    edit(spec)
    wanted = desired(spec, running_jobs=policy)
    return guard(plan_cluster(wanted, answer()), wanted, answer(), lambda _: jobs, waits=waits)


def verdict(plan: ClusterPlan) -> str:
    """The code of the blocker, of the note in brackets, or nothing."""
    noted = [f"({note.code})" for note in plan.notes if note.code.endswith(("_jobs", "_unknown"))]
    return " ".join([*(blocker.code for blocker in plan.blockers), *noted])


@pytest.mark.parametrize(
    ("jobs", "what", "hurt", "queued", "recent"),
    [
        ([RUNNING, QUEUED, ENDED, ELSEWHERE], STAYS, [17], [18], []),
        ([RUNNING, QUEUED, ENDED, ELSEWHERE], GOES, [17, 18], [], []),
        ([RUNNING, QUEUED, ENDED, ELSEWHERE], DROPPED, [17, 18], [], [16]),
        ([SlurmJob(1, partition="gpu", states=("COMPLETED", "COMPLETING"))], STAYS, [1], [], []),
        ([SlurmJob(1, partition="gpu", states=("SOMETHING_NEW",))], STAYS, [1], [], []),
        ([SlurmJob(1, partition="cpu,gpu", states=("PENDING",))], GOES, [1], [], []),
        ([SlurmJob(1, partition="gpu2", states=("RUNNING",))], STAYS, [], [], []),
        ([SlurmJob(1, partition="cpu, gpu", states=("PENDING",))], GOES, [1], [], []),
        *(([SlurmJob(1, partition=lost, states=("RUNNING",))], STAYS, [1], [], []) for lost in ("", "GPU", "gone")),
        ([SlurmJob(1, partition="gone", states=("PENDING",))], GOES, [], [], []),
        ([RUNNING, QUEUED, ENDED], ALL, [17, 18], [], []),
    ],
)
def test_which_jobs(jobs: list[SlurmJob], what: Touched, hurt: list[int], queued: list[int], recent: list[int]) -> None:
    """What holds nodes is hurt, and what waits where the partition goes; records matter where it is dropped.

    What runs where no partition is known may run on any node.
    """
    affected = Affected.of(jobs, what)
    sorted_ids = [[job.job_id for job in part] for part in (affected.hurt, affected.queued, affected.recent)]
    assert sorted_ids == [hurt, queued, recent]
    assert [job.job_id for job in affected.passing.hurt] == [job.job_id for job in affected.hurt if job.is_running]


@pytest.mark.parametrize(
    ("jobs", "edit", "block", "wait", "warn"),
    [
        ([], other_zone, "", "", ""),
        ([RUNNING], other_zone, "running_jobs", "(running_jobs)", "(running_jobs)"),
        ([QUEUED], other_zone, "", "", ""),
        ([ENDED], other_zone, "", "", ""),
        ([ELSEWHERE], other_zone, "", "", ""),
        ([RUNNING], no_partition, "running_jobs", "(running_jobs)", "(running_jobs)"),
        ([QUEUED], no_partition, "running_jobs", "running_jobs", "(running_jobs)"),
        ([RUNNING, QUEUED], no_partition, "running_jobs", "running_jobs", "(running_jobs)"),
        ([ENDED], no_partition, "recent_jobs", "(recent_jobs)", "(recent_jobs)"),
    ],
)
def test_policies(jobs: list[SlurmJob], edit: Any, block: str, wait: str, warn: str) -> None:
    """`block` refuses, `wait` waits for what time takes away, `warn` goes through."""
    said = [verdict(guarded(*jobs, policy=policy, edit=edit)) for policy in ("block", "wait", "warn")]
    assert said == [block, wait, warn]
    assert verdict(guarded(*jobs, edit=edit, waits=True)) == wait  # whoever waits in any case
    assert verdict(guarded(*jobs, policy="warn", edit=edit, waits=True)) == warn


def test_the_list() -> None:
    """What runs first; nothing that is over or elsewhere."""
    plan = guarded(QUEUED, ENDED, ELSEWHERE, RUNNING)
    assert [(job.job_id, job.user, job.partition, job.state, job.nodes) for job in plan.jobs] == [
        (17, "ann", "gpu", "RUNNING", 2),
        (18, "bob", "gpu", "PENDING", 0),
    ]


def test_in_words() -> None:
    """A sentence for many jobs stays short, and counts all tasks."""
    many = [SlurmJob(n, user="u", partition="gpu", states=("RUNNING",)) for n in range(1, 15)]
    rest = SlurmJob(20, partition="gpu", states=("PENDING",), array_id=20, array_tasks="3-99%3")
    (blocker,) = guarded(*many, rest).blockers
    assert "14 jobs would be hurt: 1 (u, gpu, RUNNING), 2 " in blocker.message
    assert (
        "5 (u, gpu, RUNNING) and 9 more; without a time limit, so perhaps without an end: 1, 2, 3, 4, 5 and 9 more"
        in (blocker.message)
    )
    assert "; still queued: 97 jobs; wait for them" in blocker.message


def test_what_asks_nothing() -> None:
    """A change in place, a cluster that isn't there, and one that never ran."""

    def refuse(_: object) -> Sequence[SlurmJob]:
        raise AssertionError("Slurm was asked")

    spec = file_spec()
    spec["labels"]["a"] = "b"
    wanted = desired(spec)
    plan = plan_cluster(wanted, answer())
    assert guard(plan, wanted, answer(), refuse) is plan
    created = plan_cluster(wanted, None)
    assert guard(created, wanted, None, refuse) is created
    failed = {**answer(), "clusterStatus": {"state": "ERROR"}}
    wanted = desired(file_spec(), state="absent", prevent_destroy=False)
    plan = plan_cluster(wanted, failed)
    assert guard(plan, wanted, failed, refuse) is plan
    started = {**failed, "startTime": "2026-11-30T00:00:00Z"}  # it has run, so jobs may be there
    with pytest.raises(AssertionError, match="was asked"):
        guard(plan, wanted, started, refuse)
    login = file_spec()
    at(login, "node_pools[login]").update(zone="us-central1-b")
    wanted = desired(login)
    plan = plan_cluster(wanted, answer())
    assert guard(plan, wanted, answer(), refuse) is plan  # a pool in no partition


@pytest.mark.parametrize(
    ("policy", "said"), [("block", "jobs_unknown"), ("wait", "jobs_unknown"), ("warn", "(jobs_unknown)")]
)
def test_nobody_knows(policy: str, said: str) -> None:
    """A Slurm that can't be asked blocks as jobs would."""

    def fail(_: object) -> Sequence[SlurmJob]:
        raise UnavailableError("it hangs")

    spec = file_spec()
    other_zone(spec)
    wanted = desired(spec, running_jobs=policy)
    plan = guard(plan_cluster(wanted, answer()), wanted, answer(), fail)
    assert verdict(plan) == said
    told = [each.message for each in (*plan.blockers, *plan.notes) if each.code == "jobs_unknown"]
    assert "it hangs" in told[0]


# --- the wait


class Controller:
    """What a controller shows, one look after the other; the last goes on for ever. None: it doesn't answer."""

    def __init__(self, *queues: list[SlurmJob] | None, partitions: Sequence[str] = ("INACTIVE",)) -> None:
        self._queues = list(queues)
        self._states = list(partitions)
        self.slept: list[float] = []
        self.stops_after = 10_000
        self.said: list[str] = []

    def queue(self, _: object) -> list[SlurmJob]:
        shown = self._queues.pop(0) if len(self._queues) > 1 else self._queues[0]
        if shown is None:
            raise UnavailableError("it restarts")
        return shown

    def partitions(self, _: object) -> list[SlurmPartition]:
        state = self._states.pop(0) if len(self._states) > 1 else self._states[0]
        return [SlurmPartition("gpu", (state,)), SlurmPartition("cpu", ("UP",))]

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        return len(self.slept) >= self.stops_after

    def wait(self, what: Touched = STAYS, *, timeout: float = 3600, held: bool = False) -> list[str]:
        """Wait; what was said."""
        waits = Waits(self.sleep, lambda: sum(self.slept), lambda: 1.0, timeout)
        JobsWait(self.queue, self.partitions, waits, timeout).until_clear(NAME, what, self.said.append, held=held)
        return self.said


def test_until_none_is_left() -> None:
    """Polls grow apart; a controller that restarts is asked again."""
    controller = Controller([RUNNING], None, *[[RUNNING]] * 10, [ENDED, ELSEWHERE])
    said = controller.wait()
    assert len(said) == 12
    assert said[0].startswith("waiting for jobs: 1 job would be hurt: 17")
    assert said[1] == "waiting for jobs: it isn't known which jobs run there: it restarts"
    assert controller.slept[0] == 2.0
    assert controller.slept == sorted(controller.slept)
    assert controller.slept[-1] == 60.0


@pytest.mark.parametrize(
    ("code", "times", "waits"),
    [("credentials", 1, True), ("credentials", 2, False), ("slurm_credentials", 9, True)],
)
def test_credentials_that_end(code: str, times: int, waits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused once may be chance, twice it's for good: no wait brings them back. Slurm's own may come back."""
    controller = Controller([])
    failures = [AuthError("refused", code=code)] * times

    def queue(_: object) -> list[SlurmJob]:
        if failures:
            raise failures.pop()
        return []

    monkeypatch.setattr(controller, "queue", queue)
    if waits:
        assert controller.wait() == ["waiting for jobs: it isn't known which jobs run there: refused"] * times
    else:
        with pytest.raises(AuthError):
            controller.wait()


def test_what_is_not_waited_for() -> None:
    """Jobs that no wait would save, and records where the partition stays."""
    assert Controller([QUEUED]).wait(DROPPED) == []
    assert Controller([ENDED]).wait(GOES) == []
    assert len(Controller([ENDED], []).wait(DROPPED)) == 1


def test_not_for_ever() -> None:
    """Never past the timeout; 0 looks once."""
    controller = Controller([RUNNING])
    with pytest.raises(BlockedError, match="after 300 s, 1 job would be hurt") as caught:
        controller.wait(timeout=300)
    assert caught.value.code == "running_jobs"
    assert sum(controller.slept) == 300
    controller = Controller([RUNNING])
    with pytest.raises(BlockedError):
        controller.wait(timeout=0)
    assert controller.slept == []
    assert Controller([]).wait(timeout=0) == []


def test_interrupted() -> None:
    """Ctrl-C ends the pause, and the wait."""
    controller = Controller([RUNNING])
    controller.stops_after = 2
    with pytest.raises(InterruptedRun):
        controller.wait()
    assert len(controller.slept) == 2


@pytest.mark.parametrize("state", ["UP", "DRAIN"])
def test_partitions_that_start_jobs(state: str) -> None:
    """After a hold the controller must show it, before an empty queue counts."""
    controller = Controller([], partitions=[state, state, "INACTIVE"])
    shown = "waiting for jobs: the controller doesn't show yet that it starts no more jobs in gpu"
    assert controller.wait(held=True) == [shown] * 2


def test_partitions_that_start_none() -> None:
    """Those that are shown as closed. One that isn't shown may start jobs all the same."""
    for state in ("INACTIVE", "DOWN"):
        assert Controller([], partitions=[state]).wait(held=True) == []
    with pytest.raises(BlockedError, match="starts no more jobs in gone"):
        Controller([]).wait(Touched(frozenset({"gone"})), held=True)


def test_time_out_while_nobody_knows() -> None:
    """The code says that no job was seen."""
    with pytest.raises(BlockedError) as caught:
        Controller(None).wait(timeout=60)
    assert caught.value.code == "jobs_unknown"
    with pytest.raises(BlockedError) as caught:
        Controller([ENDED]).wait(DROPPED, timeout=60)
    assert caught.value.code == "recent_jobs"


def test_a_refusal_that_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A permission that is denied twice in a row, or a cluster that is gone: no wait mends it."""
    for refusal in (PermissionDeniedError("denied", status=403, hint="ask"), NotFoundError("gone", status=404)):
        controller = Controller([])

        def queue(_: object, refusal: Exception = refusal) -> list[SlurmJob]:
            raise refusal

        monkeypatch.setattr(controller, "queue", queue)
        with pytest.raises(BlockedError) as caught:
            controller.wait()
        assert (caught.value.code, len(controller.slept)) == ("jobs_unknown", 1)


@pytest.mark.parametrize("key", ["PrivateData", "privatedata", "Private_Data"])
@pytest.mark.parametrize(
    ("value", "hides"), [("jobs", True), ("Accounts, Jobs", True), ("ALL", True), ("nodes", False)]
)
def test_a_queue_that_hides_jobs(key: str, value: str, hides: bool) -> None:
    """With PrivateData in the live config an empty queue says nothing."""
    live = answer()
    live["orchestratorSpec"]["slurmSpec"]["config"] = {key: value}
    spec = file_spec()
    other_zone(spec)
    for policy, told in (("block", "jobs_unknown"), ("wait", "jobs_unknown"), ("warn", "(jobs_unknown)")):
        wanted = desired(spec, running_jobs=policy)
        plan = guard(plan_cluster(wanted, live), wanted, live, lambda _: [], waits=policy == "wait")
        assert verdict(plan) == (told if hides else "")
