"""PATCH: masks, modes, replacement of lists, immutable fields, and what a left-out field means."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from emulator_client import Client, violations

SLURM = "orchestrator_spec.slurm_spec"


def slurm(resource: dict[str, Any]) -> dict[str, Any]:
    """The Slurm part of an answer."""
    spec: dict[str, Any] = resource["orchestratorSpec"]["slurmSpec"]
    return spec


def test_only_masked_fields_change(client: Client, base: dict[str, Any]) -> None:
    """Everything else in the body is ignored."""
    before = client.running(body=base)
    base["labels"] = {"team": "new"}
    base["display_name"] = "other"
    base["node_pools"] = []
    after = client.updated("labels", base)
    assert after["labels"] == {"team": "new"}
    assert {**after, "labels": 0, "updateTime": 0} == {**before, "labels": 0, "updateTime": 0}


MASKED: dict[str, Any] = {
    "display_name": "other",
    "labels": {"a": "b"},
    "lustre_export_config": {"destinationBucket": "bucket"},
    f"{SLURM}.partitions": [{"id": "all", "nodePoolIds": ["cpu", "gpu"]}],
    f"{SLURM}.login_node_pool_id": "",
    f"{SLURM}.prolog_bash_scripts": ["a", "b"],
    f"{SLURM}.epilog_bash_scripts": ["c"],
    f"{SLURM}.config": {"MaxJobCount": "5"},
    f"{SLURM}.default_partition_id": "cpu",
    f"{SLURM}.node_sets": [{"nodePoolId": "cpu", "config": {"Weight": "5"}}],
    f"{SLURM}.scheduling": {"priorityType": "priority/basic", "priorityWeightAge": 5, "preemptMode": "REQUEUE"},
    f"{SLURM}.accounting": {"accountingStorageEnforce": "limits"},
}


def camel(name: str) -> str:
    """snake_case to camelCase."""
    head, *rest = name.split("_")
    return head + "".join(map(str.title, rest))


@pytest.mark.parametrize("path", MASKED)
def test_every_documented_path_sets_and_clears(client: Client, base: dict[str, Any], path: str) -> None:
    """A masked field takes the body's value; masked and absent, it is cleared."""
    client.running(body=base)
    wanted: Any = MASKED[path]
    *parents, leaf = [camel(part) for part in path.split(".")]
    body: dict[str, Any] = {leaf: wanted}
    for parent in reversed(parents):
        body = {parent: body}
    for sent, expected in ((body, wanted), ({}, "")):
        value: Any = client.updated(path, sent)
        for key in (*parents, leaf):
            value = value.get(key, "")
        assert value == expected


def test_a_default_clears_too(client: Client, base: dict[str, Any]) -> None:
    """An empty list in the body is the same as none."""
    client.running(body=base)
    base["orchestrator_spec"]["slurm_spec"]["prolog_bash_scripts"] = []
    assert "prologBashScripts" not in slurm(client.updated(f"{SLURM}.prolog_bash_scripts", base))


@pytest.mark.parametrize(
    "mask",
    [
        "orchestrator_spec",
        "orchestrator_spec.slurm_spec",
        "node_pools.scaling_spec",
        "node_pools[0]",
        "nodePools",
        "orchestratorSpec.slurmSpec.partitions",
        "network",
        "runtime_spec",
        f"{SLURM}.home_directory_storage",
        "*",
        "name",
        "labels, node_pools",
        "labels,",
        "",
    ],
)
def test_any_other_path_is_refused(client: Client, base: dict[str, Any], mask: str) -> None:
    """Parents, leaves, indices, camelCase, immutable fields and an empty mask are INVALID_ARGUMENT."""
    client.running(body=base)
    assert set(violations(client.patch(mask, base))) == {"update_mask"}


def test_a_missing_mask_means_all_that_the_body_holds_unless_the_switch_refuses_it(
    client: Client, base: dict[str, Any]
) -> None:
    """S2 calls the mask optional and shows a call without it; a stricter service can be played."""
    client.running(body=base)
    base["labels"] = {"team": "new"}
    client.control.quirks(missing_mask="reject")
    assert set(violations(client.patch(None, base))) == {"update_mask"}
    client.control.quirks(missing_mask="populated")
    assert client.patch(None, base).status_code == 200
    client.finish()
    assert client.get().json()["labels"] == {"team": "new"}


def test_a_camel_case_mask_can_be_ignored(client: Client, base: dict[str, Any]) -> None:
    """The switch for a service that answers 200 and changes nothing."""
    client.running(body=base)
    client.control.quirks(camel_mask="ignore")
    base["node_pools"][1]["scaling_spec"]["max_node_count"] = 9
    after = client.updated("nodePools", base)
    assert after["nodePools"][0]["scalingSpec"]["maxNodeCount"] == "4"
    assert set(violations(client.patch("noSuchField", base))) == {"update_mask"}


def test_a_mask_can_be_limited_to_one_path(client: Client, base: dict[str, Any]) -> None:
    """The switch for a service that takes one path at a time."""
    client.running(body=base)
    client.control.quirks(single_mask_path=True)
    assert set(violations(client.patch("labels,display_name", base))) == {"update_mask"}
    assert client.patch("labels", base).status_code == 200


def test_lists_are_replaced_whole(client: Client, base: dict[str, Any]) -> None:
    """A pool that the body leaves out is gone, with its nodes."""
    client.running(body=base)
    base["node_pools"] = base["node_pools"][:2]
    base["orchestrator_spec"]["slurm_spec"]["partitions"] = [{"id": "cpu", "node_pool_ids": ["cpu"]}]
    after = client.updated(f"node_pools,{SLURM}.partitions", base)
    assert [pool["id"] for pool in after["nodePools"]] == ["cpu", "login"]
    assert [node["nodePoolId"] for node in after["clusterStatus"]["nodesStatus"]] == ["login"]


def test_a_dangling_reference_is_refused(client: Client, base: dict[str, Any]) -> None:
    """The rules hold for the cluster as it would be, not for the body alone."""
    client.running(body=base)
    base["node_pools"] = base["node_pools"][:2]
    base["orchestrator_spec"]["slurm_spec"]["partitions"] = [{"id": "cpu", "node_pool_ids": ["cpu"]}]
    assert f"{SLURM}.partitions[0].node_pool_ids" in violations(client.patch("node_pools", base))


def test_left_out_service_filled_fields_fall_back_to_their_default(client: Client, base: dict[str, Any]) -> None:
    """The trap: a client that leaves boot disk and image out of a replaced list resets them."""
    base["node_pools"][1] |= {"boot_disk": {"boot_disk_type": "pd-standard", "boot_disk_size_gb": 200}}
    base["node_pools"][1] |= {"node_image": "projects/example-net/global/images/own"}
    before = client.running(body=base)["nodePools"][0]
    assert (before["bootDisk"]["bootDiskSizeGb"], before["nodeImage"]) == (
        "200",
        "projects/example-net/global/images/own",
    )
    del base["node_pools"][1]["boot_disk"], base["node_pools"][1]["node_image"]
    after = client.updated("node_pools", base)["nodePools"][0]
    assert after["bootDisk"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": "100"}
    assert after["nodeImage"] != before["nodeImage"]


@pytest.mark.parametrize(
    ("index", "change", "field"),
    [
        (1, {"machine_spec": {"machine_type": "n2-standard-16"}}, "node_pools[1].machine_spec"),
        (1, {"provisioning_model": "SPOT"}, "node_pools[1].provisioning_model"),
        (1, {"confidential_instance_config": {"a": "b"}}, "node_pools[1].confidential_instance_config"),
    ],
)
def test_immutable_fields_of_a_pool_stay(
    client: Client, base: dict[str, Any], index: int, change: dict[str, Any], field: str
) -> None:
    """Changing one names it; the same under a new pool id is fine."""
    client.running(body=base)
    changed = deepcopy(base)
    changed["node_pools"][index] |= change
    found = violations(client.patch("node_pools", changed))
    assert list(found) == [field]
    assert "immutable" in found[field]
    changed["node_pools"][index]["id"] = "cpu2"
    changed["orchestrator_spec"]["slurm_spec"]["partitions"][1]["node_pool_ids"] = ["cpu2"]
    assert client.patch(f"node_pools,{SLURM}.partitions", changed).status_code == 200


def test_an_answer_sent_back_changes_nothing_immutable(client: Client, base: dict[str, Any]) -> None:
    """Numbers, URLs and filled fields mean the same to the service."""
    client.running(body=base)
    client.control.quirks(all_resource_names=True, resource_names="url", int64="all")
    answer = client.get().json()
    assert client.updated("node_pools", answer)["nodePools"] == answer["nodePools"]


@pytest.mark.parametrize(
    ("mode", "refreshes"), [({}, 1), ({"updateMode": "UPDATE_MODE_UNSPECIFIED"}, 1), ({"updateMode": "USER_ONLY"}, 0)]
)
def test_the_update_mode_decides_on_the_refresh(
    client: Client, base: dict[str, Any], mode: dict[str, str], refreshes: int
) -> None:
    """USER_ONLY leaves what the service manages alone (S2); the default doesn't."""
    client.running(body=base)
    client.updated("labels", base, **mode)
    assert client.control.service_refreshes(client.name()) == refreshes


def test_an_unknown_update_mode_is_refused(client: Client, base: dict[str, Any]) -> None:
    """INVALID_ARGUMENT, and nothing starts."""
    client.running(body=base)
    assert client.patch("labels", base, updateMode="EVERYTHING").status_code == 400
    assert client.get().json()["clusterStatus"]["state"] == "RUNNING"


def test_nodes_stay_while_the_limits_allow(client: Client, base: dict[str, Any]) -> None:
    """A grown pool keeps its nodes on an update; a lower maximum removes the surplus."""
    client.running(body=base)
    client.control.live(client.name(), {"_nodes": {"cpu": 3}})
    assert len(client.updated("labels", base)["clusterStatus"]["nodesStatus"]) == 6
    base["node_pools"][1]["scaling_spec"] = {"min_node_count": 0, "max_node_count": 1}
    nodes = client.updated("node_pools", base)["clusterStatus"]["nodesStatus"]
    assert [node["instanceName"] for node in nodes if node["nodePoolId"] == "cpu"] == ["demo-cpu-0"]


def test_future_fields_are_refused_until_they_exist(client: Client, base: dict[str, Any]) -> None:
    """A field that somebody put into a live cluster can be sent, is kept, and is lost when left out."""
    client.running(body=base)
    base["node_pools"][1]["future_knob"] = {"someKey": 1}
    assert client.patch("node_pools", base).status_code == 400
    client.control.live(client.name(), {"nodePools": {"cpu": {"futureKnob": {"someKey": 1}}}, "topKnob": True})
    after = client.updated("node_pools", base)
    assert (after["nodePools"][0]["futureKnob"], after["topKnob"]) == ({"someKey": 1}, True)
    del base["node_pools"][1]["future_knob"]
    assert "futureKnob" not in client.updated("node_pools", base)["nodePools"][0]


def test_future_fields_can_be_named_by_a_switch(client: Client, base: dict[str, Any]) -> None:
    """The quirk admits a name at any depth."""
    client.control.quirks(future_fields=["knobOfTomorrow"])
    base["node_pools"][0]["knob_of_tomorrow"] = ["x"]
    assert client.running(body=base)["nodePools"][2]["knobOfTomorrow"] == ["x"]
