"""One cluster's trouble is its own: the others are neither stopped nor held up, and everyone's fate is told."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reconciler.cli import applying
from reconciler.cloud.answers import Answer
from reconciler.cloud.slurm import Slurm
from reconciler.cloud.wire import Wire
from reconciler.spec.names import ClusterName
from tests.contract.specs import pool
from tests.faults.rig import Rig, spec
from tests.faults.scenarios import changed

FAR = "europe-west4"


def _elsewhere(rig: Rig, cluster: str, location: str = FAR) -> None:
    """A cluster of another location, whose file is right."""
    path = rig.write(cluster, spec())
    text = path.read_text().replace('"location": "us-central1"', f'"location": "{location}"')
    path.write_text(text.replace("us-central1-a", f"{location}-a"))


def _troubled(rig: Rig) -> dict[str, str]:
    """One cluster of each kind of trouble, and how it must end."""
    for cluster in ("good", "refused", "lost", "failing", "ignored", "stuck", "vanished"):
        changed(rig, cluster)
    _elsewhere(rig, "far")
    rig.text("clusters.d/broken.yaml", "project: [")
    rig.write("twisted", spec() | {"node_pools": "none"})
    faults: dict[tuple[str, str], dict[str, Any]] = {
        ("refused", "patch"): {"kind": "status", "code": 403},
        ("lost", "patch"): {"kind": "reset"},
        ("failing", "patch"): {"kind": "operation_error", "code": 8, "message": "no capacity"},
        ("ignored", "patch"): {"kind": "accept_but_ignore"},
        ("stuck", "patch"): {"kind": "operation_never_done"},
        ("vanished", "poll"): {"kind": "status", "code": 404},
        ("far", "get"): {"kind": "reset"},
    }
    for (cluster, kind), fault in faults.items():
        rig.control.faults([{"match": {"cluster": cluster, "kind": kind}, "fault": fault}])
    return {
        "good": "applied",
        "refused": "failed",
        "lost": "failed",
        "failing": "failed",
        "ignored": "failed",
        "stuck": "pending",
        "vanished": "applied",
        "far": "failed",
        "twisted": "failed",
    }


def test_every_fate_is_told(rig: Rig) -> None:
    """Refused, lost, failed, ignored, stuck, vanished, unreachable, unreadable: one table, and the rest is applied."""
    expected = _troubled(rig)
    outcome = rig.apply("--timeout", "1h").ended(1)
    fates = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert fates == expected
    (broken,) = outcome.json["errors"]
    assert broken["source"] == "clusters.d/broken.yaml"
    assert rig.live("good")["labels"]["changed"] == "yes"


@pytest.mark.parametrize("command", ["apply --auto-approve", "plan", "drift"])
def test_the_table_has_them_all(rig: Rig, command: str) -> None:
    """Text as JSON: each cluster is named, and each bad file."""
    expected = _troubled(rig)
    outcome = rig.run(*command.split()).ended(1)
    for cluster in (*expected, "broken"):
        assert cluster in outcome.out


def test_nobody_waits_for_the_slowest(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an operation that doesn't end nor a cluster that stays busy holds up another one's write."""
    sent = _watch_writes(rig, monkeypatch)
    for cluster in ("good", "stuck", "busy"):
        changed(rig, cluster)
    rig.control.faults([{"match": {"cluster": "stuck", "kind": "patch"}, "fault": {"kind": "operation_never_done"}}])
    rig.control.live(rig.name("busy"), {"clusterStatus": {"state": "UPDATING"}})
    outcome = rig.apply("--timeout", "1h").ended(1)
    fates = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert fates == {"good": "applied", "stuck": "pending", "busy": "pending"}
    assert max(sent.values()) < 60
    assert sent.keys() == {"good", "stuck"}


def test_a_busy_cluster_comes_later(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """It's planned when it is idle, as it is then, and applied in the same run, while the others are done long since."""
    sent = _watch_writes(rig, monkeypatch)
    for cluster in ("good", "busy"):
        changed(rig, cluster)
    rig.control.live(rig.name("busy"), {"clusterStatus": {"state": "UPDATING"}})
    sleep = rig.time.sleep

    def until_idle(seconds: float) -> None:
        sleep(seconds)
        if rig.time.slept > 600 and rig.live("busy")["clusterStatus"]["state"] == "UPDATING":
            rig.control.live(rig.name("busy"), {"clusterStatus": {"state": "RUNNING"}, "labels": {"team": "other"}})

    monkeypatch.setattr(rig.time, "sleep", until_idle)
    outcome = rig.apply("--timeout", "1h").ok()
    assert {each["status"] for each in outcome.json["results"]} == {"applied"}
    assert sent["good"] < 60
    assert sent["busy"] > 600
    assert rig.live("busy")["labels"] == {"team": "ml", "changed": "yes"}
    assert "busy (update)" in outcome.err


def test_a_location_that_hangs_holds_up_its_own(rig: Rig) -> None:
    """Reads of one location that never answer are failures of its clusters alone."""
    changed(rig, "good")
    _elsewhere(rig, "far")
    rig.impatient()
    rig.control.faults([{"match": {"cluster": "far"}, "fault": {"kind": "hang", "seconds": 3600}}])
    outcome = rig.apply().ended(1)
    fates = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert fates == {"good": "applied", "far": "failed"}


def test_a_location_that_hangs_delays_no_write(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a review, clusters whose location has answered are written while another location still hasn't."""
    monkeypatch.setattr(applying, "_PATIENCE", 0.2)
    changed(rig, "good")
    _elsewhere(rig, "far")
    _until_written(rig, monkeypatch, "far", "GET", "good")
    outcome = rig.apply().ok()
    fates = {each["cluster"].rpartition("/")[2]: each["status"] for each in outcome.json["results"]}
    assert fates == {"good": "applied", "far": "applied"}
    assert "going on without 1 cluster" in outcome.err


def test_a_slurm_that_hangs_delays_no_write(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a controller that is asked for its jobs."""
    monkeypatch.setattr(applying, "_PATIENCE", 0.2)
    for cluster in ("good", "mute"):
        changed(rig, cluster)
    rig.edit(rig.root / "clusters.d/mute.yaml", lambda spec: pool(spec, "cpu").update(zone="us-central1-b"))
    _until_written(rig, monkeypatch, "mute:callSlurmRestApi", "POST", "good")
    outcome = rig.apply().ok()
    assert {each["status"] for each in outcome.json["results"]} == {"applied"}


def test_one_that_stays_busy_says_how_to_go_on(rig: Rig) -> None:
    """The way back is the hint of what is pending, for programs too."""
    changed(rig, "busy")
    rig.control.live(rig.name("busy"), {"clusterStatus": {"state": "UPDATING"}})
    outcome = rig.apply("--timeout", "10m").ended(1)
    (result,) = outcome.json["results"]
    assert (result["status"], result["error"]["hint"]) == ("pending", "run the same command again")
    assert "still UPDATING after 600 s; the service goes on" in result["error"]["message"]
    assert "run the same command again" not in result["error"]["message"]
    assert "not over yet; to go on: run the same command again" in outcome.err


def test_a_delete_that_another_has_made(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts as done, wherever it is noticed: here when the jobs are asked for, right before the write."""
    rig.control.put(rig.name("gone"), spec())
    queue = Slurm.queue
    asked: list[ClusterName] = []

    def deleted_meanwhile(slurm: Slurm, name: ClusterName) -> Any:
        asked.append(name)
        if len(asked) == 2:
            rig.control.remove(rig.name("gone"))
        return queue(slurm, name)

    monkeypatch.setattr(Slurm, "queue", deleted_meanwhile)
    rig.run("delete", rig.name("gone"), "--auto-approve").ok()
    assert rig.stored("gone") is None


def _until_written(rig: Rig, monkeypatch: pytest.MonkeyPatch, target: str, method: str, other: str) -> None:
    """Let requests to a target hang until another cluster's PATCH has left."""
    left = threading.Event()
    send = Wire.send

    def hanging(wire: Wire, verb: str, url: str, **options: Any) -> Answer:
        last = url.partition("?")[0].rpartition("/")[2]
        if (verb, last) == ("PATCH", other):
            left.set()
        if (verb, last) == (method, target):
            assert left.wait(60), f"nothing is written before {target} answers"
        return send(wire, verb, url, **options)

    monkeypatch.setattr(Wire, "send", hanging)


def _watch_writes(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Cluster -> when its PATCH left, in seconds since the start of the run."""
    sent: dict[str, float] = {}
    send = Wire.send

    def watched(wire: Wire, method: str, url: str, **options: Any) -> Answer:
        if method == "PATCH":
            sent[url.partition("?")[0].rpartition("/")[2]] = rig.time.slept
        return send(wire, method, url, **options)

    monkeypatch.setattr(Wire, "send", watched)
    return sent
