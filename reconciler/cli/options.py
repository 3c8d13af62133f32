"""Options that several commands share, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer


@dataclass(frozen=True, slots=True)
class Global:
    """What was given before the command."""

    endpoint: str | None = None
    verbose: bool = False


class ReportFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class PlanFormat(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


class UpdateMode(StrEnum):
    USER_AND_SERVICE = "USER_AND_SERVICE"
    USER_ONLY = "USER_ONLY"


# Typer reads these at run time, so Optional is spelled out for it.
Endpoint = Annotated[
    Optional[str],
    typer.Option(
        "--endpoint",
        metavar="URL",
        help="Base URL instead of the service's own; 'emulator' starts the embedded one. Also RECONCILER_ENDPOINT.",
        show_default=False,
    ),
]
Impersonate = Annotated[
    Optional[str],
    typer.Option("--impersonate-service-account", metavar="EMAIL", help="Act as this service account."),
]
Paths = Annotated[
    Optional[list[Path]],
    typer.Argument(metavar="[PATHS]...", help="Files, or folders of them. Default: clusters.d", show_default=False),
]
Only = Annotated[
    Optional[list[str]],
    typer.Option("--cluster", metavar="ID", help="Only these clusters; ids or PROJECT/LOCATION/ID, with * and ?."),
]
ShardOption = Annotated[
    Optional[str],
    typer.Option("--shard", metavar="I/N", help="Only the I-th of N parts of the fleet; auto: this task's."),
]
Cluster = Annotated[
    str, typer.Argument(metavar="CLUSTER", help="An id known from clusters.d, PROJECT/LOCATION/ID, or the full name.")
]
Report = Annotated[ReportFormat, typer.Option("--format", help="What standard output carries.")]
AsPlan = Annotated[PlanFormat, typer.Option("--format", help="What standard output carries.")]
Timeout = Annotated[
    Optional[str],
    typer.Option("--timeout", metavar="DUR", help="How long to wait for operations, such as 90m. Default: 2h"),
]
Approve = Annotated[bool, typer.Option("--auto-approve", help="Don't ask.")]
Mode = Annotated[
    UpdateMode, typer.Option("--update-mode", help="Whether the service refreshes what it manages itself, too.")
]
