"""`drift`: live clusters against their files, for a cron."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Optional

import typer

from reconciler.cli.options import AsPlan, Endpoint, Impersonate, Only, Paths, PlanFormat, ShardOption
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
    shard: ShardOption = None,
    output: AsPlan = PlanFormat.TEXT,
    include_unmanaged: Unmanaged = False,
    metrics_file: Annotated[
        Optional[Path],
        typer.Option("--metrics-file", metavar="FILE", help="Also write Prometheus metrics, for a textfile collector."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing when nothing differs.")] = False,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Live clusters against their files. Exits 0 when all is as written, 2 on drift, 1 when something can't be read."""
    from reconciler.cli.files import doubtful, load_files, refused, to_plan
    from reconciler.cli.output import colour, say
    from reconciler.cli.plan import now, part_of, report
    from reconciler.cli.session import connect
    from reconciler.engine.assess import Assessor
    from reconciler.engine.drifting import find_drift
    from reconciler.views.findings import findings_text
    from reconciler.views.metrics import drift_metrics
    from reconciler.views.registry import for_drift

    loaded = load_files(paths, only, shard)
    if loaded.findings:
        say(findings_text(loaded.findings))
    with connect(context, endpoint, impersonate) as cloud:
        found = find_drift(
            cloud.clusters,
            to_plan(loaded),
            assess=Assessor(now()),
            errors=refused(loaded),
            doubtful=doubtful(loaded),
            known=loaded.names,
            concerns=loaded.concerns,
            include_unmanaged=include_unmanaged,
        )
    found = replace(found, plan=replace(found.plan, shard=part_of(shard)))
    says = not quiet or found.differs or found.plan.errors
    code = EXIT_DIFFERENCES if found.differs else 0
    report(
        for_drift(output.value, colour=colour())(found) if says else None,
        1 if found.plan.errors else code,
        {metrics_file: drift_metrics(found)} if metrics_file else {},
    )
