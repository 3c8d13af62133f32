"""What looks like a secret in a text: for warnings about scripts and parameters, and for masking.

The right ways of doing it are left alone (`$(gcloud secrets …)`, `$TOKEN`, a path to a file), and so is what is plainly
no secret (nothing, `<your password>`, `true`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from reconciler.spec.secret_patterns import FILES, SECRETS, Pattern
from reconciler.spec.secret_values import is_literal

_MASK = "[masked]"
# Names are compared without case and separators, as Slurm compares its parameters' (contract, section 1).
_TELLING = (
    r"(?:password|passwd|passphrase|secret|token|credential|(?:api|access|secret|private|auth|shared|account)key|"
    r"(?<!by)(?<!com)(?<!over)(?<!under)(?<!tres)pass)s?$"
)
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
            for match in _compiled(pattern.regex).finditer(text, start, end):
                group = match.lastgroup or match.lastindex or 0
                if pattern.check is None or pattern.check(_meant(match, group)):
                    yield Span(*match.span(group), pattern.kind)


def _meant(match: re.Match[str], group: str | int) -> str:
    """The value without the dollars that mean nothing: inside of single quotes, unless all of it is a variable."""
    value = match[group]
    is_plain = group == "quoted" and match["q"] == "'" and not value.startswith("$")
    return value.replace("$", "") if is_plain else value


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
