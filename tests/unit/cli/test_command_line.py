"""A command line that is built as far as it is needed, and reads what it can without typer's help."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Optional

import pytest
import typer
from typer.core import TyperCommand
from typer.exceptions import TyperException

from reconciler.cli.commands import MODULES, build, command_of
from reconciler.cli.quick import QuickCommand


@pytest.mark.parametrize("module", MODULES)
def test_the_table_is_what_modules_register(module: str) -> None:
    """A command that isn't in the table couldn't be called; one too many would be."""
    app = typer.Typer()
    import_module(f"reconciler.cli.{module}").register(app)
    names = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert names == set(MODULES[module])


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["plan", "--help"], "plan"),
        (["--endpoint", "plan", "apply"], "apply"),
        (["--endpoint=emulator", "-v", "drift"], "drift"),
        (["--verbose", "jobs", "list"], "jobs"),
        (["--help", "plan"], ""),
        (["--no-such", "plan"], ""),
        (["--endpoint"], ""),
        ([], ""),
    ],
)
def test_the_command_is_the_first_that_is_no_option(arguments: Sequence[str], command: str) -> None:
    """What comes before it are the two options that every command has."""
    assert command_of(arguments) == command


def test_one_command_is_built_for_itself() -> None:
    """The others' options are nobody's business then."""
    assert set(build(["plan"]).commands) == {"plan"}
    assert set(build(["delete", "x"]).commands) == {"apply", "delete"}


@pytest.mark.parametrize("arguments", [[], ["--help"], ["plna"]])
def test_all_are_there_to_be_listed(arguments: list[str]) -> None:
    """In the list of commands each has its sentence, and for a slip each may be what was meant."""
    commands = build(arguments).commands
    assert set(commands) == {name for names in MODULES.values() for name in names}
    assert all(command.get_short_help_str() for command in commands.values())


def test_completion_knows_every_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shell that asks for completions gets those of all commands."""
    monkeypatch.setenv("_RECONCILER_COMPLETE", "complete_bash")
    assert "parallelism" in {param.name for param in build([]).commands["apply"].params}


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


# Spelled out where typer can see them, since annotations of a function within another are out of its reach.
Paths = Annotated[Optional[list[Path]], typer.Argument()]  # noqa: UP045 - typer reads it at run time
Ids = Annotated[Optional[list[str]], typer.Option("--id")]  # noqa: UP045
Out = Annotated[Optional[Path], typer.Option("--out")]  # noqa: UP045
Hue = Annotated[Colour, typer.Option("--colour")]
Count = Annotated[int, typer.Option("--count", min=1)]
Flag = Annotated[bool, typer.Option("--flag/--no-flag")]
Name = Annotated[str, typer.Option("--name")]
Ratio = Annotated[float, typer.Option("--ratio")]


def _parse(cls: type[TyperCommand], arguments: Sequence[str]) -> dict[str, Any]:
    """What a command of every kind of parameter makes of arguments."""
    seen: dict[str, Any] = {}
    app = typer.Typer(add_completion=False)

    def command(
        paths: Paths = None,
        ids: Ids = None,
        out: Out = None,
        colour: Hue = Colour.RED,
        count: Count = 8,
        flag: Flag = True,
        name: Name = "",
        ratio: Ratio = 0.5,
    ) -> None:
        seen.update(paths=paths, ids=ids, out=out, colour=colour, count=count, flag=flag, name=name, ratio=ratio)

    app.command(cls=cls)(command)
    try:
        app(list(arguments), standalone_mode=False)
    except TyperException as error:
        return {"error": error.format_message()}
    return seen


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.yaml", "b/c"],
        ["--id", "x", "--id", "y*"],
        ["--out", "plan.json", "--name", "x"],
        ["--colour", "blue"],
        ["--colour", "green"],
        ["--colour", "BLUE"],
        ["--count", "3"],
        ["--count", "0"],
        ["--count", "many"],
        ["--no-flag"],
        ["--ratio", "2"],
        ["--ratio", "x"],
        ["--name", ""],
        ["--no-such"],
    ],
)
def test_values_are_those_that_typer_reads(arguments: list[str]) -> None:
    """The quick way leads to the same values, of the same types, and to the same words where something is wrong."""
    quick, whole = _parse(QuickCommand, arguments), _parse(TyperCommand, arguments)
    assert quick == whole
    assert [type(value) for value in quick.values()] == [type(value) for value in whole.values()]
