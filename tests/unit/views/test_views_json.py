"""JSON as the contract has it, and plan files read back strictly."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import view_samples as samples
from hypothesis import given
from hypothesis import strategies as st

from reconciler.errors import ApiError, InputError, OperationError, PendingError, UsageError
from reconciler.plan.model import Plan
from reconciler.views import json as views
from reconciler.views.plan_file import read_drift, read_plan

PLANS = [samples.one_of_each, samples.with_origins, samples.plan_of]


@pytest.mark.parametrize("make", PLANS)
def test_plan_read_back_is_the_same_plan(make: Callable[[], Plan]) -> None:
    """`--out` and `--plan` lose nothing."""
    assert read_plan(views.plan_json(make())) == make()


def test_reformatted_plan_is_read() -> None:
    """A plan file that went through another JSON tool is the same plan."""
    text = json.dumps(json.loads(views.plan_json(samples.one_of_each())), indent=4, sort_keys=True)
    assert read_plan(text) == samples.one_of_each()


def test_drift_read_back_is_the_same_drift() -> None:
    """An issue is written from the file that `drift --format json` made."""
    assert read_drift(views.drift_json(samples.drift())) == samples.drift()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(_JSON, _JSON)
def test_any_value_survives(before: Any, after: Any) -> None:
    """Values of fields that nobody knows pass through, half characters included; and the text can be encoded."""
    plan = samples.plan_of(samples.update("a", samples.change("x", before, after)))
    text = views.plan_json(plan)
    assert read_plan(text) == plan
    assert text.encode()


def test_plan_has_the_members_of_the_contract() -> None:
    """Contract section 3, name by name; origin and reason are there only when set, no mask and no request are null."""
    document = json.loads(views.plan_json(samples.one_of_each()))
    assert list(document) == ["format_version", "tool_version", "created_at", "summary", "clusters", "errors"]
    clusters = {cluster["cluster"].rpartition("/")[2]: cluster for cluster in document["clusters"]}
    assert list(clusters["a4train"]) == [
        *("cluster", "source", "action", "changes", "request", "blockers", "notes", "jobs"),
        *("live_fingerprint", "desired_fingerprint", "capacity"),
    ]
    assert list(clusters["a4train"]["changes"][2]) == ["path", "before", "after", "mask", "impact"]
    assert clusters["a4train"]["changes"][3]["reason"]
    assert clusters["b1"]["changes"][0]["mask"] is None
    assert clusters["same"]["request"] is None
    assert clusters["old"]["request"]["body"] is None
    assert list(clusters["a4train"]["jobs"][0]) == ["job_id", "user", "partition", "state", "name", "nodes"]
    assert json.loads(views.plan_json(samples.with_origins()))["clusters"][0]["changes"][0]["origin"] == "edit"


def test_unsafe_characters_are_escaped() -> None:
    """JSON on a terminal can't act either, and scripts stay readable."""
    plan = samples.plan_of(samples.update("a", samples.change("x", "\x1b[2J\x9b\u202e", "ü集\n")))
    text = views.plan_json(plan)
    assert r"\u001b[2J\u009b\u202e" in text
    assert r'"ü集\n"' in text


def test_numbers_that_json_has_not_are_spelled_as_proto_does() -> None:
    """NaN and infinities in fields that nobody knows don't make the output unparseable."""
    values = [math.nan, {"a": math.inf}, -math.inf, 1.5]
    document = json.loads(
        views.plan_json(samples.plan_of(samples.update("a", samples.change("x", None, values)))),
        parse_constant=pytest.fail,
    )
    assert document["clusters"][0]["changes"][0]["after"] == ["NaN", {"a": "Infinity"}, "-Infinity", 1.5]


def _edited(edit: Callable[[dict[str, Any]], object]) -> str:
    document = json.loads(views.plan_json(samples.one_of_each()))
    edit(document)
    return json.dumps(document)


def _first(document: dict[str, Any], *keys: str) -> Any:
    cluster = document["clusters"][0]
    return cluster[keys[0]][0] if keys else cluster


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "isn't JSON"),
        ('{"format_version": "1", "clusters": [', "isn't JSON"),
        ("[" * 100_000, "isn't JSON"),
        ('{"format_version": ' + "9" * 5_000 + "}", "isn't JSON"),
        ("<html>502</html>", "isn't JSON"),
        ("[]", "no format_version"),
        ("null", "no format_version"),
        ("{}", "no format_version"),
        ('{"format_version": "2"}', '"2"'),
        ('{"format_version": 1}', "format version 1"),
        ('{"format_version": ["1"]}', "format version"),
        ('{"format_version": "1"}', "tool_version"),
        (_edited(lambda d: d.update(clusters={})), "clusters"),
        (_edited(lambda d: d.update(clusters=[1])), "clusters.0"),
        (_edited(lambda d: d.update(unmanaged=[])), "unmanaged"),
        (_edited(lambda d: _first(d).update(action="explode")), "clusters.0.action"),
        (_edited(lambda d: _first(d).pop("cluster")), "clusters.0.cluster"),
        (_edited(lambda d: _first(d).update(colour="red")), r"clusters\[0\].colour"),
        (_edited(lambda d: _first(d).update(changes=None)), "changes"),
        (_edited(lambda d: _first(d, "changes").update(impact="none")), "impact"),
        (_edited(lambda d: _first(d, "changes").update(mask=3)), "mask"),
        (_edited(lambda d: _first(d, "changes").update(field="labels")), r"changes\[0\].field"),
        (_edited(lambda d: _first(d, "jobs").update(job_id="17")), r"jobs\[0\].job_id"),
        (_edited(lambda d: _first(d, "jobs").update(nodes=True)), r"jobs\[0\].nodes"),
        (_edited(lambda d: _first(d)["request"].update(query={"a": 1})), "query"),
        (_edited(lambda d: _first(d)["request"].update(body=[])), "body"),
    ],
)
def test_what_is_no_plan_of_ours_is_refused(text: str, says: str) -> None:
    """Nothing that isn't understood whole is applied; the message names the place."""
    with pytest.raises(InputError, match=says):
        read_plan(text)


def test_whether_unmanaged_clusters_count_is_yes_or_no() -> None:
    """Anything else is no drift report of ours."""
    with pytest.raises(InputError, match="include_unmanaged"):
        read_drift(_edited(lambda document: document.update(unmanaged=[], include_unmanaged=1)))


@pytest.mark.parametrize("unmanaged", [None, "x", [1]])
def test_a_plan_is_no_drift_report(unmanaged: object) -> None:
    """The list of unmanaged clusters makes the report."""
    with pytest.raises(InputError, match="unmanaged"):
        read_drift(_edited(lambda document: document.update(unmanaged=unmanaged)))


def test_members_with_defaults_may_be_missing() -> None:
    """The contract's own example has no errors list."""
    text = _edited(lambda document: document.pop("errors"))
    assert read_plan(text).clusters == samples.one_of_each().clusters


def test_deep_values_are_read() -> None:
    """A value nested deeper than our own functions could follow passes through."""
    depth = 500
    text = _edited(lambda document: None).replace('"before": null', '"before": ' + "[" * depth + "]" * depth, 1)
    assert read_plan(views.plan_json(read_plan(text))) == read_plan(text)


def test_apply_has_the_members_of_the_contract() -> None:
    """Contract section 4, name by name."""
    document = json.loads(views.apply_json(samples.report()))
    result = document["results"][1]
    assert {"cluster", "action", "status", "operation", "converged", "error"} <= set(result)
    assert result["status"] == "failed"
    assert result["operation"] is None
    assert result["error"] == {
        "code": "invalid_argument",
        "message": "PATCH …/b1: 400: bad zone",
        "hint": "see the zones of the region",
    }
    assert document["results"][0]["error"] is None
    assert document["summary"] == {
        "applied": 1,
        "no_op": 1,
        "blocked": 1,
        "failed": 1,
        "pending": 1,
        "skipped": 1,
    }


@pytest.mark.parametrize(
    ("error", "document"),
    [
        (UsageError("no such thing", hint="try x"), {"code": "usage", "message": "no such thing", "hint": "try x"}),
        (
            ApiError("GET u: 400", status=400, reason="ABORTED"),
            {"code": "aborted", "message": "GET u: 400", "hint": ""},
        ),
        (
            PendingError("goes on", operation="o/1"),
            {"code": "pending", "message": "goes on", "hint": "", "operation": "o/1"},
        ),
        (
            OperationError("bad", operation="o/2", code="stockout"),
            {"code": "stockout", "message": "bad", "hint": "", "operation": "o/2"},
        ),
    ],
)
def test_errors_are_json_too(error: Any, document: dict[str, str]) -> None:
    """Under --format json whatever goes wrong can be parsed."""
    assert json.loads(views.error_json(error)) == {"error": document}


def test_resources_pass_through() -> None:
    """list, get and operations give what the service gave."""
    resource = samples.live_cluster()
    assert json.loads(views.resource_json(resource)) == resource
    assert json.loads(views.clusters_json([resource])) == {"clusters": [resource]}
    assert json.loads(views.operations_json([{"name": "o"}])) == {"operations": [{"name": "o"}]}
    assert json.loads(views.clusters_json([])) == {"clusters": []}
