"""Jobs of every version and shape come out the same; what isn't an answer is never taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reconciler.cloud.slurm_answers import decode_jobs, partitions_of
from reconciler.cloud.slurm_job import JobId, SlurmJob, describe, task_ranges
from reconciler.cloud.slurm_replies import Reply
from reconciler.cloud.slurm_values import number, truth, words
from reconciler.errors import AuthError, ReconcilerError, SlurmError, UnavailableError, UsageError
from tests.unit.cloud.slurm_samples import MODERN, OLD, VERSIONS, job, sample


def decode(*listed: dict[str, Any]) -> tuple[SlurmJob, ...]:
    """The jobs of a made answer."""
    return decode_jobs(json.dumps({"jobs": list(listed)})).jobs


def one(**fields: Any) -> SlurmJob:
    """The only job of a made answer."""
    return decode(job(**fields))[0]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_recorded_running_job(version: str) -> None:
    """The same job, recorded from two versions, differs in nothing but what one of them doesn't tell."""
    status, body = sample(version, "get_running")
    (found,) = decode_jobs(body, status).jobs
    assert (found.job_id, found.name, found.user, found.account) == (1, "my-run", "alice", "acct1")
    assert (found.state, found.states, found.reason, found.partition) == ("RUNNING", ("RUNNING",), "", "cpu")
    assert (found.node_count, found.nodes, found.time_limit) == (1, "node1", 120)
    assert None not in (found.submit_time, found.start_time, found.end_time)
    assert (found.exit_code, found.signal, found.array_id, found.het_id) == (0, None, None, None)
    assert found.cwd == "/tmp"
    assert found.stdout == ("" if version == OLD else "/tmp/slurm-1.out")
    assert found.is_running
    assert not found.is_finished


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("name", "state"), [("db_job", "COMPLETED"), ("db_cancelled", "CANCELLED")])
def test_a_recorded_job_of_the_history(version: str, name: str, state: str) -> None:
    """slurmdb's shapes, where state, times and user lie elsewhere."""
    status, body = sample(version, name)
    (found,) = decode_jobs(body, status).jobs
    assert (found.state, found.is_finished, found.exit_code, found.user) == (state, True, 0, "alice")
    assert None not in (found.submit_time, found.end_time)
    if name == "db_job":
        assert (found.time_limit, found.cwd, found.node_count, found.partition) == (120, "/tmp", 1, "cpu")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_recorded_cancelled_job(version: str) -> None:
    """The signal that ended it: the raw wait status 15, or an object."""
    status, body = sample(version, "get_cancelled")
    (found,) = decode_jobs(body, status).jobs
    assert (found.state, found.signal, found.is_finished) == ("CANCELLED", 15, True)


@pytest.mark.parametrize(
    ("state", "words_", "main", "finished"),
    [
        ("RUNNING", ("RUNNING",), "RUNNING", False),
        (["RUNNING", "COMPLETING"], ("RUNNING", "COMPLETING"), "RUNNING", False),
        (["PENDING", "REQUEUE_HOLD"], ("PENDING", "REQUEUE_HOLD"), "PENDING", False),
        (["CANCELLED", "COMPLETING"], ("CANCELLED", "COMPLETING"), "CANCELLED", False),
        ("COMPLETING", ("COMPLETING",), "COMPLETING", False),
        ("CANCELLED+COMPLETING", ("CANCELLED", "COMPLETING"), "CANCELLED", False),
        (["COMPLETED"], ("COMPLETED",), "COMPLETED", True),
        ("CANCELLED by 1003", ("CANCELLED",), "CANCELLED", True),
        (["FAILED", "LAUNCH_FAILED"], ("FAILED", "LAUNCH_FAILED"), "FAILED", True),
        (["COMPLETED", "SOMETHING_NEW"], ("COMPLETED", "SOMETHING_NEW"), "COMPLETED", False),
        (["SOMETHING_NEW"], ("SOMETHING_NEW",), "SOMETHING_NEW", False),
        (["CONFIGURING", "RUNNING"], ("CONFIGURING", "RUNNING"), "RUNNING", False),
        ([], (), "UNKNOWN", False),
        (None, (), "UNKNOWN", False),
    ],
)
def test_k116_states(state: Any, words_: tuple[str, ...], main: str, finished: bool) -> None:
    """K116: a string or a list; all flags are kept; words that nobody knows mean "not finished"."""
    found = one(job_state=state)
    assert (found.states, found.state, found.is_finished) == (words_, main, finished)


@pytest.mark.parametrize(
    ("value", "code", "signal"),
    [
        (0, 0, None),
        (768, 3, None),
        (15, 0, 15),
        (4021, 15, 53),
        ({"set": True, "infinite": False, "number": 256}, 1, None),
        ({"status": ["ERROR"], "return_code": {"set": True, "infinite": False, "number": 3}, "signal": {}}, 3, None),
        ({"status": "ERROR", "return_code": 3}, 3, None),
        ({"return_code": {"set": False, "number": 0}, "signal": {"id": {"set": True, "number": 15}}}, None, 15),
        ({"return_code": None, "signal": {"signal_id": 9, "name": "Killed"}}, None, 9),
        (None, None, None),
        ("?", None, None),
    ],
)
def test_k116_exit_codes(value: Any, code: int | None, signal: int | None) -> None:
    """K116: the raw wait status as a number, plain or wrapped, and the objects of later versions."""
    found = one(exit_code=value)
    assert (found.exit_code, found.signal) == (code, signal)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (120, 120),
        ("120", 120),
        (120.0, 120),
        ("120.0", 120),
        (True, 1),
        ({"set": True, "infinite": False, "number": 120}, 120),
        ({"set": 1, "infinite": 0, "number": "120"}, 120),
        ({"number": 120}, 120),
        ({"set": True, "number": {"set": True, "number": 5}}, 5),
        ({"set": False, "infinite": False, "number": 7}, None),
        ({"set": False, "infinite": True, "number": 0}, None),
        ({"set": "true", "infinite": "false", "number": 9}, 9),
        ({}, None),
        (-1, None),
        (2**32 - 1, None),
        (2**32 - 2, None),
        (2**64 - 1, None),
        (float("inf"), None),
        (float("nan"), None),
        ("inf", None),
        ("soon", None),
        (None, None),
        ([1], None),
        ("1e400", None),
    ],
)
def test_numbers(value: Any, wanted: int | None) -> None:
    """Plain, wrapped, as text; unset, unlimited and Slurm's NO_VAL are none."""
    assert number(value) == wanted


def test_k118_extra_and_missing_fields() -> None:
    """K118: unknown fields, dynamic keys and booleans as 0 or 1 do no harm; missing fields are empty."""
    extra = {
        "hold": 1,
        "requeue": 0,
        "new": {"a": [1]},
        "job_resources": {"allocated_nodes": {"0": {"cores": {"1": 2}}}},
    }
    found = one(**extra)
    assert found == SlurmJob(job_id=17, states=("RUNNING",))
    assert decode({"job_id": 3}) == (SlurmJob(job_id=3),)
    assert truth("1")
    assert not truth("false")
    assert describe(decode(job(state=["PENDING"]))) == "PENDING"
    assert words([None, 3, "a"]) == ("3", "A")


def test_k118_times_and_limits_that_are_none() -> None:
    """K118: 0 is no time, 0 minutes no limit, and texts like "None assigned" name nothing."""
    found = one(start_time=0, end_time=10**15, time_limit=0, nodes="None assigned", state_reason="None")
    assert (found.start_time, found.end_time, found.time_limit, found.nodes, found.reason) == (None, None, None, "", "")


def array(running: int, waiting: str) -> list[dict[str, Any]]:
    """An array 100 with some tasks running and the rest waiting in one record."""
    tasks = [
        job(101 + task, array_job_id={"set": True, "number": 100}, array_task_id={"set": True, "number": task})
        for task in range(running)
    ]
    rest = job(100, ["PENDING"], array_job_id={"set": True, "number": 100}, array_task_id={"set": False, "number": 0})
    return [*tasks, {**rest, "array_task_string": waiting, "state_reason": "JobArrayTaskLimit"}]


def test_k125_arrays() -> None:
    """K125: 3 of 100 tasks run and 97 wait; labels are those of squeue."""
    found = decode(*array(3, "3-99%3"))
    assert sum(each.task_count for each in found if each.is_running) == 3
    assert sum(each.task_count for each in found if each.is_pending) == 97
    assert [each.label for each in found] == ["100_0", "100_1", "100_2", "100_[3-99%3]"]
    assert describe(found) == "3 RUNNING, 97 PENDING"
    assert describe(found[3:]) == "97 PENDING"
    assert describe([found[0]]) == "RUNNING"


def test_k125_one_task_of_an_array() -> None:
    """K125: a task is found by its own record, or in the record that stands for the rest."""
    found = decode(*array(3, "3-99%3"))
    assert [each.label for each in JobId.parse("100_2").select(found)] == ["100_2"]
    assert [each.label for each in JobId.parse("100_40").select(found)] == ["100_[3-99%3]"]
    assert JobId.parse("100_100").select(found) == ()
    assert len(JobId.parse("100").select(found)) == 4


def test_arrays_in_plain_values_and_in_the_history() -> None:
    """v0.0.38 has plain numbers and null; slurmdb an object."""
    (plain,) = decode(job(5, array_job_id=5, array_task_id=None, array_task_string="0,2-7,9%2"))
    assert (plain.task_count, plain.label) == (8, "5_[0,2-7,9%2]")
    (zero,) = decode(job(6, array_job_id=5, array_task_id=0, array_task_string=""))
    assert (zero.task_count, zero.label) == (1, "5_0")
    past = {
        "job_id": 7,
        "state": {"current": ["COMPLETED"]},
        "array": {"job_id": 5, "task_id": {"set": True, "number": 2}},
    }
    assert decode(past)[0].label == "5_2"
    (none,) = decode(job(8, array_job_id={"set": True, "number": 0}, array_task_id={"set": False, "number": 0}))
    assert (none.array_id, none.label) == (None, "8")


def test_heterogeneous_jobs() -> None:
    """Each component is a record with the leader's id and its offset, in both shapes."""
    wrapped = [
        job(8 + at, het_job_id={"set": True, "number": 8}, het_job_offset={"set": True, "number": at}) for at in (0, 1)
    ]
    assert [each.label for each in decode(*wrapped)] == ["8+0", "8+1"]
    plain = [job(8 + at, het_job_id=8, het_job_offset=at, het_job_id_set="8-9") for at in (0, 1)]
    assert [each.label for each in decode(*plain)] == ["8+0", "8+1"]
    assert [each.job_id for each in JobId.parse("8+1").select(decode(*plain))] == [9]
    past = {"job_id": 9, "state": {"current": "FAILED"}, "het": {"job_id": 8, "job_offset": 1}}
    assert decode(past)[0].label == "8+1"


def test_task_ranges() -> None:
    """Lists, ranges, steps, limits; what was cut short counts as far as it's shown."""
    assert [list(tasks) for tasks in task_ranges("3-5,12,20-40:10%2")] == [[3, 4, 5], [12], [20, 30, 40]]
    assert sum(map(len, task_ranges("1-4,6,..."))) == 5
    assert sum(map(len, task_ranges("[0-999999999]"))) == 10**9
    assert task_ranges("") == []


@pytest.mark.parametrize("text", ["", "abc", "0", "-3", "1_", "1_2_3", "1_[2-3]", "1;2", "1/2", "١", "99999999999"])
def test_what_is_no_job_id(text: str) -> None:
    """Refused before anything is sent."""
    with pytest.raises(UsageError):
        JobId.parse(text)


def test_job_ids_are_written_as_they_were_read() -> None:
    """A job, a task, a component."""
    assert [str(JobId.parse(text)) for text in ("17", " 100_3 ", "200+0")] == ["17", "100_3", "200+0"]


@pytest.mark.parametrize("status", [200, 404, 500, 502, 0])
@pytest.mark.parametrize(
    "body", ["", "   ", "<html><h1>Bad Gateway</h1></html>", "null", "[]", '{"jobs": [', '{"a": NaN}']
)
def test_k119_bodies_that_are_no_answer(status: int, body: str) -> None:
    """K119: an empty, HTML or broken body is an error with its status and first words, whatever the status."""
    with pytest.raises(ReconcilerError) as caught:
        decode_jobs(body, status)
    assert f"answered {status or 'without a status'}" in caught.value.summary
    assert "<" not in caught.value.summary
    if "Gateway" in body:
        assert "Bad Gateway" in caught.value.summary


@pytest.mark.parametrize("content", [{}, {"jobs": None}, {"jobs": {}}, {"jobs": ["x"]}, {"jobs": [{"name": "x"}]}])
def test_k119_an_object_without_jobs_is_no_empty_queue(content: Any) -> None:
    """K119: an answer of 200 that holds no list of jobs must not read as "nothing runs"."""
    with pytest.raises(UnavailableError):
        decode_jobs(json.dumps(content))


@pytest.mark.parametrize(
    ("status", "content", "kind"),
    [
        (200, {"jobs": [], "errors": [{"error": "broken", "error_number": 9001, "source": "here"}]}, SlurmError),
        (200, {"errors": [{"error": "broken", "errno": 9001, "source": "here"}]}, SlurmError),
        (500, {"jobs": [job()], "errors": [{"error": "broken", "error_code": 2000, "source": "here"}]}, SlurmError),
        (500, {"errors": [{"error": "broken", "error_number": -1, "source": "here"}]}, UnavailableError),
        (502, {"errors": [{"error": "broken", "error_number": 1800, "source": "here"}]}, UnavailableError),
        (502, {"errors": [{"error": "broken", "error_number": 7000, "source": "here"}]}, UnavailableError),
        (511, {"errors": [{"error": "broken", "error_number": 1007, "source": "here"}]}, AuthError),
        (500, {"errors": [{"error": "broken", "error_number": 1007, "source": "here"}]}, AuthError),
    ],
)
def test_k119_the_first_error_and_its_source_are_quoted(
    status: int, content: dict[str, Any], kind: type[ReconcilerError]
) -> None:
    """K119: 200 with errors and no jobs, 500 with jobs, and the three names of an error's number."""
    with pytest.raises(kind) as caught:
        decode_jobs(json.dumps(content), status)
    assert f"Slurm answered {status}: broken" in caught.value.summary
    assert "here" in caught.value.summary


def test_errors_beside_jobs_are_kept() -> None:
    """A good status with jobs and errors gives both; the note on an empty list is no warning."""
    content = {
        "jobs": [job()],
        "errors": ["odd", {"x": 1}, None],
        "warnings": [{"description": "adjusted", "source": "#/a"}],
    }
    answer = decode_jobs(json.dumps(content))
    assert [each.job_id for each in answer.jobs] == [17]
    assert [str(each) for each in answer.errors] == ["odd", "an error without words"]
    assert [str(each) for each in answer.warnings] == ["adjusted (#/a)"]
    empty = {"jobs": [], "warnings": [{"description": "Zero jobs to dump", "source": ""}]}
    assert decode_jobs(json.dumps(empty)).warnings == ()


def test_k122_slurms_own_authentication_is_told_apart() -> None:
    """K122: a 401 of slurmrestd, in plain text, is no matter of Google credentials."""
    with pytest.raises(AuthError) as caught:
        decode_jobs("Authentication failure", 401)
    assert caught.value.code == "slurm_credentials"
    assert "Google credentials were accepted" in caught.value.hint


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_partitions(version: str) -> None:
    """Name, state, nodes and limit in both shapes."""
    partitions = partitions_of("partitions", Reply.of(*sample(version, "partitions")))
    assert [(each.name, each.states, each.nodes, each.total_nodes, each.max_minutes) for each in partitions] == [
        ("cpu", ("UP",), "node1", 1, None),
        ("debug", ("UP",), "node1", 1, 60),
    ]


def test_partitions_that_are_none() -> None:
    """An error, or a partition without a name, isn't an empty list."""
    with pytest.raises(SlurmError):
        partitions_of("partitions", Reply.of(200, {"partitions": [], "errors": [{"error": "no", "errno": 2000}]}))
    with pytest.raises(UnavailableError):
        partitions_of("partitions", Reply.of(200, {"partitions": [{}]}))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_FIELDS = (
    "job_id job_state state time exit_code array array_job_id array_task_id array_task_string het nodes time_limit"
)


# How fast examples are made depends on what else the machine does.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_FIELDS.split(), _JSON)))
def test_any_value_in_any_field(raw: dict[str, Any]) -> None:
    """Whatever a field holds, a job comes out of it or one of our own errors."""
    try:
        (found,) = decode_jobs(json.dumps({"jobs": [raw]})).jobs
    except UnavailableError:
        return
    assert found.label
    assert found.task_count >= 1
    assert describe([found])


@given(st.integers(0, 999), st.text(max_size=30))
def test_any_text_with_any_status(status: int, body: str) -> None:
    """Arbitrary text is never an answer."""
    with pytest.raises(ReconcilerError):
        decode_jobs(body, status)


def test_modern_and_old_samples_agree() -> None:
    """A refused lookup is missing in both, by status or by error number."""
    for version in (OLD, MODERN):
        reply = Reply.of(*sample(version, "get_unknown"))
        assert reply.is_missing
        assert 2017 in reply.numbers
