"""Fleets: requests grow with pages, quotas hold everybody up, waits share their polls, and shards make up the whole."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.cloud.clusters import Clusters
from reconciler.emulator.server import Emulator, EmulatorConfig
from reconciler.plan.shard import ENGINES
from tests.contract.bench import Bench
from tests.contract.specs import pool
from tests.contract.test_gitops import commit

FLEET = [f"c{number:02}" for number in range(24)]
SHARDS = 3


def _in_sync(bench: Bench, clusters: list[str]) -> None:
    """Clusters that are live as their files say, without an apply."""
    for cluster in clusters:
        bench.write(cluster, bench.small())
        bench.control.put(bench.name(cluster), bench.small())


@pytest.fixture
def fleet(bench: Bench) -> Bench:
    """A fleet of which two clusters differ from their files."""
    _in_sync(bench, FLEET)
    for cluster in FLEET[:2]:
        path = bench.root / f"clusters.d/{cluster}.yaml"
        bench.edit(path, lambda spec: pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
    bench.control.clear_requests()
    return bench


def _plan_shards(bench: Bench, *more: str) -> list[str]:
    """Each shard's plan file."""
    files = [f"plan-{index}.json" for index in range(1, SHARDS + 1)]
    for index, file in enumerate(files, 1):
        bench.run("plan", "--shard", f"{index}/{SHARDS}", "--out", file, *more).ok()
    return files


def _edit_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


class TestRequests:
    """What a fleet costs the service."""

    @pytest.mark.parametrize("command", ["plan", "drift"])
    def test_as_many_as_pages(self, fleet: Bench, command: str) -> None:
        """One list of a location, page by page, and nothing for each cluster."""
        fleet.control.quirks(page_cap=10)
        fleet.run(command)
        assert [entry["kind"] for entry in fleet.requests()] == ["list"] * 3

    def test_compressed(self, fleet: Bench) -> None:
        """Every request asks for gzip, in the two ways that Google's front ends want to see."""
        fleet.run("plan").ok()
        headers = [entry["headers"] for entry in fleet.requests()]
        assert {each["accept-encoding"] for each in headers} == {"gzip"}
        assert all("gzip" in each["user-agent"] for each in headers)

    def test_a_quota_holds_up_every_thread(self, fleet: Bench) -> None:
        """After one 429 only what is under way already still arrives before Retry-After is over."""
        fleet.fault("status", "list", code=403, status="PERMISSION_DENIED", message="no")  # so all are asked for singly
        refusal = {"code": 429, "status": "RESOURCE_EXHAUSTED", "headers": {"Retry-After": "1"}}
        fleet.fault("status", "get", times=1, **refusal)
        fleet.run("plan").ok()
        gets = fleet.requests("get")
        (refused,) = [entry["time"] for entry in gets if entry["status"] == 429]
        assert len(gets) == len(FLEET) + 1
        assert len([entry for entry in gets if refused <= entry["time"] < refused + 1]) <= 16
        assert max(entry["time"] for entry in gets) >= refused + 1


class TestWaits:
    """Operations of many clusters."""

    @pytest.fixture
    def lasting(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
        """An emulator whose operations take a second."""
        with Emulator(EmulatorConfig(lro_seconds=1.0)) as emulator:
            yield Bench(tmp_path, emulator.url, "fleet", monkeypatch)

    def test_many_are_looked_up_together(self, lasting: Bench) -> None:
        """Thirty creates at a time are waited for with fewer looks than there are creates."""
        for cluster in range(30):
            lasting.write(f"c{cluster}", lasting.small())
        lasting.apply("--parallelism", "30").ok()
        assert len(lasting.requests("create")) == 30
        assert len(lasting.requests("poll", "operations_list")) < 30

    def test_clusters_that_are_busy_are_looked_up_together(
        self, lasting: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A run that finds them busy, such as after Ctrl-C, waits by lists and in a few threads, then is done."""
        names = [f"c{cluster}" for cluster in range(60)]
        for name in names:
            lasting.write(name, lasting.small())
        lasting.apply("--no-wait", "--parallelism", "16").ok()
        lasting.control.clear_requests()
        before, most = threading.active_count(), [0]
        listed = Clusters.list

        def counted(clusters: Clusters, project: str, location: str) -> Iterator[dict[str, Any]]:
            most.append(threading.active_count())
            return listed(clusters, project, location)

        monkeypatch.setattr(Clusters, "list", counted)
        results = lasting.apply().ok().json["results"]
        assert {each["status"] for each in results} == {"no_op"}
        assert len(results) == len(names)
        assert len(lasting.requests("get", "list")) < len(names) / 2  # the last few are asked for by GET
        assert max(most) - before < 12  # some are the emulator's


class TestShards:
    """`--shard I/N`, and `merge`."""

    def test_together_they_are_the_whole_plan(self, fleet: Bench) -> None:
        """Merged, the shards' plans are the plan of the fleet, but for when it was made."""
        whole = fleet.run("plan", "--format", "json").ok().json
        files = _plan_shards(fleet)
        assert all(json.loads((fleet.root / file).read_text())["clusters"] for file in files)
        merged = fleet.run("merge", *files, "--format", "json", "--out", "all.json").ok()
        assert json.loads((fleet.root / "all.json").read_text()) == merged.json
        assert merged.json | {"created_at": ""} == whole | {"created_at": ""}

    @pytest.mark.parametrize("output", ["text", "markdown"])
    def test_merged_for_people(self, fleet: Bench, output: str) -> None:
        """The report is that of the whole fleet."""
        merged = fleet.run("merge", *_plan_shards(fleet), "--format", output).ok().out
        assert merged == fleet.run("plan", "--format", output).ok().out
        assert "22 unchanged" in merged

    def test_exit_codes_of_a_merge(self, fleet: Bench) -> None:
        """As plan's: 2 for changes where asked, 1 for what no shard could plan, told once though every shard told it."""
        files = _plan_shards(fleet)
        fleet.run("merge", *files, "--detailed-exitcode").ended(2)
        fleet.text("clusters.d/bad.yaml", "project: [")
        for index, file in enumerate(files, 1):
            fleet.run("plan", "--shard", f"{index}/{SHARDS}", "--out", file).ended(1)
        (error,) = fleet.run("merge", *files, "--format", "json").ended(1).json["errors"]
        assert error["source"] == "clusters.d/bad.yaml"

    def test_each_shard_applies_its_own(self, fleet: Bench) -> None:
        """Every cluster is changed by one shard, and after the last of them nothing is left."""
        patched = []
        for index in range(1, SHARDS + 1):
            fleet.apply("--shard", f"{index}/{SHARDS}").ok()
            patched.append({entry["cluster"] for entry in fleet.requests("patch")})
            fleet.control.clear_requests()
        assert sorted(cluster for clusters in patched for cluster in clusters) == FLEET[:2]
        fleet.settled()

    def test_a_merged_plan_is_applied_in_shards(self, fleet: Bench) -> None:
        """Of a reviewed plan of the whole fleet each shard applies its part; of one that is stale, nothing."""
        fleet.run("merge", *_plan_shards(fleet), "--out", "all.json").ok()
        for index in range(1, SHARDS + 1):
            fleet.apply("--plan", "all.json", "--shard", f"{index}/{SHARDS}").ok()
        assert len(fleet.writes()) == 2
        fleet.run("plan", "--detailed-exitcode").ok()
        codes = [fleet.apply("--plan", "all.json", "--shard", f"{index}/{SHARDS}").code for index in (1, 2, 3)]
        assert 1 in codes
        assert len(fleet.writes()) == 2

    def test_unmanaged_clusters_are_told_once(self, fleet: Bench) -> None:
        """What another shard looks after isn't unmanaged; what no file knows is one shard's to tell."""
        fleet.control.put(fleet.name("stray"), fleet.small())
        reports = []
        for index in range(1, SHARDS + 1):
            drift = fleet.run("drift", "--include-unmanaged", "--shard", f"{index}/{SHARDS}", "--format", "json")
            reports.append(drift.json)
            fleet.text(f"drift-{index}.json", drift.out)
        assert sorted(name for report in reports for name in report["unmanaged"]) == [fleet.name("stray")]
        merged = fleet.run("merge", *(f"drift-{index}.json" for index in range(1, SHARDS + 1)), "--format", "json")
        whole = fleet.run("drift", "--include-unmanaged", "--format", "json")
        assert merged.ended(2).json | {"created_at": ""} == whole.ended(2).json | {"created_at": ""}

    def test_a_removed_file_is_told_once(self, fleet: Bench) -> None:
        """With --base a file that is gone is the note of the shard that the cluster was in, and of no other."""
        commit(fleet)
        (fleet.root / f"clusters.d/{FLEET[5]}.yaml").unlink()
        files = _plan_shards(fleet, "--base", "HEAD")
        merged = fleet.run("merge", *files, "--format", "json").ok().json
        gone = [each for each in merged["clusters"] if each["notes"] and each["notes"][0]["code"] == "file_removed"]
        assert [each["cluster"] for each in gone] == [fleet.name(FLEET[5])]
        assert len(merged["clusters"]) == len(FLEET)

    def test_the_engine_numbers_its_tasks(self, fleet: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """`auto` is the shard that the task's environment names, and it is said which."""
        monkeypatch.setenv("CLOUD_RUN_TASK_INDEX", "1")
        monkeypatch.setenv("CLOUD_RUN_TASK_COUNT", "3")
        outcome = fleet.run("plan", "--shard", "auto", "--format", "json").ok()
        assert outcome.json["clusters"] == fleet.run("plan", "--shard", "2/3", "--format", "json").ok().json["clusters"]
        assert f"shard 2/3: {len(outcome.json['clusters'])} of 24 clusters" in outcome.err

    @pytest.mark.parametrize("command", ["plan", "apply", "drift"])
    @pytest.mark.parametrize("shard", ["auto", "0/3", "4/3", "half"])
    def test_shards_that_make_no_sense(self, fleet: Bench, command: str, shard: str) -> None:
        """A usage error, before anything is read."""
        outcome = fleet.run(command, "--shard", shard).ended(64)
        assert outcome.err.startswith("error: --shard: ")
        assert fleet.requests() == []

    def test_an_empty_shard(self, fleet: Bench) -> None:
        """More shards than clusters: some have nothing to do, and that is no error."""
        codes = [fleet.run("plan", "--shard", f"{index}/200", "--detailed-exitcode").code for index in (1, 2, 3, 4)]
        assert set(codes) <= {0, 2}


class TestRefusedMerges:
    """Parts that aren't the shards of one run."""

    @pytest.fixture
    def files(self, fleet: Bench) -> list[str]:
        return _plan_shards(fleet)

    def _refused(self, bench: Bench, *arguments: str) -> str:
        return bench.run("merge", *arguments).ended(1).err

    def test_a_cluster_in_two_of_them(self, fleet: Bench, files: list[str]) -> None:
        """Neither is right then; both are named."""
        fleet.run("plan", "--out", "whole.json").ok()
        said = self._refused(fleet, files[1], "whole.json")
        assert "is in plan-2.json and in whole.json" in said
        assert "given twice" in self._refused(fleet, files[0], files[0])

    def test_another_format(self, fleet: Bench, files: list[str]) -> None:
        """The file is named, and the version that it has."""
        _edit_json(fleet.root / files[1], format_version="2")
        assert 'plan-2.json: the plan file has format version "2"' in self._refused(fleet, *files)

    def test_another_version_of_the_tool(self, fleet: Bench, files: list[str]) -> None:
        """They may have compared in another way."""
        _edit_json(fleet.root / files[2], tool_version="9.9")
        assert "plan-3.json was made by version 9.9, and plan-1.json with 0.1.0" in self._refused(fleet, *files)

    def test_another_update_mode(self, fleet: Bench) -> None:
        """An apply has one for all of them."""
        files = [f"{cluster}.json" for cluster in FLEET[:2]]
        for cluster, file, mode in zip(FLEET, files, ["USER_ONLY", "USER_AND_SERVICE"], strict=False):
            fleet.run("plan", "--cluster", cluster, "--update-mode", mode, "--out", file).ok()
        assert "--update-mode USER_AND_SERVICE" in self._refused(fleet, *files)

    def test_one_that_is_missing(self, fleet: Bench, files: list[str]) -> None:
        """A shard that died leaves no file: whoever says how many there are is told."""
        fleet.run("merge", *files, "--shards", "3").ok()
        assert "2 files, not 3" in self._refused(fleet, *files[:2], "--shards", "3")

    def test_a_shard_of_another_number(self, fleet: Bench, files: list[str]) -> None:
        """Plan files know which shard they are: as many files as shards aren't enough. Drift reports know it too."""
        assert [json.loads((fleet.root / file).read_text())["shard"] for file in files] == ["1/3", "2/3", "3/3"]
        fleet.run("plan", "--shard", "1/99999", "--out", "empty.json").ok()
        said = self._refused(fleet, *files[:2], "empty.json", "--shards", "3")
        assert "empty.json was made as a shard of 99999, and plan-1.json with 3" in said
        assert "shard 3/3 is missing" in self._refused(fleet, *files[:2])
        fleet.text("again.json", (fleet.root / "empty.json").read_text())
        assert "again.json is shard 1/99999, and so is empty.json" in self._refused(fleet, "empty.json", "again.json")
        fleet.text("drift.json", fleet.run("drift", "--shard", "2/3", "--format", "json").out)
        assert "shard 1/3, 3/3 is missing" in self._refused(fleet, "drift.json")

    @pytest.mark.parametrize("shard", ["", "0/3", "4/3", "x", "1/1000000000"])
    def test_a_shard_that_makes_no_sense(self, fleet: Bench, files: list[str], shard: str) -> None:
        """A damaged file, and no endless search for what is missing."""
        _edit_json(fleet.root / files[0], shard=shard)
        assert "plan-1.json" in self._refused(fleet, *files)

    @pytest.mark.parametrize("count", ["-1", "0", "three"])
    def test_a_number_of_shards_that_makes_no_sense(self, fleet: Bench, files: list[str], count: str) -> None:
        """A usage error."""
        assert "--shards" in fleet.run("merge", *files, "--shards", count).ended(64).err

    def test_what_is_no_plan(self, fleet: Bench, files: list[str]) -> None:
        """Other files, and a drift report among plans, are refused by name."""
        fleet.text("latin.json", b"\xff\xfe{}")
        fleet.text("list.json", "[]")
        fleet.text("drift.json", fleet.run("drift", "--format", "json").out)
        assert "latin.json" in self._refused(fleet, "latin.json")
        assert "list.json: the file is no plan" in self._refused(fleet, "list.json")
        assert "no-such.json" in self._refused(fleet, "no-such.json")
        assert "drift.json is a drift report, and plan-1.json is a plan" in self._refused(fleet, files[0], "drift.json")


class TestExamples:
    """docs/scale.md."""

    TEXT = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")

    def _yaml(self) -> list[Any]:
        return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", self.TEXT, re.DOTALL)]

    def test_the_manifest_counts_right(self) -> None:
        """The variable that Kubernetes doesn't set says how many pods there are; the pod's command asks for it."""
        (job,) = [each for each in self._yaml() if each.get("kind") == "Job"]
        (container,) = job["spec"]["template"]["spec"]["containers"]
        assert {"name": "JOB_COMPLETION_COUNT", "value": str(job["spec"]["completions"])} in container["env"]
        assert job["spec"]["completionMode"] == "Indexed"
        assert "--shard auto" in container["args"][0]

    def test_the_workflow_counts_right(self) -> None:
        """The matrix's size reaches the shards and the merge."""
        (workflow,) = [each for each in self._yaml() if "jobs" in each]
        shard, merge = workflow["jobs"]["shard"], workflow["jobs"]["merge"]
        assert shard["env"] == {
            "RECONCILER_SHARD_INDEX": "${{ strategy.job-index }}",
            "RECONCILER_SHARD_COUNT": "${{ strategy.job-total }}",
        }
        count = len(shard["strategy"]["matrix"]["part"])
        assert any(f"--shards {count} " in step.get("run", "") for step in merge["steps"])

    def test_runs_are_kept_apart(self) -> None:
        """What one run leaves in the bucket or volume, the next one's merge doesn't take."""
        written = re.findall(r'cp /tmp/plan.json "([^"]*)"', self.TEXT)
        assert written == [
            "/plans/$RUN/plan-$CLOUD_RUN_TASK_INDEX.json",
            "/plans/$JOB_UID/plan-$JOB_COMPLETION_INDEX.json",
        ]
        assert "gs://$BUCKET/plan-" not in self.TEXT
        assert "/plans/plan-" not in self.TEXT

    def test_the_variables_are_those_that_are_read(self) -> None:
        """The table of engines is the one that --shard auto goes by."""
        for index, count in ENGINES:
            assert f"`{index}` | `{count}`" in self.TEXT

    @pytest.mark.parametrize("command", ["plan", "apply", "merge"])
    def test_the_options_are_there(self, bench: Bench, command: str) -> None:
        """Every option of the examples' commands is one that the command has."""
        text = self.TEXT.replace(",", " ").replace("\\\n", " ")
        calls = re.findall(rf"reconciler {command} ([^\n;`]*)", text) + re.findall(
            rf"--command reconciler --args={command} (.*)", text
        )
        options = {option for call in calls for option in re.findall(r"--[a-z-]+", call)}
        known = bench.run(command, "--help").ok().out
        assert options
        assert not [option for option in options if f"{option} " not in known]


class TestStartUp:
    """What a run doesn't load: each of these takes longer than all of the tool's own modules."""

    @staticmethod
    def _loaded(cwd: Path, *arguments: str) -> set[str]:
        code = (
            "import sys; from reconciler.cli.app import run; code = run(sys.argv[1:]); "
            "print(code, *sys.modules, sep='\\n', file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True)
        exit_code, *modules = done.stderr.splitlines()
        assert exit_code == "0"
        return set(modules)

    def test_help_loads_no_library(self, tmp_path: Path) -> None:
        """The list of commands needs typer and nothing else."""
        heavy = {"requests", "urllib3", "yaml", "pydantic", "rich", "reconciler.spec.fields", "reconciler.plan.model"}
        assert not self._loaded(tmp_path, "--help") & heavy

    def test_a_plan_loads_what_it_needs(self, fleet: Bench) -> None:
        """One cluster with a change, as text: no pydantic, no Markdown, no retries, no credentials, no threads."""
        heavy = {
            "pydantic",
            "rich",
            "deepdiff",
            "jsonschema",
            "tenacity",
            "google.auth",
            "concurrent.futures",
            "reconciler.views.markdown",
            "reconciler.views.json",
            "reconciler.cli.apply",
        }
        assert not self._loaded(fleet.root, "plan", "--cluster", FLEET[0]) & heavy
