"""The calls that hold partitions and let them go, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.engine.approval import is_same
from reconciler.engine.graceful import Hold
from reconciler.errors import InputError
from reconciler.plan.build import plan_cluster
from reconciler.plan.model import Request
from reconciler.plan.touched import Touched, partitions_of
from reconciler.spec.reading import read_live
from tests.unit.plan.cases import NAME, answer, at, desired, file_spec

GPU = Touched(frozenset({"gpu"}))
BOTH = Touched(frozenset({"cpu", "gpu"}))
HELD = {"State": "INACTIVE"}


def live(**configs: dict[str, str]) -> dict[str, Any]:
    """The answer, with these partitions' config maps."""
    shown = answer()
    for name, config in configs.items():
        at(shown, f"orchestratorSpec.slurmSpec.partitions[{name}]")["config"] = config
    return shown


def spec(**configs: dict[str, str]) -> dict[str, Any]:
    """The file's spec with these partitions' config maps."""
    wanted = file_spec()
    for name, config in configs.items():
        at(wanted, f"orchestrator_spec.slurm_spec.partitions[{name}]")["config"] = config
    return wanted


def configs(request: Request | None) -> dict[str, Any]:
    """Partition -> config map, as a call sends them."""
    assert request is not None
    assert (request.method, request.path) == ("PATCH", f"/v1beta1/{NAME}")
    assert request.query == {"updateMask": "orchestrator_spec.slurm_spec.partitions", "updateMode": "USER_ONLY"}
    return {each["id"]: each.get("config") for each in partitions_of(request.body or {})}


def test_closing_changes_the_state_alone() -> None:
    """Other entries, other partitions and fields that nobody knows are sent as they are."""
    there = live(gpu={"MaxTime": "60", "state": "UP"}, cpu={"a": "b"})
    at(there, "orchestratorSpec.slurmSpec.partitions[gpu]")["futureField"] = {"aB": 1}
    request = Hold(desired(spec()), GPU, there).closing(there)
    assert configs(request) == {"cpu": {"a": "b"}, "gpu": {"MaxTime": "60", "State": "INACTIVE"}}
    assert request is not None
    assert at(request.body, "orchestrator_spec.slurm_spec.partitions[gpu]")["futureField"] == {"aB": 1}
    assert at(there, "orchestratorSpec.slurmSpec.partitions[gpu]")["config"]["state"] == "UP"  # the answer is as it was


@pytest.mark.parametrize("config", [HELD, {"state": "inactive"}, {"STATE": "Inactive", "x": "y"}])
def test_what_is_closed_needs_no_call(config: dict[str, str]) -> None:
    """However it is spelled."""
    there = live(gpu=config)
    assert Hold(desired(spec()), GPU, there).closing(there) is None


OPENINGS = [
    ("nothing was said", {}, {}, None, None),
    ("the file says DOWN", {}, {"State": "DOWN"}, {"State": "DOWN"}, None),
    ("by hand DOWN", {"State": "DOWN"}, {}, None, {"State": "DOWN"}),
    ("both", {"state": "DRAIN"}, {"State": "DOWN"}, {"State": "DOWN"}, {"state": "DRAIN"}),
    ("found held", HELD, {"State": "DOWN"}, {"State": "DOWN"}, {"State": "DOWN"}),
    ("found held, nothing said", HELD, {}, None, None),
]


@pytest.mark.parametrize(
    ("reason", "before", "wish", "after", "given_up"), OPENINGS, ids=[case[0] for case in OPENINGS]
)
def test_opening(reason: str, before: Any, wish: Any, after: Any, given_up: Any) -> None:
    """After the change as the file wants it, without one as it was; what was found held is as the file wants it."""
    hold = Hold(desired(spec(gpu=wish)), GPU, live(gpu=before))
    then = live(gpu={**HELD})
    assert configs(hold.opening(then, changed=True))["gpu"] == after, reason
    assert configs(hold.opening(then, changed=False))["gpu"] == given_up, reason


def test_opening_what_is_open() -> None:
    """No call, also where partitions or the whole cluster are gone."""
    hold = Hold(desired(spec()), GPU, live())
    gone = live()
    gone["orchestratorSpec"]["slurmSpec"]["partitions"].pop()
    for there in (live(), gone, {}, None):
        assert hold.opening(there, changed=True) is None
        assert hold.opening(there, changed=False) is None


def test_as_before() -> None:
    """Without the hold the cluster is the one that was approved, in the fingerprints, too."""
    wanted = desired(spec(gpu={"MaxTime": "60"}))
    there = live(gpu={"state": "UP"})
    hold = Hold(wanted, BOTH, there)
    held = live(gpu=HELD, cpu=HELD)
    approved = plan_cluster(wanted, there)
    assert not is_same(approved, plan_cluster(wanted, held))
    assert is_same(approved, plan_cluster(wanted, hold.as_before(held)))
    assert hold.as_before(None) is None
    other = {**held, "labels": {"by": "hand"}}
    assert not is_same(approved, plan_cluster(wanted, hold.as_before(other)))


def test_kept() -> None:
    """The change itself leaves the State as it is."""
    wanted = desired(spec(gpu={"MaxTime": "60", "State": "DOWN"}))
    hold = Hold(wanted, GPU, live())
    held = live(gpu={"state": "inactive"})
    changes = plan_cluster(hold.kept(held), held).changes
    assert [(change.path, change.after) for change in changes] == [
        ("orchestrator_spec.slurm_spec.partitions[gpu].config.MaxTime", "60")
    ]


PATH = "orchestrator_spec.slurm_spec.partitions"


@pytest.mark.parametrize(
    ("ignored", "what", "refused"),
    [
        ((), BOTH, False),
        ((PATH,), GPU, True),
        ((f"{PATH}[*].config",), GPU, True),
        ((f"{PATH}[gpu].config.state",), GPU, True),
        ((f"{PATH}[gpu].config",), BOTH, True),
        ((f"{PATH}[cpu].config",), GPU, False),
        ((f"{PATH}[gpu].config.MaxTime",), GPU, False),
        (("labels",), GPU, False),
    ],
)
def test_a_lasting_hold_is_refused(ignored: tuple[str, ...], what: Touched, refused: bool) -> None:
    """Where one of the partitions' State is left to others, no plan would undo it."""
    hold = Hold(desired(spec(), ignore_changes=ignored), what, live())
    if refused:
        with pytest.raises(InputError, match="ignore_changes covers"):
            hold.refuse_if_lasting(live())
    else:
        hold.refuse_if_lasting(live())


def test_what_others_hold_stays_so() -> None:
    """Others, whose it is, hold the partition: no hold is needed, and none is undone."""
    there = live(gpu=HELD)
    hold = Hold(desired(spec(), ignore_changes=(f"{PATH}[*].config",)), GPU, there)
    hold.refuse_if_lasting(there)
    assert hold.closing(there) is None
    assert hold.opening(there, changed=True) is None
    assert hold.opening(there, changed=False) is None


def test_an_answer_without_partitions() -> None:
    """Nothing to hold."""
    hold = Hold(desired(spec()), GPU, {})
    assert hold.closing({}) is None
    assert read_live(hold.as_before({"name": "x"}) or {}) == {"name": "x"}
