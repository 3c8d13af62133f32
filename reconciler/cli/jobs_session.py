"""What the commands on jobs share: options, the connection to one cluster's Slurm, and the wait that can be left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.errors import InterruptedRun, PendingError, ReconcilerError, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.slurm import Slurm
    from reconciler.cloud.slurm_job import JobId
    from reconciler.cloud.slurm_wait import Waited
    from reconciler.engine.interrupt import Interrupt
    from reconciler.spec.names import ClusterName

# Typer reads these at run time, so Optional is spelled out for it.
Job = Annotated[str, typer.Argument(metavar="ID", help="17, 100_3 for a task of an array, 200+1 for a component.")]
Version = Annotated[
    Optional[str],
    typer.Option(
        "--slurm-api-version", metavar="VERSION", help="Default: v0.0.42, or what the cluster turns out to serve."
    ),
]
Partition = Annotated[str, typer.Option("--partition", metavar="NAME", help="A partition.", show_default=False)]
Attend = Annotated[bool, typer.Option("--wait", help="Wait until the job is over.")]
AttendTime = Annotated[
    Optional[str],
    typer.Option("--timeout", metavar="DUR", help="How long to wait at most, such as 90m. Default: to the end."),
]


@dataclass(frozen=True, slots=True)
class Session:
    """A connection to one cluster's Slurm."""

    slurm: Slurm
    name: ClusterName
    interrupt: Interrupt

    @property
    def cluster(self) -> str:
        """The cluster as every command takes it."""
        return "/".join(self.name)

    def command(self, verb: str, job: object = "") -> str:
        """A command line for people to go on with."""
        return f"reconciler jobs {verb} {quote(self.cluster)} {quote(str(job)) if job else ''}".rstrip()

    def wait(self, job_id: JobId, timeout: float | None) -> Waited:
        """The job at its end. Raises PendingError, InterruptedRun, and what the polls raise; all say how to go on."""
        from reconciler.cli.output import say
        from reconciler.cloud.slurm_job import describe
        from reconciler.cloud.slurm_wait import JobWait
        from reconciler.views.safe import safe

        resume = f"to go on: {self.command('wait', job_id)}"
        job_wait = JobWait(self.slurm, sleep=self.interrupt.sleep, say=lambda text: say(safe(text)))
        ended: list[Waited] = []
        with self.interrupt.on_signals():
            try:
                self.interrupt.watch(lambda: ended.append(job_wait.wait(self.name, job_id, timeout)))
            except InterruptedRun:
                ended.clear()
            except ReconcilerError as error:
                error.hint = f"{error.hint}; {resume}" if error.hint else resume
                raise
        if self.interrupt and not (ended and ended[0].is_over):
            raise InterruptedRun(f"job {job_id} of {self.name} goes on", hint=resume)
        if not ended[0].is_over:
            state = describe(ended[0].jobs)
            raise PendingError(f"job {job_id} isn't over in time: {state}", operation=str(job_id), hint=resume)
        return ended[0]


@contextmanager
def session(
    context: typer.Context, cluster: str, version: str | None, endpoint: str | None, impersonate: str | None
) -> Iterator[Session]:
    """The connection that a command asks for. Raises UsageError, InputError."""
    from reconciler.cli.files import resolve
    from reconciler.cli.output import say
    from reconciler.cli.session import connect
    from reconciler.cloud.slurm import Slurm
    from reconciler.engine.interrupt import Interrupt

    interrupt = Interrupt()
    name = resolve(cluster)
    with connect(context, endpoint, impersonate, interrupt=interrupt) as cloud:
        slurm = Slurm(cloud.transport, version=version, say=lambda text: say(f"note: {text}"))
        yield Session(slurm, name, interrupt)


def warn(messages: Iterable[object]) -> list[str]:
    """Say Slurm's errors and warnings on standard error; also as a list, each once."""
    from reconciler.cli.output import say
    from reconciler.views.safe import safe

    warnings = list(dict.fromkeys(map(str, messages)))
    for warning in warnings:
        say(f"warning: {safe(warning)}")
    return warnings


def seconds_of(timeout: str | None, *, attend: bool = True) -> float | None:
    """A `--timeout` in seconds; None for no end. Raises UsageError, also where nothing is waited for."""
    from reconciler.cli.session import duration

    if timeout is not None and not attend:
        raise UsageError("--timeout says how long to wait, and there is no --wait")
    return None if timeout is None else duration("--timeout", timeout)
