"""A job to be submitted: what the user asked for, completed by what the API demands, in the dialect of a version.

Nothing is sent that wasn't asked for, but for what the API refuses to go without: a working directory and an
environment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reconciler.cloud.slurm_script import Script, read_script
from reconciler.cloud.slurm_values import number, text
from reconciler.cloud.slurm_versions import has_plain_values
from reconciler.errors import InputError, UsageError

_PATH = "/usr/local/bin:/usr/bin:/bin"
_FALLBACK_DIRECTORY = "/tmp"  # noqa: S108 - a path on the cluster; nothing is written here
_NODE_FIELDS = ("nodes", "minimum_nodes", "maximum_nodes")
_COUNTS = ("time_limit", *_NODE_FIELDS, "tasks_per_node", "cpus_per_task")
_CHDIR = ("-D", "--chdir")


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What the command line says of a job; "" and None = not given. time_limit: minutes."""

    partition: str = ""
    nodes: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    time_limit: int | None = None
    name: str = ""
    cwd: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    def given(self) -> dict[str, Any]:
        """The fields that were given, by the API's names; not the environment."""
        fields = {
            "partition": self.partition,
            "nodes": self.nodes,
            "tasks_per_node": self.tasks_per_node,
            "cpus_per_task": self.cpus_per_task,
            "time_limit": self.time_limit,
            "name": self.name,
            "current_working_directory": self.cwd,
        }
        return {name: value for name, value in fields.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True)
class Submission:
    """A script with its description; several descriptions make a heterogeneous job. notes: sentences for the user.

    In a description the environment is an object, a time limit that could be read is in minutes.
    """

    script: str
    jobs: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The job's name; "" where none was given."""
        return text(self.jobs[0].get("name"))

    @property
    def partition(self) -> str:
        """The partition; "" where the cluster's default one was left to be it."""
        return text(self.jobs[0].get("partition"))

    def body(self, version: str) -> dict[str, Any]:
        """The body of `job/submit`."""
        write = _plain if has_plain_values(version) else _wrapped
        jobs = [write(dict(job)) for job in self.jobs]
        return {"jobs": jobs, "script": self.script} if len(jobs) > 1 else {"job": jobs[0], "script": self.script}


def prepare(script: Script | None, options: JobOptions, given: Mapping[str, Any] | None = None) -> Submission:
    """What to submit. given: a submit body, or a job's description, out of a file; options win over it.

    Raises InputError for a body that can't be used, UsageError for options that don't go together.
    """
    body = _as_body(given or {})
    script = script or _script_of(body)
    described = body["jobs"] if "jobs" in body else [body["job"]]
    chosen = options.given()
    if len(described) > 1 and (chosen or options.environment):
        raise UsageError("the file describes several jobs, and options belong to one", hint="say it in the file")
    notes = [*_ignored(script)]
    jobs = []
    for job in described:
        kept = {name: value for name, value in job.items() if not (name in _NODE_FIELDS and "nodes" in chosen)}
        complete = {**kept, **chosen}
        _check_counts(complete)
        if (minutes := _minutes(complete.get("time_limit"))) is not None:
            complete["time_limit"] = minutes
        complete["environment"] = {"PATH": _PATH, **_environment(job.get("environment")), **options.environment}
        directory, note = _directory(complete.get("current_working_directory"), script)
        complete["current_working_directory"] = directory
        notes += [note] if note and note not in notes else []
        jobs.append(complete)
    return Submission(script.text, tuple(jobs), tuple(notes))


def _as_body(given: Mapping[str, Any]) -> dict[str, Any]:
    """A submit body of `job` or `jobs`, and perhaps `script`. Of two things that can't both be meant it takes none."""
    if "job" in given and "jobs" in given:
        raise InputError("the JSON file holds both job and jobs", hint="put all of them into jobs")
    body: dict[str, Any] = dict(given) if "job" in given or "jobs" in given else {"job": dict(given)}
    if isinstance(body.get("job"), dict) and "script" in body["job"]:
        if "script" in body:
            raise InputError("the JSON file holds a script in the job, and one beside it", hint="keep one of them")
        job = dict(body["job"])
        body = {"script": job.pop("script"), "job": job}
    jobs = body.get("jobs", [body.get("job")])
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise InputError("the JSON file describes no job", hint='it looks like {"job": {"partition": "cpu", …}}')
    if unknown := sorted(set(body) - {"job", "jobs", "script"}):
        raise InputError(f"the JSON file holds {', '.join(unknown)} beside the job", hint="put it into the job")
    return body


def _check_counts(job: Mapping[str, Any]) -> None:
    """Slurm, and Python, take true for 1 and cut off fractions. Whatever else is no number is Slurm's to refuse."""
    for name in _COUNTS:
        count = job.get(name)
        count = count.get("number") if isinstance(count, dict) else count
        if isinstance(count, bool) or (isinstance(count, float) and not count.is_integer()):
            raise InputError(f"{name} must be a whole number, and is {json.dumps(count)}")


def _minutes(limit: object) -> int | None:
    """A time limit in minutes; None where it's another one, which is Slurm's to read: 00:05:00, infinite."""
    return number(limit) if not isinstance(limit, str) or limit.isdecimal() else None


def _script_of(body: Mapping[str, Any]) -> Script:
    if not isinstance(body.get("script"), str):
        raise UsageError("there is no script", hint="name one, or put its text into the JSON file as script")
    return read_script(body["script"], "the script in the JSON file")


def _environment(value: object) -> dict[str, str]:
    match value:
        case None:
            return {}
        case dict() if all(isinstance(each, str) for each in value.values()):
            return dict(value)
        case list() if all(isinstance(item, str) and "=" in item for item in value):
            variables = dict(item.split("=", 1) for item in value)
            if len(variables) < len(value):
                raise InputError("the JSON file's environment has a variable twice")
            return variables
    raise InputError("the JSON file's environment is neither an object of texts nor a list of NAME=VALUE")


def _directory(asked: object, script: Script) -> tuple[str, str]:
    """The working directory, and a note where nobody chose it. A relative one has nothing that it's relative to."""
    if not isinstance(asked, str | None):
        raise InputError(f"the working directory must be a text, and is {json.dumps(asked)}")
    directory = asked or script.chdir
    if directory and not directory.startswith("/"):
        raise InputError(f"the working directory {directory} is no absolute path", hint="say --cwd /home/…")
    if directory:
        return directory, ""
    return _FALLBACK_DIRECTORY, (
        f"no working directory was given: the job runs in {_FALLBACK_DIRECTORY}, and its output stays there on the "
        "node that it ran on; --cwd names a shared one"
    )


def _ignored(script: Script) -> list[str]:
    """sbatch reads `#SBATCH` lines, not Slurm: slurmrestd takes the script as it is (seen in 22.05)."""
    ignored = [option for option in script.options if option not in _CHDIR]
    if not ignored:
        return []
    lines = f"the script's #SBATCH lines ({', '.join(ignored)})"
    return [f"{lines} are left to Slurm, whose job API may not read them; what must hold, give as an option or --json"]


def _wrapped(job: dict[str, Any]) -> dict[str, Any]:
    """As v0.0.39 and later want it (S1)."""
    job["environment"] = [f"{name}={value}" for name, value in job["environment"].items()]
    if isinstance(job.get("time_limit"), int):
        job["time_limit"] = {"set": True, "number": job["time_limit"]}
    if isinstance(job.get("nodes"), int):
        job["minimum_nodes"] = job["maximum_nodes"] = job.pop("nodes")
    return job


def _plain(job: dict[str, Any]) -> dict[str, Any]:
    """As v0.0.38 wants it. It takes `minimum_nodes` and doesn't heed it (seen in 22.05: 2 still gives one node)."""
    least, most = number(job.pop("minimum_nodes", None)), number(job.pop("maximum_nodes", None))
    if least is not None:
        job.setdefault("nodes", least if most in (None, least) else f"{least}-{most}")
    return job
