"""What a plan means in machines."""

from __future__ import annotations

import copy

import pytest

from reconciler.plan.capacity import accelerators, totals
from reconciler.plan.model import Action, Capacity, ClusterPlan, Range
from reconciler.views.capacity import capacity_line, capacity_summary
from tests.unit.plan.cases import answer, at, file_spec, plan


def test_a_pool_that_grows() -> None:
    """Nodes at least and at most, and the accelerators that this is."""
    spec = file_spec()
    at(spec, "node_pools[gpu].scaling_spec").update(min_node_count=4, max_node_count=6)
    made = plan(spec, answer())
    assert made.capacity == (Capacity("gpu", Range(2, 4), Range(4, 6), "NVIDIA_H200_141GB", 8, "a3-ultragpu-8g"),)
    assert capacity_line(made.capacity[0]) == "gpu: 2-4 -> 4-6 nodes, +16 NVIDIA_H200_141GB"
    assert capacity_summary([made]) == "Capacity: 2-4 -> 4-6 nodes, +16 NVIDIA_H200_141GB"


def test_pools_that_come_and_go() -> None:
    """A create begins from nothing, a delete ends there; what doesn't change its nodes isn't named."""
    made = plan(file_spec(), None)
    assert [(each.pool, each.before, each.after) for each in made.capacity] == [
        ("cpu", Range(0, 0), Range(0, 4)),
        ("gpu", Range(0, 0), Range(2, 4)),
        ("login", Range(0, 0), Range(1, 1)),
    ]
    gone = plan(file_spec(), answer(), state="absent", prevent_destroy=False)
    assert {each.after for each in gone.capacity} == {Range(0, 0)}
    assert plan(file_spec(), answer()).capacity == ()


def test_a_pool_that_gets_other_machines() -> None:
    """The old ones go and the new ones come, whether or not their number changes; what stays empty isn't named."""
    spec = file_spec()
    at(spec, "node_pools[gpu].machine_spec")["machine_type"] = "a4-highgpu-8g"
    at(spec, "node_pools[cpu]")["machine_spec"] = {"machine_type": "n2-standard-32"}
    at(spec, "node_pools[login]")["machine_spec"] = {"machine_type": "n2-standard-4"}
    made = plan(spec, answer(), replace_on=("immutable_change",), prevent_destroy=False)
    assert [(each.pool, each.before, each.after, each.accelerator) for each in made.capacity] == [
        ("cpu", Range(0, 4), Range(0, 0), ""),
        ("cpu", Range(0, 0), Range(0, 4), ""),
        ("gpu", Range(2, 4), Range(0, 0), "NVIDIA_H200_141GB"),
        ("gpu", Range(0, 0), Range(2, 4), "NVIDIA_B200"),
        ("login", Range(1, 1), Range(0, 0), ""),
        ("login", Range(0, 0), Range(1, 1), ""),
    ]
    assert [capacity_line(each) for each in totals([made])] == [
        "0-0 -> 2-4 nodes, +16 at least, +32 at most NVIDIA_B200",
        "2-4 -> 0-0 nodes, -16 at least, -32 at most NVIDIA_H200_141GB",
        "0-0 -> 0-4 nodes of n2-standard-32",
        "0-0 -> 1-1 nodes of n2-standard-4",
        "1-5 -> 0-0 nodes of n2-standard-8",
    ]
    assert capacity_line(made.capacity[0]) == "cpu: 0-4 -> 0-0 nodes of n2-standard-8"


def test_what_a_side_leaves_out_is_no_other_machine() -> None:
    """The service shows accelerators that the file leaves to the machine type, and one that nobody here knows."""
    spec, live = file_spec(), answer()
    spec["labels"]["x"] = "y"
    at(spec, "node_pools[gpu].machine_spec")["machine_type"] = "a9-newgpu-8g"
    at(live, "nodePools[gpu].machineSpec").update(
        machineType="a9-newgpu-8g", acceleratorType="NVIDIA_NEW", acceleratorCount=8
    )
    made = plan(spec, live)
    assert made.changes
    assert made.capacity == ()


def test_totals_by_accelerator() -> None:
    """Pools of a kind are summed; what cancels out is left out; plain nodes stand last, by their machine type."""
    pools = (
        Capacity("a", Range(0, 2), Range(0, 1)),
        Capacity("b", Range(0, 1), Range(0, 4)),
        Capacity("f", Range(0, 1), Range(0, 4), machine_type="n2-standard-8"),
        Capacity("g", Range(0, 1), Range(0, 2), machine_type="n2-standard-8"),
        Capacity("c", Range(1, 1), Range(0, 3), "G", 8),
        Capacity("d", Range(2, 2), Range(0, 0), "H", 4),
        Capacity("e", Range(0, 0), Range(2, 2), "H", 4),
    )
    assert [capacity_line(each) for each in totals([ClusterPlan("", "", Action.UPDATE, capacity=pools)])] == [
        "1-1 -> 0-3 nodes, -8 at least, +16 at most G",
        "0-3 -> 0-5 nodes",
        "0-2 -> 0-6 nodes of n2-standard-8",
    ]
    assert capacity_summary([]) == ""


def test_totals_count_the_pools_that_stay() -> None:
    """A type's nodes before and after are those of all pools of the clusters that change, whatever is done to them."""
    spec = file_spec()
    at(spec, "node_pools[cpu].scaling_spec")["max_node_count"] = 5
    made = plan(spec, answer())
    assert [capacity_line(each) for each in made.capacity] == ["cpu: 0-4 -> 0-5 nodes of n2-standard-8"]
    assert capacity_summary([made]) == "Capacity: 1-5 -> 1-6 nodes of n2-standard-8"
    assert capacity_summary([made, plan(file_spec(), answer())]) == capacity_summary([made])
    gpus = "NVIDIA_H200_141GB"
    created, gone = plan(spec, None), plan(spec, answer(), state="absent", prevent_destroy=False)
    assert capacity_summary([created]) == (
        f"Capacity: 0-0 -> 2-4 nodes, +16 at least, +32 at most {gpus}; 0-0 -> 1-6 nodes of n2-standard-8"
    )
    assert capacity_summary([gone]) == (
        f"Capacity: 2-4 -> 0-0 nodes, -16 at least, -32 at most {gpus}; 1-5 -> 0-0 nodes of n2-standard-8"
    )
    assert capacity_summary([made, created]) == (
        f"Capacity: 2-4 -> 4-8 nodes, +16 at least, +32 at most {gpus}; 1-5 -> 2-12 nodes of n2-standard-8"
    )


def test_pools_of_a_cluster_that_changes_otherwise_count_too() -> None:
    """Beside another one's change: its labels change, its nodes stay."""
    spec, other = file_spec(), file_spec()
    at(spec, "node_pools[cpu].scaling_spec")["max_node_count"] = 5
    other["labels"]["x"] = "y"
    labelled = plan(other, answer())
    assert (labelled.changes != (), labelled.capacity, capacity_summary([labelled])) == (True, (), "")
    assert capacity_summary([plan(spec, answer()), labelled]) == "Capacity: 2-10 -> 2-11 nodes of n2-standard-8"


def test_a_pool_that_joins_another_of_its_accelerator() -> None:
    """Both have the same: the one that was there counts before and after."""
    spec = file_spec()
    new = copy.deepcopy(at(spec, "node_pools[gpu]")) | {"id": "gpu2"}
    spec["node_pools"].append(new)
    assert capacity_summary([plan(spec, answer())]) == (
        "Capacity: 2-4 -> 4-8 nodes, +16 at least, +32 at most NVIDIA_H200_141GB"
    )


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        ({"machine_type": "a4x-highgpu-4g"}, ("accelerators", 4)),
        ({"machine_type": "a4-highgpu-8g"}, ("NVIDIA_B200", 8)),
        ({"machine_type": "n2-standard-8"}, ("", 0)),
        ({"machine_type": "x", "accelerator_type": "T", "accelerator_count": 2}, ("T", 2)),
        ({"machine_type": "a3-megagpu-8g", "accelerator_type": "A_UNSPECIFIED"}, ("NVIDIA_H100_MEGA_80GB", 8)),
        ({"accelerator_count": "many"}, ("", 0)),
        ("none", ("", 0)),
    ],
)
def test_accelerators_of_a_node(machine: object, expected: tuple[str, int]) -> None:
    """Said, or known from the machine type's name; a shape that makes no sense has none."""
    assert accelerators({"machine_spec": machine}) == expected


def test_answers_of_any_shape() -> None:
    """Counts that are no numbers, and pools that are none, count as nothing."""
    live = answer()
    at(live, "nodePools[cpu]")["scalingSpec"] = "none"
    at(live, "nodePools[gpu].scalingSpec")["maxNodeCount"] = "many"
    assert [each.before for each in plan(file_spec(), live).capacity] == [Range(0, 0), Range(2, 0)]
    live["nodePools"] = 7
    assert plan(file_spec(), live).capacity
