"""`validate`: the files alone, offline."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from reconciler.cli.options import Only, Paths


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
) -> None:
    """Check the files offline: schema, cross references, the service's rules, script syntax.

    Exits 1 on errors, 0 with warnings alone.
    """
    from reconciler.cli.files import load_files
    from reconciler.cli.output import colour, show
    from reconciler.spec.findings import Severity
    from reconciler.spec.script_checks import check_scripts
    from reconciler.views.findings import findings_github, findings_text
    from reconciler.views.json import findings_json

    loaded = load_files(paths, only)
    findings = sorted({*loaded.findings, *check_scripts(loaded.clusters)}, key=str)
    match output:
        case FindingsFormat.TEXT:
            show(findings_text(findings, colour=colour()))
        case FindingsFormat.JSON:
            show(findings_json(findings))
        case FindingsFormat.GITHUB:
            show(findings_github(findings))
    raise typer.Exit(any(finding.severity is Severity.ERROR for finding in findings))
