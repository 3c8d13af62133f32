"""`operations`: an interrupted wait is taken up again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reconciler.cli.options import Endpoint, Impersonate, Report, ReportFormat, Timeout
from reconciler.errors import ReconcilerError

if TYPE_CHECKING:
    from reconciler.cli.session import Cloud
    from reconciler.engine.interrupt import Interrupt

Name = Annotated[str, typer.Argument(metavar="NAME", help="The operation's full name, as apply printed it.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Long-running operations: list, get, wait.", rich_markup_mode=None)
    group.command("list")(list_operations)
    group.command("get")(get)
    group.command("wait")(wait)
    app.add_typer(group, name="operations")


def list_operations(
    context: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="[PROJECT/LOCATION]", help="Where. Default: everywhere the files have clusters.")
    ] = "",
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """The operations of a project and location, newest first as the service lists them."""
    from reconciler.cli.clusters import places
    from reconciler.cli.output import show
    from reconciler.cli.session import connect
    from reconciler.views.inventory import operations_text
    from reconciler.views.json import operations_json

    with connect(context, endpoint, impersonate) as cloud:
        found = [each for project, location in places(place) for each in cloud.operations.list(project, location)]
    show(operations_json(found) if output is ReportFormat.JSON else operations_text(found))


def get(
    context: typer.Context,
    name: Name,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """One operation, as the service answers it."""
    from reconciler.cli.output import show
    from reconciler.cli.session import connect
    from reconciler.views.inventory import resource_text
    from reconciler.views.json import resource_json

    with connect(context, endpoint, impersonate) as cloud:
        found = cloud.operations.get(name)
    show(resource_json(found) if output is ReportFormat.JSON else resource_text(found))


def wait(
    context: typer.Context,
    name: Name,
    timeout: Timeout = None,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Wait for an operation. Exits 0 when it succeeded, 1 when it failed or goes on after --timeout."""
    from reconciler.cli.output import show
    from reconciler.cli.session import connect
    from reconciler.engine.interrupt import Interrupt
    from reconciler.errors import InterruptedRun
    from reconciler.views.inventory import resource_text
    from reconciler.views.json import resource_json

    interrupt = Interrupt()
    found: list[dict[str, Any]] = []
    with interrupt.on_signals(), connect(context, endpoint, impersonate, timeout, interrupt) as cloud:
        try:
            # No grace: all that a look under way could do is answer.
            interrupt.watch(lambda: found.append(_ended(cloud, name, interrupt)), grace=0)
        except ReconcilerError:
            if not interrupt:
                raise
        if interrupt:
            raise InterruptedRun(f"{name} goes on", hint=cloud.resume(name))
    show(resource_json(found[0]) if output is ReportFormat.JSON else resource_text(found[0]))


def _ended(cloud: Cloud, name: str, interrupt: Interrupt) -> dict[str, Any]:
    """The operation after its end. Raises OperationError where it failed, PendingError where it goes on."""
    from reconciler.cli.output import say
    from reconciler.engine.waiter import Failed, Pending, Succeeded, Waiter
    from reconciler.errors import OperationError, PendingError

    begin = time.monotonic()
    waiter = Waiter(cloud.operations, timeout=cloud.settings.operation_timeout, sleep=interrupt.sleep)
    outcome = waiter.wait(name, lambda text: say(f"[{time.monotonic() - begin:.0f} s] {text}"))
    match outcome:
        case Failed():
            raise OperationError(f"{name}: {outcome.code}: {outcome.message}", operation=name)
        case Pending():
            raise PendingError(f"{name}: {outcome.reason}", operation=name, hint=cloud.resume(name))
        case Succeeded():
            return cloud.operations.get(name)
        case _:
            raise OperationError(f"{name} doesn't exist any more", operation=name, hint="look at the cluster")
