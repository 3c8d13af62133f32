"""Single values: what is of a kind, and when two of them mean the same."""

from __future__ import annotations

import re

import pytest

from reconciler.spec.fields import Kind
from reconciler.spec.values import describe, duration, typed

WRONG: list[tuple[str, Kind, object, str]] = [
    ("more than 32 bits", Kind.INT, 2**31, "2147483648 is out of the range of 32-bit integers"),
    ("less than 32 bits", Kind.INT, -(2**31), "-2147483648 is out of the range of 32-bit integers"),
    ("more than 64 bits", Kind.INT64, 2**63, "9223372036854775808 is out of the range of 64-bit integers"),
    ("more than Python prints", Kind.INT64, 10**5000, "the number is out of the range of 64-bit integers"),
    ("a fraction", Kind.INT, 1.5, 'expected a whole number, got "1.5"'),
    ("a word", Kind.INT, "many", 'expected a whole number, got "many"'),
    ("endless digits", Kind.INT64, "9" * 5000, f'expected a whole number, got "{"9" * 57}..."'),
    ("true is no number", Kind.INT, True, "expected a whole number, got true"),
    ("yes is no boolean", Kind.BOOL, "yes", 'expected true or false, got "yes"'),
    ("minutes", Kind.DURATION, "5m", 'expected a duration in seconds such as "604800s", got "5m"'),
    ("a list for a text", Kind.STRING, [], "expected a string, got a list"),
]


@pytest.mark.parametrize(("kind", "value", "message"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_is_not_of_a_kind(kind: Kind, value: object, message: str) -> None:
    """It is refused with words that say what was expected and what is there."""
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        typed(kind, value)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("604800s", "604800s"),
        ("604800.000s", "604800s"),
        ("0.50s", "0.5s"),
        ("0s", ""),
        ("0.000000000s", ""),
        ("1000000s", "1000000s"),
        ("a week", "a week"),
        ("-5s", "-5s"),
        ("", ""),
    ],
)
def test_duration(text: str, form: str) -> None:
    """By length; none at all is absent, and what an answer may have that is no duration stays as it is."""
    assert duration(text) == form


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing (null)"),
        ({}, "a mapping"),
        ([], "a list"),
        (False, "false"),
        (10**30, "a huge number"),
        (3, '"3"'),
    ],
)
def test_describe(value: object, words: str) -> None:
    """A type for what is large, the value for what is short."""
    assert describe(value) == words
