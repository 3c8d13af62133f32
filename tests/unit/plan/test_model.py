"""The plan as a value: what can be asked of it as a whole."""

from __future__ import annotations

import pytest

from reconciler.plan.model import Action, Blocker, ClusterPlan, Plan, Request, summarise


def made(*clusters: ClusterPlan) -> Plan:
    return Plan("1", "2026-12-01T00:00:00Z", clusters, summary=summarise(clusters))


def cluster(action: Action, query: dict[str, str] | None = None, *, blocked: bool = False) -> ClusterPlan:
    request = None if query is None else Request("PATCH", "/v1beta1/x", query, {})
    blockers = (Blocker("prevent_destroy", "no"),) if blocked else ()
    return ClusterPlan("x", "x.yaml", action, request=request, blockers=blockers)


NOTHING = cluster(Action.NO_OP)
CREATE = cluster(Action.CREATE, {"model_development_cluster_id": "x"})
UPDATE = cluster(Action.UPDATE, {"updateMask": "labels", "updateMode": "USER_ONLY"})


@pytest.mark.parametrize(
    ("clusters", "mode"),
    [
        ((), ""),
        ((NOTHING,), ""),
        ((CREATE,), ""),
        ((NOTHING, CREATE, UPDATE), "USER_ONLY"),
        ((UPDATE, UPDATE), "USER_ONLY"),
    ],
)
def test_update_mode(clusters: tuple[ClusterPlan, ...], mode: str) -> None:
    """The one that its updates send; whatever else a plan holds sends none."""
    assert made(*clusters).update_mode == mode


def test_what_a_plan_amounts_to() -> None:
    """Changes, blockers and counts; a blocked cluster counts under its action and as blocked."""
    quiet, busy = made(NOTHING), made(NOTHING, UPDATE, cluster(Action.DELETE, blocked=True))
    assert (quiet.has_changes, quiet.is_blocked) == (False, False)
    assert (busy.has_changes, busy.is_blocked) == (True, True)
    assert (busy.summary.no_op, busy.summary.update, busy.summary.delete, busy.summary.blocked) == (1, 1, 1, 1)
