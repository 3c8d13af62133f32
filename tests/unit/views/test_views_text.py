"""Plan, drift, findings and the other texts for terminals."""

from __future__ import annotations

import re

import pytest
import view_samples as samples

from reconciler.engine.results import ApplyReport, Drift, ErrorInfo, Result, Status
from reconciler.errors import UsageError
from reconciler.plan.model import Action, Blocker, ClusterPlan, Note, Plan, PlanError
from reconciler.spec.fields import Impact
from reconciler.spec.findings import Finding, Severity
from reconciler.views.findings import findings_github, findings_text
from reconciler.views.inventory import clusters_text, operations_text, status_text
from reconciler.views.outcome import apply_summary, apply_text, duration
from reconciler.views.text import drift_text, plan_text
from reconciler.views.wording import short_name

HOSTILE = "x\x1b[2J\u202e\n::stop-commands::t\n##[add-mask]y\r"


def hostile_plan() -> Plan:
    """Text that would act on a terminal or a CI log, wherever foreign text can be."""
    cluster = samples.update(
        "a",
        samples.change(HOSTILE, "a", HOSTILE[:3], reason=HOSTILE),
        samples.change("node_pools[p]", None, {HOSTILE: [HOSTILE]}, Impact.REMOVES_NODES),
        samples.change("script", f"{HOSTILE}\nb", f"{HOSTILE}\nc"),
        source=HOSTILE,
        blockers=(Blocker(HOSTILE, HOSTILE),),
        notes=(Note(HOSTILE, HOSTILE),),
    )
    return samples.plan_of(
        cluster, ClusterPlan(HOSTILE, HOSTILE, Action.DELETE), errors=(PlanError(HOSTILE, HOSTILE, HOSTILE, HOSTILE),)
    )


def assert_harmless(text: str) -> None:
    """No control character, and no line that a CI would take for a command."""
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]|##\[", text)
    assert not re.search(r"^\s*::", text, re.MULTILINE)


def test_foreign_text_has_no_effect() -> None:
    """Escape sequences, bidi overrides and workflow commands in files and answers are shown, not obeyed."""
    assert_harmless(plan_text(hostile_plan(), verbose=True))
    assert_harmless(drift_text(Drift(hostile_plan(), (HOSTILE,))))
    assert_harmless(findings_text([Finding(HOSTILE, 1, 1, HOSTILE, Severity.ERROR, HOSTILE, HOSTILE)]))
    resource = {"name": HOSTILE, "displayName": HOSTILE, "clusterStatus": {"state": HOSTILE, "error": HOSTILE}}
    assert_harmless(clusters_text([resource]))
    assert_harmless(status_text({**resource, "clusterEvents": [{"type": HOSTILE, "message": HOSTILE}]}))
    assert_harmless(operations_text([{"name": HOSTILE, "error": {"message": HOSTILE}}]))
    error = ErrorInfo(HOSTILE, HOSTILE, HOSTILE)
    report = ApplyReport((Result(HOSTILE, Action.UPDATE, Status.PENDING, HOSTILE, HOSTILE, error=error),))
    assert_harmless(apply_text(report))


def test_colours_are_the_only_difference_that_colours_make() -> None:
    """A log without colours says the same."""
    plain, coloured = (plan_text(samples.one_of_each(), colour=colour) for colour in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


def test_what_removes_stands_first() -> None:
    """Replace and delete, then updates by their harm, then creates, whatever the names."""
    text = plan_text(samples.one_of_each())
    heads = [line.split()[1].rpartition("/")[2] for line in text.split("\n") if re.match(r"[-+~=/]+ acme-ml", line)]
    assert heads == ["redo", "old", "b1", "a4train", "new", "still"]


def test_unchanged_clusters_are_only_counted() -> None:
    """A plan of many clusters shows what changes; --verbose lists the rest too."""
    plan = samples.plan_of(*(samples.other(f"q{number}", Action.NO_OP) for number in range(5)))
    summary = "Plan: 0 to create, 0 to update, 0 to replace, 0 to delete, 5 unchanged\n"
    assert plan_text(plan) == summary
    assert plan_text(plan, verbose=True).count("= acme-ml/us-central1/q") == 5


def test_summary_counts_what_is_blocked_and_what_was_not_planned() -> None:
    """Pain F70: the last line leaves out no kind of action."""
    assert plan_text(samples.one_of_each()).rstrip().rpartition("\n")[2] == (
        "Plan: 1 to create, 2 to update, 1 to replace, 1 to delete, 2 unchanged (2 blocked, 2 not planned)"
    )


def test_default_partition_that_moves_is_named() -> None:
    """Pain A4: old and new default stand in one line, with the reason."""
    text = plan_text(samples.one_of_each())
    assert re.search(r"partitions: +cpu -> gpu  \(default moves; ", text)


def test_edit_and_drift_stand_apart() -> None:
    """Pain F67: what the author changes and what would be reverted are two groups."""
    text = plan_text(samples.with_origins())
    assert (
        text.index("This change makes: 1 change")
        < text.index("4 -> 6")
        < text.index("Live differs (would be reverted)")
    )
    assert text.index("Live differs (would be reverted): 2 changes") < text.index("5 -> 4")


def test_findings_are_counted_by_severity() -> None:
    """No findings is said in words."""
    assert findings_text([]) == "Nothing found.\n"


def test_a_finding_has_a_line_and_a_column_always() -> None:
    """The first where none is known, in every format: editors and CI look for them."""
    whole, line = (Finding("a.yaml", number, 0, "r", Severity.ERROR, "x") for number in (0, 7))
    assert findings_text([whole, line]).splitlines()[:2] == ["a.yaml:1:1: error: x [r]", "a.yaml:7:1: error: x [r]"]
    assert findings_github([whole, line]).splitlines()[:2] == [
        "::error file=a.yaml,line=1,col=1,title=r::x",
        "::error file=a.yaml,line=7,col=1,title=r::x",
    ]
    assert findings_github([]) == "Nothing found.\n"
    warning = Finding("a.yaml", 1, 2, "r", Severity.WARNING, "m: warning: x")
    assert findings_text([warning]) == "a.yaml:1:2: warning: m: warning: x [r]\n0 errors, 1 warning in 1 file\n"


def test_annotations_cannot_be_broken_out_of() -> None:
    """GitHub's escapes: percent and line breaks in messages, colon and comma too in properties."""
    finding = Finding("a:b,c%.yaml", 3, 0, "r", Severity.ERROR, "50%\r\n::error::x")
    first = findings_github([finding]).split("\n")[0]
    assert first == "::error file=a%3Ab%2Cc%25.yaml,line=3,col=1,title=r::50%25%0A::error::x"


def test_status_shows_newest_events_first_and_pools_that_are_short() -> None:
    """Pain J115: nodes below the minimum are named; the events' order is ours."""
    text = status_text(samples.live_cluster())
    assert "1 ERROR, 1 RUNNING; 1 below the minimum" in text
    assert text.index("VM_PROLOG_ERROR") < text.index("VM_DELETION")
    assert "error: node demo-gpu-1: no quota" in text
    assert "gpu* " in text


@pytest.mark.parametrize(
    "resource",
    [
        {},
        {"nodePools": "x", "clusterStatus": [], "clusterEvents": {}, "orchestratorSpec": 1},
        {"nodePools": [1, {"id": None, "scalingSpec": {"maxNodeCount": "many"}}], "clusterEvents": [None, {}]},
        {"clusterStatus": {"nodesStatus": [None, {"nodePoolId": 3, "error": {"code": 8, "why": ["x"]}}], "error": 5}},
        {"orchestratorSpec": {"slurmSpec": {"partitions": [{"id": 1, "nodePoolIds": "a"}, 4]}}},
    ],
)
def test_odd_answers_are_shown_as_far_as_they_go(resource: dict[str, object]) -> None:
    """An answer of a later version, or a broken one, ends in no traceback."""
    assert status_text(resource)
    assert clusters_text([resource]).startswith("CLUSTER")


def test_snake_case_is_read_as_well() -> None:
    """The resource's typed form shows the same pools."""
    pool = {"id": "p", "scaling_spec": {"min_node_count": 1, "max_node_count": 2}}
    node = {"node_pool_id": "p", "node_state": "RUNNING"}
    text = status_text({"node_pools": [pool], "cluster_status": {"state": "RUNNING", "nodes_status": [node]}})
    assert re.search(r"p +- +- +1 +1 +2 +1 RUNNING\n", text)


def test_nothing_there_is_said_in_words() -> None:
    """An empty table would look like a mistake."""
    assert clusters_text([]) == "No clusters.\n"
    assert operations_text([]) == "No operations.\n"
    assert apply_text(ApplyReport(())) == "Apply: no clusters\n"


def test_apply_says_how_to_go_on_waiting() -> None:
    """Pain D41: operations that still run are named with the command that takes them up."""
    waits = [ErrorInfo("pending", "goes on", hint) for hint in ("wait for 1", "run again", "run again")]
    results = (Result(samples.name(f"c{n}"), Action.CREATE, Status.PENDING, error=e) for n, e in enumerate(waits))
    report = ApplyReport(tuple(results), interrupted=True)
    assert "\nNot over yet; to go on:\n    wait for 1\n    run again\n\n" in apply_text(report)
    assert apply_summary(report) == "Apply, interrupted: 3 pending"


def test_error_info_is_made_of_an_exception() -> None:
    """An error keeps its code and hint as a value."""
    assert ErrorInfo.of(UsageError("no", hint="do")) == ErrorInfo("usage", "no", "do")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.4, "0s"), (59.9, "59s"), (60, "1m00s"), (200, "3m20s"), (3600, "1h00m"), (7325, "2h02m")]
)
def test_duration(seconds: float, shown: str) -> None:
    """Times as people say them."""
    assert duration(seconds) == shown


def test_short_name() -> None:
    """Names as commands take them; what is no cluster's name stays."""
    assert short_name(samples.name("a")) == "acme-ml/us-central1/a"
    assert short_name("clusters.d/a.yaml") == "clusters.d/a.yaml"
    assert short_name("") == ""
