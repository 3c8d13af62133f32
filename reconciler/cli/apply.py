"""`apply` and `delete`: the commands that write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from reconciler.cli.options import (
    Approve,
    Cluster,
    Endpoint,
    Impersonate,
    Only,
    Paths,
    Report,
    ReportFormat,
    ShardOption,
    Timeout,
    UpdateMode,
)

AllowDelete = Annotated[bool, typer.Option("--allow-delete", help="Let clusters be deleted whose files say so.")]
AllowReplace = Annotated[bool, typer.Option("--allow-replace", help="Let clusters be deleted and created anew.")]
Parallelism = Annotated[int, typer.Option("--parallelism", min=1, metavar="N", help="Clusters changed at a time.")]


def register(app: typer.Typer) -> None:
    app.command("apply")(apply)
    app.command("delete")(delete)


def apply(
    context: typer.Context,
    paths: Paths = None,
    only: Only = None,
    shard: ShardOption = None,
    plan_file: Annotated[
        Optional[Path],
        typer.Option("--plan", metavar="FILE", help="Apply just this plan; refuse if anything has changed since."),
    ] = None,
    expect: Annotated[
        Optional[Path],
        typer.Option("--expect", metavar="FILE", help="Go on only if the plan made now equals this reviewed one."),
    ] = None,
    auto_approve: Approve = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Start the operations and leave.")] = False,
    timeout: Timeout = None,
    graceful: Annotated[
        bool, typer.Option("--graceful", help="Hold the partitions, let jobs end, change, let jobs start again.")
    ] = False,
    jobs_timeout: Annotated[
        str, typer.Option("--jobs-timeout", metavar="DUR", help="How long to wait for running jobs.")
    ] = "24h",
    smoke: Annotated[
        Optional[Path],
        typer.Option("--smoke", metavar="SCRIPT", help="Afterwards, run this as a job on each changed partition."),
    ] = None,
    smoke_timeout: Annotated[
        str, typer.Option("--smoke-timeout", metavar="DUR", help="How long each of those jobs may take.")
    ] = "15m",
    wait_for_window: Annotated[
        bool, typer.Option("--wait-for-window", help="Wait for maintenance windows instead of skipping clusters.")
    ] = False,
    parallelism: Parallelism = 8,
    update_mode: Annotated[
        Optional[UpdateMode],
        typer.Option(
            "--update-mode", help="As for plan. Default: the plan file's, else USER_AND_SERVICE.", show_default=False
        ),
    ] = None,
    allow_delete: AllowDelete = False,
    allow_replace: AllowReplace = False,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Make the clusters as their files say, wait, and prove by a fresh look that nothing is left to change."""
    from reconciler.cli import applying
    from reconciler.cli.files import load_files
    from reconciler.cli.session import connect, duration
    from reconciler.engine.applier import Policy
    from reconciler.engine.interrupt import Interrupt

    loaded = load_files(paths, only, shard)
    run = applying.Run(
        policy=Policy(parallelism, allow_delete, allow_replace, wait_for_window),
        update_mode=update_mode.value if update_mode else "",
        no_wait=no_wait,
        auto_approve=auto_approve,
        as_json=output is ReportFormat.JSON,
        graceful=graceful,
        jobs_timeout=duration("--jobs-timeout", jobs_timeout),
        smoke=smoke,
        smoke_timeout=duration("--smoke-timeout", smoke_timeout),
    )
    interrupt = Interrupt()
    with interrupt.on_signals(), connect(context, endpoint, impersonate, timeout, interrupt) as cloud:
        raise typer.Exit(applying.apply_files(cloud, loaded, run, interrupt, plan_file, expect))


def delete(
    context: typer.Context,
    cluster: Cluster,
    auto_approve: Approve = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Start the operation and leave.")] = False,
    timeout: Timeout = None,
    output: Report = ReportFormat.TEXT,
    endpoint: Endpoint = None,
    impersonate: Impersonate = None,
) -> None:
    """Delete one cluster. Asks for its id to be typed; lifecycle.prevent_destroy in its file blocks it."""
    from reconciler.cli import applying
    from reconciler.cli.files import resolve
    from reconciler.cli.session import connect
    from reconciler.engine.applier import Policy
    from reconciler.engine.interrupt import Interrupt

    run = applying.Run(
        policy=Policy(1, allow_delete=True),
        update_mode="",
        no_wait=no_wait,
        auto_approve=auto_approve,
        as_json=output is ReportFormat.JSON,
    )
    name = resolve(cluster)
    interrupt = Interrupt()
    with interrupt.on_signals(), connect(context, endpoint, impersonate, timeout, interrupt) as cloud:
        raise typer.Exit(applying.delete_one(cloud, name, run, interrupt))
