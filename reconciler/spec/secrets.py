"""What looks like a secret in a text: for warnings about scripts and parameters, and for masking.

The right ways of doing it are left alone (`$(gcloud secrets …)`, `$TOKEN`, a path to a file), and so is what is plainly
no secret (nothing, `<your password>`, `true`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from reconciler.spec.secret_patterns import FILES, SECRETS
from reconciler.spec.secret_shapes import Pattern
from reconciler.spec.secret_values import is_literal

_MASK = "[masked]"
# Names are compared without case and separators, as Slurm compares its parameters' (contract, section 1).
_TELLING = (
    r"(?:(?:password|passwd|passphrase|secret|token|credential|(?:api|access|secret|private|auth|shared|account)key|"
    r"(?<!by)(?<!com)(?<!over)(?<!under)(?<!tres)pass)s?|(?:^|root|db|user|admin|ldap|bind|smtp|sql)pwd?)$"
)
_SIGNS = re.compile(r"[$`]")
_ALL_OF_IT = re.compile(r"(?:\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+\d?|\{.*\}|\(.*\))|`.*`)(?:/.*)?")
_LOOK_BACK = 4096  # characters of a line
_compiled = cache(re.compile)
_SEPARATORS = str.maketrans("", "", "_-. ")


@dataclass(frozen=True, slots=True)
class Span:
    """Where in a text something stands that looks like a secret, and what it looks like (with its article)."""

    start: int
    end: int
    kind: str


@lru_cache(maxsize=64)  # many clusters share a script
def find(text: str) -> tuple[Span, ...]:
    """What is worth a warning, in order: what looks like a secret, and the path of each file that holds one, once."""
    paths = {text[span.start : span.end]: span for span in sorted(_matches(text, FILES), key=_place, reverse=True)}
    return tuple(sorted((*values(text), *paths.values()), key=_place))


@lru_cache(maxsize=128)
def values(text: str, name: str = "") -> tuple[Span, ...]:
    """What is to be masked, in order; overlapping places are one.

    `name` is what the whole text is called, if it is called anything: a literal `JobCompPass` is a secret as it is.
    """
    if says_secret(name) and is_literal(text):
        return (Span(0, len(text), "a secret"),)
    merged: list[Span] = []
    for span in sorted(_matches(text, SECRETS), key=_place):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            merged.append(Span(last.start, max(last.end, span.end), last.kind))
        else:
            merged.append(span)
    return tuple(merged)


def says_secret(name: str) -> bool:
    """Whether what is called so is a secret: `AccountingStoragePass`, `job_comp_pass`, `api-key`."""
    return bool(re.search(_TELLING, name[-100:].translate(_SEPARATORS).lower()))


def mask(text: str, name: str = "") -> str:
    """The text with what looks like a secret replaced by `[masked]`."""
    for span in reversed(values(text, name)):
        text = f"{text[: span.start]}{_MASK}{text[span.end :]}"
    return text


def _matches(text: str, patterns: Iterable[Pattern]) -> Iterator[Span]:
    lowered = text.encode("ascii", "replace").decode().lower()  # of the same length, whatever stands there
    for pattern in patterns:
        for start, end in _places(lowered, pattern):
            for match, group in _found(_compiled(pattern.regex), text, start, end):
                if pattern.check is None or pattern.check(_meant(match, group)):
                    yield Span(*match.span(group), pattern.kind)


def _found(regex: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[re.Match[str], str | int]]:
    """The matches, each with the group that is the secret; one may lie in another's, as in `PASS=$(x --pass y)`."""
    while match := regex.search(text, start, end):
        group = match.lastgroup or match.lastindex or 0
        yield match, group
        start = match.start(group) + 1 if group and _SIGNS.search(match[group]) else max(match.end(), start + 1)


def _meant(match: re.Match[str], group: str | int) -> str:
    """The value without the signs that mean nothing: between single quotes nothing is put there by the shell.

    Unless all of it is a variable or the like: those quotes may stand in a text where the shell does put something.
    """
    value = match[group]
    if not _SIGNS.search(value) or _ALL_OF_IT.fullmatch(value):
        return value
    before = match.string[max(0, match.start(group) - _LOOK_BACK) : match.start(group)]
    return _SIGNS.sub("", value) if _quote(before.rpartition("\n")[2]) == "'" else value


def _quote(line: str) -> str:
    """The quote that is open at the end of a line's beginning, or the empty string."""
    quote = ""
    signs = iter(line)
    for sign in signs:
        if sign == "\\" and quote != "'":
            next(signs, None)
        elif sign == quote:
            quote = ""
        elif not quote and sign in "\"'":
            quote = sign
    return quote


def _places(lowered: str, pattern: Pattern) -> Iterator[tuple[int, int]]:
    """The lines that hold one of a pattern's words, each once for each word; those that go on below included."""
    for word in pattern.words:
        found = lowered.find(word)
        if found >= 0 and pattern.whole:
            yield 0, len(lowered)
            return
        while found >= 0:
            start, end = lowered.rfind("\n", 0, found) + 1, _end(lowered, found)
            yield start, end
            found = lowered.find(word, end)


def _end(text: str, position: int) -> int:
    end = text.find("\n", position)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1)
    return len(text) if end < 0 else end


def _place(span: Span) -> tuple[int, int]:
    return span.start, -span.end
