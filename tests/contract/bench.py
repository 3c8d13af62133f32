"""A repository of cluster files in a project of its own, the emulator it is applied to, and the command line."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import pytest
import requests
import yaml

from reconciler.cli import app
from reconciler.cli.commands import build, command_of
from reconciler.emulator.control import Control
from reconciler.emulator.names import Projects
from tests.contract import specs
from tests.contract.process import Process, Terminal

LOCATION = "us-central1"
WRITES = ("create", "patch", "delete")


@cache
def _command(name: str) -> Any:
    return build([name])


def _built(arguments: Sequence[str]) -> Any:
    """The command, built once in each process: building it takes as long as most runs."""
    name = command_of(arguments)
    return _command(name) if name else build(arguments)


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as JSON: nothing else may stand there."""
        return json.loads(self.out)

    def ok(self) -> Outcome:
        """Itself; fails with all that was said unless the exit code is 0."""
        return self.ended(0)

    def ended(self, code: int) -> Outcome:
        """Itself; fails with all that was said unless the exit code is this one."""
        assert self.code == code, f"exit code {self.code}, not {code}\n{self.out}\n{self.err}"
        return self


class Bench:
    """`run` is in this process and fast; `start` is a process of its own, for signals and terminals."""

    def __init__(self, root: Path, url: str, project: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.url = url
        self.project = project
        self.number = Projects({}).number(project)
        self.control = Control(url)
        (root / ".git").mkdir()
        (root / "clusters.d").mkdir()
        monkeypatch.setenv("RECONCILER_ENDPOINT", url)
        monkeypatch.setattr(app, "build", _built)

    def run(self, *arguments: str | Path, typed: str | None = None) -> Outcome:
        """Run a command to its end. With `typed`, standard input is a terminal where somebody types that."""
        out, err = io.StringIO(), io.StringIO()
        stdin, sys.stdin = sys.stdin, io.StringIO() if typed is None else _keyboard(typed)
        try:
            with (
                sys.stdin,
                contextlib.chdir(self.root),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = app.run([str(argument) for argument in arguments])
        finally:
            sys.stdin = stdin
        assert "internal error" not in err.getvalue(), err.getvalue()
        return Outcome(code, out.getvalue(), err.getvalue())

    def start(self, *arguments: str | Path, **environment: str) -> Process:
        """Start a command in a process of its own."""
        return Process([str(argument) for argument in arguments], self.root, os.environ | environment)

    def at_terminal(self, *arguments: str | Path, **environment: str) -> Terminal:
        """Start a command at a terminal of its own."""
        return Terminal([str(argument) for argument in arguments], self.root, os.environ | environment)

    def write(self, cluster: str, spec: dict[str, Any] | None, folder: str = "clusters.d", **lifecycle: Any) -> Path:
        """Write a cluster file. JSON is YAML, so the spec stands there as it is."""
        document: dict[str, Any] = {"project": self.project, "location": LOCATION, "cluster_id": cluster}
        if lifecycle:
            document["lifecycle"] = lifecycle
        if spec is not None:
            document["spec"] = spec
        return self.text(f"{folder}/{cluster}.yaml", json.dumps(document, indent=1))

    def base(self) -> dict[str, Any]:
        """The cluster that most cases start from."""
        return specs.base(self.project)

    def small(self) -> dict[str, Any]:
        """The least that a Slurm cluster needs."""
        return specs.small(self.project)

    def text(self, path: str, text: str | bytes) -> Path:
        """Write a file of the repository."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def name(self, cluster: str = "demo") -> str:
        """A cluster's full resource name."""
        return f"projects/{self.project}/locations/{LOCATION}/modelDevelopmentClusters/{cluster}"

    def live(self, cluster: str = "demo") -> dict[str, Any]:
        """The stored resource of a cluster."""
        return self.control.get(self.name(cluster))

    def get(self, cluster: str = "demo") -> dict[str, Any]:
        """A cluster as GET answers it."""
        answer = requests.get(f"{self.url}/v1beta1/{self.name(cluster)}", timeout=30)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def created(self, cluster: str, spec: dict[str, Any], **lifecycle: Any) -> Path:
        """A cluster file, applied; the requests so far are forgotten."""
        path = self.write(cluster, spec, **lifecycle)
        self.run("apply", path, "--auto-approve").ok()
        self.control.clear_requests()
        return path

    def edit(self, path: Path, change: Callable[[dict[str, Any]], object]) -> None:
        """Edit the spec of a cluster file."""
        document = json.loads(path.read_text())
        change(document["spec"])
        path.write_text(json.dumps(document, indent=1))

    def edit_yaml(self, path: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Edit a cluster file that is written in YAML."""
        document = yaml.safe_load((self.root / path).read_text())
        change(document)
        self.text(path, json.dumps(document))

    def plan(self, *arguments: str | Path) -> dict[str, Any]:
        """The one cluster's plan as JSON, whatever the exit code."""
        (cluster,) = self.run("plan", "--format", "json", *arguments).json["clusters"]
        return dict(cluster)

    def apply(self, *arguments: str | Path) -> Outcome:
        """Apply with approval, reporting in JSON."""
        return self.run("apply", "--auto-approve", "--format", "json", *arguments)

    def requests(self, *kinds: str) -> list[dict[str, Any]]:
        """This project's requests, those of some kinds or all."""
        entries = self.control.requests()
        names = (f"/projects/{self.project}/", f"/projects/{self.number}/")  # operations go by the number
        mine = [entry for entry in entries if any(name in entry["path"] for name in names)]
        return [entry for entry in mine if not kinds or entry["kind"] in kinds]

    def writes(self) -> list[str]:
        """The methods of this project's writes so far, in order."""
        return [entry["method"] for entry in self.requests(*WRITES)]

    def fault(self, kind: str, request: str, *, after: int = 0, times: int | None = None, **options: Any) -> None:
        """Let requests of a kind go wrong."""
        rule = {"match": {"kind": request}, "fault": {"kind": kind, **options}, "after": after, "times": times}
        self.control.faults([rule])

    def settled(self) -> None:
        """See that all is as the files say: nothing to plan, nothing to send."""
        self.run("plan", "--detailed-exitcode").ok()
        before = self.writes()
        self.apply().ok()
        assert self.writes() == before


def _keyboard(typed: str) -> TextIO:
    master, slave = pty.openpty()
    os.write(master, typed.encode())
    keyboard = os.fdopen(slave)
    weakref.finalize(keyboard, os.close, master)
    return keyboard


def result(outcome: Outcome) -> dict[str, Any]:
    """The one result of an apply."""
    (only,) = outcome.json["results"]
    return dict(only)
