"""Which module has which commands: a run imports the one that it needs, and builds the options of that one alone.

To build the options of all of them takes as long as to import typer itself.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from reconciler.cli.options import Endpoint, Global
from reconciler.cli.quick import QuickCommand, QuickGroup

MODULES = {
    "validate": ("validate",),
    "plan": ("plan",),
    "apply": ("apply", "delete"),
    "drift": ("drift",),
    "merge": ("merge",),
    "clusters": ("list", "get", "status", "import"),
    "operations": ("operations",),
    "jobs": ("jobs",),
    "emulator": ("emulator",),
    "schema": ("schema",),
    "graph": ("graph",),
    "github": ("github",),
    "doctor": ("doctor",),
    "init": ("init",),
}
_COMPLETION = "_RECONCILER_COMPLETE"


def _version(wanted: bool) -> None:  # noqa: FBT001 - a typer callback is called so
    if wanted:
        from reconciler import __version__

        typer.echo(f"reconciler {__version__}")
        raise typer.Exit


Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say each request on standard error.")]
Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
]


def root(
    context: typer.Context,
    endpoint: Endpoint = None,
    verbose: Verbose = False,
    version: Version = False,  # noqa: ARG001 - handled by its callback
) -> None:
    context.obj = Global(endpoint=endpoint, verbose=verbose)


def build(arguments: Sequence[str]) -> Any:
    """The command line as far as these arguments need it, to be called with them."""
    app = typer.Typer(
        name="reconciler",
        cls=QuickGroup,
        help="Keep training clusters as their files in git say: plan, apply, drift.",
        rich_markup_mode=None,  # rich costs more than all the rest of --help
        pretty_exceptions_enable=False,  # tracebacks with locals could show tokens
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    named = command_of(arguments)
    wanted = [module for module, names in MODULES.items() if named in names]
    for module in wanted or MODULES:
        import_module(f"reconciler.cli.{module}").register(app)
    _prepare(app, outline=not wanted and _COMPLETION not in os.environ)
    return typer.main.get_command(app)


def command_of(arguments: Sequence[str]) -> str:
    """The command's name; empty where something else comes first, such as --help."""
    rest = iter(arguments)
    for each in rest:
        if each == "--endpoint":
            next(rest, None)
        elif not each.startswith(("--endpoint=", "-v", "--verbose")):
            return "" if each.startswith("-") else each
    return ""


def _prepare(app: typer.Typer, *, outline: bool) -> None:
    """Let all commands read their options quickly.

    An `outline` has names and one sentence each, without options: all that it takes to list the commands.
    """
    for command in app.registered_commands:
        command.cls = QuickCommand
        if outline:
            command.help = command.help or inspect.getdoc(command.callback)
            command.callback = _nothing
    for group in app.registered_groups:
        group.cls = QuickGroup
        if group.typer_instance:
            _prepare(group.typer_instance, outline=outline)


def _nothing() -> None: ...
