"""`jobs`: submit, list, show, cancel, wait, history through the Slurm job API; no SSH."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from reconciler.cli.options import Cluster, Endpoint, Impersonate, Report, ReportFormat
from reconciler.errors import InputError, InterruptedRun, PendingError, ReconcilerError, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.slurm import Slurm
    from reconciler.cloud.slurm_job import JobId, SlurmJob
    from reconciler.cloud.slurm_replies import SlurmAnswer
    from reconciler.cloud.slurm_script import Script
    from reconciler.cloud.slurm_wait import Waited
    from reconciler.engine.interrupt import Interrupt
    from reconciler.spec.names import ClusterName

_STDIN = Path("-")
Job = Annotated[str, typer.Argument(metavar="ID", help="17, 100_3 for a task of an array, 200+1 for a component.")]
Version = Annotated[
    Optional[str],  # noqa: UP045 - typer reads it at run time
    typer.Option(
        "--slurm-api-version", metavar="VERSION", help="Default: v0.0.42, or what the cluster turns out to serve."
    ),
]
Partition = Annotated[str, typer.Option("--partition", metavar="NAME", help="A partition.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the job is over.")]
WaitTime = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option("--timeout", metavar="DUR", help="How long to wait at most, such as 90m. Default: to the end."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Jobs of a cluster's Slurm: submit, list, show, cancel, wait, history.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("submit")(submit)
    group.command("list")(list_jobs)
    group.command("show")(show_job)
    group.command("cancel")(cancel)
    group.command("wait")(wait)
    group.command("history")(history)
    app.add_typer(group, name="jobs")


@dataclass(frozen=True, slots=True)
class _Session:
    """A connection to one cluster's Slurm."""

    slurm: Slurm
    name: ClusterName
    interrupt: Interrupt

    def command(self, verb: str, job: object = "") -> str:
        """A command line for people to go on with."""
        return f"reconciler jobs {verb} {'/'.join(self.name)} {job}".rstrip()


@contextmanager
def _session(
    context: typer.Context, cluster: str, version: str | None, endpoint: str | None, impersonate: str | None
) -> Iterator[_Session]:
    from reconciler.cli.files import resolve
    from reconciler.cli.output import say
    from reconciler.cli.session import connect
    from reconciler.cloud.slurm import Slurm
    from reconciler.engine.interrupt import Interrupt

    interrupt = Interrupt()
    name = resolve(cluster)
    with connect(context, endpoint, impersonate, interrupt=interrupt) as cloud:
        slurm = Slurm(cloud.transport, version=version, say=lambda text: say(f"note: {text}"))
        yield _Session(slurm, name, interrupt)


def submit(
    context: typer.Context,
    cluster: Cluster,
    script: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Argument(metavar="SCRIPT", help="A batch script; - for standard input.", show_default=False),
    ] = None,
    partition: Partition = "",
    nodes: Annotated[Optional[int], typer.Option("--nodes", min=1, metavar="N", help="How many nodes.")] = None,  # noqa: UP045
    tasks_per_node: Annotated[Optional[int], typer.Option("--tasks-per-node", min=1, metavar="N")] = None,  # noqa: UP045
    cpus_per_task: Annotated[Optional[int], typer.Option("--cpus-per-task", min=1, metavar="N")] = None,  # noqa: UP045
    time_limit: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--time-limit", min=1, metavar="MIN", help="After how many minutes it's ended."),
    ] = None,
    job_name: Annotated[str, typer.Option("--name", metavar="NAME", help="The job's name.")] = "",
    cwd: Annotated[
        str,
        typer.Option("--cwd", metavar="PATH", help="Where it runs on the cluster. Default: #SBATCH --chdir, or /tmp"),
    ] = "",
    env: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--env", metavar="K=V", help="A variable of the job's environment; may be repeated."),
    ] = None,
    json_file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--json", metavar="FILE", help="More of the job, in the API's own fields; options win over it."),
    ] = None,
    wait_for_it: Wait = False,
    timeout: WaitTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Submit a job. It's sent once: when the answer is lost, the message says how to look. --wait exits as 'jobs wait'."""
    from reconciler.cli.output import say, show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.cloud.slurm_submission import JobOptions, prepare
    from reconciler.views.jobs import jobs_json, outcomes, result_json

    options = JobOptions(
        partition, nodes, tasks_per_node, cpus_per_task, time_limit, job_name, cwd, _environment(env or [])
    )
    seconds = _seconds(timeout)
    submission = prepare(_script(script), options, _json_object(json_file))
    for note in submission.notes:
        say(f"note: {note}")
    with _session(context, cluster, version, endpoint, impersonate) as session:
        try:
            submitted = session.slurm.submit(session.name, submission)
        except KeyboardInterrupt:
            raise InterruptedRun(
                "interrupted while the job was submitted: it may exist", hint=session.command("list")
            ) from None
        job_id = JobId(submitted.job_id)
        told = f"submitted job {job_id} to {'/'.join(session.name)}"
        warnings = _warn(submitted.messages)
        document = {"job_id": job_id.number, "cluster": str(session.name)}
        if not wait_for_it:
            plain = {**document, "notes": list(submission.notes), "warnings": warnings}
            show(result_json(plain) if output is ReportFormat.JSON else told)
            return
        (say if output is ReportFormat.JSON else show)(told)
        waited = _wait(session, job_id, seconds)
    as_json = output is ReportFormat.JSON
    show(jobs_json(waited.jobs, warnings, **document) if as_json else outcomes(str(job_id), waited.jobs))
    raise typer.Exit(0 if waited.is_completed else 1)


def list_jobs(
    context: typer.Context,
    cluster: Cluster,
    partition: Partition = "",
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="A user's jobs.")] = "",
    state: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--state", metavar="STATE", help="PENDING, RUNNING, COMPLETED, …; may be repeated."),
    ] = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """The live queue: what waits, runs, and ended in the last minutes."""
    from reconciler.cli.output import show
    from reconciler.views.jobs import jobs_json, jobs_text

    with _session(context, cluster, version, endpoint, impersonate) as session:
        answer = session.slurm.jobs(session.name)
    states = {word.strip().upper() for given in state or [] for word in given.split(",")}
    found = [
        job
        for job in answer.jobs
        if (not partition or partition in job.partition.split(","))
        and (not user or user == job.user)
        and (not states or states.intersection(job.states))
    ]
    warnings = _warn((*answer.errors, *answer.warnings))
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
    with _session(context, cluster, version, endpoint, impersonate) as session:
        answer = session.slurm.find(session.name, job_id)
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
    """One job as the accounting database has it; it lags some seconds behind."""
    from reconciler.cloud.slurm_job import JobId

    job_id = JobId.parse(job)
    with _session(context, cluster, version, endpoint, impersonate) as session:
        answer = session.slurm.history(session.name, job_id)
    _show_answer(answer, output)


def cancel(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    wait_for_it: Wait = False,
    timeout: WaitTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Cancel a job of one's own; an array's id cancels all its tasks. A job that is over already is a success, too."""
    from reconciler.cli.output import show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.views.jobs import jobs_json, outcomes

    job_id, seconds = JobId.parse(job), _seconds(timeout)
    with _session(context, cluster, version, endpoint, impersonate) as session:
        cancelled = session.slurm.cancel(session.name, job_id)
        jobs = cancelled.jobs
        if wait_for_it and not cancelled.was_finished:
            jobs = _wait(session, job_id, seconds).jobs
    result = "already_finished" if cancelled.was_finished else "ended" if wait_for_it else "cancelling"
    if output is ReportFormat.JSON:
        show(jobs_json(jobs, result=result))
    elif result == "already_finished":
        show(f"{outcomes(str(job_id), jobs)}; already finished, nothing to cancel")
    elif result == "ended":
        show(outcomes(str(job_id), jobs))
    else:
        show(f"job {job_id}: cancel accepted; it takes a moment to stop")


def wait(
    context: typer.Context,
    cluster: Cluster,
    job: Job,
    timeout: WaitTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Wait for a job, or for all tasks of an array. Exits 0 if COMPLETED, 1 otherwise."""
    from reconciler.cli.output import show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.views.jobs import jobs_json, outcomes

    job_id, seconds = JobId.parse(job), _seconds(timeout)
    with _session(context, cluster, version, endpoint, impersonate) as session:
        waited = _wait(session, job_id, seconds)
    show(jobs_json(waited.jobs) if output is ReportFormat.JSON else outcomes(str(job_id), waited.jobs))
    raise typer.Exit(0 if waited.is_completed else 1)


def _wait(session: _Session, job_id: JobId, timeout: float | None) -> Waited:
    """The job at its end. Raises PendingError, InterruptedRun, and what the polls raise; all say how to go on."""
    from reconciler.cli.output import say
    from reconciler.cloud.slurm_wait import JobWait, describe

    resume = f"to go on: {session.command('wait', job_id)}"
    job_wait = JobWait(session.slurm, sleep=session.interrupt.sleep, say=say)
    ended: list[Waited] = []
    with session.interrupt.on_signals():
        try:
            session.interrupt.watch(lambda: ended.append(job_wait.wait(session.name, job_id, timeout)))
        except InterruptedRun:
            ended.clear()
        except ReconcilerError as error:
            error.hint = f"{error.hint}; {resume}" if error.hint else resume
            raise
    if session.interrupt and not (ended and ended[0].is_over):
        raise InterruptedRun(f"job {job_id} of {session.name} goes on", hint=resume)
    if not ended[0].is_over:
        state = describe(ended[0].jobs)
        raise PendingError(f"job {job_id} isn't over in time: {state}", operation=str(job_id), hint=resume)
    return ended[0]


def _show_answer(answer: SlurmAnswer, output: ReportFormat) -> None:
    from reconciler.cli.output import show
    from reconciler.views.jobs import job_text, jobs_json

    jobs: tuple[SlurmJob, ...] = answer.jobs
    warnings = _warn((*answer.errors, *answer.warnings))
    show(jobs_json(jobs, warnings) if output is ReportFormat.JSON else job_text(jobs))


def _warn(messages: Iterable[object]) -> list[str]:
    """Say Slurm's warnings on standard error; also as a list, each once."""
    from reconciler.cli.output import say
    from reconciler.views.safe import safe

    warnings = list(dict.fromkeys(map(str, messages)))
    for warning in warnings:
        say(f"warning: {safe(warning)}")
    return warnings


def _script(path: Path | None) -> Script | None:
    from reconciler.cloud.slurm_script import read_script

    if path is None:
        return None
    return read_script(_read(path), "standard input" if path == _STDIN else str(path))


def _read(path: Path) -> str:
    import sys

    try:
        return (sys.stdin.buffer.read() if path == _STDIN else path.read_bytes()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: no UTF-8 text at byte {error.start}") from None


def _json_object(path: Path | None) -> dict[str, Any] | None:
    import json

    if path is None:
        return None
    try:
        value = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: no JSON object")
    return value


def _environment(pairs: list[str]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    if wrong := [pair for pair, (name, sign, _) in zip(pairs, split, strict=True) if not (name and sign)]:
        raise UsageError(f"--env {wrong[0]}: say it like NAME=VALUE")
    return {name: value for name, _, value in split}


def _seconds(duration: str | None) -> float | None:
    from reconciler.cloud.settings import seconds

    try:
        return None if duration is None else seconds(duration)
    except ValueError as error:
        raise UsageError(f"--timeout: {error}") from None
