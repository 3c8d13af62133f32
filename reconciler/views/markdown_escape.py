"""Foreign text inside GitHub's Markdown: it can't end what it stands in, ping people, link issues or pose as markup."""

from __future__ import annotations

import html
import re
import string

from reconciler.views.safe import safe

_BREAK = "\u200b"  # zero-width space; `safe` has escaped those of the text itself
_ENTITIES = {ord(mark): f"&#{ord(mark)};" for mark in string.punctuation}
_MARKUP = re.compile(r"[\\`*~\[\]<>&|$]|(?<!\w)_|_(?!\w)")
# GitHub looks for these in the rendered text, where no backslash or entity hides them.
_LINKS = re.compile(r"(?<=[@#])|(?<=\bGH)(?=-)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_COMMENT = "<!--"  # how our own comments are found again: a script that holds the marker must not be taken for one


def code(text: str) -> str:
    """A code span, in table cells too; as HTML where backticks, pipes or backslashes would end it or the cell."""
    shown = _without_comments(safe(text))
    if any(mark in shown for mark in "`|\\"):
        return f"<code>{shown.translate(_ENTITIES)}</code>"
    padding = " " if shown[:1] == shown[-1:] == " " else ""
    return f"`{padding}{shown}{padding}`" if shown else ""


def prose(text: str) -> str:
    """A sentence as it is, without effect."""
    return _MARKUP.sub(lambda mark: _ENTITIES[ord(mark[0])], _LINKS.sub(_BREAK, safe(text)))


def html_code(text: str) -> str:
    """A `<code>` element, for where HTML is read and Markdown isn't."""
    return f"<code>{html.escape(safe(text))}</code>"


def fence(lines: list[str], language: str) -> str:
    """A fenced block, its fence longer than any run of backticks inside."""
    body = _without_comments("\n".join(lines))
    longest = max(map(len, re.findall("`{3,}", body)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{body}\n{ticks}"


def clip(text: str, limit: int | None) -> str:
    """At most so many characters; an ellipsis says that there were more."""
    return text if limit is None or len(text) <= limit else f"{text[: limit - 1]}…"


def _without_comments(text: str) -> str:
    return text.replace(_COMMENT, f"<!{_BREAK}--")
