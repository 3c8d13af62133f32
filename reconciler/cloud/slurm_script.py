"""A batch script, as far as it must be known before it is submitted: whether it is one, and its `#SBATCH` lines."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import pairwise

from reconciler.errors import InputError

_DIRECTIVE = re.compile(r"#SBATCH(?=\s)(.*)")


@dataclass(frozen=True, slots=True)
class Script:
    """A script's text, the options in its `#SBATCH` lines (`--time`, `-p`), and the directory that they name."""

    text: str
    options: tuple[str, ...] = ()
    chdir: str = ""


def read_script(text: str, source: str) -> Script:
    """A script as sbatch would take it. source: where it's from, for messages.

    Raises InputError for what sbatch refuses, too: a first line without `#!`, DOS line ends, NUL characters. Slurm's
    API takes all of them, and the job fails on the node (seen in 22.05 and 25.11).
    """
    if text.startswith("\ufeff"):
        hint = "save it as UTF-8 without one: sed -i '1s/^\\xEF\\xBB\\xBF//'"
        raise InputError(f"{source}: begins with a byte order mark, behind which no system sees the #!", hint=hint)
    if not text.startswith("#!"):
        raise InputError(f"{source}: the first line doesn't say what runs the script", hint="such as #!/bin/bash")
    if "\r\n" in text:
        raise InputError(f"{source}: has DOS line ends, which no shell takes", hint="convert it: sed -i 's/\\r$//'")
    if "\0" in text:
        raise InputError(f"{source}: holds a NUL character; it isn't a script")
    tokens = [token for line in _directives(text) for token in _tokens(line, source)]
    options = tuple(dict.fromkeys(_option(token) for token in tokens if token.startswith("-")))
    return Script(text, options, _chdir(tokens))


def _directives(text: str) -> list[str]:
    """The rest of each `#SBATCH` line; like sbatch's, the search ends at the first command."""
    found = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            break
        if match := _DIRECTIVE.match(line):
            found.append(match[1])
    return found


def _tokens(line: str, source: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError as error:
        raise InputError(f"{source}: #SBATCH{line}: {error}") from None


def _option(token: str) -> str:
    return token.partition("=")[0] if token.startswith("--") else token[:2]


def _chdir(tokens: list[str]) -> str:
    """The last `--chdir=DIR`, `--chdir DIR`, `-D DIR` or `-DDIR`, as sbatch reads them."""
    found = ""
    for token, following in pairwise([*tokens, ""]):
        if token in ("-D", "--chdir"):
            found = following
        elif token.startswith("--chdir="):
            found = token.removeprefix("--chdir=")
        elif token.startswith("-D"):
            found = token.removeprefix("-D")
    return found
