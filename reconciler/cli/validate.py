"""`validate`: the files alone, offline."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.options import Only, Paths

if TYPE_CHECKING:
    from reconciler.spec.findings import Finding
    from reconciler.spec.loader import Loaded

ANY_SLURMCTLD = "found"  # what a bare --slurm is taken for: whichever the machine has


class FindingsFormat(StrEnum):
    TEXT = "text"
    JSON = "json"
    GITHUB = "github"


def register(app: typer.Typer) -> None:
    app.command("validate")(validate)


def validate(
    paths: Paths = None,
    only: Only = None,
    output: Annotated[
        FindingsFormat, typer.Option("--format", help="What standard output carries; github: annotations.")
    ] = FindingsFormat.TEXT,
    slurm: Annotated[
        Optional[str],  # noqa: UP045 - typer reads it at run time
        typer.Option("--slurm", metavar="[=PATH]", help="Also try each Slurm configuration on a slurmctld."),
    ] = None,
) -> None:
    """Check the files offline: schema, cross references, the service's rules, script syntax.

    With --slurm, or --slurm=PATH to a slurmctld, each whole Slurm configuration is tried on a real, throw-away
    controller on this machine. Exits 1 on errors, 0 with warnings alone.
    """
    from reconciler.cli.files import load_files
    from reconciler.cli.output import colour, show
    from reconciler.spec.findings import Severity
    from reconciler.spec.script_checks import check_scripts
    from reconciler.views.findings import findings_github, findings_text
    from reconciler.views.json import findings_json

    loaded = load_files(paths, only)
    found = {*loaded.findings, *check_scripts(loaded.readable)}
    if slurm is not None:
        found.update(_slurm_findings(loaded, Path(slurm) if slurm != ANY_SLURMCTLD else None))
    findings = sorted(found, key=lambda each: (each.file, each.line, each.column, each.rule, each.message))
    match output:
        case FindingsFormat.TEXT:
            show(findings_text(findings, colour=colour()))
        case FindingsFormat.JSON:
            show(findings_json(findings))
        case FindingsFormat.GITHUB:
            show(findings_github(findings))
    raise typer.Exit(any(finding.severity is Severity.ERROR for finding in findings))


def _slurm_findings(loaded: Loaded, slurmctld: Path | None) -> list[Finding]:
    """What a real controller says, at the lines of the files. A machine without one is said, and fails nothing."""
    from reconciler.cli.output import say
    from reconciler.engine.slurmctld import NoSlurmctld, check
    from reconciler.spec.findings import Finding

    try:
        said = check(loaded.clusters, slurmctld=slurmctld)
    except NoSlurmctld as none:
        say(f"not checked with Slurm: {none}")
        return []
    return [
        Finding(*loaded.locate(desired, problem.path), problem.rule, problem.severity, problem.message, problem.hint)
        for desired in loaded.clusters
        for problem in said.get(desired.name, ())
    ]
