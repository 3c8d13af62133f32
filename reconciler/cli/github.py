"""`github`: the plan as a comment, the drift as an issue, and both in the job summary.

A post that fails never loses the result: it goes to the job summary instead, with what is missing. By itself it doesn't
fail a plan's run either (`comment`, `applied`); a drift that nobody hears of does (`issue`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.github_posting import Posting, append, size
from reconciler.cli.inputs import read_text
from reconciler.cli.options import Report, ReportFormat
from reconciler.errors import ApiError, InputError, UnavailableError, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.github import Repository
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.cloud.github_threads import Outcome
    from reconciler.views.github import About

From = Annotated[Path, typer.Option("--from", metavar="FILE", help="The JSON to tell of; - is standard input.")]
Repo = Annotated[
    str, typer.Option("--repository", metavar="OWNER/REPO", help="Also GITHUB_REPOSITORY.", show_default=False)
]
Environment = Annotated[
    str, typer.Option("--environment", metavar="NAME", help="Tells this comment from those of other environments.")
]
FilesPath = Annotated[str, typer.Option("--path", metavar="PATH", help="The folder of cluster files that it is about.")]
Commit = Annotated[str, typer.Option("--commit", metavar="SHA", help="Whose files these are. Default: the event's.")]
Fail = Annotated[bool, typer.Option("--fail-on-error/--no-fail-on-error", help="Whether a failed post is exit code 1.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Pull-request comments, drift issues, job summaries.", rich_markup_mode=None)
    for command in (comment, issue, applied, summary):
        group.command()(command)
    app.add_typer(group, name="github")


def comment(
    context: typer.Context,
    source: Annotated[
        Optional[Path],
        typer.Option("--from", metavar="FILE", help="The plan file (plan --out); - is standard input."),
    ] = None,
    pr: Annotated[int, typer.Option("--pr", metavar="N", help="The pull request. Default: the event's.", min=0)] = 0,
    repository: Repo = "",
    environment: Environment = "",
    path: FilesPath = "clusters.d",
    commit: Commit = "",
    base: Annotated[str, typer.Option("--base", metavar="SHA", help="What it is compared with.")] = "",
    artifact_url: Annotated[str, typer.Option("--artifact-url", metavar="URL", help="Where all of it is kept.")] = "",
    failed: Annotated[
        bool, typer.Option("--failed", help="Instead of --from: no plan could be made; mark the comment outdated.")
    ] = False,
    fail: Fail = False,
    output: Report = ReportFormat.TEXT,
) -> None:
    """Have one comment with the plan on a pull request, per path and environment, updated in place.

    A plan without changes makes no comment, and only updates one that is there. Needs GITHUB_TOKEN with
    pull-requests: write.
    """
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.cloud.github_threads import keep_comment
    from reconciler.views import github as views
    from reconciler.views.markdown import COMMENT_LIMIT
    from reconciler.views.plan_file import read_plan

    if failed == (source is not None):
        raise UsageError("give either --from FILE or --failed")
    run = GitHubRun.from_environ(os.environ)
    given = read_text(source) if source else ""
    reason = _error_of(given)
    plan = read_plan(given) if source and not reason else None
    about = _about(run, path, environment, commit, base or run.base, artifact_url)

    def text(newer: str = "", limit: int = COMMENT_LIMIT) -> str:
        return views.comment_text(plan, about, newer=newer, limit=limit) if plan else views.failed_text(about, reason)

    def post(there: Repository) -> Outcome:
        number = pr or run.number()
        newer = _newer(there, number, about.commit)
        return keep_comment(
            there,
            number,
            views.marker("plan", path, environment),
            text(newer),
            create=not views.is_quiet(plan) if plan else bool(reason),
            unless=lambda body: bool(newer) and views.same_commit(views.commit_of(body), newer),
        )

    posting = Posting(context, run, repository, fail=fail, output=output)
    posting.carry_out(post, lambda room: text(limit=room))


def issue(
    context: typer.Context,
    source: From,
    repository: Repo = "",
    environment: Environment = "",
    path: FilesPath = "clusters.d",
    commit: Commit = "",
    apply_workflow: Annotated[
        str, typer.Option("--apply-workflow", metavar="FILE", help="Say so where its newest run failed (apply.yml).")
    ] = "",
    fail: Fail = True,
    output: Report = ReportFormat.TEXT,
) -> None:
    """Have one issue per path and environment while there is drift: updated, closed when it's gone, reopened.

    Needs GITHUB_TOKEN with issues: write, and actions: read for --apply-workflow.
    """
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.cloud.github_threads import IssueTexts, keep_issue
    from reconciler.views import github as views
    from reconciler.views.plan_file import read_drift

    run = GitHubRun.from_environ(os.environ)
    given = read_text(source)
    if reason := _error_of(given):
        raise InputError(f"this is the error of a command, and whether there is drift isn't known: {reason}")
    drift = read_drift(given)
    about = _about(run, path, environment, commit)

    def post(there: Repository) -> Outcome:
        texts = IssueTexts(
            marker=views.marker("drift", path, environment),
            title=views.issue_title(about),
            body=views.issue_body(drift, about, unapplied=_unapplied(there, apply_workflow, run.branch, about)),
            content=views.content_line(drift),
            settled=views.SETTLED,
            changed=views.issue_news(drift, about, "The drift has changed"),
            back=views.issue_news(drift, about, "The drift is back"),
            still=views.issue_news(drift, about, "This was closed, but the drift is still there"),
            gone=views.issue_news(drift, about, "No drift any more"),
        )
        return keep_issue(there, texts, wanted=drift.differs, certain=not drift.plan.errors)

    posting = Posting(context, run, repository, fail=fail, output=output)
    posting.carry_out(post, lambda room: views.issue_body(drift, about, limit=room))


def applied(
    context: typer.Context,
    source: From,
    pr: Annotated[int, typer.Option("--pr", metavar="N", help="Default: those that the commit came with.", min=0)] = 0,
    repository: Repo = "",
    environment: Environment = "",
    path: FilesPath = "clusters.d",
    commit: Commit = "",
    fail: Fail = False,
    output: Report = ReportFormat.TEXT,
) -> None:
    """Tell the merged pull request what its apply came to (apply --format json), in one comment, updated in place.

    An apply that found nothing to do makes no comment. Needs GITHUB_TOKEN with pull-requests: write.
    """
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.cloud.github_threads import Kept, Outcome, keep_comment
    from reconciler.engine.results import Status
    from reconciler.views.github import marker
    from reconciler.views.github_apply import apply_comment, apply_markdown, read_apply

    run = GitHubRun.from_environ(os.environ)
    report = read_apply(read_text(source))
    about = _about(run, path, environment, commit)
    body = apply_comment(report, about)
    create = bool(report.errors) or any(each.status is not Status.NO_OP for each in report.results)

    def post(there: Repository) -> Outcome:
        numbers = [pr] if pr else there.pulls_with(about.commit) if about.commit else []
        outcomes = [
            keep_comment(there, number, marker("apply", path, environment), body, create=create) for number in numbers
        ]
        return next(iter(outcomes), Outcome(Kept.NONE))

    posting = Posting(context, run, repository, fail=fail, output=output)
    posting.carry_out(post, lambda room: apply_markdown(report, about, limit=room))


def summary(
    source: From,
    environment: Environment = "",
    path: FilesPath = "clusters.d",
    commit: Commit = "",
    base: Annotated[str, typer.Option("--base", metavar="SHA", help="What it is compared with.")] = "",
    artifact_url: Annotated[str, typer.Option("--artifact-url", metavar="URL", help="Where all of it is kept.")] = "",
) -> None:
    """Write a plan, a drift report or an apply's report to the job summary, or to standard output outside of a run."""
    from reconciler.cli.output import show
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.views import github as views
    from reconciler.views.github_apply import apply_markdown, error_markdown, read_apply
    from reconciler.views.plan_file import read_drift, read_plan

    run = GitHubRun.from_environ(os.environ)
    about = _about(run, path, environment, commit, base or run.base, artifact_url)
    text = read_text(source)
    room = views.SUMMARY_LIMIT - size(run.summary) - 2  # the blank line behind it
    match _kind(text):
        case "apply":
            told = apply_markdown(read_apply(text), about, limit=room)
        case "error":  # a command's own, which has no title to tell which command it was
            told = error_markdown(read_apply(text), about)
        case "drift":
            told = views.drift_summary_text(read_drift(text), about, room=room)
        case _:
            told = views.summary_text(read_plan(text), about, room=room)
    if run.summary:
        append(run.summary, told)
    else:
        show(told)


def _kind(text: str) -> str:
    """Which of the tool's reports this is; what is none of them is left to the plan's reader to refuse."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(document, dict) or "clusters" in document:
        return "drift" if isinstance(document, dict) and "unmanaged" in document else ""
    return "apply" if "results" in document else "error" if "error" in document else ""


def _error_of(text: str) -> str:
    """What ended the command that this is from, which printed an error in place of its report; empty for a report."""
    from reconciler.views.github_apply import read_apply

    try:
        return read_apply(text).errors[0].message if _kind(text) == "error" else ""
    except InputError:  # nothing of ours; whoever reads the report says so
        return ""


def _about(run: GitHubRun, path: str, environment: str, commit: str, base: str = "", artifact_url: str = "") -> About:
    from reconciler.views.github import About, folder

    return About(
        path=folder(path),
        environment=environment,
        commit=commit or run.head,
        base=base,
        commits=f"{run.server}/{run.repository}/commit" if run.repository else "",
        run=run.run_url,
        artifact=artifact_url,
    )


def _newer(there: Repository, number: int, commit: str) -> str:
    """The commit that the pull request has moved on to; empty where ours is the newest, or nobody tells."""
    from reconciler.views.github import same_commit

    try:
        head = there.head(number) if commit else ""
    except (ApiError, UnavailableError):  # what isn't allowed here may still be allowed for comments
        return ""
    return "" if same_commit(head, commit) else head


def _unapplied(there: Repository, workflow: str, branch: str, about: About) -> str:
    """That the newest apply has failed, and since when; empty where it hasn't, or nobody tells."""
    from reconciler.views.github import unapplied_text

    try:
        last = there.last_run(workflow, branch) if workflow and branch else None
        if last is None or last.succeeded:
            return ""
        good = there.last_run(workflow, branch, succeeded=True)
    except (ApiError, UnavailableError):
        return ""
    return unapplied_text(about, good.commit if good else "", last.url)
