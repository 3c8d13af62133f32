"""Any script of a live cluster, imported: the same text by the contract's measure, and readable where it can be."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reconciler.engine.importing import import_cluster
from reconciler.spec.loader import load_text
from reconciler.spec.names import ClusterName
from reconciler.spec.values import script

NAME = ClusterName("example-proj", "us-central1", "demo")
SPACES = [" ", "\t", "\n", "\n\n"]
# What no block can hold, since YAML takes it for a line end or can't hold it at all.
UNSEEN = ["\r", "\r\n", "\x85", "\u2028", "\u2029", "\x00", "\x07", "\ufeff", "\u202e"]
READABLE = st.sampled_from([*SPACES, *"#:-'\"|>{}[]&*!%@`\\a1=?,é日😀", "---\n", "...\n", "<<", "#!/bin/bash\n"])
ANY = st.one_of(READABLE, st.sampled_from(UNSEEN), st.characters(exclude_categories=["Cs"]))


def answer(text: str) -> dict[str, Any]:
    return {
        "name": str(NAME),
        "nodePools": [
            {
                "id": "a",
                "machineSpec": {"machineType": "n2-standard-8"},
                "scalingSpec": {"maxNodeCount": "1"},
                "startupScript": text,
            }
        ],
        "orchestratorSpec": {"slurmSpec": {"prologBashScripts": ["#!/bin/bash\n", text]}},
    }


def scripts_in(files: dict[str, str]) -> list[str]:
    """The startup script and the second prolog, as the tool reads them."""
    loaded = load_text({name: text.encode() for name, text in files.items()})
    assert loaded.findings == ()
    spec = loaded.clusters[0].spec
    return [spec["node_pools"][0]["startup_script"], spec["orchestrator_spec"]["slurm_spec"]["prolog_bash_scripts"][1]]


@given(parts=st.lists(ANY, min_size=1, max_size=12))
@settings(max_examples=400)
def test_a_script_survives(parts: list[str]) -> None:
    """In the file, and in files of its own: line ends and the last newline may change, and nothing else."""
    text = "#" + "".join(parts)
    whole = import_cluster(NAME, answer(text))
    assert [script(each) for each in scripts_in({"clusters.d/demo.yaml": whole.text})] == [script(text)] * 2
    apart = import_cluster(NAME, answer(text), scripts=PurePosixPath("scripts"))
    files = {f"clusters.d/{path}": content for path, content in apart.scripts.items()}
    assert [script(each) for each in scripts_in({"clusters.d/demo.yaml": apart.text} | files)] == [script(text)] * 2


@given(parts=st.lists(READABLE, min_size=1, max_size=12))
@settings(max_examples=400)
def test_a_script_is_read_as_it_is_written(parts: list[str]) -> None:
    """Tabs, spaces at the ends of lines, blank lines: each line of the script is a line of the file, without escapes."""
    text = script("#" + "".join(parts)) + "\n"
    imported = import_cluster(NAME, answer(text)).text
    for indent, key in ((8, "      startup_script: |"), (10, "        - |")):
        block = "".join(f"{' ' * indent}{line}\n" if line else "\n" for line in text.split("\n")[:-1])
        assert any(f"{key}{chomping}\n{block}" in imported for chomping in ("", "+"))


@pytest.mark.parametrize("first", ["\t", "  ", "\n", " \n\t\n", "\t\n "])
def test_a_script_that_begins_with_space(first: str) -> None:
    """What would hide how far the block is indented is kept, and the block says the width."""
    text = f"{first}#!/bin/bash\n\techo tab\n"
    imported = import_cluster(NAME, answer(text)).text
    assert "startup_script: |2\n" in imported
    assert scripts_in({"clusters.d/demo.yaml": imported}) == [text, text]
