"""`doctor`: what works, what doesn't, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from reconciler.cli.options import Endpoint, Impersonate, Only, Paths, Report, ReportFormat
from reconciler.errors import UsageError

if TYPE_CHECKING:
    from reconciler.engine.doctor import Check
    from reconciler.spec.names import ClusterName


def register(app: typer.Typer) -> None:
    app.command("doctor")(doctor)


def doctor(
    context: typer.Context,
    paths: Paths = None,
    only: Only = None,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Check credentials, endpoint, clock, permissions, Slurm and files: what works, what doesn't, what to do.

    Sends nothing but reads. Exits 1 if anything fails; warnings alone are fine.
    """
    from reconciler.cli.files import load_files
    from reconciler.cli.output import colour, show
    from reconciler.engine.doctor import Level, check_files, check_machine
    from reconciler.views.doctor import doctor_json, doctor_text

    loaded = load_files(paths, only)
    names = sorted({each.name for each in loaded.readable} | {each.name for each in loaded.refused if each.name})
    checks = [*check_machine(), *check_files(loaded), *_service(context, endpoint, impersonate, names)]
    show(doctor_json(checks) if output is ReportFormat.JSON else doctor_text(checks, colour=colour()))
    raise typer.Exit(any(check.level is Level.FAIL for check in checks))


def _service(
    context: typer.Context, endpoint: str | None, impersonate: str | None, names: Sequence[ClusterName]
) -> list[Check]:
    """The checks that need a connection. Settings that make no sense are one more finding here, and stop no other."""
    from reconciler.cli.session import connect
    from reconciler.engine.doctor import Check
    from reconciler.engine.doctor_service import check_service

    try:
        with connect(context, endpoint, impersonate) as cloud:
            return check_service(cloud.settings, names)
    except UsageError as error:
        return [Check.failure("settings", error)]
