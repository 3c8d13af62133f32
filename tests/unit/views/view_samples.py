"""Plans to be shown: small ones with one of each thing, and hostile ones."""

from __future__ import annotations

from typing import Any

from reconciler.engine.results import ApplyReport, Drift, ErrorInfo, Result, Status
from reconciler.plan.model import (
    Action,
    Blocker,
    Change,
    ClusterPlan,
    Job,
    Note,
    Origin,
    Plan,
    PlanError,
    Request,
    summarise,
)
from reconciler.spec.fields import Impact

SLURM = "orchestrator_spec.slurm_spec"
PARENT = "projects/acme-ml/locations/us-central1"


def name(cluster_id: str) -> str:
    """A full resource name."""
    return f"{PARENT}/modelDevelopmentClusters/{cluster_id}"


def change(path: str, before: Any, after: Any, impact: Impact = Impact.IN_PLACE, **more: Any) -> Change:
    """A change with a plausible mask."""
    mask = "" if impact is Impact.IMMUTABLE else more.pop("mask", path.partition("[")[0])
    return Change(path, before, after, mask, impact, **more)


def update(cluster_id: str, *changes: Change, **more: Any) -> ClusterPlan:
    """An update with its PATCH."""
    masks = ",".join(sorted({change.mask for change in changes if change.mask}))
    query = {"updateMask": masks, "updateMode": "USER_AND_SERVICE"}
    more.setdefault("source", f"clusters.d/{cluster_id}.yaml")
    return ClusterPlan(
        cluster=name(cluster_id),
        action=Action.UPDATE,
        changes=changes,
        request=Request("PATCH", f"/v1beta1/{name(cluster_id)}", query, {"display_name": cluster_id}),
        live_fingerprint="sha256:1111",
        desired_fingerprint="sha256:2222",
        **more,
    )


def other(cluster_id: str, action: Action, **more: Any) -> ClusterPlan:
    """A cluster with an action and nothing else unless given."""
    more.setdefault("source", f"clusters.d/{cluster_id}.yaml")
    return ClusterPlan(cluster=name(cluster_id), action=action, desired_fingerprint="sha256:3333", **more)


def plan_of(*clusters: ClusterPlan, errors: tuple[PlanError, ...] = ()) -> Plan:
    """A plan of these clusters, made at a fixed time by a fixed version."""
    return Plan("0.0.0", "2026-11-01T12:00:00Z", clusters, errors, summary=summarise(clusters))


def one_of_each() -> Plan:
    """A plan with every action, kind of change, blocker, note, job and error."""
    prolog = "#!/bin/bash\nset -eu\necho one\necho two\necho three\necho four\nexit 0"
    edited = prolog.replace("echo two", "echo 2  ").replace("exit 0", "nvidia-smi\r\nexit 0")
    pool = {"id": "spot", "machine_spec": {"machine_type": "n2-standard-8"}, "scaling_spec": {"max_node_count": 4}}
    changed = update(
        "a4train",
        change("labels.cost-center", None, "42"),
        change("labels.team", "ml", None),
        change("node_pools[cpu].scaling_spec.max_node_count", 2, 4),
        change(
            "node_pools[gpu].scaling_spec.max_node_count",
            8,
            4,
            Impact.REMOVES_NODES,
            reason="6 nodes exist, 2 above the new maximum; the service chooses which go",
        ),
        change("node_pools[gpu].startup_script", None, "#!/bin/bash\necho hi\n", Impact.RECREATES_NODES),
        change("node_pools[old]", {"id": "old", "zone": "us-central1-a"}, None, Impact.REMOVES_NODES),
        change("node_pools[spot]", None, pool),
        change(f"{SLURM}.partitions", "cpu", "gpu", reason="default moves; the first of the list is the default"),
        change(f"{SLURM}.partitions[gpu].node_pool_ids", ["gpu"], ["gpu", "spot"]),
        change(f"{SLURM}.prolog_bash_scripts[0]", prolog, edited),
        notes=(Note("update_mode", "updateMode USER_AND_SERVICE: the service also refreshes its own scripts"),),
        jobs=(Job(17, "ada", "gpu", "RUNNING", "train", 6), Job(204, "bob", "gpu", "PENDING", "eval run", 1)),
    )
    stuck = update(
        "b1",
        change("node_pools[gpu].machine_spec.machine_type", "a3-ultragpu-8g", "a4-highgpu-8g", Impact.IMMUTABLE),
        blockers=(Blocker("immutable_field", "node_pools[gpu].machine_spec can't be changed on a live cluster"),),
    )
    gone = other(
        "old",
        Action.DELETE,
        request=Request("DELETE", f"/v1beta1/{name('old')}", {}, None),
        blockers=(
            Blocker("prevent_destroy", "lifecycle.prevent_destroy is true: set it to false to allow the delete"),
        ),
        live_fingerprint="sha256:4444",
    )
    anew = other(
        "redo",
        Action.REPLACE,
        changes=(change("network.network", f"{PARENT}/a", f"{PARENT}/b", Impact.IMMUTABLE),),
        request=Request("POST", f"/v1beta1/{PARENT}/modelDevelopmentClusters", {}, {"labels": {}}),
    )
    made = other(
        "new",
        Action.CREATE,
        changes=(
            change("display_name", None, "new"),
            change("network.network", None, "projects/acme-ml/global/networks/n", Impact.IMMUTABLE),
            change("node_pools[cpu]", None, pool | {"id": "cpu"}),
        ),
        request=Request("POST", f"/v1beta1/{PARENT}/modelDevelopmentClusters", {}, {"labels": {"a": "b"}}),
    )
    quiet = other("same", Action.NO_OP)
    noted = other(
        "still", Action.NO_OP, notes=(Note("unknown_live_field", "carried over as they are: nodePools.futureKnob"),)
    )
    errors = (
        PlanError("clusters.d/broken.yaml", "invalid_input", "line 3: unknown field nodePool"),
        PlanError("clusters.d/far.yaml", "permission_denied", "GET …/far: 403", cluster=name("far")),
    )
    return plan_of(changed, stuck, made, gone, anew, quiet, noted, errors=errors)


def with_origins() -> Plan:
    """Pain F67: the author's own change, and a change that somebody made to the live cluster."""
    return plan_of(
        update(
            "demo",
            change("node_pools[cpu].scaling_spec.max_node_count", 4, 6, origin=Origin.EDIT),
            change("node_pools[gpu].scaling_spec.max_node_count", 5, 4, origin=Origin.DRIFT),
            change("labels.owner", "night-shift", None, origin=Origin.DRIFT),
        )
    )


def drift() -> Drift:
    """One changed by hand, one missing, one that no file knows."""
    return Drift(
        plan_of(
            update("demo", change("node_pools[gpu].scaling_spec.max_node_count", 5, 4)),
            other("lost", Action.CREATE, changes=(change("display_name", None, "lost"),)),
            other("same", Action.NO_OP),
        ),
        unmanaged=(name("stray"),),
        include_unmanaged=True,
    )


def report() -> ApplyReport:
    """An apply in which everything happened."""
    operation = "projects/123/locations/us-central1/operations/77"
    refused = ErrorInfo("invalid_argument", "PATCH …/b1: 400: bad zone", "see the zones of the region")
    return ApplyReport(
        (
            Result(name("a4train"), Action.UPDATE, Status.APPLIED, operation=operation, converged=True, seconds=200.4),
            Result(name("b1"), Action.UPDATE, Status.FAILED, error=refused, seconds=1.0),
            Result(name("c1"), Action.UPDATE, Status.BLOCKED, reason="prevent_destroy"),
            Result(name("d1"), Action.UPDATE, Status.SKIPPED, reason="paused until 2026-12-24: on-call"),
            Result(
                name("e1"),
                Action.CREATE,
                Status.PENDING,
                operation=f"{operation}8",
                error=ErrorInfo("pending", "still running after 1h", f"reconciler operations wait {operation}8"),
                seconds=3720,
            ),
            Result(name("f1"), Action.NO_OP, Status.NO_OP, converged=True),
        ),
        errors=(PlanError("clusters.d/broken.yaml", "invalid_input", "line 3: unknown field"),),
        started_at="2026-11-01T12:00:00Z",
    )


def live_cluster() -> dict[str, Any]:
    """An answer with nodes that are missing, an error, and events in no order."""
    nodes = [
        {"nodePoolId": "gpu", "nodeState": "RUNNING", "instanceName": "demo-gpu-0"},
        {"nodePoolId": "gpu", "nodeState": "ERROR", "instanceName": "demo-gpu-1", "error": {"message": "no quota"}},
        {"nodePoolId": "login", "nodeState": "RUNNING", "instanceName": "demo-login-0"},
    ]
    return {
        "name": name("demo"),
        "displayName": "demo",
        "labels": {"on": "yes", "n": "0o10", "e": "1e5"},
        "nodePools": [
            {"id": "login", "machineSpec": {"machineType": "n2-standard-8"}, "scalingSpec": {"maxNodeCount": "1"}},
            {"id": "gpu", "scalingSpec": {"minNodeCount": "3", "maxNodeCount": "4"}, "startupScript": "a\n\nb\n"},
        ],
        "orchestratorSpec": {
            "slurmSpec": {
                "loginNodePoolId": "login",
                "partitions": [{"id": "gpu", "nodePoolIds": ["gpu"]}, {"id": "all", "nodePoolIds": ["gpu", "login"]}],
            }
        },
        "clusterStatus": {"state": "ERROR", "detail": "degraded", "nodesStatus": nodes, "error": {"message": "lost"}},
        "clusterEvents": [
            {"eventType": "VM_DELETION", "eventTime": "2026-11-01T10:00:00Z", "message": "gone"},
            {"eventType": "VM_PROLOG_ERROR", "eventTime": "2026-11-01T11:00:00Z", "instanceName": "demo-gpu-1"},
        ],
    }
