"""`emulator`: the API on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def register(app: typer.Typer) -> None:
    app.command("emulator")(emulator)


def emulator(
    seeds: Annotated[
        Optional[list[Path]],
        typer.Argument(metavar="[FILE]...", help="More files to --seed.", show_default=False),
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")] = 0,
    state_dir: Annotated[
        Optional[Path],
        typer.Option("--state-dir", metavar="DIR", help="Keep the state here, across runs and kills."),
    ] = None,
    seed: Annotated[
        Optional[list[Path]],
        typer.Option("--seed", metavar="FILE", help="Clusters that are there from the start; cluster files will do."),
    ] = None,
    latency: Annotated[float, typer.Option("--latency", min=0, metavar="S", help="Seconds before each answer.")] = 0.0,
    lro_seconds: Annotated[
        float, typer.Option("--lro-seconds", min=0, metavar="S", help="How long operations take.")
    ] = 1.0,
    slurm_socket: Annotated[
        Optional[Path],
        typer.Option("--slurm-socket", metavar="PATH", help="Hand the Slurm job API to this slurmrestd."),
    ] = None,
    slurm_config_dir: Annotated[
        Optional[Path],
        typer.Option("--slurm-config-dir", metavar="DIR", help="Where that Slurm's slurm.conf lies, to be written."),
    ] = None,
) -> None:
    """The API on loopback, for development, demos and tests. Prints its address when it is ready; Ctrl-C stops it."""
    from reconciler.cli.output import show
    from reconciler.emulator.seed import SeedError
    from reconciler.emulator.server import EmulatorConfig, serve
    from reconciler.errors import InputError

    config = EmulatorConfig(
        port=port,
        state_dir=state_dir,
        seeds=(*(seed or ()), *(seeds or ())),
        latency=latency,
        lro_seconds=lro_seconds,
        slurm_socket=slurm_socket,
        slurm_config_dir=slurm_config_dir,
    )
    try:
        serve(config, lambda url: show(f"listening on {url}"))
    except SeedError as error:
        raise InputError(str(error)) from None
