"""Changes as lines: unified diffs that say exactly what differs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_samples import change

from reconciler.views.lines import change_lines, count, is_inline
from reconciler.views.matching import hunks


def shown(before: Any, after: Any) -> list[str]:
    """The lines of a change, sign and text."""
    return [
        line.text if line.sign == "@" else line.sign + line.text for line in change_lines(change("x", before, after))
    ]


def test_an_edit_shows_three_lines_around_it() -> None:
    """A one-line edit in a long script is one hunk."""
    before = "".join(f"{number}\n" for number in range(100))
    assert shown(before, before.replace("50\n", "fifty\n")) == [
        "@@ -48,7 +48,7 @@",
        *(" 47", " 48", " 49", "-50", "+fifty", " 51", " 52", " 53"),
    ]


def test_a_lost_final_newline_is_said() -> None:
    """It is the only difference, so it must be seen."""
    assert shown("a\nb\n", "a\nb") == ["@@ -1,2 +1,2 @@", " a", "-b", "+b", "\\No newline at end of file"]


def test_a_final_newline_that_neither_has_is_no_news() -> None:
    """Comparison forms have no final newline; that is not the author's doing."""
    assert shown("a\nb", "a\nc") == ["@@ -1,2 +1,2 @@", " a", "-b", "+c"]


def test_blanks_and_line_ends_are_visible() -> None:
    """A CR or trailing blank is the whole difference and shows."""
    assert shown("a\nb", "a\r\nb ")[1:] == ["-a", "-b", r"+a\r", "+b·"]


def test_only_newline_ends_a_line() -> None:
    """Form feeds and Unicode separators stay inside a line, escaped."""
    assert shown(None, "a\x0cb\u2028c\nd") == [r"+a\x0cb\u2028c", "+d"]


def test_a_new_item_is_yaml() -> None:
    """A pool that is added or removed can be read whole."""
    assert shown(None, {"id": "a", "n": 1}) == ["+id: a", "+n: 1"]
    assert shown({"id": "a"}, None) == ["-id: a"]


def test_changed_structures_are_compared_as_yaml() -> None:
    """A field that the tool doesn't know may hold anything."""
    assert shown({"a": 1, "b": 2}, {"a": 1, "b": 3})[1:] == [" a: 1", "-b: 2", "+b: 3"]


def test_count_names_both_sides() -> None:
    """The count stands for a diff that has no room."""
    assert count(change_lines(change("x", "a\nb", "a\nc\nd"))) == "+2 -1 lines"
    assert count(change_lines(change("x", None, "a\nb"))) == "+2 lines"


@pytest.mark.parametrize(
    ("before", "after", "inline"),
    [
        (1, 2, True),
        (None, "x", True),
        (["a"], ["a", "b"], True),
        ([], ["a"], True),
        ("a\nb", "c", False),
        ({"a": 1}, None, False),
        ([{"a": 1}], None, False),
        ("x" * 121, None, False),
    ],
)
def test_what_fits_a_line(before: Any, after: Any, inline: bool) -> None:
    """Short scalars and lists of them stand in a line, everything else in lines of its own."""
    assert is_inline(change("x", before, after)) is inline


_LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(_LINES, _LINES, st.integers(0, 3))
def test_hunks_turn_the_old_into_the_new(old: list[str], new: list[str], context: int) -> None:
    """Nothing that differs is missing in a diff, and nothing that is the same is called different where equal."""
    result, at = [], 0
    for group in hunks(old, new, context):
        for tag, i1, i2, j1, j2 in group:
            result += old[at:i1]
            assert (tag == "equal") is (old[i1:i2] == new[j1:j2])
            result += new[j1:j2]
            at = i2
    assert result + old[at:] == new


def test_hunks_of_unlike_repetitive_texts_are_still_right() -> None:
    """Where searching for common lines is given up, the part counts as replaced whole."""
    old, new = ["a", "b"] * 2_000, ["b", "c"] * 2_000
    (group,) = hunks(old, new, 0)
    assert group == [("replace", 0, 4_000, 0, 4_000)]


def test_a_moved_line_leaves_the_others_alone() -> None:
    """Lines that are unique on both sides are matched in the longest order that both share."""
    old = [str(number) for number in range(50)]
    new = [*old[1:40], "0", *old[40:]]
    found = [opcode for group in hunks(old, new, 0) for opcode in group if opcode[0] != "equal"]
    assert found == [("delete", 0, 1, 0, 0), ("insert", 40, 40, 39, 40)]
