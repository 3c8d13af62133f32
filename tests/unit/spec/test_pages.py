"""The pages that are printed from tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconciler.spec.fields import FIELDS
from reconciler.spec.pages import fields_page, rules_page
from reconciler.spec.rules import RULES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(("name", "page"), [("rules.md", rules_page), ("fields.md", fields_page)])
def test_committed_pages_are_in_step(name: str, page: Callable[[], str]) -> None:
    """`docs/generate.py` writes them."""
    assert (DOCS / name).read_text("utf-8") == page()


def test_every_rule_and_field_has_its_line() -> None:
    """One line of as many cells as the table's head."""
    for page, ids in ((rules_page(), [rule.id for rule in RULES]), (fields_page(), [row.path for row in FIELDS])):
        lines = [line for line in page.splitlines() if line.startswith("|")]
        assert {line.count("|") for line in lines} == {lines[0].count("|")}
        assert [line.split("`")[1] for line in lines[2:]] == ids


WORDS = [
    ("name", "never read, never sent"),
    ("network", "the live value stays"),
    ("labels", "wanted empty"),
    ("node_pools[].id", "an error"),
    ("node_pools[]", "list, known by `id`"),
    ("node_pools[].lustres[]", "set of resource name"),
    ("orchestrator_spec.slurm_spec.prolog_bash_scripts[]", "list of script, in order"),
    ("node_pools[].zone", "recreates_nodes"),
]


@pytest.mark.parametrize(("field", "words"), WORDS, ids=[field for field, _ in WORDS])
def test_what_a_field_says_of_itself(field: str, words: str) -> None:
    """Its type, and what its absence and its change mean."""
    line = next(line for line in fields_page().splitlines() if line.startswith(f"| `{field}` |"))
    assert f"| {words} |" in line
