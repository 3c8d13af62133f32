"""When two values are equal (contract section 1): none of these is a change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from reconciler.plan.diff import diff
from reconciler.plan.model import Action
from tests.unit.plan.cases import SLURM, answer, at, file_spec, plan

Edit = Callable[[Any, Any], Any]


def slurm(spec: Any) -> Any:
    return spec["orchestrator_spec"]["slurm_spec"]


def live_slurm(live: Any) -> Any:
    return live["orchestratorSpec"]["slurmSpec"]


def test_the_starting_point_has_no_changes() -> None:
    """Server-filled values, omitted zeros, strings for numbers, numbers for ids, URLs: all at once, no change."""
    made = plan(file_spec(), answer())
    assert (made.action, made.changes, made.request) == (Action.NO_OP, (), None)


EQUAL: list[tuple[str, Edit]] = [
    ("explicit zero, false and empty equal absent", lambda f, a: (
        f["node_pools"][1].update(enable_public_ips=False, startup_script="", labels={}, filestores=[]),
        slurm(f).update(epilog_bash_scripts=[], default_partition_id="", config={}))),
    ("an unspecified enum is absent", lambda f, a: at(a, "nodePools[cpu].machineSpec").update(
        acceleratorType="ACCELERATOR_TYPE_UNSPECIFIED")),
    ("the default written out equals the service's", lambda f, a: f["node_pools"][1].update(
        boot_disk={"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100})),
    ("an empty boot disk manages nothing", lambda f, a: f["node_pools"][1].update(boot_disk={})),
    ("strings for numbers and booleans in the file", lambda f, a: f["node_pools"][0].update(
        enable_public_ips="true", scaling_spec={"min_node_count": "1", "max_node_count": 1.0})),
    ("durations by length", lambda f, a: (
        f["node_pools"][1].update(flex_start_max_duration="604800s"),
        at(a, "nodePools[cpu]").update(flexStartMaxDuration="604800.000s"))),
    ("pools in another order", lambda f, a: f["node_pools"].reverse()),
    ("sets in another order", lambda f, a: (
        slurm(f)["partitions"][0].update(node_pool_ids=["gpu", "cpu"]),
        live_slurm(a)["partitions"][0].update(nodePoolIds=["cpu", "gpu"]))),
    ("partitions in another order with the same default", lambda f, a: (
        slurm(f).update(default_partition_id="cpu"), live_slurm(a).update(defaultPartitionId="cpu"),
        slurm(f)["partitions"].reverse())),
    ("scripts without the final newline", lambda f, a: live_slurm(a).update(
        prologBashScripts=["#!/bin/bash\nexit 0"])),
    ("scripts with CRLF", lambda f, a: live_slurm(a).update(prologBashScripts=["#!/bin/bash\r\nexit 0\r\n"])),
    ("Slurm names by meaning", lambda f, a: (
        slurm(f).update(config={"DefMemPerCPU": "10"}), live_slurm(a).update(config={"def_mem_per_cpu": "10"}))),
    ("labels of the service", lambda f, a: a["labels"].update({"goog-managed": "x"})),
    ("labels of the service alone", lambda f, a: (f.pop("labels"), a.update(labels={"goog-managed": "x"}))),
    ("an image of the wished family", lambda f, a: f["node_pools"][1].update(
        node_image="projects/example-proj/global/images/family/slurm-a")),
    ("fields that this version doesn't know", lambda f, a: (
        at(a, "nodePools[cpu]").update(futureKnob={"a": 1}), a.update(futureTop=1))),
    ("node states, events and times", lambda f, a: (
        a.update(updateTime="later", clusterEvents=[]), a["clusterStatus"].update(nodesStatus=[]))),
    ("reservations in another order", lambda f, a: (
        at(f, "node_pools[gpu].machine_spec.reservation_affinity").update(values=["b", "a"]),
        at(a, "nodePools[gpu].machineSpec.reservationAffinity").update(values=["a", "b"]))),
    ("network left to the service", lambda f, a: f.pop("network")),
    ("subnetwork left to the service", lambda f, a: f["network"].pop("subnetwork")),
    ("the service account left to the service", lambda f, a: a.update(runtimeSpec={"serviceAccount": "x@y"})),
    ("null is absent", lambda f, a: f["node_pools"][1].update(labels=None)),
    ("free values in either spelling, defaults left out", lambda f, a: (
        f["node_pools"][1].update(confidential_instance_config={"enable_x": True, "enable_y": False, "list": [{"a_b": 1}]}),
        at(a, "nodePools[cpu]").update(confidentialInstanceConfig={"enableX": True, "list": [{"aB": 1}]}))),
    ("strings that came as something else", lambda f, a: (
        f.update(labels={"a": "true", "b": "5", "c": "1.5"}), a.update(labels={"a": True, "b": 5, "c": 1.5, "d": None}),
        slurm(f).update(config={"X": "7"}), live_slurm(a).update(config={"x": 7}))),
    ("an enum by number", lambda f, a: (
        at(f, "node_pools[cpu].machine_spec").update(accelerator_type="17"),
        at(a, "nodePools[cpu].machineSpec").update(acceleratorType=17))),
    ("an enum's zero", lambda f, a: at(a, "nodePools[cpu].machineSpec").update(acceleratorType=0)),
    ("confidential settings alike", lambda f, a: (
        f["node_pools"][1].update(confidential_instance_config={"x": True}),
        at(a, "nodePools[cpu]").update(confidentialInstanceConfig={"x": True}))),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "edit"), EQUAL, ids=[reason for reason, _ in EQUAL])
def test_no_change(reason: str, edit: Edit) -> None:
    """What means the same is no change."""
    spec, live = file_spec(), answer()
    edit(spec, live)
    made = plan(spec, live)
    assert not made.changes, reason
    assert made.action is Action.NO_OP


DIFFERENT: list[tuple[str, Edit, list[str]]] = [
    ("a script's inner blank line", lambda f, a: live_slurm(a).update(prologBashScripts=["#!/bin/bash\nexit 0\n\n"]),
     [f"{SLURM}.prolog_bash_scripts[0]"]),
    ("the first partition, with no default set", lambda f, a: slurm(f)["partitions"].reverse(), [f"{SLURM}.partitions"]),
    ("a partition put in front", lambda f, a: slurm(f)["partitions"].insert(
        0, {"id": "new", "node_pool_ids": ["cpu"]}), [f"{SLURM}.partitions[new]", f"{SLURM}.partitions"]),
    ("a default no longer set, with another first partition", lambda f, a: (
        live_slurm(a).update(defaultPartitionId="cpu"), slurm(f)["partitions"].reverse()),
     [f"{SLURM}.partitions", f"{SLURM}.default_partition_id"]),
    ("a default newly set", lambda f, a: (
        slurm(f).update(default_partition_id="gpu"), slurm(f)["partitions"].reverse()),
     [f"{SLURM}.default_partition_id"]),
    ("a network of another project", lambda f, a: a["network"].update(
        network="projects/999/global/networks/net-a"), ["network.network"]),
    ("an image of another family", lambda f, a: f["node_pools"][1].update(
        node_image="projects/example-proj/global/images/family/other"), ["node_pools[cpu].node_image"]),
    ("an image in another project's family", lambda f, a: f["node_pools"][1].update(
        node_image="projects/elsewhere/global/images/family/slurm-a"), ["node_pools[cpu].node_image"]),
    ("a label left out", lambda f, a: a["labels"].update(cost="42"), ["labels.cost"]),
    ("a Slurm value", lambda f, a: (slurm(f).update(config={"A": "1"}), live_slurm(a).update(config={"a": "2"})),
     [f"{SLURM}.config.A"]),
    ("a Slurm key left out, named as it is spelled live", lambda f, a: live_slurm(a).update(config={"Def_Mem": "1"}),
     [f"{SLURM}.config.Def_Mem"]),
    ("scripts that change places", lambda f, a: (
        slurm(f).update(prolog_bash_scripts=["#!c", "#!x"]), live_slurm(a).update(prologBashScripts=["#!a", "#!b", "#!c"])),
     [f"{SLURM}.prolog_bash_scripts[0]", f"{SLURM}.prolog_bash_scripts[1]"]),
    ("a script that others have moved past is no change", lambda f, a: (
        slurm(f).update(prolog_bash_scripts=["#!b", "#!c", "#!x"]),
        live_slurm(a).update(prologBashScripts=["#!e", "#!f", "#!x", "#!b", "#!c"])),
     [f"{SLURM}.prolog_bash_scripts[0]", f"{SLURM}.prolog_bash_scripts[1]"]),
    ("an answer's pool without a readable id", lambda f, a: a["nodePools"].append({"id": {"x": 1}}), ["node_pools[{'x': 1}]"]),
    ("a script in front doesn't move the rest", lambda f, a: slurm(f)["prolog_bash_scripts"].insert(0, "#!/bin/sh\n"),
     [f"{SLURM}.prolog_bash_scripts[0]"]),
    ("a script removed", lambda f, a: slurm(f).pop("prolog_bash_scripts"), [f"{SLURM}.prolog_bash_scripts[0]"]),
    ("a message removed", lambda f, a: a.update(lustreExportConfig={"destinationBucket": "b", "startTime": {"hours": 3}}),
     ["lustre_export_config.destination_bucket", "lustre_export_config.start_time.hours"]),
    ("confidential settings", lambda f, a: f["node_pools"][1].update(confidential_instance_config={"x": True}),
     ["node_pools[cpu].confidential_instance_config"]),
    ("a set", lambda f, a: slurm(f)["partitions"][0].update(node_pool_ids=["cpu", "gpu"]),
     [f"{SLURM}.partitions[cpu].node_pool_ids"]),
    ("an answer of a wrong shape is a change, not a crash", lambda f, a: a.update(nodePools="none"), ["node_pools"]),
    ("an item of a wrong shape", lambda f, a: a["nodePools"].append(7), ["node_pools[#3]"]),
    ("scripts of a wrong shape", lambda f, a: live_slurm(a).update(prologBashScripts={"a": 1}),
     [f"{SLURM}.prolog_bash_scripts"]),
    ("a script of a wrong type", lambda f, a: live_slurm(a).update(prologBashScripts=[5]),
     [f"{SLURM}.prolog_bash_scripts"]),
    ("labels of a wrong shape", lambda f, a: a.update(labels=["x"]), ["labels"]),
    ("a message of a wrong shape", lambda f, a: a.update(orchestratorSpec=[1]), ["orchestrator_spec"]),
    ("a number that is none", lambda f, a: at(a, "nodePools[cpu].scalingSpec").update(maxNodeCount="many"),
     ["node_pools[cpu].scaling_spec.max_node_count"]),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "edit", "paths"), DIFFERENT, ids=[each[0] for each in DIFFERENT])
def test_change(reason: str, edit: Edit, paths: list[str]) -> None:
    """What differs is named by its path, and nothing else is."""
    spec, live = file_spec(), answer()
    edit(spec, live)
    assert [change.path for change in plan(spec, live).changes] == paths, reason


def test_a_moved_default_says_so() -> None:
    """A reorder that changes the default partition is one line that names the old and the new one."""
    spec = file_spec()
    slurm(spec)["partitions"].reverse()
    (change,) = plan(spec, answer()).changes
    assert (change.before, change.after, change.mask) == ("cpu", "gpu", f"{SLURM}.partitions")
    assert "default moves: cpu -> gpu" in change.reason


def test_an_edited_script_behind_a_new_one_is_one_change() -> None:
    """Before and after stand together, so that only what differs in it has to be read; what goes is named as well."""
    spec, live = file_spec(), answer()
    slurm(spec)["prolog_bash_scripts"] = ["#!new", "#!a", "#!b edited"]
    live_slurm(live)["prologBashScripts"] = ["#!a", "#!b", "#!c"]
    assert [(change.path[-3:], change.before, change.after) for change in plan(spec, live).changes] == [
        ("[0]", None, "#!new"),
        ("[2]", "#!b", "#!b edited"),
        ("[3]", "#!c", None),
    ]


def test_every_script_that_goes_or_comes_is_named() -> None:
    """Whatever two lists are compared, and wherever in them it is: a removal that no plan shows can't be reviewed."""
    lists = [scripts for length in range(5) for scripts in product("abc", repeat=length)]
    for old, new in product(lists, lists):
        sides = [
            {"orchestrator_spec": {"slurm_spec": {"prolog_bash_scripts": list(scripts)}}} for scripts in (old, new)
        ]
        changes = diff(*sides)
        assert bool(changes) == (old != new)
        assert len({change.path for change in changes}) == len(changes)
        gone, come = Counter(old) - Counter(new), Counter(new) - Counter(old)
        assert gone <= Counter(change.before for change in changes), (old, new)
        assert come <= Counter(change.after for change in changes), (old, new)
