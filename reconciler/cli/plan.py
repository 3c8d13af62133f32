"""`plan`: what apply would do, and why."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn, Optional

import typer

from reconciler.cli.options import AsPlan, Endpoint, Impersonate, Mode, Only, Paths, PlanFormat, ShardOption, UpdateMode
from reconciler.errors import UsageError

if TYPE_CHECKING:
    from reconciler.plan.base import Base
    from reconciler.plan.model import ClusterPlan, Plan
    from reconciler.plan.shard import Shard
    from reconciler.spec.loader import Loaded

EXIT_DIFFERENCES = 2


def register(app: typer.Typer) -> None:
    app.command("plan")(plan)


def plan(
    context: typer.Context,
    paths: Paths = None,
    only: Only = None,
    shard: ShardOption = None,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", metavar="FILE", help="Also write the plan as JSON, for apply --plan."),
    ] = None,
    base_ref: Annotated[
        Optional[str],
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
    from reconciler.cli.files import doubtful, load_files, refused, to_plan
    from reconciler.cli.output import colour, say
    from reconciler.cli.session import connect
    from reconciler.engine.assess import Assessor
    from reconciler.engine.planning import make_plan
    from reconciler.views.registry import for_plan

    base: Base | None = None
    gone: list[ClusterPlan] = []
    if base_ref is None:
        loaded = load_files(paths, only, shard)
    else:
        loaded, base, gone = _beside(base_ref, paths, only, shard)
    if loaded.findings:
        from reconciler.views.findings import findings_text

        say(findings_text(loaded.findings))
    with connect(context, endpoint, impersonate) as cloud:
        made = make_plan(
            cloud.clusters,
            to_plan(loaded),
            errors=refused(loaded),
            doubtful=doubtful(loaded),
            assess=Assessor(now(), update_mode.value, cloud.queue, base=base),
            besides=gone,
        )
    made = replace(made, shard=part_of(shard))
    shown = for_plan(output.value, colour=colour(), full=full)(made)
    files: dict[Path, str] = {}
    if out:
        from reconciler.views.json import plan_json  # here, since few runs pay for it

        files[out] = plan_json(made)
    report(shown, exit_code(made, detailed=detailed_exitcode), files)


def report(text: str | None, code: int, files: dict[Path, str]) -> NoReturn:
    """End with a report: write its files, show it, and exit with `code`; 1 where a file couldn't be written.

    `text` is None where nothing is to be said. What was found out isn't lost over a full disk, and standard output has
    the report alone.
    """
    from reconciler.cli.output import say, show, write_file
    from reconciler.views.safe import safe

    failed = []
    for path, content in files.items():
        try:
            write_file(path, content)
        except OSError as error:
            failed.append(f"{path} can't be written: {error.strerror}")
    if text is not None:
        show(text)
    for each in failed:
        say(f"error: {safe(each)}")
    raise typer.Exit(1 if failed else code)


def _beside(
    revision: str, paths: Sequence[Path] | None, only: Sequence[str] | None, shard: str | None
) -> tuple[Loaded, Base, list[ClusterPlan]]:
    """The clusters, beside a revision of their files: what only that has may be asked for too.

    Raises UsageError where `--cluster` fits no cluster of either.
    """
    from reconciler.cli.files import DEFAULT_PATHS, files_at, load_files
    from reconciler.engine.revision import RevisionFiles
    from reconciler.spec.loader import load

    given = list(paths or DEFAULT_PATHS)
    there = [path for path in given if os.path.lexists(path)]
    if len(there) < len(given):
        with RevisionFiles(revision, Path.cwd()) as files:
            there = [path for path in given if path in there or not files.has(os.path.relpath(path))]
    if there:
        loaded = load_files(there, None, shard)
    else:
        loaded = load((), cwd=Path.cwd())
        loaded = loaded.only(_part(shard).has) if shard else loaded
    known = ", ".join(desired.name.cluster_id for desired in loaded.clusters) or "none"
    loaded = loaded.select(only) if only else loaded
    base, gone = files_at(revision, paths, loaded)
    if only and not (loaded.clusters or loaded.refused or base.clusters or base.unreadable):
        raise UsageError(f"--cluster {' '.join(only)} fits no cluster of the files", hint=f"known: {known}")
    return loaded, base.seen_from(loaded.readable), gone


def part_of(shard: str | None) -> str:
    """What a plan file says of its shard: I/N, and nothing for a whole plan."""
    return str(_part(shard)) if shard is not None else ""


def _part(shard: str) -> Shard:
    from reconciler.plan.shard import parse

    try:
        return parse(shard, os.environ)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from None


def now() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)


def exit_code(made: Plan, *, detailed: bool) -> int:
    """Of a plan: 1 for errors and blockers; 2 for changes, where these are asked for."""
    if made.errors or made.is_blocked:
        return 1
    return EXIT_DIFFERENCES if detailed and made.has_changes else 0
