"""`init`: cluster files, schema, workflows and hook for a repository of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from reconciler.cli.options import Endpoint, Impersonate
from reconciler.errors import UsageError
from reconciler.spec.names import ClusterName

if TYPE_CHECKING:
    from reconciler.engine.scaffold import Files

_PROJECT, _LOCATION, _CLUSTER = "my-project", "us-central1", "train"


def register(app: typer.Typer) -> None:
    app.command("init")(init)


def init(
    context: typer.Context,
    directory: Annotated[
        Optional[Path],
        typer.Argument(metavar="[DIR]", help="The repository's root. Default: here.", show_default=False),
    ] = None,
    project: Annotated[
        Optional[str],
        typer.Option("--project", help=f"The first cluster's project. Default: {_PROJECT}, to be replaced"),
    ] = None,
    location: Annotated[
        Optional[str],
        typer.Option("--location", help=f"Its region. Default: {_LOCATION}"),
    ] = None,
    cluster_id: Annotated[
        Optional[str],
        typer.Option("--cluster-id", metavar="ID", help=f"Its id. Default: {_CLUSTER}"),
    ] = None,
    from_live: Annotated[
        Optional[str],
        typer.Option("--from-live", metavar="PROJECT/LOCATION", help="Take over the clusters that are there instead."),
    ] = None,
    source: Annotated[
        Optional[str],
        typer.Option(
            "--source",
            metavar="OWNER/NAME@REV",
            help="Where workflows and hook get this tool. Default: the git repository that it was installed from.",
        ),
    ] = None,
    no_workflows: Annotated[bool, typer.Option("--no-workflows", help="No GitHub workflows.")] = False,
    no_hook: Annotated[bool, typer.Option("--no-hook", help="No pre-commit hook.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Write a commented first cluster file, or those of live clusters, with schema, workflows and pre-commit hook.

    Everything is looked at before anything is written: a file that is there and differs stops it, without --force.
    """
    from reconciler.cli.initializing import first_cluster, live_clusters, write_all
    from reconciler.engine import origin, scaffold
    from reconciler.engine.revision import default_branch

    folder = directory or Path()
    chosen = origin.given(source) if source else origin.installed()
    if from_live and (project or location or cluster_id):
        raise UsageError("--from-live tells project and location itself, and takes all clusters that are there")
    if from_live:
        files = live_clusters(context, folder, from_live, endpoint, impersonate)
    else:
        name = ClusterName(project or _PROJECT, location or _LOCATION, cluster_id or _CLUSTER)
        files = first_cluster(folder, name, asked=bool(project or location or cluster_id))
    branch = "" if no_workflows else default_branch(folder)
    flows: Files = scaffold.workflows(chosen, branch) if branch else {}
    hook: Files = {} if no_hook else scaffold.hook(chosen)
    write_all(folder, {**files, **scaffold.editor(), **flows, **hook}, force=force)
    _next_steps(files, flows, hook, branch, is_known=chosen is not None)


def _next_steps(files: Files, flows: Files, hook: Files, branch: str, *, is_known: bool) -> None:
    from reconciler.cli.output import say
    from reconciler.engine import scaffold

    if files:
        say("next: look through clusters.d, then 'reconciler validate' and 'reconciler plan --endpoint emulator'")
    if flows:
        say(f"the workflows apply what is merged to the branch {branch}")
        say(f"next: set the repository variables that the workflows read: {', '.join(scaffold.variables(flows))}")
    if flows and not is_known:
        say("next: the workflows name OWNER/reconciler: put in the repository and commit that they are to get it from,")
        say("      or run this again with --source OWNER/NAME@COMMIT --force")
    if hook:
        say("next: 'pre-commit install', in each clone")
