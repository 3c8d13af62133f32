"""Where output goes: results to standard output, everything else to standard error; files whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import typer

from reconciler.views.safe import is_safe, safe
from reconciler.views.terminal import use_colour


def show(text: str) -> None:
    """The result. Raises OSError where it can't be written: a full disk, a reader that has left."""
    try:
        typer.echo(text.removesuffix("\n"))
    except OSError as error:
        _abandon(sys.stdout)
        raise type(error)(error.errno, error.strerror, "standard output") from None


def say(text: str) -> None:
    """Progress and asides, a message of our own on one line or more. Nothing stops because nobody can read them.

    What messages quote is made harmless by whoever quotes it; here is the last line of defence. No control character
    gets to the terminal but line ends and our own colours, and no command to a CI log but an annotation of ours.
    """
    first, *rest = (_harmless(line) for line in text.split("\n"))
    lines = [first if _ANNOTATION.match(first) else _no_command(first), *map(_no_command, rest)]
    try:
        typer.echo("\n".join(lines), err=True)
    except OSError:
        _abandon(sys.stderr)


# As `views.findings.annotation` makes them; it escapes all that its text holds.
_ANNOTATION = re.compile(r"::(?:error|warning|notice) [a-z]+=[^,:]*(?:,[a-z]+=[^,:]*)*::")
_OUR_COLOURS = re.compile(r"(\x1b\[[0-9;]{1,8}m)")


def _harmless(line: str) -> str:
    if is_safe(line):
        return line
    if not colour_on_stderr():
        return safe(line, tabs=True)
    parts = _OUR_COLOURS.split(line)  # every second one is a colour
    return "".join(part if at % 2 else safe(part, tabs=True) for at, part in enumerate(parts))


def _no_command(line: str) -> str:
    """A line that a CI log doesn't take for a command."""
    begin = len(line) - len(line.lstrip())
    return f"{line[:begin]}\\x3a{line[begin + 1 :]}" if line.startswith("::", begin) else line


def _abandon(stream: TextIO) -> None:
    """Let what is still in its buffer, and all that follows, go nowhere: Python would try again when it exits."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def open_streams() -> None:
    """Make a standard stream that is closed (`>&-`) the null device: the next connection would get its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 - open as long as the process


def colour() -> bool:
    """Whether standard output shows colours."""
    return use_colour(sys.stdout, os.environ)


def colour_on_stderr() -> bool:
    """Whether standard error shows colours."""
    return use_colour(sys.stderr, os.environ)


def write_file(path: Path, text: str) -> None:
    """Write a file so that a reader, or a kill at any moment, finds the old one or the new one.

    What is no regular file (a pipe, `/dev/stdout`) is written into instead of replaced. Raises OSError with the path.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        else:
            _replace(target, text)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _replace(target: Path, text: str) -> None:
    import tempfile  # few runs write files

    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}"[:200])
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
