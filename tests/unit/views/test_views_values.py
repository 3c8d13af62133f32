"""Values in one line, and as YAML."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reconciler.views.safe import is_safe
from reconciler.views.values import inline, yaml_text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "(unset)"),
        (True, "true"),
        (4, "4"),
        (1.5, "1.5"),
        ("us-central1-a", "us-central1-a"),
        ("projects/p/global/networks/n", "projects/p/global/networks/n"),
        ("4", '"4"'),
        ("true", '"true"'),
        ("", '""'),
        ("a b", '"a b"'),
        ('say "x"\n', r'"say \"x\"\n"'),
        ("\u202ex", r'"\u202ex"'),
        ([], "[]"),
        (["a", 2], "[a, 2]"),
        ({"a": {"b c": None}}, '{a: {"b c": (unset)}}'),
    ],
)
def test_inline(value: Any, shown: str) -> None:
    """A value reads as YAML would have it, and no string passes for another type."""
    assert inline(value) == shown


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=8,
)


@given(_VALUES)
def test_yaml_reads_back_as_the_same_value(value: Any) -> None:
    """What `get` prints can be taken as it is; and nothing in it acts on the terminal."""
    text = yaml_text(value)
    assert yaml.safe_load(text) == value
    assert all(is_safe(line.replace("\t", "")) for line in text.split("\n"))


@pytest.mark.parametrize("text", ["1e5", "0o17", "1.", ".5", "-7", "+3", "yes", "null", "~", "12:30:00", "0x1F"])
def test_yaml_quotes_what_either_yaml_takes_for_something_else(text: str) -> None:
    """YAML 1.1 and 1.2 differ in what is a number; a string is quoted for both."""
    assert yaml_text({"k": text}).strip()[3:] in (f'"{text}"', f"'{text}'")


def test_yaml_writes_scripts_as_blocks() -> None:
    """A script can be read, line by line."""
    assert yaml_text({"s": "#!/bin/bash\necho hi\n"}) == "s: |\n  #!/bin/bash\n  echo hi\n"


def test_yaml_survives_half_characters() -> None:
    """JSON may hold lone surrogates, which YAML can't; the rest is still shown."""
    assert yaml_text({"k": "a\ud800b"}).startswith("k: ")


def test_yaml_has_no_aliases() -> None:
    """The same list twice is written twice: people don't read anchors."""
    same = ["a"]
    assert yaml_text({"x": same, "y": same}) == "x:\n- a\ny:\n- a\n"


@pytest.mark.parametrize(("value", "shown"), [("a", "a\n"), (4, "4\n"), ("...\n", "|\n  ...\n"), ([], "[]\n")])
def test_yaml_of_a_bare_value_has_no_end_mark(value: Any, shown: str) -> None:
    """The mark that a YAML writer puts behind a scalar is no part of it, and a text that looks like it is kept."""
    assert yaml_text(value) == shown
