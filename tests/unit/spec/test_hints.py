"""Every finding says what to do (contract section 2), whatever it is about."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from reconciler.spec.findings import Finding
from reconciler.spec.loader import load
from reconciler.spec.rules import RULES, check
from reconciler.spec.script_checks import check_scripts
from tests.unit.spec.rule_cases import Broken, problems
from tests.unit.spec.samples import HEAD, MINIMAL, SLURM, load_one

ROOT = Path(__file__).parents[3]
INVALID = sorted((ROOT / "tests" / "specs" / "invalid").glob("*.yaml"))
_SUBJECTS = sorted(path.stem for path in Path(__file__).parent.glob("test_rules_*.py"))
CASES: list[Broken] = [case for name in _SUBJECTS for case in import_module(f"{__package__}.{name}").BROKEN]


def test_every_rule_says_what_to_do() -> None:
    """In every case that there is of it, and there is at least one."""
    found = [problem for case in CASES for problem in problems(case.changes)]
    assert {problem.rule for problem in found} == {rule.id for rule in RULES}
    assert [(problem.rule, problem.message) for problem in found if not problem.hint.strip()] == []


def without_hint(findings: tuple[Finding, ...]) -> list[str]:
    assert findings
    return [str(each) for each in findings if not each.hint.strip()]


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_files_that_cannot_be_used(path: Path) -> None:
    """YAML, types, names, scripts: the corpus of invalid files."""
    loaded = load([path], cwd=ROOT, checks=(check,))
    assert without_hint((*loaded.findings, *check_scripts(loaded.readable))) == []


BROKEN: list[tuple[str, str | bytes]] = [
    ("nothing", b""),
    ("a word", "hello\n"),
    ("a list", "- a\n- b\n"),
    ("bytes", b"\xff\xfe\x00"),
    ("not UTF-8", b"a: \xe9\n"),
    ("a NUL", b"a: \0\n"),
    ("an anchor twice", "a: &x 1\nb: &x 2\nc: *x\n"),
    ("an empty key", "? \n: 1\n"),
    ("a list for a key", "? [a]\n: 1\n"),
    ("a merge of a text", "<<: text\n"),
    ("a merge in a circle", "a: &a\n  <<: *a\n"),
    ("too deep", "a: " + "[" * 150 + "]" * 150 + "\n"),
    ("far too deep", "[" * 5000),
    ("no name", "spec: {}\n"),
    ("a name that is none", HEAD.replace("demo", "'a b'")),
    ("a spec that is none", HEAD + "spec: 5\n"),
    ("no spec", HEAD),
    ("a lifecycle that is none", MINIMAL + "lifecycle: 5\n"),
    ("a window without days", MINIMAL + "lifecycle: {maintenance_window: {days: [], start: '25:00', hours: x}}\n"),
    ("a pause", MINIMAL + "lifecycle: {paused: {reason: '', until: 2026-01-01T00:00:00}}\n"),
    ("a script that is none", MINIMAL + SLURM + "      prolog_bash_scripts: [{file: none.sh}, [x], {a: 1}]\n"),
    ("values of other types", MINIMAL + "  labels: {a: [1], b: {}}\n  runtime_spec: []\n  display_name: {}\n"),
    ("a duration", MINIMAL.replace("id: cpu", "id: cpu\n      flex_start_max_duration: 5")),
    ("endless errors", MINIMAL + "".join(f"  unknown{number}: 1\n" for number in range(120))),
]


@pytest.mark.parametrize(("reason", "text"), BROKEN, ids=[case[0] for case in BROKEN])
def test_texts_that_cannot_be_used(reason: str, text: str | bytes) -> None:
    """What a typing mistake, a wrong file or a hostile one brings about."""
    assert without_hint(load_one(text).findings) == [], reason


def test_paths_that_cannot_be_used(tmp_path: Path) -> None:
    """A path that isn't there, an empty folder, what is no file, defaults under a wrong name."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "clusters.d").mkdir()
    (tmp_path / "clusters.d" / "_defaults.yml").write_text("")
    for path in ("gone", "empty", "clusters.d", "/dev/null"):
        assert without_hint(load([path], cwd=tmp_path).findings) == []
