"""Cluster files that must load, and ones that must not: put a file into `valid/` or `invalid/` and it is a test.

What is expected stands in the file itself, a line for each finding in the order of their places:

    # expect: LINE:COLUMN rule-id: part of the message
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reconciler.spec import rules
from reconciler.spec.loader import Loaded, load

HERE = Path(__file__).parent
_EXPECT = re.compile(r"^# expect: (\d+:\d+) ([a-z-]+): (.+)$", re.MULTILINE)


def cases(folder: str) -> list[str]:
    files = [path for path in (HERE / folder).rglob("*.*") if path.suffix in (".yaml", ".yml", ".json")]
    return sorted(path.relative_to(HERE).as_posix() for path in files if not path.name.startswith("_"))


def check(name: str, loaded: Loaded) -> None:
    """The findings are those that the file says, no more and no fewer."""
    expected = _EXPECT.findall((HERE / name).read_text(encoding="utf-8"))
    found = [(f"{each.line}:{each.column}", each.rule, each.message) for each in loaded.findings]
    assert [(place, rule) for place, rule, _ in found] == [(place, rule) for place, rule, _ in expected], found
    for (_, _, message), (_, _, part) in zip(found, expected, strict=True):
        assert part in message


@pytest.mark.parametrize("name", cases("valid"))
def test_a_valid_file_loads(name: str) -> None:
    """Its clusters are usable, under all rules too; warnings are those that it expects."""
    loaded = load([name], cwd=HERE, root=HERE, checks=(rules.check,))
    check(name, loaded)
    assert loaded.clusters
    assert not loaded.refused


@pytest.mark.parametrize("name", cases("invalid"))
def test_an_invalid_file_is_refused(name: str) -> None:
    """With the findings that it expects, at their places."""
    loaded = load([name], cwd=HERE, root=HERE)
    check(name, loaded)
    assert loaded.findings
    assert loaded.refused
