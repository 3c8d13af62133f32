"""`list`, `get`, `status` and `import`: what is there."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated, Optional

import typer

from reconciler.cli.options import Cluster, Endpoint, Impersonate, Report, ReportFormat
from reconciler.errors import InputError, UsageError
from reconciler.spec.names import ClusterName

Place = Annotated[
    str, typer.Argument(metavar="[PROJECT/LOCATION]", help="Where. Default: everywhere the files have clusters.")
]


def register(app: typer.Typer) -> None:
    app.command("list")(list_clusters)
    app.command("get")(get)
    app.command("status")(status)
    app.command("import")(import_)


def list_clusters(
    context: typer.Context,
    place: Place = "",
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """The clusters that are there."""
    from reconciler.cli.output import show
    from reconciler.cli.session import connect
    from reconciler.views.inventory import clusters_text
    from reconciler.views.json import clusters_json

    with connect(context, endpoint, impersonate) as cloud:
        found = [
            (ClusterName(project, location, ""), each)
            for project, location in places(place)
            for each in cloud.clusters.list(project, location)
        ]
    if output is ReportFormat.JSON:
        show(clusters_json(each for _, each in found))
    else:
        show(clusters_text(_as_asked(where, each) for where, each in found))


def get(
    context: typer.Context,
    cluster: Cluster,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """One cluster, as the service answers it."""
    from reconciler.cli.output import show
    from reconciler.views.inventory import resource_text
    from reconciler.views.json import resource_json

    found = _get(context, cluster, endpoint, impersonate)
    show(resource_json(found) if output is ReportFormat.JSON else resource_text(found))


def status(
    context: typer.Context,
    cluster: Cluster,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """One cluster's state, nodes by pool, and recent events."""
    from reconciler.cli.files import resolve
    from reconciler.cli.output import colour, show
    from reconciler.views.inventory import status_text
    from reconciler.views.json import status_json

    found = _get(context, cluster, endpoint, impersonate)
    show(
        status_json(found)
        if output is ReportFormat.JSON
        else status_text(_as_asked(resolve(cluster), found), colour=colour())
    )


def import_(
    context: typer.Context,
    cluster: Cluster,
    out: Annotated[
        Optional[Path],
        typer.Option("--out", metavar="FILE", help="Write the file here. Default: standard output."),
    ] = None,
    extract_scripts: Annotated[
        Optional[Path],
        typer.Option("--extract-scripts", metavar="DIR", help="Write scripts to files in this folder."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")] = False,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """A live cluster as a cluster file; planning it right after gives no change. Sends nothing but one read."""
    import os

    from reconciler.cli.files import resolve
    from reconciler.cli.output import say, show, write_file
    from reconciler.engine.importing import import_cluster
    from reconciler.engine.planning import unreadable
    from reconciler.plan.held import held_partitions
    from reconciler.spec.files import DiskFiles, within

    folder = (out.parent if out else Path.cwd()).resolve()
    scripts = None
    if extract_scripts:
        repository = DiskFiles(Path.cwd()).root(str(folder), str(folder))
        if not within(str(extract_scripts.resolve()), os.path.realpath(repository)):
            raise InputError(f"{extract_scripts} is outside the repository: no cluster file can name scripts there")
        scripts = PurePosixPath(os.path.relpath(extract_scripts.resolve(), folder))
    answer = _get(context, cluster, endpoint, impersonate)
    schema = os.path.relpath(Path.cwd() / "schemas" / "cluster.schema.json", folder)
    try:
        imported = import_cluster(resolve(cluster), answer, scripts=scripts, schema=schema)
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise unreadable(cluster, error) from None
    targets = {folder / path: text for path, text in imported.scripts.items()}
    if out:
        targets[out] = imported.text
    taken = [str(path) for path in targets if path.exists()]
    if taken and not force:
        raise InputError(f"already there: {', '.join(taken)}", hint="nothing was written; say --force to overwrite")
    for path, text in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text)
        say(f"wrote {os.path.relpath(path)}")
    if not out:
        show(imported.text)
    if held := held_partitions(answer):
        say(f"partitions {', '.join(held)} have State: INACTIVE, which this file now wants: did an apply end early?")


def _as_asked(asked: ClusterName, answer: dict[str, object]) -> dict[str, object]:
    """An answer under the project that was asked for: people know its id, answers may show its number."""
    shown = ClusterName.parse(str(answer.get("name", "")))
    return {**answer, "name": str(shown._replace(project=asked.project))} if shown else answer


def _get(context: typer.Context, cluster: str, endpoint: str | None, impersonate: str | None) -> dict[str, object]:
    from reconciler.cli.files import resolve
    from reconciler.cli.session import connect

    name = resolve(cluster)
    with connect(context, endpoint, impersonate) as cloud:
        found = cloud.clusters.get(name)
    if found is None:
        raise InputError(f"there is no cluster {name}", hint="see 'reconciler list'")
    return found


def places(place: str) -> list[tuple[str, str]]:
    """The (project, location) pairs that are meant. Raises UsageError for no such pair, InputError."""
    from reconciler.cli.files import DEFAULT_PATHS, load_files

    if place:
        parts = place.removeprefix("projects/").replace("/locations/", "/").split("/")
        if len(parts) != 2 or not all(parts):
            raise UsageError(f"{place} isn't PROJECT/LOCATION")
        return [(parts[0], parts[1])]
    if not DEFAULT_PATHS[0].exists():
        raise InputError("there is no clusters.d here to tell where to look", hint="say PROJECT/LOCATION")
    loaded = load_files(None, None)
    names = [desired.name for desired in loaded.clusters] + [each.name for each in loaded.refused if each.name]
    return sorted({(name.project, name.location) for name in names})
