"""`merge`: the plan files of a fleet's shards as one plan, their drift reports as one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.inputs import read_text
from reconciler.cli.options import AsPlan, PlanFormat
from reconciler.errors import InputError

if TYPE_CHECKING:
    from reconciler.engine.results import Drift
    from reconciler.plan.model import Plan

Parts = Annotated[
    list[Path],
    typer.Argument(metavar="FILES...", help="What plan --out or drift --format json wrote for each shard."),
]


def register(app: typer.Typer) -> None:
    app.command("merge")(merge)


def merge(
    files: Parts,
    shards: Annotated[
        Optional[int],
        typer.Option("--shards", min=1, metavar="N", help="Refuse any other number of files."),
    ] = None,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", metavar="FILE", help="Also write the whole as JSON, for apply --plan."),
    ] = None,
    output: AsPlan = PlanFormat.TEXT,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="Exit 2 when there are changes.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Markdown: don't shorten to 65,000 characters.")] = False,
) -> None:
    """The plans of a fleet's shards as one plan, or their drift reports as one report. Offline.

    Exits as plan or drift would for the whole fleet.
    """
    from reconciler.cli.output import colour
    from reconciler.cli.plan import EXIT_DIFFERENCES, exit_code, report
    from reconciler.engine.results import Drift
    from reconciler.views.json import drift_json, plan_json
    from reconciler.views.registry import for_drift, for_plan

    if shards and len(files) != shards:
        raise InputError(f"{len(files)} files, not {shards}", hint="did every shard end, and leave its file?")
    whole = _merged(files)
    if isinstance(whole, Drift):
        text, view = drift_json(whole), for_drift(output.value, colour=colour(), full=full)(whole)
        differs = EXIT_DIFFERENCES if whole.plan.has_changes or whole.unmanaged else 0
        code = 1 if whole.plan.errors else differs
    else:
        text, view = plan_json(whole), for_plan(output.value, colour=colour(), full=full)(whole)
        code = exit_code(whole, detailed=detailed_exitcode)
    report(view, code, {out: text} if out else {})


def _merged(files: list[Path]) -> Plan | Drift:
    """Raises InputError where the files are neither all plans nor all drift reports, or not of one run."""
    from reconciler.engine.merging import merge_drift, merge_plans
    from reconciler.engine.results import Drift
    from reconciler.plan.model import Plan

    parts = {str(path): _read(path) for path in files}
    if len(parts) < len(files):
        raise InputError("a file is given twice")
    plans = {path: part for path, part in parts.items() if isinstance(part, Plan)}
    reports = {path: part for path, part in parts.items() if isinstance(part, Drift)}
    if plans and reports:
        raise InputError(f"{next(iter(reports))} is a drift report, and {next(iter(plans))} is a plan")
    return merge_plans(plans) if plans else merge_drift(reports)


def _read(path: Path) -> Plan | Drift:
    from reconciler.views.plan_file import read_either

    text = read_text(path)
    try:
        return read_either(text)
    except InputError as error:
        raise InputError(f"{path}: {error.summary}", hint=error.hint) from None
