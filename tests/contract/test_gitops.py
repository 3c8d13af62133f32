"""`--base`, `--expect`, pauses, windows, drift for a cron, pictures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.bench import Bench, result
from tests.contract.specs import pool


def git(bench: Bench, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=bench.root, check=True, capture_output=True)


def commit(bench: Bench) -> None:
    """Commit the tree as it is."""
    if not (bench.root / ".git" / "HEAD").exists():
        (bench.root / ".git").rmdir()
        git(bench, "init", "--quiet", "--initial-branch=main")
    git(bench, "add", "--all")
    git(bench, "commit", "--quiet", "--allow-empty", "--message=x")


def in_days(days: int) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


class TestBase:
    """`plan --base REF`."""

    def test_edits_are_told_from_drift(self, bench: Bench) -> None:
        """This branch's changes and those that live had made already, each with its origin (pain F67)."""
        path = bench.created("demo", bench.base())
        commit(bench)
        bench.edit(path, lambda spec: pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
        bench.control.live(bench.name(), {"nodePools": {"gpu": {"scalingSpec": {"maxNodeCount": 9}}}})
        changes = {change["path"]: change["origin"] for change in bench.plan("--base", "HEAD")["changes"]}
        assert changes == {
            "node_pools[cpu].scaling_spec.max_node_count": "edit",
            "node_pools[gpu].scaling_spec.max_node_count": "drift",
        }
        text = bench.run("plan", "--base", "HEAD").ok().out
        assert "This change makes" in text
        assert "Live differs (would be reverted)" in text
        assert all("origin" not in change for change in bench.plan()["changes"])

    def test_a_deleted_file_is_a_note_and_deletes_nothing(self, bench: Bench) -> None:
        """The cluster stays, unmanaged; apply sends nothing (pain G82)."""
        path = bench.created("demo", bench.small())
        commit(bench)
        path.unlink()
        bench.write("other", bench.small())
        planned = bench.run("plan", "--base", "HEAD", "--format", "json").ok().json["clusters"]
        gone = next(cluster for cluster in planned if cluster["cluster"] == bench.name())
        assert (gone["action"], [note["code"] for note in gone["notes"]]) == ("no_op", ["file_removed"])
        bench.apply().ok()
        assert bench.requests("delete") == []

    def test_a_moved_file_is_no_removal(self, bench: Bench) -> None:
        """The cluster is known by its name, not by its file."""
        path = bench.created("demo", bench.small())
        commit(bench)
        (bench.root / "clusters.d" / "eu").mkdir()
        path.rename(bench.root / "clusters.d" / "eu" / "moved.yaml")
        assert bench.plan("--base", "HEAD")["notes"] == []

    def test_a_file_that_broke_is_no_removal(self, bench: Bench) -> None:
        """It is an error, and nothing is said to be unmanaged."""
        path = bench.created("demo", bench.small())
        commit(bench)
        path.write_text("{")
        outcome = bench.run("plan", "--base", "HEAD", "--format", "json").ended(1)
        assert outcome.json["clusters"] == []
        assert outcome.json["errors"][0]["source"] == "clusters.d/demo.yaml"

    def test_protection_takes_two_steps(self, bench: Bench) -> None:
        """`prevent_destroy` lifted and the cluster wanted absent in one change: blocked (pain I98)."""
        bench.created("demo", bench.small())
        commit(bench)
        bench.write("demo", bench.small(), state="absent", prevent_destroy=False)
        blocked = bench.plan("--base", "HEAD")
        assert [blocker["code"] for blocker in blocked["blockers"]] == ["protected_at_base"]
        bench.run("plan", "--base", "HEAD").ended(1)
        bench.write("demo", bench.small(), prevent_destroy=False)
        commit(bench)
        bench.write("demo", bench.small(), state="absent", prevent_destroy=False)
        assert bench.plan("--base", "HEAD")["blockers"] == []

    def test_no_protection_is_lifted_and_a_pool_removed(self, bench: Bench) -> None:
        """Pain I98: one change with both is blocked, two changes aren't; lowering the protection alone is no harm."""
        path = bench.created("demo", bench.base())
        commit(bench)

        def without_gpu(spec: dict[str, Any]) -> None:
            slurm = spec["orchestrator_spec"]["slurm_spec"]
            spec["node_pools"] = [each for each in spec["node_pools"] if each["id"] != "gpu"]
            slurm["partitions"] = [each for each in slurm["partitions"] if "gpu" not in each["node_pool_ids"]]
            slurm.pop("node_sets", None)

        bench.write("demo", bench.base(), prevent_destroy=False)
        assert bench.plan("--base", "HEAD")["blockers"] == []
        bench.edit(path, without_gpu)
        blocked = bench.run("plan", "--base", "HEAD", "--format", "json").ended(1).json["clusters"][0]["blockers"]
        assert [each["code"] for each in blocked] == ["protected_at_base"]
        bench.write("demo", bench.base(), prevent_destroy=False)
        commit(bench)
        bench.edit(path, without_gpu)
        assert bench.plan("--base", "HEAD")["blockers"] == []

    def test_a_cluster_whose_file_is_gone_may_be_asked_for(self, bench: Bench) -> None:
        """`--cluster` of a file that only the base has is told as gone; of none at all it's a mistake."""
        path = bench.created("demo", bench.small())
        bench.write("other", bench.small())
        commit(bench)
        path.unlink()
        (gone,) = bench.run("plan", "--base", "HEAD", "--cluster", "demo", "--format", "json").ok().json["clusters"]
        assert (gone["cluster"], gone["notes"][0]["code"]) == (bench.name(), "file_removed")
        known = bench.run("plan", "--base", "HEAD", "--cluster", "nobody").ended(64).err
        assert "known: other" in known

    @pytest.mark.parametrize("arguments", [[], ["clusters.d"], ["--cluster", "demo"], ["--shard", "1/1"]])
    def test_a_folder_that_is_gone(self, bench: Bench, arguments: list[str]) -> None:
        """All of its clusters are told as gone; nothing is deleted, and it's no error."""
        path = bench.created("demo", bench.small())
        commit(bench)
        path.unlink()
        path.parent.rmdir()
        planned = bench.run("plan", *arguments, "--base", "HEAD", "--format", "json").ok().json
        assert [cluster["notes"][0]["code"] for cluster in planned["clusters"]] == ["file_removed"]
        assert planned["errors"] == []

    @pytest.mark.parametrize(("arguments", "code"), [(["nowhere"], 1), (["--shard", "x"], 64)])
    def test_what_the_base_hasnt_either(self, bench: Bench, arguments: list[str], code: int) -> None:
        """A folder that never was, and a shard that is none, stay errors."""
        path = bench.created("demo", bench.small())
        commit(bench)
        path.unlink()
        path.parent.rmdir()
        bench.run("plan", *arguments, "--base", "HEAD").ended(code)

    @pytest.mark.parametrize("trick", ["number", "moved", "symlink", "broken", "absolute", "submodule"])
    def test_no_way_around_the_protection(self, bench: Bench, trick: str) -> None:
        """Another spelling, another place, a base that can't be read: the delete stays blocked."""
        path = bench.created("demo", bench.small())
        document = json.loads(path.read_text())
        if trick == "symlink":
            (bench.root / "fleets").mkdir()
            path.rename(bench.root / "fleets" / "demo.yaml")
            path.symlink_to("../fleets/demo.yaml")
        elif trick == "broken":
            path.write_text("bad: [")
        elif trick == "submodule":
            path.unlink()
        commit(bench)
        if trick == "submodule":
            git(
                bench,
                "update-index",
                "--add",
                "--cacheinfo",
                "160000,1111111111111111111111111111111111111111,clusters.d",
            )
            git(bench, "commit", "--quiet", "--message=sub")
        document["lifecycle"] = {"state": "absent", "prevent_destroy": False}
        document["project"] = bench.number if trick == "number" else bench.project
        where = bench.root / "clusters.d" if trick != "moved" else bench.root / "clusters2.d"
        where.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        (where / "demo.yaml").write_text(json.dumps(document))
        paths = [str(where)] if trick in ("moved", "absolute") else []
        planned = bench.run("plan", *paths, "--base", "HEAD", "--format", "json").ended(1).json["clusters"]
        blockers = [blocker["code"] for cluster in planned for blocker in cluster["blockers"]]
        assert blockers == ["protected_at_base"]

    def test_file_names_that_are_no_text(self, bench: Bench) -> None:
        """Git has them as bytes; they are nobody's fault."""
        bench.created("demo", bench.small())
        Path(os.fsdecode(os.fsencode(bench.root) + b"/caf\xe9.txt")).write_text("x")
        commit(bench)
        bench.run("plan", "--base", "HEAD").ok()

    def test_defaults_and_scripts_are_those_of_the_revision(self, bench: Bench) -> None:
        """A changed script or default is this branch's edit."""
        bench.text("scripts/p.sh", "#!/bin/bash\nexit 0\n")
        spec = bench.base()
        spec["orchestrator_spec"]["slurm_spec"]["prolog_bash_scripts"] = [{"file": "../scripts/p.sh"}]
        bench.created("demo", spec)
        commit(bench)
        bench.text("scripts/p.sh", "#!/bin/bash\nexit 1\n")
        bench.text("clusters.d/_defaults.yaml", "spec: {labels: {tier: prod}}\n")
        changes = {change["path"]: change["origin"] for change in bench.plan("--base", "HEAD")["changes"]}
        assert changes == {"labels.tier": "edit", "orchestrator_spec.slurm_spec.prolog_bash_scripts[0]": "edit"}

    @pytest.mark.parametrize("revision", ["nowhere", "--upload-pack=x", "HEAD:clusters.d", "^HEAD", ""])
    def test_a_revision_that_is_none(self, bench: Bench, revision: str) -> None:
        """A clear error, exit 1, and nothing that git would take as an option."""
        bench.write("demo", bench.small())
        commit(bench)
        error = bench.run("plan", f"--base={revision}", "--format", "json").ended(1).json["error"]
        assert error["code"] == "invalid_input"

    def test_outside_a_repository(self, bench: Bench) -> None:
        """Said, not crashed over."""
        bench.write("demo", bench.small())
        (bench.root / ".git").rmdir()
        assert "git" in bench.run("plan", "--base", "HEAD").ended(1).err


class TestExpect:
    """`apply --expect FILE`."""

    def test_goes_on_where_the_plan_is_the_reviewed_one(self, bench: Bench) -> None:
        """Made again, equal, applied."""
        path = bench.created("demo", bench.base())
        bench.edit(path, lambda spec: spec["labels"].update(team="x"))
        bench.run("plan", "--out", "plan.json").ok()
        assert result(bench.apply("--expect", "plan.json").ok())["status"] == "applied"

    def test_says_what_differs(self, bench: Bench) -> None:
        """Another change came in between: nothing is sent, and its path is named (pain F61)."""
        path = bench.created("demo", bench.base())
        bench.edit(path, lambda spec: spec["labels"].update(team="x"))
        bench.run("plan", "--out", "plan.json").ok()
        bench.control.live(bench.name(), {"nodePools": {"gpu": {"scalingSpec": {"maxNodeCount": 9}}}})
        error = bench.apply("--expect", "plan.json").ended(1).json["error"]
        assert error["code"] == "stale"
        assert "node_pools[gpu].scaling_spec.max_node_count" in error["message"]
        assert bench.writes() == []

    def test_a_cluster_that_wasnt_in_the_plan(self, bench: Bench) -> None:
        """A new file isn't slipped in after the review."""
        bench.created("demo", bench.base())
        bench.run("plan", "--out", "plan.json").ok()
        bench.write("other", bench.small())
        assert "other" in bench.apply("--expect", "plan.json").ended(1).json["error"]["message"]
        assert bench.writes() == []

    def test_unchanged_clusters_need_no_review(self, bench: Bench) -> None:
        """A plan of nothing equals a plan of nothing, whichever clusters are there."""
        bench.created("demo", bench.base())
        bench.run("plan", "--out", "plan.json").ok()
        bench.created("other", bench.small())
        bench.apply("--expect", "plan.json").ok()

    def test_plan_and_expect_together(self, bench: Bench) -> None:
        """They mean different things."""
        bench.write("demo", bench.small())
        bench.apply("--expect", "a", "--plan", "b").ended(64)


class TestPause:
    """`lifecycle.paused`."""

    def test_plan_shows_apply_skips(self, bench: Bench) -> None:
        """The change stays planned; apply says why it skips, exit 0; drift reports all the same (pain I103)."""
        path = bench.created("demo", bench.base())
        paused = {"reason": "tests by hand", "until": in_days(1)}
        bench.write("demo", bench.base(), paused=paused)
        bench.edit(path, lambda spec: spec["labels"].update(team="x"))
        planned = bench.plan()
        assert planned["action"] == "update"
        assert "tests by hand" in next(note["message"] for note in planned["notes"] if note["code"] == "paused")
        skipped = result(bench.apply().ok())
        assert skipped["status"] == "skipped"
        assert "tests by hand" in skipped["reason"]
        assert bench.writes() == []
        bench.run("drift").ended(2)

    def test_an_expired_pause_is_said_and_holds_nothing(self, bench: Bench) -> None:
        """Somebody should take it out of the file."""
        bench.created("demo", bench.base())
        path = bench.write("demo", bench.base(), paused={"reason": "x", "until": in_days(-1)})
        bench.edit(path, lambda spec: spec["labels"].update(team="x"))
        assert "pause_expired" in [note["code"] for note in bench.plan()["notes"]]
        assert result(bench.apply().ok())["status"] == "applied"


class TestWindow:
    """`lifecycle.maintenance_window`."""

    @staticmethod
    def window(hours_from_now: int) -> dict[str, Any]:
        start = datetime.now(UTC) + timedelta(hours=hours_from_now)
        day = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[start.weekday()]
        return {"days": [day], "start": start.strftime("%H:%M"), "hours": 2}

    def edited(self, bench: Bench, hours_from_now: int, field: str) -> None:
        bench.created("demo", bench.base())
        path = bench.write("demo", bench.base(), maintenance_window=self.window(hours_from_now))
        change = {"zone": "us-central1-b"} if field == "zone" else {"labels": {"a": "b"}}
        bench.edit(path, lambda spec: pool(spec, "cpu").update(change))

    def test_a_disruptive_change_waits_for_it(self, bench: Bench) -> None:
        """Closed: planned with a note, skipped with the time of its opening, exit 0."""
        self.edited(bench, 5, "zone")
        assert "maintenance_window" in [note["code"] for note in bench.plan()["notes"]]
        skipped = result(bench.apply().ok())
        assert (skipped["status"], "it opens at" in skipped["reason"]) == ("skipped", True)
        assert bench.writes() == []

    def test_an_open_window_lets_it_through(self, bench: Bench) -> None:
        """Open for an hour already."""
        self.edited(bench, -1, "zone")
        assert result(bench.apply().ok())["status"] == "applied"

    def test_other_changes_need_none(self, bench: Bench) -> None:
        """In place: at any time."""
        self.edited(bench, 5, "labels")
        assert result(bench.apply().ok())["status"] == "applied"

    def test_waiting_for_it_can_be_interrupted(self, bench: Bench) -> None:
        """`--wait-for-window` says when it opens, and Ctrl-C ends the wait with nothing sent."""
        self.edited(bench, 5, "zone")
        process = bench.start("apply", "--auto-approve", "--wait-for-window", "--format", "json")
        process.hear("waiting for the maintenance window")
        process.signal(signal.SIGINT)
        assert process.end() == 130
        assert json.loads(process.out)["results"][0]["status"] == "skipped"
        assert bench.writes() == []


class TestDrift:
    """`drift` for a cron."""

    def test_metrics(self, bench: Bench) -> None:
        """Prometheus text, whole or not at all, whatever the exit code."""
        bench.created("demo", bench.base())
        bench.control.live(bench.name(), {"labels": {"x": "y"}})
        bench.run("drift", "--metrics-file", "drift.prom", "--include-unmanaged").ended(2)
        text = (bench.root / "drift.prom").read_text()
        assert "reconciler_drift_clusters 1\n" in text
        assert (
            f'reconciler_cluster_drift_changes{{project="{bench.project}",location="us-central1",cluster="demo"}}'
            in text
        )
        assert [path.name for path in bench.root.glob("*prom*")] == ["drift.prom"]

    def test_quiet(self, bench: Bench) -> None:
        """Nothing to say, nothing said; drift is said all the same."""
        bench.created("demo", bench.base())
        assert bench.run("drift", "--quiet").ok().out == ""
        bench.control.live(bench.name(), {"labels": {"x": "y"}})
        assert "labels.x" in bench.run("drift", "--quiet").ended(2).out

    def test_content_in_json(self, bench: Bench) -> None:
        """Path, wanted and live, ready for a message (pain F68)."""
        bench.created("demo", bench.base())
        bench.control.live(bench.name(), {"displayName": "other"})
        (cluster,) = bench.run("drift", "--format", "json").ended(2).json["clusters"]
        (change,) = cluster["changes"]
        assert (change["path"], change["before"], change["after"]) == ("display_name", "other", "demo")


class TestFilesThatCantBeWritten:
    """What was found out is shown all the same."""

    def test_plan(self, bench: Bench) -> None:
        """The plan on standard output, alone; then the error, and exit code 1."""
        bench.write("demo", bench.small())
        done = bench.run("plan", "--out", "no-folder/plan.json", "--format", "json").ended(1)
        assert done.json["summary"]["create"] == 1
        assert "no-folder/plan.json can't be written: No such file" in done.err

    def test_drift(self, bench: Bench) -> None:
        """The drift too; an error outweighs differences."""
        bench.created("demo", bench.base())
        bench.control.live(bench.name(), {"labels": {"x": "y"}})
        done = bench.run("drift", "--metrics-file", "no-folder/x.prom").ended(1)
        assert "labels.x" in done.out
        assert "no-folder/x.prom can't be written" in done.err

    def test_merge(self, bench: Bench) -> None:
        """And the whole of a fleet's shards."""
        bench.write("demo", bench.small())
        bench.run("plan", "--out", "one.json").ok()
        done = bench.run("merge", "one.json", "--out", "no-folder/all.json").ended(1)
        assert "1 to create" in done.out


def test_graph(bench: Bench) -> None:
    """The files' clusters as Mermaid pictures, offline; a bad file is said and the others are drawn."""
    bench.write("demo", bench.base())
    bench.text("clusters.d/bad.yaml", "{")
    outcome = bench.run("graph").ended(1)
    assert outcome.out.count("```mermaid") == 1
    assert 'cpu<br/>n2-standard-8<br/>0-4 nodes"' in outcome.out
    assert bench.requests() == []


def test_capacity_is_said(bench: Bench) -> None:
    """Nodes and accelerators, before and after, in every format (issue item 9)."""
    path = bench.created("demo", bench.base())
    bench.edit(path, lambda spec: pool(spec, "gpu")["scaling_spec"].update(min_node_count=4, max_node_count=6))
    line = "2-4 -> 4-6 nodes, +16 NVIDIA_H200_141GB"
    assert line in bench.run("plan").ok().out
    assert "16 NVIDIA" in bench.run("plan", "--format", "markdown").ok().out
    (capacity,) = bench.plan()["capacity"]
    assert (capacity["pool"], capacity["before"], capacity["after"]) == (
        "gpu",
        {"low": 2, "high": 4},
        {"low": 4, "high": 6},
    )


def test_a_broken_script_blocks_where_it_would_go_out(bench: Bench) -> None:
    """A prolog with a syntax error is blocked at plan time; while it stays as it is live, nothing asks for it."""
    path: Path = bench.created("demo", bench.base())
    bench.edit(path, lambda s: s["orchestrator_spec"]["slurm_spec"].update(prolog_bash_scripts=["#!/bin/bash\nif\n"]))
    assert [blocker["code"] for blocker in bench.plan()["blockers"]] == ["broken_script"]
    assert result(bench.apply().ended(1))["status"] == "blocked"
