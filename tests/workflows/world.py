"""A repository on a GitHub of our own: branches, pull requests and merges, the workflows' runs, and live clusters."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reconciler.cli.app import run as reconciler
from reconciler.emulator.control import Control
from tests.contract import specs
from tests.workflows.runner import Given, Job, Runner, run
from tests.workflows.standin import Standin

ROOT = Path(__file__).parents[2]
REPOSITORY = "acme/clusters"
PROJECT = "acme-ml"
LOCATION = "us-central1"
READER, WRITER = "plan@acme-ml.iam", "apply@acme-ml.iam"


class World:
    """`edit` and `push` are what people do, `plan`, `apply` and `drift` what GitHub runs then."""

    def __init__(self, folder: Path, hub: Standin, url: str) -> None:
        self.hub = hub
        self.control = Control(url)
        self.identities: list[str] = []
        self._folder = folder
        self._url = url
        self._artifacts: dict[str, bytes] = {}
        self._bin = self._tool()
        self.origin = folder / "origin"
        shutil.copytree(ROOT / ".github", self.origin / ".github")
        self.git("init", "-q", "-b", "main")
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.write("demo", specs.small(PROJECT))
        self.commit("The first cluster")

    # What people do

    def write(self, cluster: str, spec: dict[str, Any], **lifecycle: Any) -> None:
        """Write a cluster file."""
        document = {"project": PROJECT, "location": LOCATION, "cluster_id": cluster, "spec": spec}
        if lifecycle:
            document["lifecycle"] = lifecycle
        path = self.origin / "clusters.d" / f"{cluster}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(document, indent=1))

    def edit(self, change: Callable[[dict[str, Any]], object], cluster: str = "demo") -> None:
        """Edit the spec in a cluster file."""
        path = self.origin / "clusters.d" / f"{cluster}.yaml"
        document = json.loads(path.read_text())
        change(document["spec"])
        path.write_text(json.dumps(document, indent=1))

    def commit(self, message: str) -> str:
        """Commit everything; the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out in the origin."""
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        """Run git in the origin."""
        self.origin.mkdir(exist_ok=True)
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *arguments], cwd=self.origin, capture_output=True, text=True, check=True, env=_git_env()
        )
        return done.stdout.strip()

    def open(self, number: int) -> None:
        """Start the branch of a pull request, from main."""
        self.git("checkout", "-q", "-b", f"pull-{number}", "main")
        self.hub.pull(number)

    def merge(self, number: int) -> str:
        """Merge a pull request; the merge commit."""
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", f"Merge #{number}", f"pull-{number}")
        self.hub.pulls[number]["merged_at"] = "2026-11-01T12:00:00Z"
        self.hub.commits[self.head] = [number]
        return self.head

    def by_hand(self, patch: dict[str, Any], cluster: str = "demo") -> None:
        """Change a live cluster outside of git."""
        self.control.live(f"projects/{PROJECT}/locations/{LOCATION}/modelDevelopmentClusters/{cluster}", patch)

    def live(self, cluster: str = "demo") -> dict[str, Any]:
        """The live resource."""
        return self.control.get(f"projects/{PROJECT}/locations/{LOCATION}/modelDevelopmentClusters/{cluster}")

    def settle(self) -> None:
        """Have the live clusters as main's files say, without a workflow's run."""
        said = io.StringIO()
        arguments = ["--endpoint", self._url, "apply", "--auto-approve"]
        with contextlib.chdir(self.origin), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            assert reconciler(arguments) == 0, said.getvalue()

    # What GitHub runs

    def plan(self, number: int, *, fork: bool = False) -> dict[str, Job]:
        """A push to a pull request."""
        branch = f"pull-{number}"
        head, base = self.git("rev-parse", branch), self.git("rev-parse", "main")
        self.hub.pulls[number]["head"] = {"sha": head}
        self.git("checkout", "-q", "-B", f"merge-{number}", "main")
        self.git("merge", "-q", "--no-ff", "-m", f"Merge {head}", branch)
        merge = self.head
        self.git("checkout", "-q", branch)
        event = {
            "number": number,
            "pull_request": {
                "number": number,
                "head": {"sha": head, "repo": {"full_name": "somebody/clusters" if fork else REPOSITORY}},
                "base": {"sha": base},
            },
        }
        return self._run("plan.yml", "pull_request", f"{number}/merge", merge, event)

    def apply(self, event_name: str = "push", **more: Any) -> dict[str, Job]:
        """A push to main, or a run by hand."""
        done = self._run("apply.yml", event_name, "main", self.git("rev-parse", "main"), {}, **more)
        result = "success" if all(job.result in ("success", "skipped") for job in done.values()) else "failure"
        self.hub.runs.append(
            {
                "workflow": "apply.yml",
                "conclusion": result,
                "head_sha": self.git("rev-parse", "main"),
                "html_url": f"https://github.example/runs/{len(self.hub.runs)}",
            }
        )
        return done

    def drift(self) -> Job:
        """The cron."""
        return self._run("drift.yml", "schedule", "main", self.git("rev-parse", "main"), {})["drift"]

    def _run(
        self, file: str, event_name: str, ref_name: str, sha: str, event: dict[str, Any], **more: Any
    ) -> dict[str, Job]:
        given = Given(
            event_name=event_name,
            event={"repository": {"default_branch": "main"}, **event},
            ref_name=ref_name,
            sha=sha,
            variables={
                "RECONCILER_ENDPOINT": self._url,
                "RECONCILER_WORKLOAD_IDENTITY_PROVIDER": "projects/1/locations/global/workloadIdentityPools/p",
                "RECONCILER_PLAN_SERVICE_ACCOUNT": READER,
                "RECONCILER_APPLY_SERVICE_ACCOUNT": WRITER,
                "RECONCILER_ENVIRONMENT": "prod",
            },
            environment={
                **_git_env(),
                "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "GITHUB_API_URL": self.hub.url,
            },
            token=self.hub.grant,
            actions={
                "actions/checkout": self._checkout,
                "actions/upload-artifact": self._upload,
                "actions/download-artifact": self._download,
                "google-github-actions/auth": self._authenticate,
            },
            **more,
        )
        machines = self._folder / "machines"
        machines.mkdir(exist_ok=True)
        return run(self.origin / ".github" / "workflows" / file, given, machines)

    # Stand-ins for other people's actions

    def _checkout(self, runner: Runner, given: dict[str, str]) -> dict[str, str]:
        assert given["persist-credentials"] == "false"
        wanted = given.get("ref") or runner.given.sha
        depth = given.get("fetch-depth", "1")
        for command in (
            ["init", "-q", "."],
            ["fetch", "-q", "--depth", depth, self.origin.as_uri(), wanted],
            ["checkout", "-q", "FETCH_HEAD"],
        ):
            subprocess.run(["git", *command], cwd=runner.workspace, check=True, env=_git_env(), capture_output=True)
        return {}

    def _upload(self, _runner: Runner, given: dict[str, str]) -> dict[str, str]:
        path = Path(given["path"])
        self._artifacts[given["name"]] = path.read_bytes()
        self._artifacts[f"{given['name']}/name"] = path.name.encode()
        return {"artifact-id": "1", "artifact-url": f"https://github.example/{REPOSITORY}/artifacts/1"}

    def _download(self, _runner: Runner, given: dict[str, str]) -> dict[str, str]:
        folder = Path(given["path"])
        folder.mkdir(parents=True)
        (folder / self._artifacts[f"{given['name']}/name"].decode()).write_bytes(self._artifacts[given["name"]])
        return {}

    def _authenticate(self, _runner: Runner, given: dict[str, str]) -> dict[str, str]:
        self.identities.append(given["service_account"])
        return {}

    def _tool(self) -> Path:
        """A folder with `reconciler` of this source tree, as a runner of one's own has it."""
        folder = self._folder / "bin"
        folder.mkdir()
        script = folder / "reconciler"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reconciler "$@"\n')
        script.chmod(0o755)
        return folder


def _git_env() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
