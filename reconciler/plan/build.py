"""One cluster's plan from what its file says and what the service answers. Pure: equal inputs, equal plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from reconciler.plan import payload
from reconciler.plan.canonical import desired_form, live_form
from reconciler.plan.capacity import capacity_of
from reconciler.plan.diff import diff
from reconciler.plan.fingerprint import digest, fingerprint, text_of
from reconciler.plan.ignore import adopt_live, without
from reconciler.plan.model import Action, Change, ClusterPlan, Request
from reconciler.plan.notes import notes_for
from reconciler.plan.policy import blockers_for, decide, refine
from reconciler.plan.status import live_status
from reconciler.spec.fields import Impact
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName, project_aliases
from reconciler.spec.reading import read_live

API = "/v1beta1"
DEFAULT_UPDATE_MODE = "USER_AND_SERVICE"
_LIFECYCLE = tuple(field.name for field in fields(Lifecycle))


def plan_cluster(
    desired: Desired, answer: dict[str, Any] | None, *, update_mode: str = DEFAULT_UPDATE_MODE
) -> ClusterPlan:
    """The plan for one cluster. `answer` is the GET answer, None where the service has no such cluster (404)."""
    if answer is None:
        return _absent(desired)
    live = read_live(answer)
    aliases = project_aliases(desired.name, answer.get("name"))
    ignored = desired.lifecycle.ignore_changes
    spec = adopt_live(desired.spec, live, ignored) if ignored else desired.spec
    written = desired_form(desired.spec, {})
    text = text_of(written)
    # Most files don't name the project by the number that answers show: then what is written is what is wanted.
    as_written = not ignored and not any(shown in text for shown in aliases)
    wanted = written if as_written else desired_form(spec, aliases)
    current = live_form(live, wanted, spec, aliases)
    compared = live_form(without(live, ignored), wanted, spec, aliases) if ignored else current
    status = live_status(live)
    leaving = desired.lifecycle.state == "absent"
    changes = () if leaving else refine(diff(current, wanted), status)
    action = decide(desired.lifecycle, changes, status)
    return ClusterPlan(
        cluster=str(desired.name),
        source=desired.source,
        action=action,
        changes=changes,
        request=_request(
            action,
            desired.name,
            changes,
            update_mode,
            lambda: payload.body(spec, live, aliases, replacing=action is Action.REPLACE),
        ),
        blockers=blockers_for(desired.lifecycle, action, changes, status),
        notes=notes_for(action, changes, status, live, update_mode),
        capacity=capacity_of(action, live, spec),
        live_fingerprint=digest(text) if compared == written else fingerprint(compared),
        desired_fingerprint=_desired_fingerprint(desired, text),
    )


def _absent(desired: Desired) -> ClusterPlan:
    leaving = desired.lifecycle.state == "absent"
    written = desired_form(desired.spec, {})
    # Nothing is there that a create could harm, and what can't be changed later is chosen now.
    new = () if leaving else diff({}, written)
    changes = tuple(replace(change, impact=Impact.IN_PLACE) for change in new)
    action = Action.NO_OP if leaving else Action.CREATE
    return ClusterPlan(
        cluster=str(desired.name),
        source=desired.source,
        action=action,
        changes=changes,
        request=_request(action, desired.name, changes, "", lambda: payload.body(desired.spec, {}, {})),
        capacity=capacity_of(action, {}, desired.spec),
        desired_fingerprint=_desired_fingerprint(desired, text_of(written)),
    )


def _request(
    action: Action, name: ClusterName, changes: tuple[Change, ...], update_mode: str, body: Callable[[], dict[str, Any]]
) -> Request | None:
    match action:
        case Action.CREATE | Action.REPLACE:
            path = f"{API}/{name.parent}/modelDevelopmentClusters"
            return Request("POST", path, {"model_development_cluster_id": name.cluster_id}, body())
        case Action.UPDATE:
            masks = sorted({change.mask for change in changes if change.mask})
            if not masks:  # only immutable fields outside every mask differ: no call could make that change
                return None
            query = {"updateMask": ",".join(masks), "updateMode": update_mode}
            return Request("PATCH", f"{API}/{name}", query, body())
        case Action.DELETE:
            return Request("DELETE", f"{API}/{name}", {}, None)
        case _:
            return None


def _desired_fingerprint(desired: Desired, written: str) -> str:
    """Of what the file says, whatever is live: the spec in comparison form and how the cluster is to be treated."""
    return digest(written, text_of({name: getattr(desired.lifecycle, name) for name in _LIFECYCLE}))
