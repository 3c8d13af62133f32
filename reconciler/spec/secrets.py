"""What looks like a secret in a text: one table of patterns, for warnings about scripts and for masking.

The patterns leave the right ways of doing it alone (`$(gcloud secrets …)`, `$TOKEN`, a path to a file). Where one has a
group, the group is the secret, and what stands around it tells what it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# A value given as it is: no variable, no command, no path, no placeholder. Outside of quotes the word must end with it.
_WORD = r"""["']?([^\s"'`$<>{}()\[\]|;&*/\\][^\s"'`$<>{}()\[\]|;&*]{5,})(?=["'\s;&|\\]|\Z)"""
_QUOTED = r"""["']([^"'`$<>{}()\[\]*/\\\n][^"'`$<>{}\n]{5,})["']"""
_ASSIGN = r"""(?:=|["']?\s*:\s*(?=["']))"""
_NOT_A_NUMBER = r"""(?!["']?\d+(?:["'\s;&|]|\Z))"""  # MAX_TOKEN=100000
_CALLED = (
    ("a password", r"(?i)(?:password|passwd|passphrase)" + _ASSIGN),
    (
        "a token or key",
        r"(?i)(?:token|api[_-]?key|access[_-]?key(?:[_-]id)?|secret[_-]?key|private[_-]?key|[a-z0-9]_secret)"
        + (_ASSIGN + _NOT_A_NUMBER),
    ),
)

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a private key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])")),
    ("a Google access token", re.compile(r"\bya29\.[0-9A-Za-z_.-]{20,}")),
    ("an OAuth client secret", re.compile(r"\bGOCSPX-[0-9A-Za-z_-]{20,}")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[0-9A-Za-z]{36,}|github_pat_[0-9A-Za-z_]{22,})")),
    ("a GitLab token", re.compile(r"\bglpat-[0-9A-Za-z_-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abeprs]-[0-9A-Za-z-]{10,}")),
    ("a Hugging Face token", re.compile(r"\bhf_[0-9A-Za-z]{30,}")),
    ("an API key", re.compile(r"\bsk-[0-9A-Za-z_-]{32,}")),
    ("a signed token (JWT)", re.compile(r"\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}")),
    ("an authorization header", re.compile(r"(?i)\bauthorization:\s*(?:bearer|basic)\s+([0-9a-z+/=_.~-]{8,})")),
    ("a password in a URL", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'$]{1,100}:([^\s/@\"'${}]{3,100})@")),
    *((kind, re.compile(name + value)) for kind, name in _CALLED for value in (_WORD, _QUOTED)),
)


@dataclass(frozen=True, slots=True)
class Span:
    """Where in a text something stands that looks like a secret, and what it looks like (with its article)."""

    start: int
    end: int
    kind: str


@lru_cache(maxsize=64)  # many clusters share a script
def find(text: str) -> tuple[Span, ...]:
    """The places that look like secrets, in order; overlapping ones are one."""
    spans = [
        Span(*match.span(pattern.groups), kind)  # the group's place where there is a group, else the whole match's
        for kind, pattern in PATTERNS
        for match in pattern.finditer(text)
    ]
    merged: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            merged.append(Span(last.start, max(last.end, span.end), last.kind))
        else:
            merged.append(span)
    return tuple(merged)


def mask(text: str) -> str:
    """The text with what looks like a secret replaced by `[masked]`."""
    for span in reversed(find(text)):
        text = f"{text[: span.start]}[masked]{text[span.end :]}"
    return text
