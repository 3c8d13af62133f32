"""`schema`: the JSON Schemas of cluster files and plans."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Which(StrEnum):
    CLUSTER = "cluster"
    PLAN = "plan"


def register(app: typer.Typer) -> None:
    app.command("schema")(schema)


def schema(which: Annotated[Which, typer.Argument(help="Of what.", show_default=False)]) -> None:
    """Print a JSON Schema (2020-12)."""
    import json

    from reconciler.cli.output import show
    from reconciler.plan.schema import plan_schema
    from reconciler.spec.schema import cluster_schema

    show(json.dumps(cluster_schema() if which is Which.CLUSTER else plan_schema(), indent=2, ensure_ascii=False))
