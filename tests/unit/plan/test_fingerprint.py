"""Fingerprints and determinism: what makes a plan stale, and what doesn't."""

from __future__ import annotations

from reconciler.plan.model import Plan, summarise
from tests.unit.plan.cases import answer, at, file_spec, plan


def test_equal_inputs_give_equal_plans() -> None:
    """Two plans of the same inputs are equal."""
    spec = file_spec()
    spec["labels"]["a"] = "b"
    assert plan(spec, answer()) == plan(spec, answer())


def test_unmanaged_things_dont_make_it_stale() -> None:
    """Node states, events, times, unknown fields, the service's labels and what it fills in (pain 62)."""
    before, live = plan(file_spec(), answer()), answer()
    live["clusterStatus"]["nodesStatus"] = [{"nodePoolId": "cpu", "nodeState": "ERROR"}]
    live.update(updateTime="later", clusterEvents=[{"a": 1}], future=2)
    live["labels"]["goog-x"] = "1"
    at(live, "nodePools[cpu]")["nodeImage"] = "projects/p/global/images/newer"
    assert plan(file_spec(), live).live_fingerprint == before.live_fingerprint


def test_managed_things_make_it_stale() -> None:
    """A managed value live, or the file's meaning or treatment, changes a fingerprint (pain 61)."""
    before, live = plan(file_spec(), answer()), answer()
    at(live, "nodePools[gpu].scalingSpec")["maxNodeCount"] = "5"
    assert plan(file_spec(), live).live_fingerprint != before.live_fingerprint
    spec = file_spec()
    spec["labels"]["team"] = "x"
    assert plan(spec, answer()).desired_fingerprint != before.desired_fingerprint
    assert plan(file_spec(), answer(), prevent_destroy=False).desired_fingerprint != before.desired_fingerprint


def test_the_desired_fingerprint_doesnt_depend_on_what_is_live() -> None:
    """The same file has the same fingerprint whether its cluster is there or not."""
    assert plan(file_spec(), None).desired_fingerprint == plan(file_spec(), answer()).desired_fingerprint


def test_summary_counts_every_kind() -> None:
    """A blocked cluster counts under its action and as blocked (pain 70)."""
    spec = file_spec()
    spec["runtime_spec"] = {"service_account": "a@b"}
    plans = (plan(file_spec(), None), plan(spec, answer()), plan(file_spec(), answer()))
    counted = summarise(plans)
    assert (counted.create, counted.update, counted.no_op, counted.blocked) == (1, 1, 1, 1)
    whole = Plan("v", "t", plans, summary=counted)
    assert whole.has_changes
    assert whole.is_blocked
    assert plans[0].masks[0] == "display_name"
