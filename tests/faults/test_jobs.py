"""The matrix for jobs: a submit is sent once, whatever happens; a cancel is as good twice as once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.bench import Outcome
from tests.faults.faults import FAULTS, LASTING, Fault
from tests.faults.rig import Rig, spec
from tests.faults.scenarios import submit

SCRIPT = "#!/bin/bash\nsleep 1000\n"


def _hit(rig: Rig, fault: Fault, after: int, times: int | None) -> None:
    if fault.never_ends:
        rig.impatient()
    rig.control.clear_requests()
    rig.control.faults([{"match": {"kind": "slurm"}, "fault": fault.rule, "after": after, "times": times}])


def _code(outcome: Outcome) -> str:
    """The error's code; empty where all went well."""
    return str(outcome.json["error"]["code"]) if outcome.code else ""


def _jobs(rig: Rig) -> list[dict[str, Any]]:
    rig.control.clear_faults()
    jobs: list[dict[str, Any]] = rig.run("jobs", "list", "one", "--format", "json").ok().json["jobs"]
    return jobs


@pytest.fixture
def cluster(rig: Rig) -> Rig:
    """A cluster with room for jobs."""
    rig.control.put(rig.name("one"), spec())
    rig.write("one", spec())
    return rig


@pytest.mark.parametrize("occurrence", ["first", "all"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "_"))
def test_submit(cluster: Rig, fault: Fault, occurrence: str, record_property: Any) -> None:
    """One job or none, and an exit code that doesn't claim otherwise; what nobody knows is called ambiguous."""
    record_property("cell", ("submit", fault.name, occurrence))
    cluster.text("job.sh", SCRIPT)
    _hit(cluster, fault, 0, 1 if occurrence == "first" else None)
    outcome = cluster.run("jobs", "submit", "one", "job.sh", "--format", "json")
    code = _code(outcome)
    assert code in {"", *LASTING, *fault.says}, outcome.out
    record_property("end", code or "converged")
    sent = [each for each in cluster.control.requests("slurm") if "submit" in each["body"]["path"]]
    assert len(sent) == 1 or fault.name.startswith("429")
    jobs = len(_jobs(cluster))
    assert jobs == 1 if not code else jobs <= 1
    if "done" in fault.name:
        assert (jobs, code) == (1, "ambiguous")


@pytest.mark.parametrize("occurrence", ["first", "last", "all"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "_"))
def test_cancel(cluster: Rig, fault: Fault, occurrence: str, record_property: Any) -> None:
    """Looked up, then cancelled: both are repeated, and what failed can be done again."""
    record_property("cell", ("cancel", fault.name, occurrence))
    submit(cluster, "one", seconds=1000)
    _hit(cluster, fault, 1 if occurrence == "last" else 0, None if occurrence == "all" else 1)
    outcome = cluster.run("jobs", "cancel", "one", "1", "--format", "json")
    code = _code(outcome)
    assert code in {"", *LASTING, *fault.says, "slurm"}, outcome.out
    if fault.passes and occurrence != "all" and "{}" not in fault.name:
        outcome.ok()
    record_property("end", code or "converged")
    cluster.control.clear_faults()
    cluster.run("jobs", "cancel", "one", "1").ok()
    cluster.time.sleep(10)
    (job,) = _jobs(cluster)
    assert "CANCELLED" in str(job)
