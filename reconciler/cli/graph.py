"""`graph`: clusters as Mermaid pictures, from their files."""

from __future__ import annotations

import typer

from reconciler.cli.options import Only, Paths


def register(app: typer.Typer) -> None:
    app.command("graph")(graph)


def graph(paths: Paths = None, only: Only = None) -> None:
    """The clusters of the files as Mermaid diagrams, in Markdown: pools, partitions, login pool. Offline."""
    from reconciler.cli.files import load_files
    from reconciler.cli.output import say, show
    from reconciler.views.diagram import diagram
    from reconciler.views.findings import findings_text

    loaded = load_files(paths, only)
    if loaded.findings:
        say(findings_text(loaded.findings))
    pictures = [
        f"## {desired.name.cluster_id}\n\n```mermaid\n{diagram(desired.spec)}```" for desired in loaded.clusters
    ]
    show("\n\n".join(pictures))
    raise typer.Exit(1 if loaded.refused else 0)
