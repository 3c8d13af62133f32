"""`github issue`, `applied` and `summary`: one issue while drift lasts, a word after the merge, and all of it kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.engine.results import ApplyReport, Drift, ErrorInfo, Result, Status
from reconciler.errors import ReconcilerError
from reconciler.plan.model import Action, Change, ClusterPlan, Plan, PlanError, summarise
from reconciler.spec.fields import Impact
from reconciler.views.github import SUMMARY_LIMIT
from reconciler.views.json import apply_json, drift_json, error_json, plan_json
from tests.contract.bench import Bench, Outcome
from tests.workflows.standin import LONGEST, Reply, Standin, serve

COMMIT, GOOD = "a" * 40, "b" * 40
LABEL = "reconciler-drift"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Standin]:
    """GitHub, and the environment of a run of main."""
    with serve() as standin:
        for name, value in {
            "GITHUB_API_URL": standin.url,
            "GITHUB_TOKEN": standin.token,
            "GITHUB_REPOSITORY": "acme/clusters",
            "GITHUB_SHA": COMMIT,
            "GITHUB_REF_NAME": "main",
            "GITHUB_RUN_ID": "42",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }.items():
            monkeypatch.setenv(name, value)
        yield standin


@pytest.fixture
def tell(bench: Bench, hub: Standin) -> Any:
    """`tell(command, text, *arguments)` writes a report's file and tells GitHub of it."""

    def run(command: str, text: str, *arguments: str) -> Outcome:
        return bench.run("github", command, "--from", bench.text("report.json", text), *arguments)

    return run


def drift(
    *values: int,
    unmanaged: tuple[str, ...] = (),
    counted: bool = True,
    errors: tuple[PlanError, ...] = (),
    minute: int = 0,
) -> str:
    """A drift report: a cluster for each value, whose maximum somebody has set to it."""
    clusters = tuple(
        ClusterPlan(
            f"projects/p/locations/us-central1/modelDevelopmentClusters/c{number}",
            f"clusters.d/c{number}.yaml",
            Action.UPDATE,
            (Change("node_pools[cpu].scaling_spec.max_node_count", value, 4, "node_pools", Impact.IN_PLACE),),
        )
        for number, value in enumerate(values)
    )
    plan = Plan("0", f"2026-11-01T12:{minute:02}:00Z", clusters, errors, summary=summarise(clusters))
    return drift_json(Drift(plan, unmanaged, include_unmanaged=counted))


_ERRORS = {
    Status.FAILED: ErrorInfo("resource_exhausted", "no capacity | left", "later"),
    Status.PENDING: ErrorInfo("pending", "goes on", "reconciler operations wait projects/p/operations/2"),
}


def report(*statuses: Status, **more: Any) -> str:
    """An apply's report."""
    results = tuple(
        Result(
            f"projects/p/locations/us-central1/modelDevelopmentClusters/c{number}",
            Action.UPDATE,
            status,
            operation=f"projects/p/locations/us-central1/operations/{number}",
            error=_ERRORS.get(status),
            seconds=75.0,
        )
        for number, status in enumerate(statuses)
    )
    return apply_json(ApplyReport(results, started_at="2026-11-01T12:00:00Z", **more))


def test_pain_g89_one_issue_while_drift_lasts(tell: Any, hub: Standin) -> None:
    """Drift on three runs, then fixed, then again: one issue, and a comment only where there is news."""
    assert tell("issue", drift(9)).ok().out.startswith("created")
    assert tell("issue", drift(9, minute=1)).ok().out.startswith("unchanged")
    (issue,) = hub.issues
    assert "12:01:00 UTC" in issue["body"]
    assert hub.bodies(issue["number"]) == []
    assert tell("issue", drift(9, 7, minute=2)).ok().out.startswith("updated")
    assert tell("issue", drift(minute=3)).ok().out.startswith("closed")
    assert (issue["state"], issue["state_reason"]) == ("closed", "completed")
    assert tell("issue", drift(minute=4)).ok().out.startswith("unchanged")
    assert tell("issue", drift(8, minute=5)).ok().out.startswith("reopened")
    assert hub.issues == [issue]
    assert issue["state"] == "open"
    assert "`8`" in issue["body"]
    changed, gone, back = hub.bodies(issue["number"])
    assert changed.startswith("The drift has changed: Drift: 2 of 2 clusters differ")
    assert gone.startswith("No drift any more: ")
    assert back.startswith("The drift is back: ")


def test_an_issue_that_a_person_closed(tell: Any, hub: Standin) -> None:
    """Closed by hand while the drift lasts, it never went; closed by hand with reason, it has come back."""
    tell("issue", drift(9)).ok()
    (issue,) = hub.issues
    issue["state"] = "closed"
    assert tell("issue", drift(9, minute=1)).ok().out.startswith("reopened")
    issue["state"] = "closed"
    assert tell("issue", drift(minute=2)).ok().out.startswith("unchanged")
    sent = len(hub.did("PATCH"))
    tell("issue", drift(minute=3)).ok()
    assert len(hub.did("PATCH")) == sent
    assert tell("issue", drift(9, minute=4)).ok().out.startswith("reopened")
    still, back = hub.bodies(issue["number"])
    assert still.startswith("This was closed, but the drift is still there: ")
    assert back.startswith("The drift is back: ")


@pytest.mark.parametrize("status", [403, 502])
def test_it_is_closed_even_if_nothing_may_be_said(
    tell: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A locked conversation takes no comment: what matters is done, and the rest is a warning."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0.01s")
    tell("issue", drift(9)).ok()
    hub.fault("POST .*/comments", Reply(status, {"message": "locked"}))
    done = tell("issue", drift()).ok()
    assert done.out.startswith("closed")
    assert hub.issues[0]["state"] == "closed"
    assert ("nothing could be said" in done.err) == (status == 403)


def test_found_without_its_label(tell: Any, hub: Standin) -> None:
    """Somebody took the label off: the issue is found by its marker among others, and gets the label again."""
    tell("issue", drift(9)).ok()
    hub.issues[0]["labels"] = [{"name": "infra"}]
    for number in range(3):
        hub.issue(f"issue {number}", "x", [], {"login": "somebody", "type": "User"})
    hub.page = 2
    assert tell("issue", drift(9, 7)).ok().out.startswith("updated")
    assert len(hub.issues) == 4
    assert hub.issues[0]["labels"] == [{"name": "infra"}, {"name": LABEL}]
    hub.issues[0]["labels"] = []
    assert tell("issue", drift()).ok().out.startswith("closed")


@pytest.mark.parametrize("path", ["./clusters.d", "clusters.d/"])
def test_a_folder_has_one_issue_however_it_is_spelled(tell: Any, hub: Standin, path: str) -> None:
    """As with comments."""
    tell("issue", drift(9)).ok()
    assert tell("issue", drift(9), "--path", path).ok().out.startswith("unchanged")


def theirs(hub: Standin) -> dict[str, Any]:
    """Another run's issue."""
    body = "<!-- reconciler:drift path=clusters.d environment=default -->\n<!-- reconciler:content x -->\n\ntheirs"
    return hub.issue("Drift in clusters.d", body, [LABEL])


def test_two_runs_at_once_keep_one_issue(tell: Any, hub: Standin) -> None:
    """Both looked before either opened one: the older one stays open, with our text; ours is closed and says why."""
    looks = iter((lambda: None, lambda: theirs(hub)))  # by the label, then among all
    for _ in range(2):
        hub.meanwhile("GET .*/issues$", next(looks))
    assert tell("issue", drift(9)).ok().out.startswith("updated")
    older, ours = hub.issues
    assert (older["state"], ours["state"], ours["state_reason"]) == ("open", "closed", "not_planned")
    assert "`9`" in older["body"]
    assert hub.bodies(ours["number"]) == [f"#{older['number']} says the same, and is kept up to date."]
    assert tell("issue", drift(9)).ok().out.startswith("unchanged")
    assert tell("issue", drift()).ok().out.startswith("closed")
    assert [each["state"] for each in hub.issues] == ["closed", "closed"]


def test_two_runs_at_once_where_ours_is_the_older(tell: Any, hub: Standin) -> None:
    """Theirs is closed; where that fails, by the next run, and all go when the drift does."""
    hub.meanwhile("POST .*/issues$", lambda: theirs(hub))
    hub.fault("PATCH", Reply(403, {"message": "no"}), times=1)
    assert tell("issue", drift(9)).ok().out.startswith("created")
    assert [each["state"] for each in hub.issues] == ["open", "open"]
    assert tell("issue", drift(9)).ok().out.startswith("unchanged")
    assert [each["state"] for each in hub.issues] == ["open", "closed"]


@pytest.mark.parametrize("question", ["POST /graphql", "GET .*/runs", "POST .*/labels"])
def test_a_question_without_an_answer_holds_nothing_up(
    tell: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """502 for who we are, for the last apply, for the label: the issue is kept all the same."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0.01s")
    tell("issue", drift(9)).ok()
    hub.issues[0]["labels"] = []
    hub.fault(question, Reply(502, b"<html>"))
    assert tell("issue", drift(9, 7), "--apply-workflow", "apply.yml").ok().out.startswith("updated")
    assert len(hub.issues) == 1


def test_the_error_of_drift_is_no_drift_gone(tell: Any, hub: Standin) -> None:
    """A drift that ended with an error closes nothing, and is told as what it is."""
    tell("issue", drift(9)).ok()
    done = tell("issue", error_json(ReconcilerError("no credentials"))).ended(1)
    assert "whether there is drift isn't known: no credentials" in done.err
    assert hub.issues[0]["state"] == "open"


@pytest.mark.parametrize("commit", ["../../pulls/3", "..", "a b", "main", "\udcff", "?x"])
def test_a_commit_that_is_none_gets_into_no_url(tell: Any, hub: Standin, tmp_path: Path, commit: str) -> None:
    """It's an error, and the report is kept."""
    done = tell("applied", report(Status.FAILED), "--commit", commit).ended(1)
    assert "is no commit's id" in done.err
    assert hub.requests == []
    assert "1 failed" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(("workflow", "code"), [("../x?y=1", 0), ("..", 1)])
def test_a_workflow_that_is_none_gets_into_no_url(tell: Any, hub: Standin, workflow: str, code: int) -> None:
    """It's a name, whatever stands in it."""
    tell("issue", drift(9), "--apply-workflow", workflow).ended(code)
    assert all(path.endswith("workflows/..%2Fx%3Fy%3D1/runs") for path in hub.did("GET") if "workflows" in path)


def test_the_issue_says_what_differs(tell: Any, hub: Standin) -> None:
    """Pain F68: content, not only counts; and the label by which it is found."""
    tell("issue", drift(9, unmanaged=("projects/p/locations/us-central1/modelDevelopmentClusters/stray",))).ok()
    (issue,) = hub.issues
    assert issue["title"] == "Drift in clusters.d"
    assert issue["labels"] == [{"name": LABEL}]
    assert "| `node_pools[cpu].scaling_spec.max_node_count` | `9` | `4` |" in issue["body"]
    assert "p/us-central1/stray" in issue["body"]


def test_no_drift_no_issue(tell: Any, hub: Standin) -> None:
    """Where all is as written there is nothing to say."""
    assert tell("issue", drift()).ok().out == "none\n"
    assert hub.issues == []


def test_one_issue_per_environment(tell: Any, hub: Standin) -> None:
    """Environments have issues of their own, and close their own."""
    tell("issue", drift(9), "--environment", "prod").ok()
    tell("issue", drift(9), "--environment", "dev").ok()
    tell("issue", drift(), "--environment", "dev").ok()
    assert [(issue["title"], issue["state"]) for issue in hub.issues] == [
        ("Drift in clusters.d (prod)", "open"),
        ("Drift in clusters.d (dev)", "closed"),
    ]


def test_what_couldnt_be_read_closes_nothing(tell: Any, hub: Standin) -> None:
    """A cluster that can't be read may still differ: the issue stays open."""
    tell("issue", drift(9)).ok()
    unread = (PlanError("clusters.d/c0.yaml", "permission_denied", "403"),)
    assert tell("issue", drift(errors=unread)).ok().out.startswith("unchanged")
    assert hub.issues[0]["state"] == "open"


def test_an_issue_of_others_is_not_taken(tell: Any, hub: Standin) -> None:
    """A person's issue that begins with our marker, with the label, is left alone."""
    tell("issue", drift(9)).ok()
    hub.issues[0]["user"] = {"login": "somebody", "type": "User"}
    assert tell("issue", drift(9)).ok().out.startswith("created")
    assert len(hub.issues) == 2


def test_pull_requests_in_the_list_are_none(tell: Any, hub: Standin) -> None:
    """GitHub lists pull requests among the issues."""
    tell("issue", drift(9)).ok()
    hub.issues[0]["pull_request"] = {"url": "x"}
    assert tell("issue", drift(9)).ok().out.startswith("created")


def test_a_dropped_label_is_said(tell: Any, hub: Standin) -> None:
    """Without its label the issue wouldn't be found again: that is a warning."""
    hub.drops_labels = True
    assert f"dropped the label {LABEL}" in tell("issue", drift(9)).ok().err


def test_a_huge_drift_fits(tell: Any, hub: Standin) -> None:
    """A thousand drifted clusters are one issue within the limit."""
    tell("issue", drift(*range(5, 1005))).ok()
    assert len(hub.issues[0]["body"]) < LONGEST
    assert "1000 of 1000 clusters differ" in hub.issues[0]["body"]


def test_an_ambiguous_answer_opens_no_second_issue(tell: Any, hub: Standin) -> None:
    """The issue was opened and the answer was lost."""
    hub.fault("POST .*/issues$", Reply(500, {"message": "oops"}), times=1, done=True)
    tell("issue", drift(9)).ok()
    assert len(hub.issues) == 1


def test_a_lost_comment_is_no_failure(tell: Any, hub: Standin) -> None:
    """Whether the word on closing arrived isn't known: the issue is closed all the same."""
    tell("issue", drift(9)).ok()
    hub.fault("POST .*/comments", Reply(502, b""), times=1)
    assert tell("issue", drift()).ok().out.startswith("closed")
    assert hub.issues[0]["state"] == "closed"


@pytest.mark.parametrize(("arguments", "code"), [((), 1), (("--no-fail-on-error",), 0)])
def test_a_drift_nobody_hears_of_fails(
    tell: Any, hub: Standin, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    """Where issues are disabled the run is red unless asked otherwise; the report is in the summary."""
    hub.fault("GET .*/issues", Reply(410, {"message": "Issues are disabled for this repo"}))
    done = tell("issue", drift(9), *arguments).ended(code)
    assert "issues may be disabled" in done.err
    assert "`9`" in (tmp_path / "summary.md").read_text()


def test_what_is_no_drift_report_is_refused(tell: Any, hub: Standin) -> None:
    """A plan, or an error, is no drift report."""
    for text in (plan_json(Plan("0", "", ())), error_json(ReconcilerError("no"))):
        tell("issue", text).ended(1)
    assert hub.requests == []


def run(conclusion: str, commit: str) -> dict[str, Any]:
    """An ended run of apply.yml."""
    url = f"https://github.example/runs/{commit[:3]}"
    return {"workflow": "apply.yml", "conclusion": conclusion, "head_sha": commit, "html_url": url}


def test_pain_f86_drift_says_since_when_main_isnt_applied(tell: Any, hub: Standin) -> None:
    """Where the newest apply failed, the issue names it, and the commit that was applied last."""
    hub.runs = [run("success", GOOD), run("failure", COMMIT)]
    tell("issue", drift(9), "--apply-workflow", "apply.yml").ok()
    assert "[The newest apply failed](https://github.example/runs/aaa)" in hub.issues[0]["body"]
    assert f"haven't been applied since [`{GOOD[:10]}`]" in hub.issues[0]["body"]


@pytest.mark.parametrize("runs", [[], [run("failure", GOOD), run("success", COMMIT)]])
def test_nothing_is_said_of_applies_that_went_well(tell: Any, hub: Standin, runs: list[dict[str, Any]]) -> None:
    """No run yet, or a good one after a failed one: no warning."""
    hub.runs = runs
    tell("issue", drift(9), "--apply-workflow", "apply.yml").ok()
    assert "apply failed" not in hub.issues[0]["body"]


def test_runs_that_may_not_be_seen_are_no_failure(tell: Any, hub: Standin) -> None:
    """Without actions: read the issue is kept all the same."""
    hub.runs = [run("failure", COMMIT)]
    hub.fault("GET .*/runs", Reply(403, {"message": "Resource not accessible by integration"}))
    assert tell("issue", drift(9), "--apply-workflow", "apply.yml").ok().out.startswith("created")


def test_never_applied_at_all(tell: Any, hub: Standin) -> None:
    """The very first apply failed."""
    hub.runs = [run("failure", COMMIT)]
    tell("issue", drift(9), "--apply-workflow", "apply.yml").ok()
    assert "haven't been applied yet" in hub.issues[0]["body"]


def test_pain_f86_the_merged_pull_request_is_told(tell: Any, hub: Standin) -> None:
    """The pull request that brought the commit gets one comment, updated in place, the failed ones on top."""
    hub.pull(3, merged_at="2026-11-01T11:00:00Z")
    hub.pull(4)
    hub.commits[COMMIT] = [4, 3]
    text = report(Status.APPLIED, Status.FAILED, Status.PENDING, errors=(PlanError("x.yaml", "invalid_input", "no"),))
    assert tell("applied", text).ok().out.startswith("created")
    (body,) = hub.bodies(3)
    assert body.startswith("<!-- reconciler:apply path=clusters.d environment=default -->\n")
    assert "[!CAUTION]" in body
    assert body.index("**failed**") < body.index("| applied |")
    assert "no capacity &#124; left" in body
    assert "`reconciler operations wait projects/p/operations/2`" in body
    assert "`x.yaml` no" in body
    assert hub.bodies(4) == []
    tell("applied", report(Status.APPLIED)).ok()
    (body,) = hub.bodies(3)
    assert "Apply: 1 applied" in body
    assert "CAUTION" not in body


def test_an_apply_with_nothing_to_do_says_nothing(tell: Any, hub: Standin) -> None:
    """A merge that changes no cluster makes no comment."""
    hub.pull(3, merged_at="2026-11-01T11:00:00Z")
    hub.commits[COMMIT] = [3]
    assert tell("applied", report(Status.NO_OP)).ok().out == "none\n"


def test_a_commit_without_a_pull_request(tell: Any, hub: Standin) -> None:
    """A direct push has nobody to tell; --pr names one."""
    assert tell("applied", report(Status.FAILED)).ok().out == "none\n"
    hub.pull(5)
    assert tell("applied", report(Status.FAILED), "--pr", "5").ok().out.startswith("created")


def test_an_apply_that_ended_with_an_error_is_told(tell: Any, hub: Standin) -> None:
    """What `--format json` prints instead of a report is told too."""
    hub.pull(5)
    tell("applied", error_json(ReconcilerError("the plan is stale", code="stale")), "--pr", "5").ok()
    (body,) = hub.bodies(5)
    assert "the plan is stale" in body
    assert "[!CAUTION]" in body


def test_a_huge_apply_fits(tell: Any, hub: Standin) -> None:
    """Two thousand fates are one comment, the failed ones first."""
    hub.pull(5)
    tell("applied", report(*[Status.APPLIED] * 2000, Status.FAILED), "--pr", "5").ok()
    (body,) = hub.bodies(5)
    assert len(body) < LONGEST
    assert "**failed**" in body
    assert "2000 applied, 1 failed" in body


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": [{"cluster": 1}]}', '{"error": {}}', '{"error": 1}'])
def test_what_is_no_apply_report_is_refused(tell: Any, hub: Standin, text: str) -> None:
    """Anything else is an error, and nothing is sent."""
    assert "no report of apply" in tell("applied", text).ended(1).err
    assert hub.requests == []


def test_summaries_of_every_report(tell: Any, hub: Standin, tmp_path: Path) -> None:
    """A plan, a drift report, an apply's report and a command's error each go to the job summary, one after the other."""
    plan = Plan("0", "2026-11-01T12:00:00Z", ())
    told = [plan_json(plan), drift(9), report(Status.APPLIED), error_json(ReconcilerError("no <b>way</b>"))]
    for text in told:
        assert tell("summary", text, "--environment", "prod").ok().out == ""
    summary = (tmp_path / "summary.md").read_text()
    heads = ["## Plan for clusters.d (prod)", "## Drift in clusters.d (prod)", "## Apply of clusters.d (prod)"]
    heads.append("## clusters.d (prod): failed")
    places = [summary.index(head) for head in heads]
    assert places == sorted(places)
    assert "<b>" not in summary
    assert "way" in summary
    assert hub.requests == []


def test_a_summary_outside_of_a_run(tell: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without GITHUB_STEP_SUMMARY it is printed."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    assert "## Drift in clusters.d" in tell("summary", drift(9)).ok().out


def test_a_summary_fits_what_room_is_left(tell: Any, hub: Standin, tmp_path: Path) -> None:
    """The job summary has a limit of its own, above which GitHub drops it whole."""
    summary = tmp_path / "summary.md"
    summary.write_text("x" * 500_000)
    clusters = tuple(
        ClusterPlan(
            f"projects/p/locations/us-central1/modelDevelopmentClusters/c{number}",
            f"clusters.d/c{number}.yaml",
            Action.UPDATE,
            (Change("node_pools[cpu].startup_script", "a\n", "b\n" * 25_000, "node_pools", Impact.RECREATES_NODES),),
        )
        for number in range(40)
    )
    tell("summary", plan_json(Plan("0", "", clusters, summary=summarise(clusters)))).ok()
    assert 900_000 < summary.stat().st_size <= SUMMARY_LIMIT


def test_what_is_no_report_is_refused(tell: Any, hub: Standin) -> None:
    """A summary of something else is an error."""
    for text in ("", "[]", json.dumps({"a": 1})):
        tell("summary", text).ended(1)


def test_unmanaged_clusters_that_are_no_drift(tell: Any, hub: Standin) -> None:
    """Without --include-unmanaged drift exits 0 for them, and so no issue is opened, or kept open."""
    stray = ("projects/p/locations/us-central1/modelDevelopmentClusters/stray",)
    tell("issue", drift(unmanaged=stray, counted=False)).ok()
    assert hub.issues == []
    tell("issue", drift(9)).ok()
    tell("issue", drift(unmanaged=stray, counted=False)).ok()
    assert [each["state"] for each in hub.issues] == ["closed"]
