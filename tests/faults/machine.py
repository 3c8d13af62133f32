"""A hypothesis state machine: files and live clusters are edited, commands run, faults and deaths come in between.

Whatever the order, the contract's section 5 holds: nothing unknown is lost, nothing is created twice, no error is
without a name, and once the faults are over one apply makes the clusters as their files say, and a second does nothing.
"""

from __future__ import annotations

import itertools
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.contract.bench import Outcome
from tests.contract.specs import cpu_pool, pool, slurm
from tests.faults.clock import FakeTime
from tests.faults.deaths import Killed, dies_at
from tests.faults.faults import FAULTS
from tests.faults.rig import Rig, operations, spec

CLUSTERS = ("one", "two")
APPLY = ("--allow-delete", "--allow-replace")
_numbers = itertools.count()

Spec = dict[str, Any]
clusters = st.sampled_from(CLUSTERS)
few = st.integers(min_value=1, max_value=4)


def _toggle_pool(wanted: Spec) -> None:
    pools = wanted["node_pools"]
    if any(each["id"] == "extra" for each in pools):
        pools[:] = [each for each in pools if each["id"] != "extra"]
        parts = slurm(wanted)["partitions"]
        parts[:] = [each for each in parts if each["id"] != "extra"]
    else:
        pools.append(cpu_pool("extra"))
        slurm(wanted)["partitions"].append({"id": "extra", "node_pool_ids": ["extra"]})


FILE_EDITS: dict[str, Callable[[Spec, int], object]] = {
    "label": lambda wanted, n: wanted["labels"].update(team=f"team-{n}"),
    "labels gone": lambda wanted, n: wanted["labels"].clear(),
    "more nodes": lambda wanted, n: pool(wanted, "cpu")["scaling_spec"].update(max_node_count=n),
    "pool": lambda wanted, n: _toggle_pool(wanted),
    "zone": lambda wanted, n: pool(wanted, "cpu").update(zone=f"us-central1-{'abcd'[n - 1]}"),
    "config": lambda wanted, n: slurm(wanted).update(config={"MaxJobCount": str(n * 1000)}),
    "default": lambda wanted, n: slurm(wanted)["partitions"].reverse(),
}
LIVE_EDITS: dict[str, Callable[[int], Spec]] = {
    "label": lambda n: {"labels": {"team": f"console-{n}"}},
    "service's label": lambda n: {"labels": {"goog-managed": f"value-{n}"}},
    "more nodes": lambda n: {"nodePools": {"cpu": {"scalingSpec": {"maxNodeCount": n}}}},
    "unknown field": lambda n: {"futureKnob": {"someValue": n}},
    "unknown field of a pool": lambda n: {"nodePools": {"cpu": {"futureKnob": [n, {"Some_Key": "x"}]}}},
    "script": lambda n: {"orchestratorSpec": {"slurmSpec": {"prologBashScripts": [f"#!/bin/bash\nexit {n}\n"]}}},
}
# What is wrong with the operation of an update.
OPERATION_FAULTS: tuple[Spec, ...] = (
    {"kind": "operation_error", "code": 8, "message": "no capacity", "partial": True},
    {"kind": "operation_vanishes"},
    {"kind": "operation_empty"},
    {"kind": "accept_but_ignore"},
)
PASSING_KINDS = st.sampled_from(["list", "get", "create", "patch", "delete", "poll", "slurm"])


STEPS = 20


class Reconciliation(RuleBasedStateMachine):
    """`url` is an emulator's; it and `counts`, of what was tried, are set by the test."""

    url = ""
    counts: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.counts["runs"] += 1
        self.patch = pytest.MonkeyPatch()
        self.folder = Path(tempfile.mkdtemp())
        self.time = FakeTime()
        self.rig = Rig(self.folder, self.url, f"machine-{next(_numbers)}", self.patch, self.time)
        self.rig.impatient()
        self.rig.control.clear_requests()  # of the histories before, which took longer to read with each one
        self.wanted: dict[str, Spec | None] = {}
        self.kept: dict[str, tuple[str, Spec]] = {}  # of each cluster: when it was made, and what must not be lost
        self.removals = self.steps = 0
        self.is_faulty = False

    def teardown(self) -> None:
        try:
            self._end()
        finally:
            self.rig.control.clear_faults()
            self.patch.undo()
            shutil.rmtree(self.folder)

    @initialize(live=st.booleans())
    def begin(self, live: bool) -> None:
        """Two clusters are wanted; they may be there, with something in them that no file knows."""
        for cluster in CLUSTERS:
            self.wanted[cluster] = spec()
            self._write(cluster)
            if live:
                self.rig.control.put(self.rig.name(cluster), spec())
                for edit in ("service's label", "unknown field", "unknown field of a pool"):
                    self.edit_live(cluster=cluster, edit=edit, number=1)

    # --- what people do

    @rule(cluster=clusters, edit=st.sampled_from(sorted(FILE_EDITS)), number=few)
    def edit_file(self, cluster: str, edit: str, number: int) -> None:
        """An edit of a cluster file, which is made if need be."""
        wanted = self.wanted.get(cluster) or spec()
        FILE_EDITS[edit](wanted, number)
        self.wanted[cluster] = wanted
        self._write(cluster)

    @rule(cluster=clusters, edit=st.sampled_from(sorted(LIVE_EDITS)), number=few)
    def edit_live(self, cluster: str, edit: str, number: int) -> None:
        """An edit in the console; some of it isn't the files' concern and must stay."""
        if (there := self._live(cluster)) is None or there["clusterStatus"]["state"] != "RUNNING":
            return
        self.rig.control.live(self.rig.name(cluster), LIVE_EDITS[edit](number))
        self._keep(cluster)

    @rule(cluster=clusters, by_hand=st.booleans(), often=st.integers(0, 3))
    def remove(self, cluster: str, by_hand: bool, often: int) -> None:
        """Now and then a cluster goes: its file says so, or somebody deletes it by hand."""
        if often:
            return
        if not by_hand:
            self.wanted[cluster] = None
            self._write(cluster)
        elif self._live(cluster) is not None:
            self.rig.control.remove(self.rig.name(cluster))
            self.removals += 1

    # --- what goes wrong

    @rule(kind=PASSING_KINDS, fault=st.sampled_from(FAULTS), after=st.integers(0, 3), times=few)
    def fault(self, kind: str, fault: Any, after: int, times: int) -> None:
        """Requests of a kind go wrong from now on, a few times."""
        if fault.never_ends and kind != "poll":
            times = 1  # real seconds: sockets know no others
        self._fault(kind, fault.rule, after, times)

    @rule(fault=st.sampled_from(OPERATION_FAULTS))
    def operation_fault(self, fault: Spec) -> None:
        """The next update's operation goes wrong."""
        self._fault("patch", fault, 0, 1)

    @precondition(lambda self: self.is_faulty)
    @rule()
    def faults_end(self) -> None:
        """All is well again."""
        self.rig.control.clear_faults()
        self.is_faulty = False

    # --- commands

    @rule()
    def plan(self) -> None:
        """Two plans are equal, and send nothing but reads."""
        before = self.rig.writes()
        plans = [self._run("plan", "--format", "json").json for _ in range(1 if self.is_faulty else 2)]
        for each in plans:
            each.pop("created_at", None)
        assert plans[0] == plans[-1]
        assert self.rig.writes() == before

    @rule()
    def drift(self) -> None:
        """Drift ends with its codes."""
        self._run("drift", "--include-unmanaged", "--format", "json")

    @rule()
    def apply(self) -> None:
        """A run that says it's done has made everything as the files say."""
        if self._apply().code == 0:
            self._proven()

    @rule(cluster=clusters, edit=st.sampled_from(sorted(FILE_EDITS)), number=few)
    def merge(self, cluster: str, edit: str, number: int) -> None:
        """An edit, and the run that follows."""
        self.edit_file(cluster=cluster, edit=edit, number=number)
        self.apply()

    @rule(cluster=clusters, edit=st.sampled_from(sorted(FILE_EDITS)), at=st.integers(0, 12), answered=st.booleans())
    def killed_merge(self, cluster: str, edit: str, at: int, answered: bool) -> None:
        """An edit, and a run that dies."""
        self.edit_file(cluster=cluster, edit=edit, number=1 + at % 4)
        try:
            with dies_at(at, answered=answered):
                self._apply()
        except Killed:
            self.counts["deaths"] += 1

    @invariant()
    def nothing_unknown_is_lost(self) -> None:
        """What the files don't know is as it was, in clusters that are the same still."""
        self.steps += 1
        self.counts.update({"steps": 1, "whole": int(self.steps == STEPS)})
        for cluster, (made, kept) in list(self.kept.items()):
            there = self._live(cluster)
            if there is None or there["createTime"] != made:
                del self.kept[cluster]
            else:
                assert _foreign(there) == kept

    # --- how

    def _write(self, cluster: str) -> None:
        wanted = self.wanted[cluster]
        lifecycle = {"state": "absent", "prevent_destroy": False} if wanted is None else {}
        self.rig.write(cluster, wanted or spec(), **lifecycle)

    def _fault(self, kind: str, fault: Spec, after: int, times: int) -> None:
        self.is_faulty = True
        match = {"kind": kind}
        self.rig.control.faults([{"match": match, "fault": fault, "after": after, "times": times}])

    def _live(self, cluster: str) -> Spec | None:
        known = {name for name in CLUSTERS if name in self.wanted}
        return self.rig.stored(cluster) if cluster in known else None

    def _keep(self, cluster: str) -> None:
        there = self._live(cluster)
        assert there
        self.kept[cluster] = there["createTime"], _foreign(there)

    def _run(self, *arguments: str) -> Outcome:
        outcome = self.rig.run(*arguments)
        said = outcome.out + outcome.err
        assert outcome.code in (0, 1, 2), said
        assert "internal error" not in said, said
        assert "Traceback" not in said, said
        return outcome

    def _apply(self) -> Outcome:
        outcome = self._run("apply", "--auto-approve", "--format", "json", "--timeout", "120s", *APPLY)
        told = outcome.json
        self.counts.update(f"{each['action']} {each['status']}" for each in told["results"])
        errors = [each["error"] for each in told["results"] if each["error"]] + told["errors"]
        assert all(error["code"] and error["message"] for error in errors)
        assert (outcome.code == 0) == (not errors), outcome.out
        return outcome

    def _proven(self) -> None:
        """Plan is empty, a second apply does nothing, and each cluster is as its file says."""
        self.rig.control.clear_faults()
        self.is_faulty = False
        before = self.rig.writes()
        self._run("plan", "--detailed-exitcode").ok()
        self._apply().ok()
        assert self.rig.writes() == before
        for cluster, wanted in self.wanted.items():
            there = self._live(cluster)
            assert (there is None) == (wanted is None)
            if there and wanted:
                assert _essence(there) == _essence(_camel(wanted))

    def _end(self) -> None:
        """With the faults over one apply does all that is left, but for clusters that a failure has broken."""
        self.rig.control.clear_faults()
        outcome = self._apply()
        fates = {each["status"] for each in outcome.json["results"]}
        assert fates <= {"applied", "no_op", "blocked"}, outcome.out
        begun = operations(self.rig)
        assert begun["Create"] <= len(self.wanted) + begun["Delete"] + self.removals


def _foreign(resource: Spec) -> Spec:
    """What the files know nothing of."""
    pools = {each["id"]: each.get("futureKnob") for each in resource["nodePools"]}
    labels = {name: value for name, value in resource.get("labels", {}).items() if name.startswith("goog-")}
    return {"labels": labels, "knob": resource.get("futureKnob"), "cpu": pools.get("cpu")}


def _essence(resource: Spec) -> Spec:
    """What files say here of a cluster, as this test alone understands it."""
    labels = {name: value for name, value in resource.get("labels", {}).items() if not name.startswith("goog-")}
    part = resource["orchestratorSpec"]["slurmSpec"]
    partitions = [each["id"] for each in part["partitions"]]
    pools = {
        each["id"]: (int(each["scalingSpec"].get("minNodeCount", 0)), int(each["scalingSpec"]["maxNodeCount"]))
        for each in resource["nodePools"]
    }
    zones = {each["id"]: each["zone"] for each in resource["nodePools"]}
    return {
        "labels": labels,
        "pools": pools,
        "zones": zones,
        "default": partitions[0],
        "partitions": sorted(partitions),
        "config": part.get("config", {}),
        "scripts": part.get("prologBashScripts", []),
    }


def _camel(value: Any) -> Any:
    """A spec with the names of answers; none of its data keys has an underscore."""
    if isinstance(value, list):
        return [_camel(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {_one_camel(key): _camel(each) for key, each in json.loads(json.dumps(value)).items()}


def _one_camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(word.title() for word in rest)
