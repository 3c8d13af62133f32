"""`plan`: what apply would do, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.options import AsPlan, Endpoint, Impersonate, Mode, Only, Paths, PlanFormat, ShardOption, UpdateMode

if TYPE_CHECKING:
    from reconciler.plan.model import Plan

EXIT_DIFFERENCES = 2


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)


def plan(
    context: typer.Context,
    paths: Paths = None,
    only: Only = None,
    shard: ShardOption = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045 - typer reads it at run time
        typer.Option("--out", metavar="FILE", help="Also write the plan as JSON, for apply --plan."),
    ] = None,
    base_ref: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--base", metavar="REF", help="Tell this branch's changes from drift; REF is where it starts."),
    ] = None,
    output: AsPlan = PlanFormat.TEXT,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 when there are changes.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Markdown: don't shorten to 65,000 characters.")] = False,
    update_mode: Mode = UpdateMode.USER_AND_SERVICE,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """What apply would do, and why. Sends nothing but reads.

    Exits 1 when a file can't be used, a cluster can't be read, or a blocker stands against a change.
    """
    from reconciler.cli.files import doubtful, files_at, load_files, refused, to_plan
    from reconciler.cli.output import colour, say, show, write_file
    from reconciler.cli.session import connect
    from reconciler.engine.assess import Assessor
    from reconciler.engine.planner import make_plan
    from reconciler.views.registry import for_plan

    loaded = load_files(paths, only, shard)
    if loaded.findings:
        from reconciler.views.findings import findings_text

        say(findings_text(loaded.findings))
    base, gone = files_at(base_ref, paths, loaded) if base_ref is not None else (None, ())
    with connect(context, endpoint, impersonate) as cloud:
        made = make_plan(
            cloud.clusters,
            to_plan(loaded),
            errors=refused(loaded),
            doubtful=doubtful(loaded),
            assess=Assessor(now(), update_mode.value, cloud.queue, base=base),
            besides=gone,
        )
    if out:
        from reconciler.views.json import plan_json

        write_file(out, plan_json(made))
    show(for_plan(output.value, colour=colour(), full=full)(made))
    raise typer.Exit(exit_code(made, detailed=detailed_exitcode))


def now() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)


def exit_code(made: Plan, *, detailed: bool) -> int:
    """Of a plan: 1 for errors and blockers; 2 for changes, where these are asked for."""
    if made.errors or made.is_blocked:
        return 1
    return EXIT_DIFFERENCES if detailed and made.has_changes else 0
