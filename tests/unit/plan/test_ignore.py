"""`ignore_changes`: in the diff, in the payload, and in the live fingerprint."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.model import Action
from tests.unit.plan.cases import SLURM, answer, at, file_spec, plan


def _swap(live: dict[str, Any]) -> None:
    live["nodePools"].reverse()


IGNORED = [
    ("labels.cost-center", lambda a: a["labels"].update({"cost-center": "9"})),
    ("labels.*", lambda a: a["labels"].update(x="y", team="other")),
    ("labels", lambda a: a.update(labels={"z": "1"})),
    ("node_pools[cpu].scaling_spec", lambda a: at(a, "nodePools[cpu].scalingSpec").update(maxNodeCount="9")),
    ("nodePools[c*].scalingSpec.maxNodeCount", lambda a: at(a, "nodePools[cpu].scalingSpec").update(maxNodeCount="9")),
    ("node_pools[debug]", lambda a: a["nodePools"].insert(0, {"id": "debug", "machineSpec": {"machineType": "n"}})),
    ("node_pools", lambda a: a.update(nodePools=[])),
    (f"{SLURM}.prolog_bash_scripts", lambda a: at(a, "orchestratorSpec.slurmSpec").pop("prologBashScripts")),
    (f"{SLURM}.prolog_bash_scripts[1]", lambda a: at(
        a, "orchestratorSpec.slurmSpec.prologBashScripts").append("#!/bin/sh")),
    (f"{SLURM}.config.DefMemPerCPU", lambda a: at(a, "orchestratorSpec.slurmSpec").update(config={"def_mem_per_cpu": "1"})),
    ("display_name", lambda a: a.update(displayName="other")),
    ("network.network", lambda a: a["network"].update(network="projects/o/global/networks/x")),
    ("lustre_export_config.destination_bucket", lambda a: a.update(lustreExportConfig={"destinationBucket": "b"})),
    ("orchestrator_spec.slurm_spec.partitions[x]", lambda a: at(a, "orchestratorSpec.slurmSpec").get("partitions").append(
        {"id": "x", "nodePoolIds": ["cpu"]})),
    ("node_pools[cpu].confidential_instance_config.a", lambda a: at(a, "nodePools[cpu]").update(
        confidentialInstanceConfig={"a": 1})),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "edit"), IGNORED, ids=[pattern for pattern, _ in IGNORED])
def test_ignored_paths_make_no_change_and_no_plan_stale(pattern: str, edit: Any) -> None:
    """What others own may move: no change, and the same fingerprints as before (pain 137)."""
    live = answer()
    before = plan(file_spec(), answer(), ignore_changes=[pattern])
    edit(live)
    assert plan(file_spec(), live).changes, "without the rule it is a change"
    after = plan(file_spec(), live, ignore_changes=[pattern])
    assert after.action is Action.NO_OP, after.changes
    assert after.live_fingerprint == before.live_fingerprint
    assert after.desired_fingerprint == before.desired_fingerprint


@pytest.mark.parametrize(("pattern", "edit"), IGNORED, ids=[pattern for pattern, _ in IGNORED])
def test_ignored_paths_are_sent_as_they_are_live(pattern: str, edit: Any) -> None:
    """A change elsewhere sends the live value at the ignored path: planning the sent body again gives nothing there."""
    live = answer()
    edit(live)
    spec = file_spec()
    spec["orchestrator_spec"]["slurm_spec"]["epilog_bash_scripts"] = ["#!/bin/sh\n"]
    made = plan(spec, live, ignore_changes=[pattern])
    assert [change.path for change in made.changes] == [f"{SLURM}.epilog_bash_scripts[0]"]
    assert made.request is not None
    sent = {**live, **(made.request.body or {})}
    assert plan(spec, sent, ignore_changes=[pattern]).action is Action.NO_OP


def test_an_ignored_partition_keeps_its_place() -> None:
    """The first partition may be the default one: an ignored first one is sent first again."""
    live = answer()
    at(live, "orchestratorSpec.slurmSpec.partitions").insert(0, {"id": "debug", "nodePoolIds": ["cpu"]})
    spec = file_spec()
    spec["labels"]["team"] = "x"
    made = plan(spec, live, ignore_changes=[f"{SLURM}.partitions[debug]"])
    assert [change.path for change in made.changes] == ["labels.team"]
    assert made.request is not None
    assert made.request.body is not None
    partitions = made.request.body["orchestrator_spec"]["slurm_spec"]["partitions"]
    assert [each["id"] for each in partitions] == ["debug", "cpu", "gpu"]


def test_an_ignored_partition_stands_where_the_file_names_it() -> None:
    """Its content is others', the list's order isn't: a default partition that moves is a change."""
    live = answer()
    at(live, "orchestratorSpec.slurmSpec.partitions").reverse()
    made = plan(file_spec(), live, ignore_changes=[f"{SLURM}.partitions[gpu]"])
    assert [(each.path, each.before, each.after) for each in made.changes] == [(f"{SLURM}.partitions", "gpu", "cpu")]


def test_a_new_pool_keeps_its_own_values_at_ignored_paths() -> None:
    """Ignoring a pool's scaling doesn't take it from a pool that is made."""
    spec = file_spec()
    spec["node_pools"].append(
        {"id": "new", "machine_spec": {"machine_type": "n"}, "scaling_spec": {"max_node_count": 3}}
    )
    made = plan(spec, answer(), ignore_changes=["node_pools[*].scaling_spec"])
    assert made.request is not None
    assert at(made.request.body, "node_pools[new].scaling_spec") == {"max_node_count": 3}


def test_maps_that_are_empty_on_both_sides() -> None:
    """An ignored key of a map, or item of a list, that neither side has changes nothing."""
    spec = file_spec()
    spec["labels"], spec["orchestrator_spec"]["slurm_spec"]["epilog_bash_scripts"] = {}, []
    live = answer()
    live.pop("labels")
    rules = ["labels.x", f"{SLURM}.epilog_bash_scripts[0]", f"{SLURM}.node_sets[a].config", "network"]
    assert plan(spec, live, ignore_changes=rules).action is Action.NO_OP
