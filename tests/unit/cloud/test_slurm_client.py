"""The client of the Slurm job API over real HTTP: what it asks, what it takes for an answer, what it repeats."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from reconciler.cloud.slurm import REQUEST_LIMIT, Slurm
from reconciler.cloud.slurm_job import JobId
from reconciler.cloud.slurm_script import Script
from reconciler.cloud.slurm_submission import JobOptions, Submission, prepare
from reconciler.cloud.transport import Transport
from reconciler.errors import (
    AmbiguousError,
    InputError,
    NotFoundError,
    ReconcilerError,
    SlurmError,
    UnavailableError,
)
from tests.unit.cloud.scripted import CLUSTER, FakeTime, Reply, refusal
from tests.unit.cloud.scripted import Script as Server
from tests.unit.cloud.slurm_samples import (
    MODERN,
    NAME,
    UNKNOWN_URL,
    VERSIONS,
    error,
    job,
    jobs,
    paths,
    recorded,
    slurm,
)

SUBMISSION = prepare(Script("#!/bin/bash\ntrue\n"), JobOptions(partition="cpu", name="my-run", cwd="/w"))
JOB = JobId(17)


@pytest.fixture
def client(script: Server, connect: Callable[..., Transport]) -> Slurm:
    """A client of the scripted server."""
    return Slurm(connect(script.url))


def test_the_envelope(client: Slurm, script: Server) -> None:
    """One endpoint for all; the body goes with POST alone (S1)."""
    script.answers(jobs(job()), recorded(MODERN, "submit"))
    client.queue(NAME)
    client.submit(NAME, SUBMISSION)
    read, write = script.requests
    assert (read.method, read.path) == ("POST", f"{CLUSTER}:callSlurmRestApi")
    assert read.body == {"method": "HTTP_METHOD_GET", "path": "/slurm/v0.0.42/jobs/"}
    assert write.body == {
        "method": "HTTP_METHOD_POST",
        "path": "/slurm/v0.0.42/job/submit",
        "body": SUBMISSION.body("v0.0.42"),
    }


@pytest.mark.parametrize(
    ("clocks", "spent"),
    [({}, 30.0), ({"queue_budget": 5.0}, 5.0), ({"retry_budget": 3.0}, 3.0), ({"queue_budget": 0.0}, 0.0)],
)
def test_a_look_at_the_queue_is_short(
    script: Server, connect: Callable[..., Transport], time: FakeTime, clocks: dict[str, float], spent: float
) -> None:
    """A controller that is down holds a plan up for its own budget, not for that of all requests; others have theirs."""
    client = Slurm(connect(script.url, **clocks))
    script.answers(refusal(503, "UNAVAILABLE"))
    with pytest.raises(UnavailableError, match="UNAVAILABLE"):
        client.queue(NAME)
    assert sum(time.naps) <= spent
    assert sum(time.naps) > spent / 4 or not spent
    asked, before = len(script.requests), sum(time.naps)
    with pytest.raises(UnavailableError):
        client.partitions(NAME)
    assert len(script.requests) - asked > 1
    assert sum(time.naps) - before > spent / 4


def test_a_queue_that_hangs_is_given_up_in_its_own_time(script: Server, connect: Callable[..., Transport]) -> None:
    """One answer may not take longer than the whole look."""
    client = Slurm(connect(script.url, queue_budget=0.2))
    script.answers(Reply(body={"status": 200, "body": "x" * 5000}, fault="drip_body"))
    with pytest.raises(UnavailableError, match=r"timed out|no answer in time"):
        client.queue(NAME)


def test_the_queue_and_the_partitions(client: Slurm, script: Server) -> None:
    """For the guard: all jobs, all partitions; an empty queue is none."""
    script.answers(jobs(job(1), job(2, ["PENDING"])), jobs(), recorded(MODERN, "partitions"))
    assert [each.job_id for each in client.queue(NAME)] == [1, 2]
    assert client.queue(NAME) == ()
    assert [each.name for each in client.partitions(NAME)] == ["cpu", "debug"]


@pytest.mark.parametrize(
    "reply",
    [
        slurm(200),
        slurm(200, "<html>login</html>"),
        slurm(200, "{}"),
        slurm(200, error(9001)),
        slurm(502, "<html>Bad Gateway</html>"),
        slurm(500, error(2000)),
        slurm(502, error(1800)),
        slurm(401, "Authentication failure"),
        jobs(job(), **error(9001)),
        jobs(status=500),
        Reply(200, {}),
        Reply(200, {"status": 200}),
        Reply(200, {"body": '{"jobs": []}'}),
    ],
)
def test_k119_the_queue_is_known_or_an_error(client: Slurm, script: Server, reply: Reply) -> None:
    """K119: whatever isn't a whole answer raises; it must never read as "nothing runs"."""
    script.answers(reply)
    with pytest.raises(ReconcilerError):
        client.queue(NAME)


def test_jobs_with_errors_beside_them_can_be_shown(client: Slurm, script: Server) -> None:
    """The list for people has both."""
    script.answers(jobs(job(), **error(9001, "half")))
    answer = client.jobs(NAME)
    assert (len(answer.jobs), [each.text for each in answer.errors]) == (1, ["half"])


def test_reads_are_repeated_when_the_cluster_cannot_be_reached(client: Slurm, script: Server, time: FakeTime) -> None:
    """UNAVAILABLE comes and goes (S1); a GET is a read, though it travels by POST."""
    script.answers(refusal(503, "UNAVAILABLE"), jobs(job()))
    assert len(client.queue(NAME)) == 1
    assert len(time.naps) == 1


def test_slurms_own_refusals_are_not_repeated(client: Slurm, script: Server) -> None:
    """A 500 inside the envelope is an answer."""
    script.answers(slurm(500, error(2000)))
    with pytest.raises(SlurmError):
        client.queue(NAME)
    assert len(script.requests) == 1


def test_an_unknown_cluster(client: Slurm, script: Server) -> None:
    """NOT_FOUND of the service is the service's."""
    script.answers(refusal(404, "NOT_FOUND"))
    with pytest.raises(NotFoundError):
        client.find(NAME, JOB)
    assert len(script.requests) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_that_the_queue_has_forgotten(client: Slurm, script: Server, version: str) -> None:
    """404, or v0.0.38's 500 with error 2017: the history has it."""
    script.answers(recorded(version, "get_unknown"), recorded(version, "db_job"))
    assert client.find(NAME, JobId(1)).jobs[0].state == "COMPLETED"
    assert paths(script) == ["GET /slurm/v0.0.42/job/1", "GET /slurmdb/v0.0.42/job/1"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_that_nobody_knows(client: Slurm, script: Server, version: str) -> None:
    """An empty history: 200 with a warning, or in v0.0.38 with error 9003."""
    script.answers(recorded(version, "get_unknown"), recorded(version, "db_unknown"))
    with pytest.raises(SlurmError, match="isn't in the live queue; the history of p/us-central1/demo has no job 17"):
        client.find(NAME, JOB)


def test_a_cluster_without_a_history(client: Slurm, script: Server) -> None:
    """/slurmdb/ is unknown there: said, after a ping that proves the version."""
    script.answers(recorded(MODERN, "get_unknown"), UNKNOWN_URL, recorded(MODERN, "ping"))
    with pytest.raises(SlurmError, match="keeps no history") as caught:
        client.find(NAME, JOB)
    assert caught.value.code == "no_history"


def test_a_history_that_cannot_be_reached(client: Slurm, script: Server) -> None:
    """slurmdbd is down: the message tells that the queue was asked."""
    script.answers(recorded(MODERN, "get_unknown"), slurm(502, error(7000, "Unable to connect to database")))
    with pytest.raises(UnavailableError, match=r"isn't in the live queue; .*Unable to connect to database"):
        client.find(NAME, JOB)


def test_a_requeued_job_has_several_records(client: Slurm, script: Server) -> None:
    """The last run counts."""
    runs = [
        {"job_id": 17, "state": {"current": [state]}, "time": {"submission": at}}
        for state, at in (("COMPLETED", 200), ("NODE_FAIL", 100))
    ]
    script.answers(jobs(*runs))
    assert [each.state for each in client.history(NAME, JOB).jobs] == ["COMPLETED"]


def test_one_task_of_an_array(client: Slurm, script: Server) -> None:
    """Asked for by the array's id, since v0.0.38 knows no other in a GET (seen: 400)."""
    script.answers(jobs(*(job(5 + task, array_job_id=5, array_task_id=task) for task in (0, 1))))
    assert [each.job_id for each in client.find(NAME, JobId(5, task=1)).jobs] == [6]
    assert paths(script) == ["GET /slurm/v0.0.42/job/5"]


def test_a_task_that_the_queue_has_forgotten(client: Slurm, script: Server) -> None:
    """The rest of its array may be there still."""
    past = {"job_id": 9, "state": {"current": ["FAILED"]}, "array": {"job_id": 5, "task_id": 3}}
    script.answers(jobs(job(5, array_job_id=5, array_task_id=0)), jobs(past))
    assert client.find(NAME, JobId(5, task=3)).jobs[0].state == "FAILED"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_id_proves_a_submission(client: Slurm, script: Server, version: str) -> None:
    """Also with errors beside it (v0.0.38) or with warnings (v0.0.42)."""
    script.answers(recorded(version, "submit_toomanynodes"))
    submitted = client.submit(NAME, SUBMISSION)
    assert submitted.job_id in (4, 5)
    assert "Requested partition configuration not available now" in str(submitted.messages[-1])


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "name", ["submit_badpart", "submit_badtype", "submit_malformed", "submit_noscript", "submit_nojob", "submit_noenv"]
)
def test_k127_refusals_are_quoted(client: Slurm, script: Server, version: str, name: str) -> None:
    """K127: Slurm's own message; no job was made, and nothing is repeated."""
    script.answers(recorded(version, name))
    with pytest.raises(SlurmError, match="no job was made") as caught:
        client.submit(NAME, SUBMISSION)
    assert len(script.requests) == 1
    assert "Slurm answered" in caught.value.summary


@pytest.mark.parametrize(
    ("body", "option"),
    [
        (error(2063, "Job cannot be submitted without the current working directory specified."), "--cwd"),
        (error(8000, "Time limit specification required, but not provided"), "--time-limit"),
        (error(2051, "Requested time limit is invalid"), "--time-limit"),
        (error(2127, "Environment is missing in job"), "--env"),
        (error(2001, "No partition specified or system default partition"), "--partition"),
    ],
)
def test_k127_the_field_to_add_is_named(client: Slurm, script: Server, body: dict[str, Any], option: str) -> None:
    """K127: what was missing, and the option that gives it."""
    script.answers(slurm(500, body))
    with pytest.raises(SlurmError) as caught:
        client.submit(NAME, SUBMISSION)
    assert body["errors"][0]["error"] in caught.value.summary
    assert option in caught.value.hint


def test_warnings_alone_are_no_job(client: Slurm, script: Server) -> None:
    """v0.0.42 answers a wrong type with 200, a warning, and no job."""
    warning = {"description": "Expected OpenAPI type=string but got type=array", "source": "#/job/partition/"}
    script.answers(slurm(200, {"errors": [], "warnings": [warning]}))
    with pytest.raises(SlurmError, match=r"no job was made: .*type=string"):
        client.submit(NAME, SUBMISSION)


LOST = [
    refusal(503, "UNAVAILABLE"),
    refusal(500, "INTERNAL"),
    Reply(fault="reset"),
    Reply(200, b"{"),
    Reply(200, {}),
    slurm(200),
    slurm(200, "<html>proxy</html>"),
    slurm(200, {}),
    slurm(500),
    slurm(500, error(-1, "Unspecified error")),
    slurm(502, error(1802, "receive failure")),
    slurm(504, "<html>Gateway Timeout</html>"),
]


@pytest.mark.parametrize("reply", LOST)
def test_a_lost_answer_to_a_submit_is_ambiguous(client: Slurm, script: Server, reply: Reply) -> None:
    """The job may exist: it's never sent again, and the message says how to look for it."""
    script.answers(reply)
    with pytest.raises(AmbiguousError) as caught:
        client.submit(NAME, SUBMISSION)
    assert len(script.requests) == 1
    assert "may exist" in caught.value.summary
    assert "reconciler jobs list p/us-central1/demo --partition cpu" in caught.value.hint
    assert "my-run" in caught.value.hint
    assert "--state" in caught.value.hint


def test_a_submit_without_a_name_is_looked_for_otherwise(client: Slurm, script: Server) -> None:
    """By user and time."""
    script.answers(slurm(500))
    with pytest.raises(AmbiguousError) as caught:
        client.submit(NAME, prepare(Script("#!/bin/sh\n"), JobOptions()))
    assert "your user" in caught.value.hint


def test_a_controller_that_was_not_reached_made_no_job(client: Slurm, script: Server) -> None:
    """1800, the connect failure: certain, so it isn't ambiguous."""
    script.answers(slurm(502, error(1800, "Unable to contact slurm controller (connect failure)")))
    with pytest.raises(UnavailableError, match="no job was made") as caught:
        client.submit(NAME, SUBMISSION)
    assert not isinstance(caught.value, AmbiguousError)


def test_a_request_beyond_the_limit_is_not_sent(client: Slurm, script: Server) -> None:
    """The whole request counts, as it's written; one byte less goes through."""
    empty = len(
        json.dumps({"method": "HTTP_METHOD_POST", "path": "/slurm/v0.0.42/job/submit", "body": _sized(0).body(MODERN)})
    )
    with pytest.raises(InputError, match="1000000 bytes") as caught:
        client.submit(NAME, _sized(REQUEST_LIMIT - empty))
    assert script.requests == []
    assert "shared storage" in caught.value.hint
    script.answers(recorded(MODERN, "submit"))
    assert client.submit(NAME, _sized(REQUEST_LIMIT - empty - 1)).job_id == 1


def _sized(size: int) -> Submission:
    return Submission("x" * size, ({"environment": {}},))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_cancel(client: Slurm, script: Server, version: str) -> None:
    """Accepted: the job was running, and takes a moment to stop. The task of an array goes by its own id."""
    running = jobs(job(17, array_job_id=17, array_task_id=3))
    script.answers(running, recorded(version, "delete"))
    cancelled = client.cancel(NAME, JobId(17, task=3))
    assert (cancelled.was_finished, cancelled.jobs[0].state) == (False, "RUNNING")
    assert paths(script)[-1] == "DELETE /slurm/v0.0.42/job/17_3"


def test_k124_a_finished_job(client: Slurm, script: Server) -> None:
    """K124: a success that doesn't claim to have cancelled it; nothing is sent."""
    script.answers(jobs(job(17, ["COMPLETED"])))
    assert client.cancel(NAME, JOB).was_finished
    assert len(script.requests) == 1


def test_k124_a_job_that_ends_meanwhile(client: Slurm, script: Server) -> None:
    """K124: 200 with status[].error.code 2021 between the look and the cancel; how it ended is looked up."""
    script.answers(jobs(job()), recorded(MODERN, "delete_again"), jobs(job(17, ["COMPLETED"])))
    cancelled = client.cancel(NAME, JOB)
    assert (cancelled.was_finished, cancelled.jobs[0].state) == (True, "COMPLETED")


PROVES_NOTHING = [slurm(200, {}), slurm(200, {"status": []}), slurm(202, {"meta": {}})]


@pytest.mark.parametrize("states", [["CANCELLED", "COMPLETING"], ["COMPLETED", "COMPLETING"], ["COMPLETING"]])
@pytest.mark.parametrize("reply", [recorded(MODERN, "delete_again"), *PROVES_NOTHING])
def test_a_job_that_is_ending_has_not_finished(client: Slurm, script: Server, reply: Reply, states: list[str]) -> None:
    """What came of a cancel shows in the job, where the answer doesn't say it."""
    script.answers(jobs(job()), reply, jobs(job(17, states)))
    cancelled = client.cancel(NAME, JOB)
    assert (cancelled.was_finished, cancelled.jobs[0].states) == (False, tuple(states))


@pytest.mark.parametrize("states", [["RUNNING"], ["PENDING"], ["SUSPENDED"]])
@pytest.mark.parametrize("reply", [recorded(MODERN, "delete_again"), *PROVES_NOTHING])
def test_a_job_that_goes_on_is_not_cancelled(client: Slurm, script: Server, reply: Reply, states: list[str]) -> None:
    """Whatever the answer says or doesn't say: nothing is claimed, and the message says where to look."""
    script.answers(jobs(job()), reply, jobs(job(17, states)))
    with pytest.raises(SlurmError, match=f"still shown as {states[0]}") as caught:
        client.cancel(NAME, JOB)
    assert "reconciler jobs show p/us-central1/demo 17" in caught.value.hint


def test_one_task_that_goes_on_is_enough(client: Slurm, script: Server) -> None:
    """Of an array all must be ending."""
    tasks = [job(18, ["COMPLETED"], array_job_id=17, array_task_id=0), job(19, array_job_id=17, array_task_id=1)]
    script.answers(jobs(*tasks), recorded(MODERN, "delete_again"), jobs(*tasks))
    with pytest.raises(SlurmError, match="1 COMPLETED, 1 RUNNING"):
        client.cancel(NAME, JOB)


@pytest.mark.parametrize("version", VERSIONS)
def test_k124_a_purged_job(client: Slurm, script: Server, version: str) -> None:
    """K124: only the history knows it; it's over."""
    script.answers(recorded(version, "get_unknown"), recorded(version, "db_cancelled"))
    assert client.cancel(NAME, JobId(2)).was_finished


@pytest.mark.parametrize("version", VERSIONS)
def test_k124_an_unknown_job(client: Slurm, script: Server, version: str) -> None:
    """K124: an error, though v0.0.42 answers the DELETE with 200."""
    script.answers(recorded(version, "get_unknown"), recorded(version, "db_unknown"))
    with pytest.raises(SlurmError):
        client.cancel(NAME, JOB)
    script.answers(jobs(job()), recorded(version, "delete_unknown"))
    with pytest.raises(SlurmError, match="2017"):
        client.cancel(NAME, JOB)


@pytest.mark.parametrize(
    "reply",
    [
        slurm(200, {"status": [{"error": {"string": "Access/permission denied", "code": 2002}}], "errors": []}),
        slurm(500, error(2002, "Access/permission denied")),
        slurm(500, error(2010, "Invalid user id")),
    ],
)
def test_k124_a_foreign_job(client: Slurm, script: Server, reply: Reply) -> None:
    """K124: one's own jobs only."""
    script.answers(jobs(job()), reply)
    with pytest.raises(SlurmError) as caught:
        client.cancel(NAME, JOB)
    assert "own jobs only" in caught.value.hint


@pytest.mark.parametrize("reply", [slurm(200), slurm(500), slurm(400, "no"), slurm(500, {})])
def test_a_cancel_whose_answer_is_none(client: Slurm, script: Server, reply: Reply) -> None:
    """Nothing is claimed."""
    script.answers(jobs(job()), reply)
    with pytest.raises(ReconcilerError):
        client.cancel(NAME, JOB)


def test_a_cancel_is_repeated(client: Slurm, script: Server) -> None:
    """It's as good twice as once."""
    script.answers(jobs(job()), refusal(503, "UNAVAILABLE"), recorded(MODERN, "delete"))
    assert not client.cancel(NAME, JOB).was_finished
    assert len(script.requests) == 3
