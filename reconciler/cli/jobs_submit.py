"""`jobs submit`: a script and its description on their way to a cluster's Slurm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, Optional

import typer

from reconciler.cli.inputs import STDIN, check_text, read_text
from reconciler.cli.jobs_session import (
    Attend,
    AttendTime,
    Partition,
    Session,
    Version,
    seconds_of,
    session,
    warn,
)
from reconciler.cli.options import Cluster, Endpoint, Impersonate, Report, ReportFormat
from reconciler.errors import InputError, InterruptedRun, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.slurm import Submitted
    from reconciler.cloud.slurm_script import Script
    from reconciler.cloud.slurm_submission import Submission

_LIMIT = 4 * 2**20  # bytes; the API takes no more than one MB
# Typer reads these at run time, so Optional is spelled out for it.
ScriptPath = Annotated[
    Optional[Path],
    typer.Argument(metavar="SCRIPT", help="A batch script; - for standard input.", show_default=False),
]
Nodes = Annotated[Optional[int], typer.Option("--nodes", min=1, metavar="N", help="How many nodes.")]
Tasks = Annotated[Optional[int], typer.Option("--tasks-per-node", min=1, metavar="N", help="Tasks on each.")]
Cpus = Annotated[Optional[int], typer.Option("--cpus-per-task", min=1, metavar="N", help="CPUs of each task.")]
Minutes = Annotated[
    Optional[int],
    typer.Option("--time-limit", min=1, metavar="MIN", help="After how many minutes the job is ended."),
]
Name = Annotated[str, typer.Option("--name", metavar="NAME", help="The job's name.", show_default=False)]
Directory = Annotated[
    str,
    typer.Option(
        "--cwd",
        metavar="PATH",
        help="Where it runs on the cluster. Default: #SBATCH --chdir, or /tmp",
        show_default=False,
    ),
]
Variables = Annotated[
    Optional[list[str]],
    typer.Option("--env", metavar="K=V", help="A variable of the job's environment; may be repeated."),
]
JsonFile = Annotated[
    Optional[Path],
    typer.Option("--json", metavar="FILE", help="More of the job, in the API's own fields; options win over it."),
]


def submit(
    context: typer.Context,
    cluster: Cluster,
    script: ScriptPath = None,
    partition: Partition = "",
    nodes: Nodes = None,
    tasks_per_node: Tasks = None,
    cpus_per_task: Cpus = None,
    time_limit: Minutes = None,
    job_name: Name = "",
    cwd: Directory = "",
    env: Variables = None,
    json_file: JsonFile = None,
    attend: Attend = False,
    timeout: AttendTime = None,
    output: Report = ReportFormat.TEXT,
    version: Version = None,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Submit a job. It's sent once: when the answer is lost, the message says how to look.

    With --wait it exits as 'jobs wait' does: 0 if the job COMPLETED, 1 otherwise.
    """
    from reconciler.cli.output import say
    from reconciler.cloud.slurm_submission import JobOptions, prepare
    from reconciler.views.safe import safe

    check_text({"--partition": partition, "--name": job_name, "--cwd": cwd, "--env": "".join(env or [])})
    variables = _environment(env or [])
    options = JobOptions(partition, nodes, tasks_per_node, cpus_per_task, time_limit, job_name, cwd, variables)
    seconds = seconds_of(timeout, attend=attend)
    submission = prepare(_script(script), options, _json_object(json_file))
    as_json = output is ReportFormat.JSON
    with session(context, cluster, version, endpoint, impersonate) as opened:
        submitted = _submit(opened, submission)
        for note in submission.notes:  # of a job that exists, in a cluster that does
            say(f"note: {safe(note)}")
        if attend:
            raise typer.Exit(_attend(opened, submitted, seconds, as_json=as_json))
        _tell(opened, submitted, submission, as_json=as_json)


def _submit(opened: Session, submission: Submission) -> Submitted:
    """Submit once. After Ctrl-C the answer has a few seconds to come, since without it nobody knows."""
    made: list[Submitted] = []
    with opened.interrupt.on_signals():
        opened.interrupt.watch(lambda: made.append(opened.slurm.submit(opened.name, submission)))
    if not made:
        hint = f"to look: {opened.command('list')}"
        raise InterruptedRun("interrupted while the job was submitted: it may exist", hint=hint)
    return made[0]


def _tell(opened: Session, submitted: Submitted, submission: Submission, *, as_json: bool) -> None:
    from reconciler.cli.output import show
    from reconciler.views.jobs import submitted_json, submitted_text

    warnings = warn(submitted.messages)
    cluster, job_id = opened.name, submitted.job_id
    show(
        submitted_json(cluster, job_id, submission.notes, warnings)
        if as_json
        else submitted_text(opened.cluster, job_id)
    )


def _attend(opened: Session, submitted: Submitted, seconds: float | None, *, as_json: bool) -> int:
    """Wait for the job; the exit code."""
    from reconciler.cli.output import say, show
    from reconciler.cloud.slurm_job import JobId
    from reconciler.views.jobs import jobs_json, outcomes, submitted_text

    warnings = warn(submitted.messages)
    # At once, since a run that is killed must have left the id behind.
    (say if as_json else show)(submitted_text(opened.cluster, submitted.job_id))
    waited = opened.wait(JobId(submitted.job_id), seconds)
    document = {"job_id": submitted.job_id, "cluster": str(opened.name)}
    show(jobs_json(waited.jobs, warnings, **document) if as_json else outcomes(str(submitted.job_id), waited.jobs))
    return 0 if waited.is_completed else 1


def _script(path: Path | None) -> Script | None:
    from reconciler.cloud.slurm_script import read_script

    if path is None:
        return None
    return read_script(read_text(path, _LIMIT), "standard input" if path == STDIN else str(path))


def _json_object(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        text = read_text(path, _LIMIT).removeprefix("\ufeff")
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
        # What Python reads and no JSON can hold: a number like 1e999, half a character.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: holds half a character, {error.object[error.start]!a}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: no JSON object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are there once each: of two values nobody can tell which one was meant."""
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is there twice")
    return made


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _environment(pairs: list[str]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    if wrong := [pair for pair, (name, sign, _) in zip(pairs, split, strict=True) if not (name and sign)]:
        raise UsageError(f"--env {wrong[0]}: say it like NAME=VALUE")
    return {name: value for name, _, value in split}
