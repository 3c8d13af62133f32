"""Diffs that should not be there, diffs that are missing, and what is sent: pain points of the groups A and B.

Where a case's wish differs from the contract (what absence means, labels), the contract is what is tested. The numbers
are those of the list of pain points.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.bench import Bench, result
from tests.contract.demo import changes, edit, sent
from tests.contract.specs import PROLOG, SLURM, cpu_pool, pool, slurm

IMAGE = "projects/example-proj/global/images"


# --- A: diffs that should not be there, and diffs that are missing


def test_server_filled_defaults_are_no_diff_and_are_echoed(demo: Bench) -> None:
    """The service's own values never diff; a replaced list carries them along, whatever they are by now. (Case 1)"""
    demo.control.live(demo.name(), {"nodePools": {"gpu": {"bootDisk": {"bootDiskSizeGb": 500}}}})
    assert changes(demo) == []
    edit(demo, lambda spec: pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
    assert [path for path, *_ in changes(demo)] == ["node_pools[cpu].scaling_spec.max_node_count"]
    pools = {each["id"]: each for each in sent(demo)["node_pools"]}
    assert pools["gpu"]["boot_disk"] == {"boot_disk_type": "hyperdisk-balanced", "boot_disk_size_gb": 500}
    assert pools["login"]["node_image"] == "projects/cluster-images/global/images/slurm-cpu"


def test_a_default_written_out_is_no_diff(demo: Bench) -> None:
    """Nor when it is then left out again. (Case 2)"""
    disk = {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100}
    edit(demo, lambda spec: pool(spec, "cpu").update(boot_disk=disk, provisioning_model="ON_DEMAND"))
    assert changes(demo) == []


def test_the_order_of_partitions_is_the_default(demo: Bench) -> None:
    """Reordering partitions moves the default, and says so; with a default set it is nothing. (Case 4)"""
    edit(demo, lambda spec: slurm(spec)["partitions"].reverse())
    (change,) = demo.plan()["changes"]
    assert (change["path"], change["before"], change["after"]) == (f"{SLURM}.partitions", "cpu", "gpu")
    assert "default moves: cpu -> gpu" in demo.run("plan").ok().out
    sent(demo)
    assert demo.get()["orchestratorSpec"]["slurmSpec"]["partitions"][0]["id"] == "gpu"
    edit(demo, lambda spec: slurm(spec).update(default_partition_id="gpu"))
    demo.apply().ok()
    edit(demo, lambda spec: slurm(spec)["partitions"].reverse())
    assert changes(demo) == []


def test_a_partition_put_first_moves_the_default(demo: Bench) -> None:
    """A new partition at the front says that it becomes the default. (Case 4)"""
    edit(demo, lambda spec: slurm(spec)["partitions"].insert(0, {"id": "new", "node_pool_ids": ["cpu"]}))
    assert "default moves: cpu -> new" in demo.run("plan").ok().out


def test_zeros_match_what_the_answer_leaves_out(demo: Bench) -> None:
    """0, false, "", [] in the file equal their absence in the answer. (Case 5)"""
    edit(
        demo,
        lambda spec: (
            pool(spec, "cpu").update(enable_public_ips=False, startup_script="", filestores=[], labels={}),
            slurm(spec).update(epilog_bash_scripts=[], config={}, default_partition_id=""),
        ),
    )
    assert "minNodeCount" not in str(next(each for each in demo.get()["nodePools"] if each["id"] == "cpu"))
    assert changes(demo) == []


@pytest.mark.parametrize("way", ["left out", "empty", "null"])
def test_a_key_that_is_taken_away_is_planned_for_removal(demo: Bench, way: str) -> None:
    """Left out, [] or null all mean wanted empty: the live value's removal is shown, and done. (Case 7)"""
    values = {"empty": [], "null": None}

    def take_away(spec: dict[str, Any]) -> None:
        slurm(spec).pop("prolog_bash_scripts")
        if way in values:
            slurm(spec)["prolog_bash_scripts"] = values[way]

    edit(demo, take_away)
    assert changes(demo) == [(f"{SLURM}.prolog_bash_scripts[0]", "#!/bin/bash\nexit 0", None)]
    assert not slurm(sent(demo)).get("prolog_bash_scripts")


@pytest.mark.parametrize("int64", ["all", "none", "mixed"])
def test_numbers_as_strings(demo: Bench, int64: str) -> None:
    """64-bit numbers equal whatever type they come back in; numbers in words are refused with their line. (Case 8)"""
    demo.control.quirks(int64=int64)
    edit(demo, lambda spec: pool(spec, "cpu").update(scaling_spec={"min_node_count": "0", "max_node_count": "4"}))
    assert changes(demo) == []
    edit(demo, lambda spec: pool(spec, "cpu").update(scaling_spec={"max_node_count": "four"}))
    finding = next(iter(demo.run("validate", "--format", "json").ended(1).json["findings"]))
    assert finding["line"] > 1
    assert "four" in finding["message"]


def test_one_network_in_three_spellings(demo: Bench) -> None:
    """A full URL is the relative name; a bare name is refused with the form that is wanted. (Case 10)"""
    full = f"https://www.googleapis.com/compute/v1/projects/{demo.project}/global/networks/net-a"
    edit(demo, lambda spec: spec["network"].update(network=full))
    assert changes(demo) == []
    edit(demo, lambda spec: spec["network"].update(network="net-a"))
    assert "/global/networks/" in demo.run("validate").ended(1).out


def test_a_network_of_another_project(bench: Bench) -> None:
    """Another project's number can't be known: the plan says how to write it, and then it is no diff."""
    spec = bench.small() | {"network": {"network": "projects/host-proj/global/networks/shared"}}
    bench.write("demo", spec)
    assert result(bench.apply().ended(1))["error"]["code"] == "not_converged"
    (note,) = [each for each in bench.plan()["notes"] if each["code"] == "project_number"]
    network = bench.get()["network"]["network"]
    assert network.split("/")[1] in note["message"]
    assert "host-proj" in note["message"]
    bench.write("demo", spec | {"network": {"network": network}})
    bench.settled()


@pytest.mark.parametrize(("text", "code"), [("604800s", 0), ("604800.000s", 0), ("168h", 1), ("7d", 1), (604800, 1)])
def test_durations(bench: Bench, text: Any, code: int) -> None:
    """Equal by length; what the API wouldn't take never reaches apply. (Case 11)"""
    spec = bench.small()
    flex = {"machine_spec": {"machine_type": "a3-megagpu-8g"}, "provisioning_model": "FLEX_START"}
    spec["node_pools"].append(cpu_pool("flex", **flex, flex_start_max_duration="604800s"))
    bench.created("demo", spec)
    bench.control.quirks(durations="decimal")
    edit(bench, lambda each: pool(each, "flex").update(flex_start_max_duration=text))
    bench.run("plan", "--detailed-exitcode").ended(code)


def test_an_image_family_is_satisfied_by_its_image(bench: Bench) -> None:
    """The answer names the image that the family resolved to; updating something else doesn't move it. (Case 13)"""
    spec = bench.small()
    pool(spec, "cpu").update(node_image=f"{IMAGE}/family/slurm-a")
    bench.control.quirks(resolve_image_family=True)
    bench.created("demo", spec)
    assert "family" not in str(bench.get()["nodePools"])
    assert changes(bench) == []
    edit(bench, lambda each: pool(each, "cpu")["scaling_spec"].update(max_node_count=9))
    assert "/family/" not in str(sent(bench)["node_pools"])


def test_labels_of_others(demo: Bench) -> None:
    """goog- labels are never touched and never lost; any other that the file lacks is planned away. (Case 14)"""
    demo.control.live(demo.name(), {"labels": {"goog-managed": "x", "cost-center": "42"}})
    assert changes(demo) == [("labels.cost-center", "42", None)]
    edit(demo, lambda spec: spec.update(labels={"team": "other"}))
    assert sent(demo)["labels"] == {"team": "other", "goog-managed": "x"}


def test_autoscaled_nodes_are_nobodys_diff(demo: Bench) -> None:
    """Live counts within the bounds are no change; a maximum below them removes nodes, and says how many. (Case 16)"""
    demo.control.live(demo.name(), {"_nodes": {"gpu": 4}})
    assert changes(demo) == []
    edit(demo, lambda spec: pool(spec, "gpu")["scaling_spec"].update(max_node_count=3))
    (change,) = demo.plan()["changes"]
    assert change["impact"] == "removes_nodes"
    assert "1 above the new maximum" in change["reason"]
    edit(demo, lambda spec: pool(spec, "gpu")["scaling_spec"].update(max_node_count=9))
    assert demo.plan()["changes"][0]["impact"] == "in_place"


def test_script_spelling_is_no_diff(demo: Bench) -> None:
    """A final newline more or less, or CRLF in the answer, is none; any other white space is. (Case 20)"""
    for text in ("#!/bin/bash\nexit 0", "#!/bin/bash\r\nexit 0\r\n"):
        demo.control.live(demo.name(), {"orchestratorSpec": {"slurmSpec": {"prologBashScripts": [text]}}})
        assert changes(demo) == []
    demo.control.live(demo.name(), {"orchestratorSpec": {"slurmSpec": {"prologBashScripts": [PROLOG + "\n"]}}})
    assert len(changes(demo)) == 1


# --- B: field mask and payload


def test_only_table_paths_are_ever_masked(demo: Bench) -> None:
    """A change of one partition is the mask of the list; nothing outside the table is sent. (Cases 22, 23)"""
    demo.control.quirks(camel_mask="ignore")
    edit(demo, lambda spec: slurm(spec)["partitions"][0].update(config={"MaxTime": "60"}))
    sent(demo)
    assert demo.requests("patch")[0]["query"]["updateMask"] == f"{SLURM}.partitions"


def test_output_fields_never_leak_into_the_payload(bench: Bench) -> None:
    """What the service computes inside list items isn't sent back. (Case 26)"""
    spec = bench.small()
    flex = {"machine_spec": {"machine_type": "a3-megagpu-8g"}, "provisioning_model": "FLEX_START"}
    spec["node_pools"].append(cpu_pool("flex", **flex))
    bench.created("demo", spec)
    assert "effectiveFlexStartMaxDuration" in str(bench.get())
    edit(bench, lambda each: pool(each, "flex")["scaling_spec"].update(max_node_count=7))
    body = sent(bench)
    assert "ffective" not in str(body)
    assert not {"name", "create_time", "update_time", "cluster_status", "cluster_events"} & body.keys()


def test_map_keys_keep_their_spelling(demo: Bench) -> None:
    """Labels and Slurm names go through byte for byte, and their names never into the mask. (Case 28)"""
    labels = {"my_team": "a", "cost-center-2": "b", "camelcase": "c"}
    config = {"PriorityWeightAge": "1000", "DefMemPerCPU": "2", "slurmd_debug": "info"}
    edit(demo, lambda spec: (spec.update(labels=labels), slurm(spec).update(config=config)))
    body = sent(demo)
    assert (body["labels"], slurm(body)["config"]) == (labels, config)
    assert demo.requests("patch")[0]["query"]["updateMask"] == f"labels,{SLURM}.config"
    assert demo.live()["labels"] == labels
    assert demo.live()["orchestratorSpec"]["slurmSpec"]["config"] == config


@pytest.mark.parametrize("value", [{}, None])
def test_an_empty_message_manages_nothing(demo: Bench, value: Any) -> None:
    """boot_disk: {} and null leave the disk to the service. (Case 29)"""
    edit(demo, lambda spec: pool(spec, "cpu").update(boot_disk=value, scaling_spec={"max_node_count": 5}))
    pools = {each["id"]: each for each in sent(demo)["node_pools"]}
    assert pools["cpu"]["boot_disk"] == {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100}
