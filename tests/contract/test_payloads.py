"""JSON payloads as the documentation shows them, pasted into a cluster file as they are, and applied.

One is in snake_case with trailing commas (S2), one in camelCase as GET answers it with output fields and numbers as
strings (V), one mixes both, with booleans as strings (C, F).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.bench import LOCATION, Bench, result
from tests.contract.specs import SLURM

PAYLOADS = Path(__file__).parent / "payloads"
# payload -> what its reader edits in the text: old, new, and the mask that this needs
EDITS = [
    ("cpu-snake", '"max_node_count": 2', '"max_node_count": 5', "node_pools"),
    ("cpu-snake", '"id": "cpu",\n          "node', '"id": "batch",\n          "node', f"{SLURM}.partitions"),
    ("gpu-camel", '"maxNodeCount": "4"', '"maxNodeCount": "6"', "node_pools"),
    ("gpu-camel", '"cost-center": "42", ', "", "labels"),
    ("gpu-camel", '"prologBashScripts": ["#!/bin/bash\\nexit 0\\n"],', "", f"{SLURM}.prolog_bash_scripts"),
    ("gpu-camel", "rm -rf ", "rm -rf -- ", f"{SLURM}.epilog_bash_scripts"),
    ("gpu-camel", '"PriorityWeightAge": "1000"', '"priority_weight_age": "2000"', f"{SLURM}.config"),
    ("gpu-camel", '"Weight": "10"', '"Weight": "20"', f"{SLURM}.node_sets"),
    ("gpu-camel", '["SUNDAY"]', '["SUNDAY", "MONDAY"]', "lustre_export_config"),
    ("flex-mixed", '"259200s"', '"86400s"', "node_pools"),
    ("flex-mixed", '"default_partition_id": "h100",', "", f"{SLURM}.default_partition_id"),
    ("flex-mixed", '"priorityWeightAge": "1000"', '"priorityWeightAge": 2000', f"{SLURM}.scheduling"),
    ("flex-mixed", '"limits"', '"qos"', f"{SLURM}.accounting"),
    ("flex-mixed", '"flexstart"', '"flexible"', "display_name"),
]


def _paste(bench: Bench, payload: str) -> Path:
    """A cluster file whose spec is the payload's text."""
    head = f"project: {bench.project}\nlocation: {LOCATION}\ncluster_id: demo\n"
    text = (PAYLOADS / f"{payload}.json").read_text().replace("PROJECT_ID", bench.project)
    return bench.text("clusters.d/demo.yaml", f"{head}spec: {text}")


@pytest.mark.parametrize("payload", sorted(path.stem for path in PAYLOADS.glob("*.json")))
def test_a_pasted_payload_is_created_as_it_stands(bench: Bench, payload: str) -> None:
    """validate, plan, apply, plan: nothing of the text needs to be changed."""
    _paste(bench, payload)
    bench.run("validate").ok()
    assert bench.plan()["action"] == "create"
    assert result(bench.apply())["status"] == "applied"
    bench.settled()


@pytest.mark.parametrize(("payload", "old", "new", "mask"), EDITS, ids=[f"{each[0]}-{each[3]}" for each in EDITS])
def test_an_edit_of_the_text_is_one_patch(bench: Bench, payload: str, old: str, new: str, mask: str) -> None:
    """create, edit, plan, apply, plan: the edit's mask and no other, and then nothing."""
    path = _paste(bench, payload)
    bench.apply().ok()
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    assert {change["mask"] for change in bench.plan()["changes"]} == {mask}
    assert result(bench.apply())["status"] == "applied"
    assert [sent["query"]["updateMask"] for sent in bench.requests("patch")] == [mask]
    bench.settled()


def test_a_whole_file_may_be_json(bench: Bench) -> None:
    """clusters.d takes *.json, with the spec's keys in whatever case."""
    text = (PAYLOADS / "gpu-camel.json").read_text().replace("PROJECT_ID", bench.project)
    head = f'{{"project": "{bench.project}", "location": "{LOCATION}", "cluster_id": "demo", "spec": '
    bench.text("clusters.d/demo.json", head + text + "}")
    bench.apply().ok()
    bench.settled()


def test_what_a_response_shows_beside_the_spec_is_warned_about(bench: Bench) -> None:
    """Output-only fields in a pasted answer are ignored with a warning each, and never sent."""
    _paste(bench, "gpu-camel")
    found = bench.run("validate", "--format", "json").ok().json["findings"]
    ignored = {each["message"].split()[0] for each in found if each["rule"] == "output-only"}
    assert ignored == {"name", "createTime", "clusterStatus"}
    bench.apply().ok()
    (sent,) = bench.requests("create")
    assert not {"name", "create_time", "cluster_status"} & sent["body"].keys()
