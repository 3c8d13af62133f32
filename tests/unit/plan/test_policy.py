"""Impacts, actions, blockers and notes."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.model import Action
from reconciler.plan.status import live_status
from reconciler.spec.fields import FIELDS, Impact
from tests.unit.plan.cases import SLURM, answer, at, file_spec, plan


def codes(made: Any) -> list[str]:
    return [blocker.code for blocker in made.blockers]


IMMUTABLE = [
    ("network.network", lambda f: f["network"].update(network="projects/example-proj/global/networks/b")),
    ("runtime_spec.service_account", lambda f: f.update(runtime_spec={"service_account": "a@b"})),
    (f"{SLURM}.home_directory_storage", lambda f: f["orchestrator_spec"]["slurm_spec"].update(
        home_directory_storage="projects/example-proj/locations/us-central1-a/instances/b")),
    ("node_pools[cpu].machine_spec.machine_type", lambda f: at(f, "node_pools[cpu].machine_spec").update(machine_type="x")),
    ("node_pools[cpu].provisioning_model", lambda f: at(f, "node_pools[cpu]").update(provisioning_model="SPOT")),
    ("node_pools[cpu].confidential_instance_config", lambda f: at(f, "node_pools[cpu]").update(
        confidential_instance_config={"a": 1})),
]  # fmt: skip


@pytest.mark.parametrize(("path", "edit"), IMMUTABLE, ids=[path for path, _ in IMMUTABLE])
def test_immutable_fields_are_refused_at_plan_time(path: str, edit: Any) -> None:
    """The blocker names the field and the way out; with replace_on the cluster is replaced instead (pain 31, 32)."""
    spec = file_spec()
    edit(spec)
    made = plan(spec, answer())
    assert made.action is Action.UPDATE
    assert [(change.path, change.impact) for change in made.changes] == [(path, Impact.IMMUTABLE)]
    assert codes(made) == ["immutable_field"]
    assert path in made.blockers[0].message
    assert ("add a pool with a new id" in made.blockers[0].message) == path.startswith("node_pools")
    replaced = plan(spec, answer(), replace_on=["immutable_change"])
    assert replaced.action is Action.REPLACE
    assert codes(replaced) == ["prevent_destroy"]


def test_no_request_where_no_mask_covers_the_change() -> None:
    """A field that no mask path covers can't be sent."""
    spec = file_spec()
    spec["runtime_spec"] = {"service_account": "a@b"}
    assert plan(spec, answer()).request is None


def test_a_new_pool_may_have_any_machine() -> None:
    """What can't be changed later can be chosen when a pool is made."""
    spec = file_spec()
    spec["node_pools"].append(
        {"id": "new", "machine_spec": {"machine_type": "x"}, "scaling_spec": {"max_node_count": 1}}
    )
    (change,) = plan(spec, answer()).changes
    assert (change.path, change.before, change.impact) == ("node_pools[new]", None, Impact.IN_PLACE)
    assert change.item == "new"


@pytest.mark.parametrize("nodes", [0, 2])
def test_dropping_a_pool_or_partition_removes_nodes(nodes: int) -> None:
    """Their jobs lose their place; the nodes that go are counted."""
    spec, live = file_spec(), answer()
    spec["node_pools"] = [pool for pool in spec["node_pools"] if pool["id"] != "gpu"]
    spec["orchestrator_spec"]["slurm_spec"]["partitions"].pop()
    live["clusterStatus"]["nodesStatus"] = [{"nodePoolId": "gpu"}] * nodes
    pool, partition = plan(spec, live).changes
    assert (pool.path, pool.after, pool.impact) == ("node_pools[gpu]", None, Impact.REMOVES_NODES)
    assert pool.reason == ("2 existing nodes go" if nodes else "")
    assert (partition.path, partition.impact) == (f"{SLURM}.partitions[gpu]", Impact.REMOVES_NODES)


@pytest.mark.parametrize(
    ("nodes", "maximum", "impact"), [(3, 2, "removes_nodes"), (2, 2, "in_place"), (4, 6, "in_place")]
)
def test_lowering_the_maximum_below_the_nodes(nodes: int, maximum: int, impact: str) -> None:
    """Removes nodes only where more exist than may stay, and says that the service chooses (pain 16, 113)."""
    spec, live = file_spec(), answer()
    at(spec, "node_pools[gpu].scaling_spec")["max_node_count"] = maximum
    live["clusterStatus"]["nodesStatus"] = [{"node_pool_id": "gpu"}] * nodes
    (change,) = plan(spec, live).changes
    assert change.impact == impact
    assert ("the service chooses" in change.reason) == (impact == "removes_nodes")


def test_a_maximum_left_out_of_an_answer_counts_as_zero() -> None:
    """A maximum removed altogether is below any node."""
    spec, live = file_spec(), answer()
    at(spec, "node_pools[gpu].scaling_spec")["max_node_count"] = 0
    (change,) = plan(spec, live).changes
    assert (change.after, change.impact) == (None, Impact.REMOVES_NODES)


RECREATES = {
    "zone": "us-central1-b",
    "enable_public_ips": True,
    "node_image": "projects/example-proj/global/images/own",
    "startup_script": "#!/bin/sh\n",
    "filestores": ["projects/example-proj/locations/us-central1-a/instances/f"],
    "lustres": ["projects/example-proj/locations/us-central1-a/instances/l"],
    "boot_disk": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 300},
}


@pytest.mark.parametrize("field", RECREATES)
def test_changes_of_the_machines_recreate_nodes(field: str) -> None:
    """Storage, images, disks, zones and startup scripts; existing nodes are named (pain 38)."""
    spec = file_spec()
    at(spec, "node_pools[gpu]")[field] = RECREATES[field]
    (change,) = plan(spec, answer()).changes
    assert change.impact is Impact.RECREATES_NODES
    assert change.reason == "2 existing nodes keep the old value until they are recreated"
    at(spec, "node_pools[cpu]")[field] = RECREATES[field]
    assert [each.reason for each in plan(spec, answer()).changes if "[cpu]" in each.path] == [""]


def test_prevent_destroy_blocks_delete() -> None:
    """A delete is blocked while true, and its message says how it is lifted."""
    made = plan(file_spec(), answer(), state="absent")
    assert codes(made) == ["prevent_destroy"]
    assert "set it to false" in made.blockers[0].message
    assert codes(plan(file_spec(), answer(), state="absent", prevent_destroy=False)) == []


def test_a_cluster_in_error() -> None:
    """It is planned, with the service's words, and blocked; delete and, where allowed, replace go through (pain 49)."""
    live = answer()
    live["clusterStatus"] = {"state": "ERROR", "error": {"message": "no capacity"}}
    same = plan(file_spec(), live)
    assert (same.action, codes(same)) == (Action.NO_OP, ["cluster_in_error_state"])
    assert "no capacity" in same.blockers[0].message
    spec = file_spec()
    spec["labels"]["team"] = "x"
    edited = plan(spec, live)
    assert (edited.action, codes(edited)) == (Action.UPDATE, ["cluster_in_error_state"])
    assert plan(spec, live, replace_on=["error_state"], prevent_destroy=False).action is Action.REPLACE
    assert codes(plan(spec, live, state="absent", prevent_destroy=False)) == []


def test_notes() -> None:
    """Busy and unknown states, unknown fields and likely renames are noted and refuse nothing."""
    live = answer()
    live["clusterStatus"] = {"state": "UPDATING"}
    live["nodePools"][0]["futureKnob"] = 1
    live["futureTop"] = 1
    spec = file_spec()
    at(spec, "node_pools[cpu]")["id"] = "cpu2"
    spec["node_pools"].append({"id": "x", "machine_spec": {"machine_type": "y"}, "scaling_spec": {"max_node_count": 1}})
    spec["orchestrator_spec"]["slurm_spec"]["partitions"][0]["node_pool_ids"] = ["cpu2"]
    live["nodePools"] = [{k: v for k, v in pool.items() if k not in ("bootDisk", "nodeImage", "provisioningModel")}
                         if pool["id"] == "cpu" else pool for pool in live["nodePools"]]  # fmt: skip
    notes = {note.code: note.message for note in plan(spec, live).notes}
    assert notes.keys() == {"cluster_busy", "unknown_live_field", "looks_like_rename", "update_mode"}
    assert "UPDATING" in notes["cluster_busy"]
    assert notes["unknown_live_field"].endswith("futureTop, node_pools[].futureKnob")
    assert "cpu -> cpu2" in notes["looks_like_rename"]
    live["clusterStatus"] = {"state": "REPAIRING"}
    assert next(note.code for note in plan(file_spec(), live).notes) == "unknown_live_state"


@pytest.mark.parametrize("status", [None, "text", {"nodesStatus": "x"}, {"nodesStatus": [1, {"nodePoolId": 5}]}])
def test_a_status_of_any_shape(status: Any) -> None:
    """Whatever an answer holds there, reading it doesn't fail."""
    read = live_status({"cluster_status": status, "cluster_events": status})
    assert not read.is_busy
    assert not read.nodes
    assert live_status({"cluster_status": {"state": "ERROR", "error": {"code": 1}}}).error == "{'code': 1}"


def test_every_row_says_where_its_knowledge_is_from() -> None:
    """Each field names its source and its meaning, and every input field is maskable or immutable."""
    from reconciler.spec.tree import ROOT, Node

    assert all(row.source and row.doc for row in FIELDS)

    def walk(node: Node) -> None:
        for child in node.children.values():
            if not (child.row.output or child.children or child.mask):
                assert child.impact is Impact.IMMUTABLE, child.path
            walk(child)

    walk(ROOT)
