"""`import`: a live cluster as a cluster file, whose first plan is empty. (Case 136)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.bench import Bench
from tests.contract.specs import PROLOG, cpu_pool, pool, slurm

OUT = "clusters.d/demo.yaml"
ODD_STRINGS = ["on", "no", "NULL", "~", "010", "0o14", "0x1f", "1e3", "12:30:00", "2026-01-01", "1_000", "", "=", "<<"]
SCRIPTS = {
    "plain": "#!/bin/bash\nexit 0\n",
    "no final newline": "#!/bin/bash\nexit 0",
    "several final newlines": "#!/bin/bash\nexit 0\n\n\n",
    "CRLF": "#!/bin/bash\r\nexit 0\r\n",
    "tabs": "#!/bin/bash\nif true; then\n\techo tab\nfi\n",
    "trailing spaces": "#!/bin/bash  \nexit 0   \n",
    "leading spaces": "  \n#!/bin/bash\n",
    "leading newline": "\n\n#!/bin/bash\n",
    "unicode": "#!/bin/bash\necho 'grüße 日本 😀 \u2028 \x85'\n",
    "yaml": "#!/bin/bash\ncat <<'EOF'\nkey: [a, 'b\"]\n---\n...\n# not a comment\nEOF\n",
    "long line": "#!/bin/bash\necho " + "x" * 5000 + "\n",
    "one newline": "\n",
}


def _imported(bench: Bench, *more: str, file: str = OUT) -> dict[str, Any]:
    """Import the live cluster; the file must validate, and its plan be empty. The document."""
    bench.run("import", f"{bench.project}/us-central1/demo", "--out", file, *more).ok()
    bench.run("validate").ok()
    bench.run("plan", "--detailed-exitcode").ok()
    return dict(yaml.safe_load((bench.root / file).read_text()))


def _live(bench: Bench, spec: dict[str, Any]) -> None:
    bench.control.put(bench.name(), spec)


def test_a_plain_cluster(bench: Bench) -> None:
    """The file holds what was asked for, and protects the cluster that it takes over."""
    _live(bench, bench.base())
    document = _imported(bench)
    assert document["lifecycle"]["prevent_destroy"] is True
    assert document["spec"]["node_pools"][0]["id"] == "cpu"


@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("extract", [False, True], ids=["inline", "extracted"])
def test_scripts_survive(bench: Bench, kind: str, extract: bool) -> None:
    """Whatever a script holds: its first plan is empty, in the file or in files of their own. (Case 20)"""
    spec = bench.base()
    text = SCRIPTS[kind]
    slurm(spec).update(prolog_bash_scripts=[PROLOG, text], epilog_bash_scripts=[text])
    pool(spec, "gpu").update(startup_script=text)
    _live(bench, spec)
    more = ["--extract-scripts", "clusters.d/scripts"] if extract else []
    bench.run("import", f"{bench.project}/us-central1/demo", "--out", OUT, *more).ok()
    bench.run("plan", "--detailed-exitcode").ok()
    scripts = sorted((bench.root / "clusters.d").glob("scripts/*.sh"))
    assert len(scripts) == (4 if extract else 0)
    assert all(path.read_bytes().endswith(b"\n") and b"\r\n" not in path.read_bytes() for path in scripts)


def test_strings_that_look_like_something_else(bench: Bench) -> None:
    """Labels and Slurm values stay strings, byte for byte. (Case 130)"""
    spec = bench.base()
    spec["labels"] = {"on": "off", "010": "0o14", "null": "true", "k": "1e3", "z": "1_000", "empty": ""}
    slurm(spec)["config"] = {f"Name{index}": text for index, text in enumerate(ODD_STRINGS)}
    pool(spec, "cpu")["confidential_instance_config"] = {
        "a": "1e3",
        "b": "0o14",
        "c": 7,
        "d": None,
        "e": [True, "true"],
    }
    _live(bench, spec)
    bench.run("import", f"{bench.project}/us-central1/demo", "--out", OUT).ok()
    bench.run("plan", "--detailed-exitcode").ok()
    body = bench.live()
    bench.edit_yaml(OUT, lambda document: document["spec"].update(display_name="other"))
    bench.apply().ok()
    assert bench.live()["labels"] == body["labels"]
    bench.settled()


def test_what_the_service_knows_and_we_do_not(bench: Bench) -> None:
    """Fields of a later version aren't in the file, and are in every payload. (Cases 128, 133)"""
    spec = bench.base()
    spec["futureTop"] = {"a": [1, {"b": 2}]}
    pool(spec, "cpu")["futureKnob"] = {"deep_key": "x"}
    slurm(spec)["futureSlurm"] = "y"
    slurm(spec)["partitions"][0]["futurePartition"] = 3
    _live(bench, spec)
    document = _imported(bench)
    assert "future" not in str(document)
    bench.edit_yaml(OUT, lambda each: each["spec"]["node_pools"][0]["scaling_spec"].update(max_node_count=9))
    notes = bench.plan()["notes"]
    assert any(note["code"] == "unknown_live_field" and "futureKnob" in note["message"] for note in notes)
    bench.apply().ok()
    assert pool_live(bench, "cpu")["futureKnob"] == {"deep_key": "x"}
    assert bench.live()["futureTop"] == {"a": [1, {"b": 2}]}
    bench.settled()


def pool_live(bench: Bench, name: str) -> dict[str, Any]:
    """A pool as it is stored."""
    return next(each for each in bench.live()["nodePools"] if each["id"] == name)


RENDERINGS: list[dict[str, Any]] = [
    {"int64": "all", "cluster_name": "id", "resource_names": "id"},
    {"int64": "none", "resource_names": "url", "durations": "decimal"},
    {"all_resource_names": True, "pool_order": "reversed", "list_key": "clusters"},
]


@pytest.mark.parametrize("quirks", RENDERINGS, ids=lambda quirks: "-".join(map(str, quirks.values())))
def test_however_the_service_spells_it(bench: Bench, quirks: dict[str, Any]) -> None:
    """Numbers as strings, URLs, project numbers, other orders: import under one spelling, plan under another."""
    spec = bench.base()
    spec["node_pools"].append(
        {
            "id": "flex",
            "machine_spec": {"machine_type": "a3-megagpu-8g"},
            "provisioning_model": "FLEX_START",
            "flex_start_max_duration": "259200s",
            "scaling_spec": {"max_node_count": 4},
        }
    )
    slurm(spec)["partitions"].append({"id": "flex", "node_pool_ids": ["flex"]})
    _live(bench, spec)
    bench.control.quirks(**quirks)
    _imported(bench)
    bench.control.reset_quirks()
    bench.run("plan", "--detailed-exitcode").ok()


EXTREMES: list[tuple[str, Any]] = [
    ("a pool of no nodes", lambda s: pool(s, "cpu").update(scaling_spec={"min_node_count": 0, "max_node_count": 0})),
    ("the service's labels alone", lambda s: s.update(labels={"goog-managed": "x"})),
    ("labels of both", lambda s: s.update(labels={"goog-managed": "x", "mine": "y"})),
    ("no labels", lambda s: s.pop("labels")),
    ("a default partition", lambda s: slurm(s).update(default_partition_id="gpu")),
    ("partitions in another order", lambda s: slurm(s)["partitions"].reverse()),
    ("scheduling", lambda s: slurm(s).update(scheduling={"priority_weight_age": 3, "preempt_mode": ["A"]})),
    ("a service account", lambda s: s.update(runtime_spec={"service_account": "a@b.iam.gserviceaccount.com"})),
    ("an image family", lambda s: pool(s, "cpu").update(node_image="projects/p/global/images/family/slurm")),
    ("more pools", lambda s: s["node_pools"].extend(cpu_pool(f"p{n}") for n in range(20))),
    ("an unknown enum", lambda s: pool(s, "gpu")["machine_spec"].update(accelerator_type="NVIDIA_FUTURE_1TB")),
    ("many events", lambda s: s.update(clusterEvents=[{"type": "VM_PROLOG_ERROR", "message": "x"}] * 100)),
]


@pytest.mark.parametrize("change", [change for _, change in EXTREMES], ids=[name for name, _ in EXTREMES])
def test_clusters_of_all_kinds(bench: Bench, change: Any) -> None:
    """Whatever the cluster has or lacks, its file is valid and its first plan is empty."""
    spec = bench.base()
    change(spec)
    _live(bench, spec)
    _imported(bench)


@pytest.mark.parametrize("state", ["PROVISIONING", "UPDATING", "ERROR", "REPAIRING", "STATE_UNSPECIFIED"])
def test_in_every_state(bench: Bench, state: str) -> None:
    """A cluster can be taken over whatever state it is in; only ERROR then blocks the plan. (Case 49)"""
    _live(bench, bench.base() | {"clusterStatus": {"state": state, "error": "oops"}})
    bench.run("import", f"{bench.project}/us-central1/demo", "--out", OUT).ok()
    plan = bench.plan()
    assert plan["action"] == "no_op"
    assert [blocker["code"] for blocker in plan["blockers"]] == (["cluster_in_error_state"] if state == "ERROR" else [])


def test_to_standard_output(bench: Bench) -> None:
    """Without --out the file is the result, and nothing is written."""
    _live(bench, bench.base())
    text = bench.run("import", f"{bench.project}/us-central1/demo").ok().out
    assert list((bench.root / "clusters.d").iterdir()) == []
    bench.text(OUT, text)
    bench.run("plan", "--detailed-exitcode").ok()


def test_nothing_is_overwritten(bench: Bench) -> None:
    """Files that are there stay, all of them, unless --force is said."""
    _live(bench, bench.base())
    cluster = f"{bench.project}/us-central1/demo"
    arguments = ["import", cluster, "--out", OUT, "--extract-scripts", "clusters.d/scripts"]
    bench.text(OUT, "precious")
    outcome = bench.run(*arguments).ended(1)
    assert OUT in outcome.err
    assert "--force" in outcome.err
    assert sorted(path.name for path in (bench.root / "clusters.d").iterdir()) == ["demo.yaml"]
    assert (bench.root / OUT).read_text() == "precious"
    bench.run(*arguments, "--force").ok()
    bench.run("plan", "--detailed-exitcode").ok()


def test_scripts_from_another_folder(bench: Bench) -> None:
    """--extract-scripts is relative to where people are; the file names the scripts relative to itself."""
    _live(bench, bench.base())
    document = _imported(bench, "--extract-scripts", "scripts", file="clusters.d/deep/er/demo.yaml")
    (named,) = slurm(document["spec"])["prolog_bash_scripts"]
    assert named["file"].startswith("../../../scripts/")


def test_ids_never_lead_out_of_the_folder(bench: Bench) -> None:
    """An id that looks like a path makes no file anywhere but in the scripts' folder."""
    spec = bench.base()
    pool(spec, "cpu").update(id="../../../evil/x", startup_script=PROLOG)
    slurm(spec)["partitions"][0].update(node_pool_ids=["../../../evil/x"])
    _live(bench, spec)
    arguments = ["--out", OUT, "--extract-scripts", "clusters.d/scripts"]
    bench.run("import", f"{bench.project}/us-central1/demo", *arguments).ok()
    written = {path.parent.relative_to(bench.root).as_posix() for path in bench.root.rglob("*.sh")}
    assert written == {"clusters.d/scripts"}
    bench.run("plan", "--detailed-exitcode").ok()


def test_scripts_outside_the_repository_are_refused(bench: Bench, tmp_path: Path) -> None:
    """A script file that the cluster file couldn't name isn't written."""
    _live(bench, bench.base())
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outcome = bench.run(
        "import", f"{bench.project}/us-central1/demo", "--out", OUT, "--extract-scripts", outside
    ).ended(1)
    assert "outside the repository" in outcome.err
    assert not outside.exists()
