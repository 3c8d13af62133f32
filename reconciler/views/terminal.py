"""Colours: whether a stream gets them, and the few that there are. ANSI codes, since rich costs start-up time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TextIO

Paint = Callable[[str, str], str]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35", "cyan": "36"}


def is_interactive(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a person watches the stream: a terminal that can move its cursor, and no CI log."""
    return stream.isatty() and environ.get("TERM") != "dumb" and environ.get("CI", "").lower() in ("", "0", "false")


def use_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether the stream gets colours: as `is_interactive`, unless NO_COLOR is set to anything (contract section 2)."""
    return is_interactive(stream, environ) and not environ.get("NO_COLOR")


def painter(*, colour: bool) -> Paint:
    """`paint("bold red", text)`; without colour the text as it is."""
    return _paint if colour else _plain


def _paint(style: str, text: str) -> str:
    codes = ";".join(_CODES[name] for name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _plain(style: str, text: str) -> str:  # noqa: ARG001 - the signature of Paint
    return text
