"""Foreign text made harmless: files and answers may hold what a terminal or a CI log would obey instead of showing."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Control characters (C0, DEL, C1), what changes the order of writing or can't be seen, lone surrogates (no UTF-8), and
# "##[", which opens a command anywhere in a line of a GitHub Actions log.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]|(?<=##)\["
)
_UNSAFE_BUT_TABS = re.compile(_UNSAFE.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0a-\x1f"))
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def safe(text: str, *, tabs: bool = False) -> str:
    r"""One line of printable text: ESC shows as `\x1b`, a bidi override as `\u202e`. `tabs` keeps tab characters."""
    if is_safe(text):
        return text
    return (_UNSAFE_BUT_TABS if tabs else _UNSAFE).sub(_escape, text)


def is_safe(text: str) -> bool:
    """Whether `safe` would leave the text as it is."""
    # What is printable holds none of the others; that test is several times faster.
    return "##[" not in text if text.isprintable() else not _UNSAFE.search(text)


def visible(line: str) -> str:
    r"""A line of a file, safe, with its trailing blanks to be seen: `·` for a space, `\t` for a tab, `\r` for a CR."""
    body = line.rstrip(" \t\r")
    return safe(body, tabs=True) + safe(line[len(body) :]).replace(" ", "·")


def _escape(match: re.Match[str]) -> str:
    """The character in an escape that Python and YAML's double quotes read alike."""
    if match[0] in _SHORT:
        return _SHORT[match[0]]
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def escape_json(text: str) -> str:
    """JSON text whose strings hold nothing unsafe and no lone surrogates, so that it can be shown and encoded."""
    if text.isascii() and "\x7f" not in text and "##[" not in text:
        return text
    return _UNSAFE.sub(lambda match: "".join(f"\\u{unit:04x}" for unit in _utf16(match[0])), text)


def _utf16(character: str) -> Iterator[int]:
    data = character.encode("utf-16-be", "surrogatepass")
    return (int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
