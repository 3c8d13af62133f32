"""Every path that an update mask may hold, from creation through an edit and back, each time to an empty plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from tests.contract.bench import Bench, result
from tests.contract.specs import SLURM, cpu_pool, pool, slurm

LUSTRE = "projects/example-net/locations/us-central1-a/instances/scratch"
NODE_SET = {"node_pool_id": "cpu", "config": {"Weight": "9"}}
Edit = Callable[[dict[str, Any]], object]


def _as_it_is(_: dict[str, Any]) -> None:
    """Nothing to prepare."""


def _second_front(spec: dict[str, Any]) -> None:
    spec["node_pools"].append(cpu_pool("front", scaling_spec={"min_node_count": 2, "max_node_count": 2}))
    slurm(spec)["partitions"].append({"id": "front", "node_pool_ids": ["front"]})


class Case(NamedTuple):
    """A mask path, how a cluster is prepared for it, and an edit that needs that path alone."""

    mask: str
    edit: Edit
    prepare: Edit = _as_it_is


CASES = (
    Case("labels", lambda s: s.update(labels={"team": "infra", "my_cost-center2": "ä1"})),
    Case("node_pools", lambda s: pool(s, "cpu")["scaling_spec"].update(max_node_count=6)),
    Case(f"{SLURM}.partitions", lambda s: slurm(s)["partitions"][1].update(config={"MaxTime": "1-00:00:00"})),
    Case(f"{SLURM}.login_node_pool_id", lambda s: slurm(s).update(login_node_pool_id="front"), _second_front),
    Case(f"{SLURM}.prolog_bash_scripts", lambda s: slurm(s)["prolog_bash_scripts"].insert(0, "#!/bin/bash\ntrue\n")),
    Case(f"{SLURM}.epilog_bash_scripts", lambda s: slurm(s).update(epilog_bash_scripts=["#!/bin/bash\ntrue\n"])),
    Case(f"{SLURM}.config", lambda s: slurm(s).update(config={"PriorityWeightAge": "1000"})),
    Case(f"{SLURM}.default_partition_id", lambda s: slurm(s).update(default_partition_id="gpu")),
    Case(f"{SLURM}.node_sets", lambda s: slurm(s).update(node_sets=[NODE_SET])),
    Case(f"{SLURM}.scheduling", lambda s: slurm(s).update(scheduling={"priority_weight_age": 7})),
    Case(f"{SLURM}.accounting", lambda s: slurm(s).update(accounting={"accounting_storage_enforce": "limits"})),
    Case("display_name", lambda s: s.update(display_name="other")),
    Case(
        "lustre_export_config",
        lambda s: s.update(
            lustre_export_config={
                "destination_bucket": "exports",
                "lustres": [LUSTRE],
                "days_of_week": ["MONDAY", "FRIDAY"],
                "start_time": {"hours": 3},
            }
        ),
        lambda s: pool(s, "cpu").update(lustres=[LUSTRE]),
    ),
)  # fmt: skip
OUTPUT = ("updateTime", "clusterStatus", "clusterEvents")


def _without(resource: dict[str, Any], mask: str) -> dict[str, Any]:
    """A resource as GET answers it, but for one mask path and what the service itself keeps moving."""
    rest = {key: value for key, value in resource.items() if key not in OUTPUT}
    target = rest
    *parents, leaf = (_camel(part) for part in mask.split("."))
    for parent in parents:
        target[parent] = dict(target[parent])
        target = target[parent]
    target.pop(leaf, None)
    return rest


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def _applied(bench: Bench, mask: str) -> None:
    """What the plan announces is what is sent: one PATCH with this mask, after which nothing is left."""
    plan = bench.plan()
    assert (plan["action"], {change["mask"] for change in plan["changes"]}) == ("update", {mask})
    assert plan["request"]["query"] == {"updateMask": mask, "updateMode": "USER_AND_SERVICE"}
    before = bench.get()
    bench.control.clear_requests()
    assert result(bench.apply())["status"] == "applied"
    (sent,) = bench.requests("patch")
    assert (sent["query"], sent["body"]) == (plan["request"]["query"], plan["request"]["body"])
    assert _without(bench.get(), mask) == _without(before, mask)
    bench.settled()


@pytest.mark.parametrize("case", CASES, ids=[case.mask for case in CASES])
def test_each_mask_path_there_and_back(bench: Bench, case: Case) -> None:
    """create, plan, edit, plan, apply, plan, and back: the mask is this path, nothing beside it changes. (Case 23)"""
    spec = bench.base()
    case.prepare(spec)
    path = bench.created("demo", spec)
    bench.settled()
    before = path.read_text()
    bench.edit(path, case.edit)
    _applied(bench, case.mask)
    path.write_text(before)
    _applied(bench, case.mask)


def test_all_at_once_is_one_sorted_mask(bench: Bench) -> None:
    """Many edits are one call, with exactly their paths, sorted."""
    superseded = (f"{SLURM}.scheduling", f"{SLURM}.accounting")
    cases = [case for case in CASES if case.mask not in superseded]
    spec = bench.base()
    for case in cases:
        case.prepare(spec)
    path = bench.created("demo", spec)
    for case in cases:
        bench.edit(path, case.edit)
    bench.apply().ok()
    (sent,) = bench.requests("patch")
    assert sent["query"]["updateMask"] == ",".join(sorted(case.mask for case in cases))
    bench.settled()


def test_user_only_is_what_is_sent(bench: Bench) -> None:
    """--update-mode reaches the request; the service then refreshes nothing of its own. (Case 17)"""
    path = bench.created("demo", bench.base())
    bench.edit(path, CASES[0].edit)
    plan = bench.plan("--update-mode", "USER_ONLY")
    assert plan["request"]["query"]["updateMode"] == "USER_ONLY"
    assert any(note["code"] == "update_mode" and "USER_ONLY" in note["message"] for note in plan["notes"])
    bench.apply("--update-mode", "USER_ONLY").ok()
    assert bench.control.service_refreshes(bench.name()) == 0
