"""Which version of the API a cluster speaks, and whose authentication fails."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_script import Script
from reconciler.cloud.slurm_submission import JobOptions, prepare
from reconciler.cloud.transport import Transport
from reconciler.errors import AuthError, SlurmError, UsageError
from tests.unit.cloud.scripted import Script as Server
from tests.unit.cloud.scripted import refusal
from tests.unit.cloud.slurm_samples import MODERN, NAME, OLD, UNKNOWN_URL, error, job, jobs, paths, recorded, slurm

SUBMISSION = prepare(Script("#!/bin/bash\ntrue\n"), JobOptions(time_limit=5, cwd="/w"))


@pytest.fixture
def client(script: Server, connect: Callable[..., Transport]) -> Slurm:
    """A client of the scripted server."""
    return Slurm(connect(script.url))


def test_k121_the_version_is_found_out(script: Server, connect: Callable[..., Transport]) -> None:
    """K121: a cluster with v0.0.38 alone; told once, remembered, and the body is written in its dialect."""
    said: list[str] = []
    client = Slurm(connect(script.url), say=said.append)
    script.answers(*[UNKNOWN_URL] * 7, recorded(OLD, "ping"), recorded(OLD, "submit"), jobs())
    assert client.submit(NAME, SUBMISSION).job_id == 1
    client.queue(NAME)
    asked = paths(script)
    assert asked[0] == "POST /slurm/v0.0.42/job/submit"
    assert asked[1:3] == ["GET /slurm/v0.0.42/ping", "GET /slurm/v0.0.44/ping"]
    assert asked[-2:] == ["POST /slurm/v0.0.38/job/submit", "GET /slurm/v0.0.38/jobs/"]
    assert script.requests[-2].body["body"] == SUBMISSION.body(OLD)
    assert said == ["p/us-central1/demo speaks version v0.0.38 of the Slurm API"]


def test_k121_a_version_that_is_newer_than_any_known(script: Server, connect: Callable[..., Transport]) -> None:
    """K121: taken as the newest known one is, and said."""
    said: list[str] = []
    client = Slurm(connect(script.url), say=said.append)
    script.answers(*[UNKNOWN_URL] * 8, recorded(MODERN, "ping"), jobs(job()))
    assert len(client.queue(NAME)) == 1
    assert paths(script)[-1] == "GET /slurm/v0.0.45/jobs/"
    assert "v0.0.45 of the Slurm API, which is newer" in said[0]


def test_k121_no_version_at_all(client: Slurm, script: Server) -> None:
    """K121: named in the error, with the option."""
    script.answers(UNKNOWN_URL)
    with pytest.raises(SlurmError, match=r"none of the versions v0\.0\.38 to v0\.0\.47") as caught:
        client.queue(NAME)
    assert "--slurm-api-version" in caught.value.hint


def test_k121_a_chosen_version(script: Server, connect: Callable[..., Transport]) -> None:
    """K121: asked for and nothing else; refused where it is none."""
    client = Slurm(connect(script.url), version="v0.0.41")
    script.answers(jobs(job()), UNKNOWN_URL)
    client.queue(NAME)
    with pytest.raises(SlurmError, match=r"doesn't speak version v0\.0\.41"):
        client.queue(NAME)
    assert {path.split("/")[2] for path in paths(script)} == {"v0.0.41"}
    with pytest.raises(UsageError):
        Slurm(connect(script.url), version="latest")


def test_a_ping_that_fails_ends_the_search(client: Slurm, script: Server) -> None:
    """A refused authentication isn't "no such version"; JSON, even a 500's, proves one."""
    script.answers(UNKNOWN_URL, slurm(401, "Authentication failure"))
    with pytest.raises(AuthError):
        client.queue(NAME)
    script.answers(UNKNOWN_URL, UNKNOWN_URL, slurm(500, error(1800)), jobs())
    client.queue(NAME)
    assert paths(script)[-1] == "GET /slurm/v0.0.44/jobs/"


def test_versions_are_remembered_for_each_cluster(client: Slurm, script: Server) -> None:
    """One cluster's version says nothing of another's."""
    script.answers(UNKNOWN_URL, UNKNOWN_URL, recorded(MODERN, "ping"), jobs())
    client.queue(NAME)
    client.queue(NAME._replace(cluster_id="other"))
    assert paths(script)[-2:] == ["GET /slurm/v0.0.44/jobs/", "GET /slurm/v0.0.42/jobs/"]


def test_k122_slurms_authentication_is_told_apart(client: Slurm, script: Server) -> None:
    """K122: a 401 of Slurm, and one of Google, are two different messages."""
    script.answers(slurm(511, error(1007, "Protocol authentication error")))
    with pytest.raises(AuthError) as slurms:
        client.queue(NAME)
    script.answers(refusal(401, "UNAUTHENTICATED"))
    with pytest.raises(AuthError) as googles:
        client.queue(NAME)
    assert (slurms.value.code, googles.value.code) == ("slurm_credentials", "credentials")
    assert slurms.value.hint != googles.value.hint
