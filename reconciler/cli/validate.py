"""`validate`: the files alone, offline."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.options import Only, Paths
from reconciler.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reconciler.engine.slurmctld import Checked
    from reconciler.spec.findings import Finding
    from reconciler.spec.loader import Loaded
    from reconciler.spec.names import ClusterName

ANY_SLURMCTLD = "\0"  # what a bare --slurm is taken for: whichever the machine has; no file is called so


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
        Optional[str],
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

    if slurm == "":
        raise UsageError("--slurm= names no slurmctld", hint="say --slurm=PATH, or --slurm for whichever there is")
    loaded = load_files(paths, only)
    found = {*loaded.findings, *check_scripts(loaded.readable)}
    if slurm is not None:
        found.update(_slurm_findings(loaded, None if slurm == ANY_SLURMCTLD else slurm))
    findings = sorted(found, key=lambda each: (each.file, each.line, each.column, each.rule, each.message))
    match output:
        case FindingsFormat.TEXT:
            show(findings_text(findings, colour=colour()))
        case FindingsFormat.JSON:
            show(findings_json(findings))
        case FindingsFormat.GITHUB:
            show(findings_github(findings))
    raise typer.Exit(any(finding.severity is Severity.ERROR for finding in findings))


def _slurm_findings(loaded: Loaded, slurmctld: str | None) -> list[Finding]:
    """What a real controller says, at the lines of the files. What wasn't tried is said aside, and fails nothing."""
    from reconciler.cli.output import say
    from reconciler.engine.slurmctld import NoSlurmctld, check
    from reconciler.spec.findings import Finding
    from reconciler.views.safe import safe

    try:
        checked = check(loaded.clusters, slurmctld=slurmctld)
    except NoSlurmctld as none:
        if slurmctld is not None:
            raise UsageError(f"--slurm: {safe(str(none))}") from None  # a typo must not read as passed
        say(f"not checked with Slurm: {safe(str(none))}")
        return []
    for line in _untried(loaded, checked):
        say(f"not checked with Slurm: {safe(line)}")
    return [
        Finding(*loaded.locate(desired, problem.path), problem.rule, problem.severity, problem.message, problem.hint)
        for desired in loaded.clusters
        for problem in checked[desired.name].problems
    ]


def _untried(loaded: Loaded, checked: Mapping[ClusterName, Checked]) -> Iterator[str]:
    """What no controller has seen, and why."""
    for refused in loaded.refused:
        what = f"{'/'.join(refused.name)} ({refused.source})" if refused.name else refused.source
        yield f"{what}, for it has errors"
    for name, found in checked.items():
        if found.untried:
            yield f"{', '.join(found.untried)} ({'/'.join(name)}), which a trial must go without"
