"""No input, however broken, ends in anything but findings with a file and, where there can be, a line (contract 5)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.spec import rules
from reconciler.spec.loader import Loaded
from reconciler.spec.tree import ROOT, Node
from tests.unit.spec.samples import HEAD, MINIMAL, load_one, the_error, told

SPEC = HEAD + "spec:\n"
EXPLODING = "\n".join(
    ["a0: &a0 [x]"] + [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 12)]
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "0:0 empty: there is no cluster in this file"),
        ("# nothing\n", "0:0 empty: there is no cluster in this file"),
        ("---\n---\n", "0:0 empty: there is no cluster in this file"),
        ("\ufeff", "0:0 empty: there is no cluster in this file"),
        ("text", "1:1 type: a cluster file is a mapping with project, location, cluster_id and spec"),
        ("null", "1:1 type: a cluster file is a mapping with project, location, cluster_id and spec"),
        ("- a", "1:1 type: a cluster file is a mapping with project, location, cluster_id and spec"),
        ("[" * 900 + "]" * 900, "1:1 type: a cluster file is a mapping with project, location, cluster_id and spec"),
        ("spec:\n\tlabels: {}", "2:1 yaml: not valid YAML: found character that cannot start any token"),
        (b"\x7fELF\x02\x01\x01\0\0", "1:1 encoding: not a text: it holds the control character U+007F"),
        (b"\x89PNG\r\n\x1a\n", "1:1 encoding: not UTF-8: invalid leading UTF-8 octet"),
        (SPEC.encode() + b"  display_name: caf\xe9", "5:20 encoding: not UTF-8: incomplete UTF-8 octet sequence"),
        ("a: b".encode("utf-16"), "1:1 encoding: this is UTF-16, not UTF-8"),
        ("\0" * 100, "1:1 encoding: not a text: it holds the control character U+0000"),
        (SPEC + "  &a b: *a\n  labels: &l {x: *l}", "6:11 cycle: this value holds itself, through its anchor"),
        (EXPLODING, "1:5 too-many-values: more than 200,000 values in one document, counting what aliases repeat"),
        (SPEC + "  labels: *nope", "5:11 yaml: not valid YAML: found undefined alias"),
        (
            SPEC + "  labels: !!python/object/apply:os.system [exit]",
            "5:11 tag: the tag !!python/object/apply:os.system is not allowed here",
        ),
        (SPEC + "  display_name: 1e400", "5:17 number: 1e400 is too large a number"),
        (SPEC + "  display_name: " + "9" * 5000, "5:17 number: a number of 5,000 digits"),
        (b"a" * (4 * 1024 * 1024 + 1), "0:0 unreadable: can't be read: larger than 4,096 KiB"),
        ("[" + "[]," * 300_000 + "]", "0:0 too-many-values: a document of more than 200,000 values"),
        (f"{MINIMAL}---\nspec: [", "11:1 yaml: not valid YAML: did not find expected node content"),
    ],
)
def test_broken_files_are_told(text: str | bytes, message: str) -> None:
    """One finding with the place and the fault; the file is refused."""
    assert the_error(load_one(text)).startswith(f"clusters.d/a.yaml:{message}")


@pytest.mark.parametrize(
    "text",
    [
        "'[' * 5_000",
        "'[' * 100_000",
        "'[' * 100_000 + ']' * 100_000",
        "'{a: ' * 100_000",
        "'- ' * 100_000",
        "'? ' * 100_000",
        "''.join(f'&a{level} [' for level in range(5_000))",
        "'\\n'.join(' ' * depth + 'a:' for depth in range(2_500))",
        "'{' + '\"a\":{' * 5_000 + '}' * 5_001",
        "'a:\\n' + '- ' * 900 + '[' * 900",
    ],
)
def test_deep_nesting_neither_crashes_nor_overflows(text: str) -> None:
    """In a process of its own, since what is feared is the end of the process."""
    program = (
        "from reconciler.spec.loader import load_text\n"
        f"loaded = load_text({{'clusters.d/a.yaml': ({text}).encode()}})\n"
        "print(*loaded.findings)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nested more than 100 levels deep" in done.stdout


WRONG: tuple[Any, ...] = (None, True, 7, -1.5, "", "text", [], ["text"], [None], [[]], {}, {"text": "text"}, {"": []})


def specs_with(value: Any, node: Node) -> Iterator[dict[str, Any]]:
    """Specs with the value in place of every field of the table, once as it is and once as an item of its list."""
    for name, child in node.children.items():
        for wrong in (value, [value]):
            yield {name: wrong}
        for inner in specs_with(value, child):
            yield {name: inner}
            yield {name: [inner]}


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_wrong_types_at_every_level_of_the_spec_are_findings(value: Any) -> None:
    """Whatever stands in place of whatever field, it is either taken or told at a line of the file."""
    for spec in specs_with(value, ROOT):
        assert_told(load_one(json.dumps({"project": "p", "location": "l", "cluster_id": "c", "spec": spec})))


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("key", ["project", "location", "cluster_id", "lifecycle", "spec", "other"])
def test_wrong_types_in_the_document_are_findings(key: str, value: Any) -> None:
    """The same around the spec."""
    document = {"project": "p", "location": "l", "cluster_id": "c", "spec": {"node_pools": []}} | {key: value}
    assert_told(load_one(json.dumps(document)))


def assert_told(loaded: Loaded) -> None:
    assert bool(loaded.clusters) is not bool(loaded.refused)
    assert bool(loaded.refused) is any(finding.severity == "error" for finding in loaded.findings)
    for finding in loaded.findings:
        assert finding.line >= 1
        assert finding.message
        assert str(finding).isprintable()


SNIPPETS = (
    *(
        "[",
        "]",
        "{",
        "}",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!str ",
        "!x ",
        "? ",
        ": ",
        "- ",
        '"',
        "'",
        "|\n",
        ">\n",
        "\t",
        "\n",
    ),
    *("null", "~", ".inf", "1e400", "0x", "9" * 120, "\0", "%", "@", "---\n", "...\n", "#", ",", "\\", "!%FF x", "\r"),
    *("{file: x}", "{file: [}", "<<", "\ufeff", '"\\ud800"', "true", "labels:", "spec:", "lifecycle:", "\x85", "🚀"),
)


@settings(max_examples=300, deadline=None, database=None)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_mangled_files_end_in_findings(seed: int, edits: int) -> None:
    """A good file with pieces put in, taken out and doubled is read or told, with the rules run over what is read."""
    dice = random.Random(seed)
    text = (
        MINIMAL
        + '  labels: &l {a: "b"}\n  orchestratorSpec: {slurmSpec: {config: {MaxTime: 010}, prologBashScripts: [x]}}\n'
    )
    for _ in range(edits):
        at = dice.randrange(len(text) + 1)
        match dice.randrange(3):
            case 0:
                text = text[:at] + dice.choice(SNIPPETS) + text[at:]
            case 1:
                text = text[:at] + text[at + dice.randint(1, 20) :]
            case _:
                text = text[:at] + text[at : at + dice.randint(1, 60)] * 2 + text[at:]
    loaded = load_one(text, checks=(rules.check,))
    assert loaded.clusters or loaded.findings
    assert bool(loaded.refused) is any(finding.severity == "error" for finding in loaded.findings)


@settings(max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=200))
def test_any_bytes_end_in_findings(data: bytes) -> None:
    """There is no sequence of bytes that isn't answered with a finding of this file."""
    loaded = load_one(data)
    assert not loaded.clusters
    assert {line.partition(":")[0] for line in told(loaded.findings)} == {"clusters.d/a.yaml"}
