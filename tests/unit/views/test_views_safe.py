"""Foreign text can't act on a terminal, a CI log, or pose as other text."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconciler.views.safe import escape_json, is_safe, safe, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcödé 集群", "plain text, ünïcödé 集群"),
        ("\x1b[2J\x07", r"\x1b[2J\x07"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x9b31m\x7f", r"\x9b31m\x7f"),
        ("user\u202enimda", r"user\u202enimda"),
        ("\u2066x\u2069\u200b\ufeff", r"\u2066x\u2069\u200b\ufeff"),
        ("line\u2028sep", r"line\u2028sep"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("##[add-mask]x", r"##\x5badd-mask]x"),
    ],
)
def test_safe_shows_what_would_act(text: str, shown: str) -> None:
    """Control, bidi and invisible characters stand as escapes, everything else as it is."""
    assert safe(text) == shown
    assert is_safe(text) is (text == shown)


@given(st.text())
def test_safe_text_is_safe_and_can_be_encoded(text: str) -> None:
    """Whatever comes in, what goes out needs no second look and is UTF-8."""
    assert is_safe(safe(text))
    assert safe(text).encode().decode() == safe(text)
    assert "\n" not in safe(text)


def test_every_character_that_is_not_safe_is_not_printable() -> None:
    """The fast test for printable text lets nothing through that the exact one would escape."""
    assert [c for c in map(chr, range(sys.maxunicode + 1)) if c.isprintable() and safe(f"{c}") != c] == []


def test_tabs_are_kept_on_demand() -> None:
    """Indentation of scripts stays, and nothing else of the kind."""
    assert safe("\ta\x1b", tabs=True) == "\ta\\x1b"


@pytest.mark.parametrize(
    ("line", "shown"), [("a  ", "a··"), ("a\t", r"a\t"), ("a \r", r"a·\r"), ("\ta b", "\ta b"), ("  ", "··"), ("", "")]
)
def test_trailing_blanks_are_visible(line: str, shown: str) -> None:
    """A change that is only blanks at a line's end can be seen."""
    assert visible(line) == shown


def test_json_text_is_escaped_the_json_way() -> None:
    """JSON keeps its meaning: astral characters as surrogate pairs, lone surrogates as what they are."""
    assert escape_json('"a\x7f\u202e\U000e0041\ud800"') == r'"a\u007f\u202e\udb40\udc41\ud800"'
