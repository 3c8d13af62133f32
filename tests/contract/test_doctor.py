"""`doctor` on the command line: what works, what doesn't, what to do; and it goes on after a failure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reconciler.emulator.server import Emulator, EmulatorConfig
from tests.contract.bench import LOCATION, Bench, Outcome

DENIED: dict[str, Any] = {"code": 403, "status": "PERMISSION_DENIED", "message": "not yours"}
SECRET = "made-up-for-this-test"
NAMES = {
    "tool", "bash", "git", "files", "credentials", "universe", "endpoint", "clock", "list", "get", "slurm",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No credentials of whoever runs the tests, no metadata server, no patience."""
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0")


def levels(outcome: Outcome) -> dict[str, str]:
    """The levels by name; of several checks of one name the last."""
    return {check["name"]: check["level"] for check in outcome.json["checks"]}


def check(outcome: Outcome, name: str) -> dict[str, str]:
    """The check of a name."""
    return next(each for each in outcome.json["checks"] if each["name"] == name)


def test_all_is_well(bench: Bench) -> None:
    """A line for each check, all of them ok, exit 0; and nothing was written."""
    bench.created("demo", bench.base())
    outcome = bench.run("doctor").ok()
    lines = outcome.out.splitlines()
    assert {line.split()[1] for line in lines[:-1]} == NAMES
    assert all(line.startswith("ok    ") for line in lines[:-1])
    assert lines[-1] == f"ok: {len(NAMES)}, warn: 0, fail: 0"
    assert f"{bench.project}/{LOCATION}/demo: Slurm " in outcome.out
    assert bench.writes() == []


def test_as_json(bench: Bench) -> None:
    """The same as values, with how many there are of each level."""
    bench.write("demo", bench.base())
    outcome = bench.run("doctor", "--format", "json").ok()
    assert outcome.json["summary"] == {"ok": len(NAMES), "warn": 0, "fail": 0}
    assert {each["name"] for each in outcome.json["checks"]} == NAMES
    assert all(each.keys() == {"name", "level", "found", "advice", "subject"} for each in outcome.json["checks"])
    assert check(outcome, "slurm")["subject"] == f"{bench.project}/{LOCATION}/demo"
    assert "isn't there yet" in check(outcome, "slurm")["found"]


@pytest.mark.parametrize(("kind", "verb"), [("list", "list"), ("get", "get"), ("slurm", "run")])
def test_a_missing_permission(bench: Bench, kind: str, verb: str) -> None:
    """Exit 1, naming the permission, the role and the project; every other look is taken."""
    bench.created("demo", bench.base())
    bench.fault("status", kind, **DENIED)
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert levels(outcome) == dict.fromkeys(NAMES, "ok") | {kind: "fail"}
    advice = check(outcome, kind)["advice"]
    assert f"aiplatform.modelDevelopmentClusters.{verb}" in advice
    assert "roles/aiplatform." in advice
    assert bench.project in advice


def test_each_place_and_cluster(bench: Bench) -> None:
    """Permissions are looked at for every project and location, Slurm for every cluster; --cluster narrows it."""
    bench.created("one", bench.base())
    bench.created("two", bench.base())
    bench.write("far", bench.base()).write_text(
        json.dumps(
            {"project": bench.project, "location": "us-east1", "cluster_id": "far", "lifecycle": {"state": "absent"}}
        )
    )
    outcome = bench.run("doctor", "--format", "json")
    subjects = [(each["name"], each["subject"]) for each in outcome.json["checks"]]
    places = [f"{bench.project}/{LOCATION}", f"{bench.project}/us-east1"]
    assert [subject for name, subject in subjects if name == "list"] == places
    assert [subject for name, subject in subjects if name == "get"] == places
    assert [subject.rpartition("/")[2] for name, subject in subjects if name == "slurm"] == ["one", "two", "far"]
    narrowed = bench.run("doctor", "--format", "json", "--cluster", "two").ok()
    assert [each["subject"] for each in narrowed.json["checks"] if each["name"] == "slurm"] == [
        bench.name("two").replace("projects/", "").replace("locations/", "").replace("modelDevelopmentClusters/", "")
    ]


def test_a_broken_file(bench: Bench) -> None:
    """The files fail; clusters of the others are looked at."""
    bench.created("demo", bench.base())
    bench.text("clusters.d/bad.yaml", "project: [")
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert levels(outcome) == dict.fromkeys(NAMES, "ok") | {"files": "fail"}


def test_warnings_alone_are_fine(bench: Bench) -> None:
    """As with `validate`."""
    bench.write("demo", bench.base() | {"display_name": "More than ten characters"})
    outcome = bench.run("doctor", "--format", "json").ok()
    assert levels(outcome)["files"] == "warn"


def test_nothing_there(bench: Bench) -> None:
    """A first look, in an empty folder: what to do is told, and what can be looked at is."""
    (bench.root / "clusters.d").rmdir()
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert "reconciler init" in check(outcome, "files")["advice"]
    assert check(outcome, "endpoint")["level"] == "ok"


def test_no_credentials_and_no_network(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are told, each with what to do, and what needs them once."""
    bench.write("demo", bench.base())
    monkeypatch.delenv("RECONCILER_ENDPOINT")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nobody listens there
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert levels(outcome) == {
        "tool": "ok", "bash": "ok", "git": "ok", "files": "ok",
        "credentials": "fail", "universe": "ok", "endpoint": "fail", "permissions": "warn",
    }  # fmt: skip
    assert "gcloud auth application-default login" in check(outcome, "credentials")["advice"]
    assert f"https://{LOCATION}-aiplatform.googleapis.com" in check(outcome, "endpoint")["subject"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("RECONCILER_RETRY_BUDGET", "soon"), ("RECONCILER_ENDPOINT", "http://example.com"), ("RECONCILER_ENDPOINT", "x")],
)
def test_settings_that_make_no_sense(bench: Bench, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    """They are a finding like others, and stop none."""
    bench.write("demo", bench.base())
    monkeypatch.setenv(variable, value)
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert levels(outcome) == {"tool": "ok", "bash": "ok", "git": "ok", "files": "ok", "settings": "fail"}
    assert value in check(outcome, "settings")["found"]


def test_slurm_is_down(bench: Bench) -> None:
    """The cluster is there, its Slurm isn't."""
    bench.created("demo", bench.base())
    bench.fault("status", "slurm", code=503, status="UNAVAILABLE", message="slurmrestd is away")
    outcome = bench.run("doctor", "--format", "json").ended(1)
    assert levels(outcome) == dict.fromkeys(NAMES, "ok") | {"slurm": "fail"}
    assert "slurmrestd is away" in check(outcome, "slurm")["found"]


def test_a_cluster_under_way(slow: Bench) -> None:
    """A cluster that is being made has no Slurm yet, and that is no failure."""
    slow.write("demo", slow.base())
    slow.run("apply", "--auto-approve", "--no-wait")
    outcome = slow.run("doctor", "--format", "json").ok()
    assert check(outcome, "slurm")["found"] == "not checked: the cluster is PROVISIONING"


def test_the_token_is_never_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in either format, not with --verbose, not when the service echoes it."""
    bench.created("demo", bench.base())
    monkeypatch.setenv("RECONCILER_ACCESS_TOKEN", SECRET)
    for kind in ("list", "get", "slurm"):
        bench.fault("status", kind, code=403, status="PERMISSION_DENIED", message=f"who is Bearer {SECRET}?")
    for arguments in (("doctor",), ("--verbose", "doctor"), ("doctor", "--format", "json")):
        outcome = bench.run(*arguments).ended(1)
        assert "bare token" in outcome.out
        assert SECRET not in outcome.out + outcome.err


def test_the_embedded_emulator(bench: Bench) -> None:
    """`--endpoint emulator` works here as everywhere."""
    bench.write("demo", bench.base())
    assert bench.run("doctor", "--endpoint", "emulator").ok().out.count("\nfail") == 0


def test_an_older_slurm(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version of the API that a cluster speaks is told."""
    with Emulator(EmulatorConfig(lro_seconds=0)) as other:
        monkeypatch.setenv("RECONCILER_ENDPOINT", other.url)
        old = type(bench.control)(other.url)
        bench.write("demo", bench.base())
        bench.run("apply", "--auto-approve").ok()
        old.slurm(versions=["v0.0.38"])
        outcome = bench.run("doctor", "--format", "json").ok()
    assert check(outcome, "slurm")["found"].endswith("API v0.0.38")


def test_a_typing_error_is_one(bench: Bench) -> None:
    """A cluster that no file has, or an option that there isn't, is a usage error, as everywhere."""
    bench.write("demo", bench.base())
    bench.run("doctor", "--cluster", "other").ended(64)
    bench.run("doctor", "--colour").ended(64)
