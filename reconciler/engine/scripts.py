"""The last look at scripts before they go out: a plan that would send one that can't run is blocked."""

from __future__ import annotations

from dataclasses import replace

from reconciler.plan.model import Action, Blocker, ClusterPlan
from reconciler.spec.fields import FIELDS, Kind
from reconciler.spec.findings import Severity
from reconciler.spec.model import Desired

_CARRIES_SCRIPTS = frozenset({row.path for row in FIELDS if row.kind is Kind.SCRIPT} | {"node_pools[]"})


def block_broken_scripts(plan: ClusterPlan, desired: Desired) -> ClusterPlan:
    """The plan, with a blocker for each error that `validate` finds in its scripts, where scripts would change.

    `bash -n` is run for those alone: a fleet whose scripts stay as they are costs nothing.
    """
    if not any(change.field in _CARRIES_SCRIPTS for change in plan.changes) or plan.action is Action.DELETE:
        return plan
    from reconciler.spec.script_checks import check_scripts

    errors = [finding for finding in check_scripts([desired]) if finding.severity is Severity.ERROR]
    blockers = tuple(Blocker("broken_script", str(finding)) for finding in errors)
    return replace(plan, blockers=plan.blockers + blockers) if blockers else plan
