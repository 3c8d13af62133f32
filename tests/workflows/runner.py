"""Executes a workflow's jobs as a runner would: steps with bash, files for outputs and summaries, conditions, needs.

`uses:` is executed for composite actions of the repository; those of others are replaced by stand-ins (`Actions`).
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.workflows.expressions import Evaluator

_PIN = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)@[0-9a-f]{40}")
_HEREDOC = re.compile(r"([^=<]+)<<(.+)")


@dataclass
class Step:
    """How a step ended: success, failure, cancelled or skipped."""

    name: str
    outcome: str
    log: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


@dataclass
class Job:
    """How a job ended, with its steps, its outputs and its summary as GitHub would show it."""

    result: str = "success"
    steps: list[Step] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""

    @property
    def log(self) -> str:
        """What all its steps said."""
        return "\n".join(f"== {step.name}: {step.outcome}\n{step.log}" for step in self.steps)

    def step(self, name: str) -> Step:
        """The step whose name begins so."""
        return next(step for step in self.steps if step.name.startswith(name))


@dataclass(frozen=True)
class Given:
    """What GitHub gives a run. `token` is asked for a job's permissions; `environment` is what all steps see."""

    event_name: str
    event: dict[str, Any]
    ref_name: str
    sha: str
    variables: dict[str, str]
    environment: dict[str, str]
    token: Callable[[dict[str, str]], str]
    actions: Mapping[str, Callable[[Runner, dict[str, str]], dict[str, str]]]
    repository: str = "acme/clusters"
    inputs: dict[str, Any] = field(default_factory=dict)
    before: Callable[[str], None] = lambda _job: None
    cancel: Callable[[], bool] = lambda: False


def run(file: Path, given: Given, folder: Path) -> dict[str, Job]:
    """Run a workflow's jobs in the order of their needs."""
    workflow = yaml.safe_load(file.read_text())
    done: dict[str, Job] = {}
    for name, job in workflow["jobs"].items():
        given.before(name)
        needed = {each: done[each] for each in _list(job.get("needs"))}
        runner = Runner(given, Path(tempfile.mkdtemp(dir=folder, prefix=f"{name}-")), needed)
        done[name] = runner.job({"permissions": workflow.get("permissions"), **job})
    return done


class Runner:
    """One job on a machine of its own."""

    def __init__(self, given: Given, machine: Path, needed: dict[str, Job]) -> None:
        self.given = given
        self.workspace = machine / "work"
        self.temp = machine / "temp"
        self._machine = machine
        self._needed = needed
        self._env: dict[str, str] = {}
        self._failed = False
        self.cancelled = False
        self._summaries: list[Path] = []
        for folder in (self.workspace, self.temp):
            folder.mkdir()

    def job(self, job: dict[str, Any]) -> Job:
        """Run it."""
        done = Job()
        self._failed = any(each.result != "success" for each in self._needed.values())
        if not self._evaluator({}, {}).holds(job.get("if")):
            done.result = "skipped"
            return done
        self._failed = False
        self._token = self.given.token(job.get("permissions") or {})
        env = {key: self._evaluator({}, {}).text(value) for key, value in (job.get("env") or {}).items()}
        self._env |= env
        outcomes: dict[str, Any] = {}
        done.steps = list(self._steps(job["steps"], outcomes, {}, {}, None))
        done.result = "cancelled" if self.cancelled else "failure" if self._failed else "success"
        finished = self._evaluator(outcomes, {})
        done.outputs = {key: finished.text(value) for key, value in (job.get("outputs") or {}).items()}
        done.summary = "".join(path.read_text() for path in self._summaries)
        return done

    def _steps(
        self,
        steps: list[dict[str, Any]],
        outcomes: dict[str, Any],
        inputs: dict[str, str],
        env: dict[str, str],
        action: Path | None,
    ) -> Iterator[Step]:
        for index, step in enumerate(steps):
            evaluator = self._evaluator(outcomes, inputs)
            name = evaluator.text(step.get("name") or step.get("uses") or f"step {index}")
            if not evaluator.holds(step.get("if")):
                done = Step(name, "skipped")
            elif "run" in step:
                done = self._bash(name, step, evaluator, env, action)
            else:
                done = self._use(name, step, evaluator)
            if done.outcome in ("failure", "cancelled"):
                self._failed = True
            if "id" in step:
                outcomes[step["id"]] = {"outputs": done.outputs, "outcome": done.outcome}
            yield done

    def _use(self, name: str, step: dict[str, Any], evaluator: Evaluator) -> Step:
        given = {key: evaluator.text(value) for key, value in (step.get("with") or {}).items()}
        uses = step["uses"]
        if uses.startswith("./"):
            return self._composite(name, self.workspace / uses, given)
        pinned = _PIN.fullmatch(uses)
        assert pinned, f"{uses} isn't pinned by a commit's hash"
        return Step(name, "success", outputs=self.given.actions[pinned["name"]](self, given))

    def _composite(self, name: str, folder: Path, given: dict[str, str]) -> Step:
        action = yaml.safe_load((folder / "action.yml").read_text())
        unknown = given.keys() - action["inputs"].keys()
        assert not unknown, f"{folder.name} has no inputs {unknown}"
        inputs = {key: given.get(key, str(spec.get("default", ""))) for key, spec in action["inputs"].items()}
        outcomes: dict[str, Any] = {}
        failed, self._failed = self._failed, False
        steps = list(self._steps(action["runs"]["steps"], outcomes, inputs, {}, folder))
        outcome = "cancelled" if self.cancelled else "failure" if self._failed else "success"
        self._failed = failed
        evaluator = self._evaluator(outcomes, inputs)
        outputs = {key: evaluator.text(spec["value"]) for key, spec in action["outputs"].items()}
        log = "\n".join(f"-- {step.name}: {step.outcome}\n{step.log}" for step in steps)
        return Step(name, outcome, log, outputs)

    def _bash(
        self, name: str, step: dict[str, Any], evaluator: Evaluator, env: dict[str, str], action: Path | None
    ) -> Step:
        files = {key: self._file() for key in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        self._summaries.append(files["GITHUB_STEP_SUMMARY"])
        script = self._machine / f"script-{len(self._summaries)}.sh"
        script.write_text(evaluator.text(step["run"]))
        own = {key: evaluator.text(value) for key, value in (step.get("env") or {}).items()}
        environment = self._environment() | env | own | {key: str(path) for key, path in files.items()}
        if action:
            environment["GITHUB_ACTION_PATH"] = str(action)
        # As GitHub's runner starts them: `shell: bash` also fails where a part of a pipe does.
        options = ["--noprofile", "--norc", "-eo", "pipefail"] if step.get("shell") == "bash" else ["-e"]
        with (self._machine / f"log-{len(self._summaries)}.txt").open("wb+") as log:
            process = subprocess.Popen(
                ["bash", *options, str(script)],
                cwd=self.workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            self._wait(process)
            log.seek(0)
            said = log.read().decode(errors="replace")
        self._env |= _pairs(files["GITHUB_ENV"].read_text())
        outcome = "success" if process.returncode == 0 else "cancelled" if self.cancelled else "failure"
        return Step(name, outcome, said, _pairs(files["GITHUB_OUTPUT"].read_text()))

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        """Until it ends. Where the run is cancelled meanwhile: SIGINT, then SIGTERM after 7.5 s, and SIGKILL."""
        while process.poll() is None:
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                if not self.cancelled and self.given.cancel():
                    self.cancelled = True
                    self._end(process)

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        for number, patience in ((signal.SIGINT, 7.5), (signal.SIGTERM, 2.5), (signal.SIGKILL, 10)):
            process.send_signal(number)
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
            return

    def _environment(self) -> dict[str, str]:
        event = self._machine / "event.json"
        if not event.exists():
            event.write_text(json.dumps(self.given.event))
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._machine),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": self.given.repository,
            "GITHUB_EVENT_NAME": self.given.event_name,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_SHA": self.given.sha,
            "GITHUB_REF_NAME": self.given.ref_name,
            "GITHUB_RUN_ID": "4711",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
            **self.given.environment,
            **self._env,
        }

    def _evaluator(self, outcomes: Mapping[str, Any], inputs: Mapping[str, str]) -> Evaluator:
        given = self.given
        github = {
            "event": given.event,
            "event_name": given.event_name,
            "ref_name": given.ref_name,
            "repository": given.repository,
            "token": getattr(self, "_token", ""),
        }
        contexts = {
            "github": github,
            "vars": given.variables,
            "steps": outcomes,
            "inputs": inputs or given.inputs,
            "needs": {name: {"outputs": job.outputs, "result": job.result} for name, job in self._needed.items()},
            "env": self._env,
            "runner": {"temp": str(self.temp)},
        }
        functions = {
            "always": lambda: True,
            "cancelled": lambda: self.cancelled,
            "failure": lambda: self._failed and not self.cancelled,
            "success": lambda: not self._failed and not self.cancelled,
        }
        return Evaluator(contexts, functions)

    def _file(self) -> Path:
        handle, name = tempfile.mkstemp(dir=self._machine)
        os.close(handle)
        return Path(name)


def _pairs(text: str) -> dict[str, str]:
    """`name=value` lines, and `name<<END` blocks."""
    pairs, lines = {}, iter(text.splitlines())
    for line in lines:
        if found := _HEREDOC.fullmatch(line):
            block = []
            for inner in lines:
                if inner == found[2]:
                    break
                block.append(inner)
            pairs[found[1]] = "\n".join(block)
        elif line:
            key, _, value = line.partition("=")
            pairs[key] = value
    return pairs


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])
