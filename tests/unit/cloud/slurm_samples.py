"""Answers of Slurm for the tests of its client: recorded ones, and made ones in the envelope of the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reconciler.spec.names import ClusterName
from tests.unit.cloud.scripted import Reply
from tests.unit.cloud.scripted import Script as Server

NAME = ClusterName("p", "us-central1", "demo")
OLD, MODERN = "v0.0.38", "v0.0.42"
VERSIONS = [OLD, MODERN]
# Recorded from 22.05 and 25.11; the tests of the built-in Slurm compare it with them.
_FOLDER = Path(__file__).parents[1] / "emulator_slurm" / "samples"


def sample(version: str, name: str) -> tuple[int, str]:
    """Status and body text of a recorded answer."""
    recorded = json.loads((_FOLDER / version / f"{name}.json").read_text(encoding="utf-8"))
    body = recorded["body"]
    return recorded["status"], body if isinstance(body, str) else json.dumps(body)


def recorded(version: str, name: str) -> Reply:
    """A recorded answer as the service hands it on."""
    return slurm(*sample(version, name))


def slurm(status: int, body: Any = "") -> Reply:
    """An answer of Slurm as the service hands it on. `body` other than text is sent as JSON text."""
    return Reply(200, {"status": status, "body": body if isinstance(body, str) else json.dumps(body)})


UNKNOWN_URL = slurm(404, "Unable to find requested URL endpoint.")


def error(number: int, text: str = "no", **more: Any) -> dict[str, Any]:
    """The body of a refusal."""
    return {"errors": [{"error_number": number, "error": text, "description": "", "source": "", **more}]}


def job(job_id: int = 17, state: str | list[str] = "RUNNING", **fields: Any) -> dict[str, Any]:
    """A job in few fields."""
    return {"job_id": job_id, "job_state": state, **fields}


def jobs(*listed: dict[str, Any], status: int = 200, **more: Any) -> Reply:
    """An answer with these jobs."""
    return slurm(status, {"jobs": list(listed), "errors": [], "warnings": [], **more})


def paths(script: Server) -> list[str]:
    """What Slurm was asked, in order."""
    return [f"{each.body['method'].removeprefix('HTTP_METHOD_')} {each.body['path']}" for each in script.requests]
