"""Options and arguments read without pydantic, where they are simple.

typer builds a pydantic adapter for each parameter, used or not, which takes longer than a whole plan of one cluster.
Here texts, paths, choices and defaults are read; whatever else there is, and what is wrong, is left to typer.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Parameter = TyperArgument | TyperOption


class _NotSimpleError(Exception):
    """It takes typer to read a value, or to say what is wrong with it."""


class _Reader:
    """Stands in for the runtime parameter that `whole` builds."""

    def __init__(self, whole: Callable[[], Any]) -> None:
        self._whole = whole

    def coerce(self, value: Any, param: Parameter, ctx: Any) -> Any:
        """The value as the command wants it. Raises typer's errors."""
        several = getattr(param, "multiple", False) or param.nargs != 1
        if value is None:
            return () if several else None
        wanted: Any = param.type_descriptor.annotation
        try:
            if several and get_origin(wanted) is list:
                return [_read(item, get_args(wanted)[0]) for item in value]
            return _read(value, wanted)
        except _NotSimpleError:
            return self._whole().coerce(value, param=param, ctx=ctx)


def _read(value: Any, wanted: Any) -> Any:
    if isinstance(wanted, type):
        if isinstance(value, wanted):  # a text, or a default
            return value
        if isinstance(value, str) and wanted is Path:
            return Path(value)
        if issubclass(wanted, Enum) and value in (found := {choice.value: choice for choice in wanted}):
            return found[value]
    raise _NotSimpleError


class _Quick:
    """A command whose parameters, `--help` among them, are read the quick way."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, as typer gives them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # the mixin stands before a command's class
        for param in params:
            if "get_runtime_param" not in vars(param):
                _quicken(param)
        return params


def _quicken(param: Parameter) -> None:
    reader: Any = _Reader(param.get_runtime_param)
    param.get_runtime_param = lambda: reader  # type: ignore[method-assign]  # typer can't be given another class


class QuickCommand(_Quick, TyperCommand):
    """For `typer.Typer.command(cls=…)`."""


class QuickGroup(_Quick, TyperGroup):
    """For `typer.Typer(cls=…)`."""
