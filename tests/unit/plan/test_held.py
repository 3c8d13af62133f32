"""Partitions that are held, and what a plan says of them."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.plan.held import alike, held_notes, is_held, is_state, same, state, states, with_states
from reconciler.spec.reading import read_live
from tests.unit.plan.cases import answer, at, file_spec, plan


@pytest.mark.parametrize(
    ("config", "shown"),
    [(None, "UP"), ({}, "UP"), ({"State": "down"}, "DOWN"), ({"STATE": "INACTIVE"}, "INACTIVE"), ("x", "UP")],
)
def test_state(config: Any, shown: str) -> None:
    """UP unless the config map says otherwise, however it is spelled."""
    partition = {"id": "gpu", "config": config}
    assert state(partition) == shown
    assert is_held(partition) == (shown == "INACTIVE")


def test_the_same_state() -> None:
    """Spelling means nothing; UP isn't nothing, since it would be a change."""
    assert same({"State": "INACTIVE"}, {"state": "inactive"})
    assert same({}, {})
    assert not same({"State": "UP"}, {})
    assert not same({"State": "UP"}, {"State": "DOWN"})


def test_states_that_a_diff_takes_for_equal() -> None:
    """Names are compared by meaning, values to the letter: a plan would show another spelling of a value."""
    assert alike({"State": "INACTIVE"}, {"state": "INACTIVE"})
    assert alike({}, {})
    assert not alike({"State": "INACTIVE"}, {"State": "inactive"})
    assert not alike({"State": "UP"}, {})


def test_states_in_and_out() -> None:
    """What is taken out can be put back; partitions that aren't there are left out."""
    spec = file_spec()
    gpu = "orchestrator_spec.slurm_spec.partitions[gpu]"
    at(spec, gpu)["config"] = {"MaxTime": "5", "state": "DOWN"}
    before = states(spec, ["cpu", "gpu", "gone"])
    assert before == {"cpu": {}, "gpu": {"state": "DOWN"}}
    held = with_states(spec, {"cpu": {"State": "INACTIVE"}, "gpu": {"State": "INACTIVE"}})
    assert at(held, gpu)["config"] == {"MaxTime": "5", "State": "INACTIVE"}
    assert with_states(held, before) == spec
    assert with_states({}, before) == {}


def test_only_the_named_partitions_are_touched() -> None:
    """A step of a graceful change holds some partitions; jobs of the others go on."""
    spec = file_spec()
    held = with_states(spec, {"gpu": {"State": "INACTIVE"}})
    slurm = "orchestrator_spec.slurm_spec"
    assert at(held, f"{slurm}.partitions[cpu]") == at(spec, f"{slurm}.partitions[cpu]")
    assert is_held(at(held, f"{slurm}.partitions[gpu]"))
    assert with_states(spec, {"gone": {"State": "INACTIVE"}}) == spec


def test_is_state() -> None:
    """A partition's State alone, and not another's parameter of that name."""
    spec, live = file_spec(), answer()
    at(live, "orchestratorSpec.slurmSpec.partitions[gpu]")["config"] = {"State": "DOWN", "MaxTime": "5"}
    spec["orchestrator_spec"]["slurm_spec"]["config"] = {"State": "x"}
    found = [change.path.partition("slurm_spec.")[2] for change in plan(spec, live).changes if is_state(change)]
    assert found == ["partitions[gpu].config.State"]


NOTES: list[tuple[str, dict[str, str], dict[str, str], list[str]]] = [
    ("not held", {}, {}, []),
    ("held", {"State": "INACTIVE"}, {}, ["which the file doesn't say"]),
    ("held, and wanted otherwise", {"state": "inactive"}, {"State": "DOWN"}, ["which the file doesn't say"]),
    ("held as wanted", {"State": "INACTIVE"}, {"state": "INACTIVE"}, []),
    ("another state", {"State": "DOWN"}, {}, []),
    ("to be held", {}, {"State": "INACTIVE"}, []),
]


@pytest.mark.parametrize(("reason", "live", "wish", "said"), NOTES, ids=[case[0] for case in NOTES])
def test_notes(reason: str, live: dict[str, str], wish: dict[str, str], said: list[str]) -> None:
    """A live INACTIVE that the file doesn't want is noted, and nothing else."""
    spec, shown = file_spec(), answer()
    at(spec, "orchestrator_spec.slurm_spec.partitions[gpu]")["config"] = wish
    at(shown, "orchestratorSpec.slurmSpec.partitions[gpu]")["config"] = live
    notes = held_notes(plan(spec, shown).changes, {}, spec)
    assert [note.code for note in notes] == ["partition_held"] * len(said)
    assert all(words in note.message for words, note in zip(said, notes, strict=True)), reason


def test_notes_of_what_is_ignored() -> None:
    """No change shows it, so the answer must; and only once."""
    path = "orchestrator_spec.slurm_spec.partitions[gpu].config"
    shown = answer()
    at(shown, "orchestratorSpec.slurmSpec.partitions[gpu]")["config"] = {"State": "INACTIVE"}
    at(shown, "orchestratorSpec.slurmSpec.partitions[cpu]")["config"] = {"State": "INACTIVE"}
    changes = plan(file_spec(), shown, ignore_changes=(path,)).changes
    first, second = held_notes(changes, read_live(shown), file_spec())
    assert first.message.startswith("held by State: INACTIVE: cpu, which")
    assert second.message == "held by State: INACTIVE: gpu; lifecycle.ignore_changes leaves that as it is"


def test_notes_of_a_partition_that_goes() -> None:
    """It is held until then; one that only the answer has is nobody's wish."""
    spec, shown = file_spec(), answer()
    spec["orchestrator_spec"]["slurm_spec"]["partitions"].pop()
    at(shown, "orchestratorSpec.slurmSpec.partitions[gpu]")["config"] = {"State": "INACTIVE"}
    (note,) = held_notes(plan(spec, shown).changes, read_live(shown), spec)
    assert "gpu" in note.message
    assert held_notes((), read_live(shown), spec) == ()
