"""Texts that the command line names: of any file, pipe or standard input, but not without end."""

from __future__ import annotations

import sys
from pathlib import Path

from reconciler.errors import InputError, UsageError

STDIN = Path("-")
LIMIT = 256 * 2**20  # bytes; the plan of a fleet is as large as that, and nothing else is


def read_text(path: Path, limit: int = LIMIT) -> str:
    """A file's text, or standard input's for `-`. Raises InputError where it is none, or larger than `limit` bytes."""
    name = "standard input" if path == STDIN else str(path)
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(limit + 1)
        else:
            with path.open("rb") as stream:
                data = stream.read(limit + 1)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from None
    if len(data) > limit:
        raise InputError(f"{name} is larger than {limit // 2**20:,} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} isn't UTF-8 text, by byte {error.start}") from None


def check_text(options: dict[str, str]) -> None:
    """The shell passes any bytes on, and JSON can't. Raises UsageError."""
    for option, text in options.items():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{option} isn't UTF-8 text") from None
