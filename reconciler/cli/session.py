"""The connection of one command: settings from options and environment, and the embedded emulator if asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING

import typer

from reconciler.cli.options import Global
from reconciler.errors import UsageError

if TYPE_CHECKING:
    from reconciler.cloud.clusters import Clusters
    from reconciler.cloud.operations import Operations
    from reconciler.cloud.settings import Settings
    from reconciler.cloud.slurm import Slurm
    from reconciler.cloud.slurm_job import SlurmJob
    from reconciler.cloud.slurm_shapes import SlurmPartition
    from reconciler.cloud.transport import Transport
    from reconciler.engine.interrupt import Interrupt
    from reconciler.spec.names import ClusterName

EMULATOR = "emulator"


@dataclass(frozen=True, slots=True)
class Cloud:
    """What a command talks to."""

    settings: Settings
    transport: Transport
    clusters: Clusters
    operations: Operations
    slurm: Callable[[], Slurm]  # one for the run: it remembers which version each cluster speaks
    endpoint: str = ""  # if the command line named one

    def resume(self, operation: str) -> str:
        """The command that waits for an operation, at the same endpoint."""
        command = f"reconciler operations wait {quote(operation)}"
        return f"{command} --endpoint {quote(self.endpoint)}" if self.endpoint else command

    def queue(self, name: ClusterName) -> tuple[SlurmJob, ...]:
        """The jobs in a cluster's queue."""
        return self.slurm().queue(name)

    def partitions(self, name: ClusterName) -> tuple[SlurmPartition, ...]:
        """A cluster's partitions, as its controller has them."""
        return self.slurm().partitions(name)


@contextmanager
def connect(
    context: typer.Context,
    endpoint: str | None,
    impersonate: str | None = None,
    timeout: str | None = None,
    interrupt: Interrupt | None = None,
) -> Iterator[Cloud]:
    """The connection that options and environment ask for; `interrupt` ends its pauses.

    Raises UsageError where they make no sense.
    """
    from reconciler.cloud.settings import Settings

    given: Global = context.obj
    settings = Settings.from_environ(os.environ)
    if chosen := endpoint or given.endpoint:
        settings = replace(settings, endpoint=chosen)
    if impersonate:
        settings = replace(settings, impersonate_service_account=impersonate)
    if timeout:
        settings = replace(settings, operation_timeout=duration("--timeout", timeout))
    with _emulated(settings) as reachable:
        cloud = _cloud(reachable, interrupt.sleep if interrupt else time.sleep, verbose=given.verbose)
        cloud = replace(cloud, endpoint=chosen or "")
        try:
            yield cloud
        finally:
            cloud.transport.close()


def duration(option: str, text: str) -> float:
    """Seconds. Raises UsageError, naming the option."""
    from reconciler.cloud.settings import seconds

    try:
        return seconds(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None


@contextmanager
def _emulated(settings: Settings) -> Iterator[Settings]:
    if settings.endpoint != EMULATOR:
        yield settings
        return
    from reconciler.emulator.server import Emulator, EmulatorConfig

    with Emulator(EmulatorConfig()) as emulator:
        yield replace(settings, endpoint=emulator.url)


def _cloud(settings: Settings, sleep: Callable[[float], object], *, verbose: bool) -> Cloud:
    from reconciler.cli.output import say
    from reconciler.cloud.clusters import Clusters
    from reconciler.cloud.operations import Operations
    from reconciler.cloud.transport import Transport

    transport = Transport(settings, sleep=sleep, on_retry=say, debug=say if verbose else None)

    @cache
    def slurm() -> Slurm:
        from reconciler.cloud.slurm import Slurm

        return Slurm(transport, say=say)

    return Cloud(settings, transport, Clusters(transport), Operations(transport), slurm)
