"""What must hold of the workflow files themselves: least permissions, pinned actions, no credentials left behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FILES = [*WORKFLOWS, *(GITHUB / "actions").glob("*/action.yml")]
PERMISSIONS = {
    "plan.yml": {
        "validate": {"contents": "read"},
        "plan": {"contents": "read", "id-token": "write", "pull-requests": "write"},
    },
    "apply.yml": {
        "plan": {"contents": "read", "id-token": "write"},
        "apply": {"contents": "read", "id-token": "write", "pull-requests": "write"},
    },
    "drift.yml": {"drift": {"actions": "read", "contents": "read", "id-token": "write", "issues": "write"}},
    "ci.yml": {"test": {"contents": "read"}, "all": {}},
}


def load(path: Path) -> dict[str, Any]:
    """A workflow or an action."""
    return dict(yaml.safe_load(path.read_text()))


def steps(path: Path) -> Iterator[dict[str, Any]]:
    """All steps of a file."""
    document = load(path)
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    for job in jobs:
        yield from job["steps"]


def test_there_are_the_four() -> None:
    """The workflows that users are told of."""
    assert {path.name for path in WORKFLOWS} == set(PERMISSIONS)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_job_has_what_it_needs_and_no_more(path: Path) -> None:
    """Nothing is granted to the whole workflow; each job names its own."""
    workflow = load(path)
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == PERMISSIONS[path.name]
    assert all(job["timeout-minutes"] for job in workflow["jobs"].values())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_of_others_are_pinned_and_named(path: Path) -> None:
    """By a commit's hash, with the version in a comment; the same one everywhere."""
    for line in re.findall(r"uses: (.+)", path.read_text()):
        assert line.startswith("./") or re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)


def test_one_version_of_each_action() -> None:
    """No workflow lags behind another."""
    pins: dict[str, set[str]] = {}
    for path in FILES:
        for name, pin in re.findall(r"uses: ([\w.-]+/[\w.-]+)@(.+)", path.read_text()):
            pins.setdefault(name, set()).add(pin)
    assert {name: len(found) for name, found in pins.items()} == dict.fromkeys(pins, 1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_credentials_are_left_in_the_checkout(path: Path) -> None:
    """The token isn't kept in git's configuration."""
    for step in steps(path):
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_scripts_hold_no_expressions(path: Path) -> None:
    """What comes from outside gets to a script as a variable, never as a part of its text."""
    for step in steps(path):
        assert "${{" not in step.get("run", "")


def test_pain_g85_an_apply_is_never_cut_off() -> None:
    """Plans may be cancelled by a newer push; an apply waits its turn."""
    assert load(GITHUB / "workflows" / "plan.yml")["concurrency"]["cancel-in-progress"] is True
    apply = load(GITHUB / "workflows" / "apply.yml")["concurrency"]
    assert apply == {"group": "reconciler-apply", "cancel-in-progress": False}


def test_pain_h94_an_apply_takes_what_main_is() -> None:
    """It checks out the branch and not the push's commit; so a run that GitHub drops from the queue loses nothing."""
    first = next(iter(steps(GITHUB / "workflows" / "apply.yml")))
    assert first["with"]["ref"] == "${{ github.event.repository.default_branch }}"


def test_reading_and_writing_have_identities_of_their_own() -> None:
    """Only the apply job may become the identity that changes clusters."""
    who = {}
    for path in WORKFLOWS:
        for name, job in load(path)["jobs"].items():
            for step in job["steps"]:
                if "google-github-actions/auth" in step.get("uses", ""):
                    who[path.name, name] = step["with"]["service_account"]
    writer = "${{ vars.RECONCILER_APPLY_SERVICE_ACCOUNT }}"
    assert {place for place, account in who.items() if account == writer} == {("apply.yml", "apply")}
    assert len(who) == 4
