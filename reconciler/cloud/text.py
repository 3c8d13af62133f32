"""Foreign text on its way into a message."""

from __future__ import annotations

import re

_TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL | re.IGNORECASE)


def one_line(text: str, limit: int = 2000) -> str:
    """`text` in one line of printable characters, at most `limit` of them."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    return words if len(words) <= limit else f"{words[:limit]}…"


def snippet(body: bytes) -> str:
    """The beginning of an answer that isn't what it should be, without markup."""
    return one_line(_TAGS.sub(" ", body[:4000].decode("utf-8", "replace")), 200) or "an empty answer"
