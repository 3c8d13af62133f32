"""The request: a minimal sorted mask, and a body that loses nothing which the file doesn't own."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.model import Action
from reconciler.spec.fields import Impact
from tests.unit.plan.cases import NUMBER, SLURM, answer, at, file_spec, plan


def changed() -> tuple[dict[str, Any], dict[str, Any]]:
    """A file that raises cpu's maximum, and the answer before it."""
    spec = file_spec()
    at(spec, "node_pools[cpu].scaling_spec")["max_node_count"] = 6
    return spec, answer()


def body(spec: dict[str, Any], live: dict[str, Any], **lifecycle: Any) -> dict[str, Any]:
    request = plan(spec, live, **lifecycle).request
    assert request is not None
    assert request.body is not None
    return request.body


def test_the_mask_is_of_the_changes_alone() -> None:
    """One pool's number: mask node_pools, in USER_AND_SERVICE mode, at the cluster's own path."""
    request = plan(*changed()).request
    assert request is not None
    assert request.method == "PATCH"
    assert request.path == "/v1beta1/projects/example-proj/locations/us-central1/modelDevelopmentClusters/demo"
    assert request.query == {"updateMask": "node_pools", "updateMode": "USER_AND_SERVICE"}


def test_masks_are_sorted() -> None:
    """Several changes: their mask paths, each once, sorted."""
    spec, live = changed()
    spec["labels"]["team"] = "x"
    slurm = spec["orchestrator_spec"]["slurm_spec"]
    slurm["partitions"][0]["config"] = {"MaxTime": "1"}
    slurm["epilog_bash_scripts"] = ["#!/bin/sh\n"]
    request = plan(spec, live).request
    assert request is not None
    assert request.query["updateMask"] == f"labels,node_pools,{SLURM}.epilog_bash_scripts,{SLURM}.partitions"


def test_service_filled_values_are_echoed() -> None:
    """Pools are replaced whole: what the service filled in stays as it is live."""
    pool = at(body(*changed()), "node_pools[cpu]")
    assert pool["boot_disk"] == {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100}
    assert pool["node_image"] == f"projects/{NUMBER}/global/images/slurm-a-v12"
    assert pool["provisioning_model"] == "ON_DEMAND"


def test_enums_without_a_name_go_as_numbers() -> None:
    """What an answer could only give as a number is no text for the service either: from the file, or carried over."""
    spec, live = changed()
    at(spec, "node_pools[cpu].machine_spec")["accelerator_type"] = "17"
    at(live, "nodePools[cpu].machineSpec")["acceleratorType"] = 17
    at(live, "nodePools[cpu]")["provisioningModel"] = 9
    spec["lustre_export_config"] = {"destination_bucket": "b", "days_of_week": ["8", "FRIDAY"]}
    sent = body(spec, live)
    pool = at(sent, "node_pools[cpu]")
    assert (pool["machine_spec"]["accelerator_type"], pool["provisioning_model"]) == (17, 9)
    assert sent["lustre_export_config"]["days_of_week"] == [8, "FRIDAY"]


def test_empty_values_of_service_filled_fields_reset_nothing() -> None:
    """An empty string, zero, {} or an unspecified enum means absent: the live value is echoed, not wiped."""
    spec, live = changed()
    at(spec, "node_pools[cpu]").update(
        node_image="",
        provisioning_model="PROVISIONING_MODEL_UNSPECIFIED",
        boot_disk={"boot_disk_type": "", "boot_disk_size_gb": 0},
    )
    spec["network"] = {}
    assert [change.path for change in plan(spec, live).changes] == ["node_pools[cpu].scaling_spec.max_node_count"]
    sent = body(spec, live)
    pool = at(sent, "node_pools[cpu]")
    assert (pool["provisioning_model"], pool["boot_disk"]["boot_disk_size_gb"]) == ("ON_DEMAND", 100)
    assert pool["node_image"].endswith("slurm-a-v12")
    assert sent["network"]["network"].endswith("/net-a")


def test_explicit_zeros_are_sent() -> None:
    """`min_node_count: 0` is sent although no answer shows it."""
    assert at(body(*changed()), "node_pools[cpu].scaling_spec") == {"min_node_count": 0, "max_node_count": 6}


def test_unknown_fields_are_carried_over() -> None:
    """At every level, in the answer's spelling; output-only ones aren't."""
    spec, live = changed()
    at(live, "nodePools[cpu]")["futureKnob"] = {"a": 1}
    at(live, "nodePools[cpu]")["effectiveFlexStartMaxDuration"] = "1s"
    live["orchestratorSpec"]["slurmSpec"]["futureSlurm"] = [1]
    live["futureTop"] = "x"
    sent = body(spec, live)
    assert at(sent, "node_pools[cpu]")["futureKnob"] == {"a": 1}
    assert "effectiveFlexStartMaxDuration" not in str(sent)
    assert "effective_flex_start_max_duration" not in str(sent)
    assert sent["orchestrator_spec"]["slurm_spec"]["futureSlurm"] == [1]
    assert sent["futureTop"] == "x"
    assert not {"name", "clusterStatus", "cluster_status", "update_time"} & sent.keys()


def test_unknown_fields_in_a_message_the_file_leaves_to_the_service() -> None:
    """A boot disk that the file doesn't name keeps what this version doesn't know of it."""
    spec, live = changed()
    at(live, "nodePools[cpu].bootDisk")["iops"] = 3000
    assert at(body(spec, live), "node_pools[cpu].boot_disk")["iops"] == 3000


def test_a_removed_message_leaves_what_nobody_knows() -> None:
    """What the file removes goes, to the last known field; what this version doesn't know isn't lost with it."""
    spec, live = changed()
    live["lustreExportConfig"] = {"destinationBucket": "b"}
    assert "lustre_export_config" not in body(spec, live)
    live["lustreExportConfig"]["future"] = 1
    assert body(spec, live)["lustre_export_config"] == {"future": 1}


def test_the_services_labels_stay() -> None:
    """The map is replaced whole, so goog- labels go back, on the cluster and on pools; the file can't set them."""
    spec, live = changed()
    spec["labels"]["goog-mine"] = "no"
    live["labels"]["goog-managed"] = "x"
    at(live, "nodePools[cpu]")["labels"] = {"goog-pool": "y"}
    sent = body(spec, live)
    assert sent["labels"] == {"team": "ml", "goog-managed": "x"}
    assert at(sent, "node_pools[cpu].labels") == {"goog-pool": "y"}


def test_a_satisfied_family_is_sent_as_the_live_image() -> None:
    """Naming the family again could move the pool to a newer image and recreate its nodes."""
    spec, live = changed()
    at(spec, "node_pools[cpu]")["node_image"] = "projects/example-proj/global/images/family/slurm-a"
    assert at(body(spec, live), "node_pools[cpu].node_image").endswith("/slurm-a-v12")
    at(spec, "node_pools[cpu]")["node_image"] = "projects/example-proj/global/images/family/slurm-b"
    assert at(body(spec, live), "node_pools[cpu].node_image").endswith("/family/slurm-b")


def test_keys_of_maps_keep_their_spelling() -> None:
    """Labels and Slurm parameters go out byte for byte (pain point 28)."""
    spec, live = changed()
    spec["labels"] = {"my_team": "a", "cost-center-2": "b"}
    spec["orchestrator_spec"]["slurm_spec"]["config"] = {"PriorityWeightAge": "1000", "def_mem_per_cpu": "5"}
    sent = body(spec, live)
    assert sent["labels"] == {"my_team": "a", "cost-center-2": "b"}
    assert list(sent["orchestrator_spec"]["slurm_spec"]["config"]) == ["PriorityWeightAge", "def_mem_per_cpu"]


def test_new_pools_take_nothing_over() -> None:
    """A pool that isn't live has what the file says."""
    spec, live = changed()
    new = {"id": "new", "machine_spec": {"machine_type": "n2"}, "scaling_spec": {"max_node_count": 1}}
    spec["node_pools"].append(new)
    assert at(body(spec, live), "node_pools[new]") == new


def test_create() -> None:
    """A cluster that isn't there is created with all the file says, by C's spelling of the id."""
    made = plan(file_spec(), None)
    assert made.action is Action.CREATE
    assert made.request is not None
    assert made.request.method == "POST"
    assert made.request.path.endswith("/locations/us-central1/modelDevelopmentClusters")
    assert made.request.query == {"model_development_cluster_id": "demo"}
    assert made.request.body == file_spec()
    assert {change.impact for change in made.changes} == {Impact.IN_PLACE}
    assert made.live_fingerprint is None


def test_delete() -> None:
    """`state: absent` plans a delete without a body; an absent cluster needs none."""
    made = plan(file_spec(), answer(), state="absent", prevent_destroy=False)
    assert made.action is Action.DELETE
    assert made.request is not None
    assert (made.request.method, made.request.query, made.request.body) == ("DELETE", {}, None)
    assert plan(file_spec(), None, state="absent").action is Action.NO_OP


def test_replace_keeps_the_network_and_lets_pools_be_filled_anew() -> None:
    """What the service filled in for old machines may not fit the new ones; the network stays the cluster's."""
    spec, live = file_spec(), answer()
    spec.pop("network")
    at(spec, "node_pools[cpu].machine_spec")["machine_type"] = "c3-standard-8"
    at(live, "nodePools[cpu]")["futureKnob"] = 1
    made = plan(spec, live, replace_on=["immutable_change"], prevent_destroy=False)
    assert made.action is Action.REPLACE
    assert made.request is not None
    assert made.request.method == "POST"
    assert made.request.body is not None
    assert made.request.body["network"]["network"] == f"projects/{NUMBER}/global/networks/net-a"
    pool = at(made.request.body, "node_pools[cpu]")
    assert pool["futureKnob"] == 1
    assert not {"boot_disk", "node_image", "provisioning_model"} & pool.keys()


def test_replace_keeps_what_fits_and_says_what_it_resets() -> None:
    """Pools of the same machine keep their disks; a new network isn't sent with the old one's subnetwork."""
    spec, live = file_spec(), answer()
    spec["network"] = {"network": "projects/example-proj/global/networks/net-b"}
    at(live, "nodePools[cpu].bootDisk")["bootDiskSizeGb"] = "500"
    at(spec, "node_pools[gpu]")["node_image"] = "projects/example-proj/global/images/family/slurm-a"
    made = plan(spec, live, replace_on=["immutable_change"], prevent_destroy=False)
    assert made.request is not None
    assert made.request.body is not None
    assert made.request.body["network"] == {"network": "projects/example-proj/global/networks/net-b"}
    assert at(made.request.body, "node_pools[cpu].boot_disk.boot_disk_size_gb") == 500
    assert at(made.request.body, "node_pools[gpu].node_image").endswith("family/slurm-a")
    assert "replace_resets" not in [note.code for note in made.notes]
    at(spec, "node_pools[cpu].machine_spec")["machine_type"] = "c3-standard-8"
    made = plan(spec, live, replace_on=["immutable_change"], prevent_destroy=False)
    assert "cpu" in next(note.message for note in made.notes if note.code == "replace_resets")


def test_fields_passed_on_by_allow_unknown_fields() -> None:
    """They are compared in either spelling, sent as written, and masked by what covers them."""
    spec, live = file_spec(), answer()
    at(spec, "node_pools[cpu]")["future_knob"] = 2
    spec["futureTop"] = "a"
    spec["zero"] = 0
    spec["future_same"] = live["futureSame"] = [1]
    at(live, "nodePools[cpu]")["futureKnob"] = 1
    made = plan(spec, live, allow_unknown_fields=True)
    assert [(change.path, change.before, change.after, change.mask) for change in made.changes] == [
        ("node_pools[cpu].future_knob", 1, 2, "node_pools"),
        ("futureTop", None, "a", "future_top"),
    ]
    assert made.request is not None
    assert made.request.body is not None
    assert "futureKnob" not in at(made.request.body, "node_pools[cpu]")
    at(live, "nodePools[cpu]")["futureKnob"] = 2
    live["future_top"] = "a"
    assert plan(spec, live, allow_unknown_fields=True).action is Action.NO_OP


@pytest.mark.parametrize("mode", ["USER_AND_SERVICE", "USER_ONLY"])
def test_update_mode_is_said_and_sent(mode: str) -> None:
    """The plan names the mode and its side effect, and the query carries it (pain point 17)."""
    from reconciler.plan.build import plan_cluster
    from tests.unit.plan.cases import desired

    spec, live = changed()
    made = plan_cluster(desired(spec), live, update_mode=mode)
    assert made.request is not None
    assert made.request.query["updateMode"] == mode
    assert next(note.message for note in made.notes if note.code == "update_mode").startswith(f"updateMode {mode}")
