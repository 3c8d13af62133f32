"""The fault matrix: every kind of request x every fault x its first, middle and last occurrence, or all from the first.

A cell is a run that meets the fault, and a second one that doesn't. Each ends converged, with nothing done twice; where
a fault isn't one that passes, the first run may end in an error that has a name.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.contract.bench import Outcome
from tests.faults.faults import FAULTS, WRITES, Fault, named
from tests.faults.rig import Rig
from tests.faults.scenarios import SCENARIOS, Scenario

CELLS = [
    pytest.param(scenario, fault, occurrence, id=f"{scenario.name}-{fault.name}-{occurrence}".replace(" ", "_"))
    for scenario in SCENARIOS
    for fault in FAULTS
    for occurrence in scenario.occurrences
    if scenario.name in fault.only
]


@pytest.mark.parametrize(("scenario", "fault", "occurrence"), CELLS)
def test_cell(rig: Rig, scenario: Scenario, fault: Fault, occurrence: str, record_property: Any) -> None:
    """A fault costs time or an error with a name, never a cluster, and never a second write."""
    record_property("cell", (scenario.name, fault.name, occurrence))
    scenario.ready(rig)
    if fault.never_ends:
        rig.impatient()
    after, times = _when(scenario, occurrence)
    rig.control.faults([{"match": {"kind": scenario.kind}, "fault": fault.rule, "after": after, "times": times}])
    first = scenario.run(rig)
    assert rig.control.fault_rules()[0]["hit"], "the fault met no request"
    rig.control.clear_faults()

    codes = _codes(first)
    assert codes <= named(scenario.name, fault), f"{codes}\n{first.out}\n{first.err}"
    if fault.passes and occurrence != "all":
        first.ok()
    if scenario.name in WRITES:
        _looked(rig, scenario, fault)
        if occurrence != "all":
            assert len(codes) <= 1
            assert _applied(first) >= len(scenario.clusters) - 1, f"others were held up\n{first.out}"
    assert "internal error" not in first.err
    record_property("end", ", ".join(sorted(codes)) or "converged")

    scenario.run(rig).ok()
    scenario.proven(rig)


def _when(scenario: Scenario, occurrence: str) -> tuple[int, int | None]:
    """How many requests the fault lets pass, and how many it hits after those."""
    if occurrence == "all":
        return 0, None
    return {"first": 0, "middle": scenario.count // 2, "last": scenario.count - 1}[occurrence], 1


def _looked(rig: Rig, scenario: Scenario, fault: Fault) -> None:
    """A write that may have had an effect is never sent again but after a look that showed none."""
    for cluster in scenario.clusters:
        kinds = [each["kind"] for each in rig.requests("get", scenario.kind) if each["cluster"] == cluster]
        sends = kinds.count(scenario.kind)
        if fault.has_effect:
            assert sends == 1, f"{cluster}: {kinds}"
        elif not fault.name.startswith("429"):  # which says that nothing was done
            assert all(pair != (scenario.kind, scenario.kind) for pair in pairwise(kinds)), f"{cluster}: {kinds}"


def _codes(outcome: Outcome) -> set[str]:
    """The codes of all errors of a run; a run without any must have ended well."""
    told = outcome.json
    codes = {result["error"]["code"] for result in told["results"] if result.get("error")}
    codes |= {error["code"] for error in told["errors"]}
    assert codes or outcome.code == 0, f"an error without a name\n{outcome.out}\n{outcome.err}"
    return codes


def _applied(outcome: Outcome) -> int:
    return sum(result["status"] == "applied" for result in outcome.json["results"])
