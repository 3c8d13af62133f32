"""`jobs`: submit, list, show, cancel, wait, history through the Slurm job API; no SSH."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.jobs_session import Attend, AttendTime, Job, Partition, Session, Version, seconds_of, session, warn
from reconciler.cli.jobs_submit import submit
from reconciler.cli.options import Cluster, Endpoint, Impersonate, Report, ReportFormat
from reconciler.errors import ReconcilerError, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.slurm_answers import SlurmAnswer

# Typer reads these at run time, so Optional is spelled out for it.
User = Annotated[str, typer.Option("--user", metavar="NAME", help="A user's jobs.", show_default=False)]
States = Annotated[
    Optional[list[str]],
    typer.Option("--state", metavar="STATE", help="PENDING, RUNNING, COMPLETED, …; may be repeated."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Jobs of a cluster's Slurm: submit, list, show, cancel, wait, history.",
        rich_markup_mode=None,
    )
    group.command("submit")(submit)
    group.command("list")(list_jobs)
    group.command("show")(show_job)
    group.command("cancel")(cancel)
    group.command("wait")(wait)
    group.command("history")(history)
    app.add_typer(group, name="jobs")


def list_jobs(
    context: typer.Context,
    cluster: Cluster,
    partition: Partition = "",
    user: User = "",
    state: States = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """The live queue: what waits, what runs, and what ended in the last minutes."""
    from reconciler.cli.output import show
    from reconciler.views.jobs import jobs_json, jobs_text

    states = _states(state or [])
    with session(context, cluster, version, endpoint, impersonate) as opened:
        answer = opened.slurm.jobs(opened.name)
        # A pending job may name several partitions; one that has jobs need not be there any more.
        there = [job for job in answer.jobs if not partition or partition in job.partition.split(",")]
        missing = [] if there or not partition else _missing(opened, partition)
    found = [job for job in there if user in ("", job.user) and (not states or states.intersection(job.states))]
    warnings = warn((*answer.errors, *answer.warnings, *missing))
    show(jobs_json(found, warnings) if output is ReportFormat.JSON else jobs_text(found))


def show_job(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """One job, from the live queue, or from the history once the queue has forgotten it."""
    from reconciler.cloud.slurm_job import JobId

    job_id = JobId.parse(job)
    with session(context, cluster, version, endpoint, impersonate) as opened:
        answer = opened.slurm.find(opened.name, job_id)
    _show_answer(answer, output)


def history(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """One job as the accounting database has it, which lags some seconds behind."""
    from reconciler.cloud.slurm_job import JobId

    job_id = JobId.parse(job)
    with session(context, cluster, version, endpoint, impersonate) as opened:
        answer = opened.slurm.history(opened.name, job_id)
    _show_answer(answer, output)


def cancel(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    attend: Attend = False,
    timeout: AttendTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Cancel a job of one's own; an array's id cancels all its tasks. A job that is over already is a success, too."""
    from reconciler.cli.output import show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.views.jobs import cancelled_text, jobs_json

    job_id, seconds = JobId.parse(job), seconds_of(timeout, attend=attend)
    with session(context, cluster, version, endpoint, impersonate) as opened:
        cancelled = opened.slurm.cancel(opened.name, job_id)
        jobs, result = cancelled.jobs, "already_finished" if cancelled.was_finished else "cancelling"
        if attend and not cancelled.was_finished:
            jobs, result = opened.wait(job_id, seconds).jobs, "ended"
    as_json = output is ReportFormat.JSON
    show(jobs_json(jobs, result=result) if as_json else cancelled_text(str(job_id), jobs, result))


def wait(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    timeout: AttendTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Wait for a job, or for all tasks of an array. Exits 0 if COMPLETED, 1 otherwise."""
    from reconciler.cli.output import show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.views.jobs import jobs_json, outcomes

    job_id, seconds = JobId.parse(job), seconds_of(timeout)
    with session(context, cluster, version, endpoint, impersonate) as opened:
        waited = opened.wait(job_id, seconds)
    show(jobs_json(waited.jobs) if output is ReportFormat.JSON else outcomes(str(job_id), waited.jobs))
    raise typer.Exit(0 if waited.is_completed else 1)


def _states(given: list[str]) -> set[str]:
    """The states to list. Raises UsageError for a word that Slurm has none of."""
    from reconciler.cloud.slurm_job import STATE_WORDS
    from reconciler.spec.findings import did_you_mean

    words = {word.strip().upper() for each in given for word in each.split(",")}
    for word in sorted(words.difference(STATE_WORDS)):
        hint = did_you_mean(word, STATE_WORDS) or f"known: {', '.join(STATE_WORDS)}"
        raise UsageError(f"--state {word}: Slurm has no such state", hint=hint)
    return words


def _missing(opened: Session, partition: str) -> list[str]:
    """A sentence if the cluster has no such partition: then an empty list doesn't mean that nothing is queued."""
    from reconciler.spec.findings import did_you_mean

    try:
        names = [each.name for each in opened.slurm.partitions(opened.name)]
    except ReconcilerError as error:
        return [f"it isn't known whether there is a partition {partition}: {error.summary}"]
    if partition in names:
        return []
    hint = did_you_mean(partition, names) or f"it has: {', '.join(names) or 'none'}"
    return [f"{opened.cluster} has no partition {partition}; {hint}"]


def _show_answer(answer: SlurmAnswer, output: ReportFormat) -> None:
    from reconciler.cli.output import show
    from reconciler.views.jobs import job_text, jobs_json

    warnings = warn((*answer.errors, *answer.warnings))
    show(jobs_json(answer.jobs, warnings) if output is ReportFormat.JSON else job_text(answer.jobs))
