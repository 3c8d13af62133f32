"""`drift`: live clusters against their files, for a cron."""

from __future__ import annotations

from typing import Annotated

import typer

from reconciler.cli.options import AsPlan, Endpoint, Impersonate, Only, Paths, PlanFormat
from reconciler.cli.plan import EXIT_DIFFERENCES

Unmanaged = Annotated[
    bool, typer.Option("--include-unmanaged", help="Count live clusters that no file knows, in the files' locations.")
]


def register(app: typer.Typer) -> None:
    app.command("drift")(drift)


def drift(
    context: typer.Context,
    paths: Paths = None,
    only: Only = None,
    output: AsPlan = PlanFormat.TEXT,
    include_unmanaged: Unmanaged = False,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Live clusters against their files. Exits 0 when all is as written, 2 on drift, 1 when something can't be read."""
    from reconciler.cli.files import load_files, refused
    from reconciler.cli.output import colour, say, show
    from reconciler.cli.plan import now
    from reconciler.cli.session import connect
    from reconciler.engine.assess import Assessor
    from reconciler.engine.drifting import find_drift
    from reconciler.views.findings import findings_text
    from reconciler.views.registry import for_drift

    loaded = load_files(paths, only)
    if loaded.findings:
        say(findings_text(loaded.findings))
    with connect(context, endpoint, impersonate) as cloud:
        found = find_drift(
            cloud.clusters,
            loaded.clusters,
            assess=Assessor(now()),
            errors=refused(loaded),
            known=[each.name for each in loaded.refused if each.name],
            include_unmanaged=include_unmanaged,
        )
    show(for_drift(output.value, colour=colour())(found))
    if found.plan.errors:
        raise typer.Exit(1)
    raise typer.Exit(EXIT_DIFFERENCES if found.plan.has_changes or found.unmanaged else 0)
