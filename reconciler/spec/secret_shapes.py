"""What the tables of secrets are made of: a pattern, and how a value is written in a script."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Check = Callable[[str], bool]


class Pattern(NamedTuple):
    """`words` are in lower case. `check` is asked about the group. `whole`: it is tried on the whole text.

    Where a pattern has a group, the last one is the secret, and what stands around it tells what it is. Without one of
    its words it can't match: a script is searched for these, which is quick, and the pattern is tried on their lines.
    `regex` is a text, since most are never tried, and to compile them all takes longer than to plan a cluster.
    """

    kind: str
    words: tuple[str, ...]
    regex: str
    check: Check | None = None
    whole: bool = False


def looks(kind: str, word: str, regex: str, check: Check | None = None) -> Pattern:
    """A pattern with one word."""
    return Pattern(kind, (word,), regex, check)


# Between quotes, which JSON inside of a script escapes; in single ones the shell knows no escapes.
_QUOTED = r"""\$?(?P<q>\\*["'])(?![\s;,)&|])(?P<quoted>(?:(?!(?P=q))(?:\\.|[^\n])){1,4096})(?P=q)"""
_SINGLE = r"""'(?![\s;,)&|])(?P<single>[^'\n]{1,4096})'"""
# A word that is whole: letters, and what the shell puts something else for. Lengths have an end, and so has the time.
_REFERENCE = (
    r"(?:\$\{(?:[^{}\n]|\{[^{}\n]{0,400}\}){0,400}\}|`[^`\n]{0,400}`"
    r"|\$\((?:[^()\n]|\((?:[^()\n]|\([^()\n]{0,400}\)){0,400}\)){0,400}\))"
)
_PLAIN = r"""[^\s"'`$<>{}()|;&\\]"""
_PLAINS = rf"{_PLAIN}{{0,4096}}+"
_A_WORD = rf"""(?P<word>(?=[^\s"'<>{{}}()\[\]|;&*\\]){_PLAINS}(?:(?:{_REFERENCE}|\$){_PLAINS}){{0,32}}+)"""
WORD = rf"""{_A_WORD}(?=["'\s;&|\\]|\Z)"""
VALUE = f"(?:{_QUOTED}|{_SINGLE}|{WORD})"
# The same as a command's argument, where a parenthesis can but close `$(command …)`.
ARGUMENT = rf"""(?:{_QUOTED}|{_SINGLE}|{_A_WORD}(?=["'\s;&|)\\]|\Z))"""

# Further on in a command, which may have several lines.
ON = r"(?:[^\n;|&]|&(?!&)|\\\n){0,400}?[ \t\n]"
AFTER_NAME = r"""[^\s:"']{1,100}:([^\s"'`]{1,400})"""
