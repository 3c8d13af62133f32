"""Where output goes: results to standard output, everything else to standard error; files whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import typer

from reconciler.views.terminal import use_colour


def show(text: str) -> None:
    """The result."""
    typer.echo(text.removesuffix("\n"))


def say(text: str) -> None:
    """Progress and asides."""
    typer.echo(text, err=True)


def colour() -> bool:
    """Whether standard output shows colours."""
    return use_colour(sys.stdout, os.environ)


def colour_on_stderr() -> bool:
    """Whether standard error shows colours."""
    return use_colour(sys.stderr, os.environ)


def write_file(path: Path, text: str) -> None:
    """Write a file so that a reader, or a kill at any moment, finds the old one or the new one. Raises OSError."""
    target = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
