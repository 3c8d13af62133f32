"""The looks that `doctor` takes: each state of credentials, clock, Slurm and machine is told for what it is."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from reconciler.cloud.settings import Settings
from reconciler.engine.doctor import Check, Level, check_files, check_machine
from reconciler.engine.doctor_service import check_service
from reconciler.spec.loader import load
from reconciler.spec.names import ClusterName
from reconciler.spec.schema import cluster_schema
from tests.unit.cloud.scripted import TOKEN, Reply, Request, Script, free_port, refusal

NAME = ClusterName("p", "us-central1", "demo")
NOW = 1_800_000_000.0
UP = {"pings": [{"hostname": "controller", "pinged": "UP", "responding": True}]}


class Service(Script):
    """A server that answers by what is asked, so that the order of the looks doesn't matter."""

    def __init__(self) -> None:
        super().__init__()
        self.slurm: Callable[[str], Reply] = lambda _: said(200, UP | {"meta": {"slurm": {"release": "25.11.7"}}})
        self.list = Reply(body={"modelDevelopmentClusters": [{"name": str(NAME)}]})
        self.get = Reply(body={"name": str(NAME)})
        self.root = Reply(404, b"", {"Date": formatdate(NOW, usegmt=True)})

    def next(self, request: Request) -> Reply:
        self.requests.append(request)
        if request.path.endswith(":callSlurmRestApi"):
            return self.slurm(request.body["path"])
        if request.path.endswith("/modelDevelopmentClusters"):
            return self.list
        return self.get if request.path.startswith("/v1beta1/") else self.root


def said(status: int, body: Any) -> Reply:
    """What callSlurmRestApi answers."""
    return Reply(body={"status": status, "body": body if isinstance(body, str) else json.dumps(body)})


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests, no metadata server, no proxy."""
    for name in [name for name in os.environ if name.upper().endswith("_PROXY") or name == "GCLOUD_PROJECT"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def service() -> Iterator[Service]:
    """The API, as far as it is looked at."""
    with Service() as running:
        yield running


def looked(service: Service, *names: ClusterName, wall: float = NOW) -> dict[str, Check]:
    """The checks of a service by their names."""
    settings = Settings(endpoint=service.url, retry_budget=0)
    return {check.name: check for check in check_service(settings, names or (NAME,), wall=lambda: wall)}


def test_all_is_well(service: Service) -> None:
    """Each look is told once, with what was found."""
    checks = looked(service)
    assert {name: check.level for name, check in checks.items()} == dict.fromkeys(
        ("credentials", "universe", "endpoint", "clock", "list", "get", "slurm"), Level.OK
    )
    assert checks["slurm"].found == "Slurm 25.11.7, API v0.0.42"
    assert checks["list"].found == "permitted; clusters there: 1, with a file: 1"


@pytest.mark.parametrize(
    ("off", "level", "words"),
    [
        (60, Level.OK, "agrees"),
        (-60, Level.OK, "agrees"),
        (61, Level.WARN, "61 s behind"),
        (-61, Level.WARN, "61 s ahead of"),
    ],
)
def test_the_clock(service: Service, off: float, level: Level, words: str) -> None:
    """Up to a minute is nothing; more is told with its direction, and what to do."""
    clock = looked(service, wall=NOW - off)["clock"]
    assert (clock.level, bool(clock.advice)) == (level, level is Level.WARN)
    assert words in clock.found


@pytest.mark.parametrize("date", [{}, {"Date": "yesterday"}])
def test_no_time_is_told(service: Service, date: dict[str, str]) -> None:
    """An answer without a date proves nothing of the clock."""
    service.root = Reply(404, b"", date)
    assert looked(service)["clock"].level is Level.WARN


def test_an_older_slurm(service: Service) -> None:
    """The version that is served is found, and said."""
    body = {"pings": [{"ping": "UP"}], "meta": {"Slurm": {"release": "22.05.8"}}}
    service.slurm = lambda path: said(200, body) if "v0.0.38" in path else said(404, "no such path")
    assert looked(service)["slurm"].found == "Slurm 22.05.8, API v0.0.38"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (said(200, {"pings": [{"pinged": "DOWN", "responding": False}]}), "controller is down"),
        (said(200, {"pings": []}), "controller is down"),
        (said(500, {"errors": [{"error_number": 1800, "error": "Unable to contact slurm controller"}]}), "contact"),
        (said(200, {**UP, "errors": [{"error": "Zero"}]}), "Zero"),
        (said(404, "no such path"), "speaks none of the versions"),
        (said(502, "<html>bad gateway</html>"), "bad gateway"),
        (Reply(503, b"busy"), "503"),
        (Reply(body={}), "without a status"),
    ],
)
def test_slurm_fails(service: Service, answer: Reply, words: str) -> None:
    """Whatever answers that isn't a controller that is up fails, in its own words."""
    service.slurm = lambda _: answer
    check = looked(service)["slurm"]
    assert check.level is Level.FAIL
    assert words in check.found


def test_an_answer_of_little_words(service: Service) -> None:
    """A controller that is up is up, though its version isn't told."""
    service.slurm = lambda _: said(200, UP)
    assert looked(service)["slurm"].found == "Slurm of an untold version, API v0.0.42"


@pytest.mark.parametrize(
    ("what", "permission", "role"),
    [
        ("list", "aiplatform.modelDevelopmentClusters.list", "roles/aiplatform.viewer"),
        ("get", "aiplatform.modelDevelopmentClusters.get", "roles/aiplatform.viewer"),
        ("slurm", "aiplatform.modelDevelopmentClusters.run", "roles/aiplatform.user"),
    ],
)
def test_a_missing_permission(service: Service, what: str, permission: str, role: str) -> None:
    """The permission, the project and a role are named; the other looks are taken all the same."""
    denied = refusal(403, "PERMISSION_DENIED", "not yours")
    setattr(service, what, denied if what != "slurm" else lambda _: denied)
    checks = looked(service)
    assert {name for name, check in checks.items() if check.level is not Level.OK} == {what}
    assert all(word in checks[what].advice for word in (permission, "project p", role))
    assert "not yours" in checks[what].found


def test_a_service_that_is_off(service: Service) -> None:
    """Where the API isn't enabled, the advice says both: the permission, and the service's own words."""
    details = [{"reason": "IAM_PERMISSION_DENIED", "metadata": {"permission": "serviceusage.services.use"}}]
    service.list = refusal(403, "PERMISSION_DENIED", "no", details=details)
    assert "serviceusage.services.use" in looked(service)["list"].advice


@pytest.mark.parametrize("what", ["list", "get"])
def test_an_answer_that_is_none(service: Service, what: str) -> None:
    """A web page in place of an answer fails that look alone."""
    setattr(service, what, Reply(200, b"<html>log in</html>"))
    checks = looked(service)
    assert {name for name, check in checks.items() if check.level is Level.FAIL} == {what}


def test_clusters_that_are_asleep(service: Service) -> None:
    """A cluster that is being made has no Slurm yet: no failure, and it isn't asked."""
    service.list = Reply(body={"clusters": [{"name": str(NAME), "clusterStatus": {"state": "PROVISIONING"}}]})
    check = looked(service)["slurm"]
    assert (check.level, check.found) == (Level.WARN, "not checked: the cluster is PROVISIONING")
    assert not [request for request in service.requests if request.method == "POST"]


def test_clusters_that_are_not_there(service: Service) -> None:
    """Before the first apply nothing is amiss."""
    missing = refusal(404, "NOT_FOUND")
    service.list, service.get, service.slurm = Reply(), missing, lambda _: missing
    checks = looked(service)
    assert all(check.level is Level.OK for check in checks.values())
    assert "isn't there yet" in checks["get"].found


def test_nobody_there(service: Service) -> None:
    """An endpoint that doesn't answer is told once; nothing that needs it is tried."""
    settings = Settings(endpoint=f"http://127.0.0.1:{free_port()}", retry_budget=0)
    checks = {check.name: check for check in check_service(settings, [NAME])}
    assert [checks[name].level for name in ("credentials", "endpoint", "permissions")] == [
        Level.OK,
        Level.FAIL,
        Level.WARN,
    ]
    assert "no connection" in checks["endpoint"].found
    assert "network up" in checks["endpoint"].advice
    assert "slurm" not in checks


def test_one_location_of_two(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    """A location that is none fails alone, before any host is made of it."""
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{free_port()}")
    names = [NAME, NAME._replace(location="evil.example/")]
    found = check_service(Settings(access_token=TOKEN, retry_budget=0), names, token_info=service.url)
    failed = {check.subject: check.found for check in found if check.name == "endpoint"}
    assert failed.keys() == {"evil.example/", "https://us-central1-aiplatform.googleapis.com"}
    assert "no location" in failed["evil.example/"]


def test_no_place_to_look(service: Service) -> None:
    """Without a cluster file the service's own hosts aren't known; an endpoint that was given is asked all the same."""
    found = check_service(Settings(access_token=TOKEN, retry_budget=0), [], token_info=service.url)
    nowhere = {check.name: check for check in found}
    assert nowhere["endpoint"].found == "not checked: no file tells a location"
    there = {check.name: check for check in check_service(Settings(endpoint=service.url), [])}
    assert there["endpoint"].level is Level.OK
    assert there["permissions"].found == "not checked, for want of a cluster file"


# This machine and the files


def test_programs_that_are_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without bash and git, or with ones that don't run, the tool works: it is said what doesn't."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "git").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "git").chmod(0o755)
    tool, bash, git = check_machine()
    assert tool.level is Level.OK
    assert [bash.level, git.level] == [Level.WARN, Level.WARN]
    assert bash.found.startswith("not found")
    assert "doesn't run" in git.found


def files(tmp_path: Path, text: str) -> dict[str, Check]:
    path = tmp_path / "clusters.d" / "a.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return {check.name: check for check in check_files(load(cwd=tmp_path))}


PLAIN = "{project: p, location: us-central1, cluster_id: demo, lifecycle: {state: absent}}\n"
NAMED = f"# yaml-language-server: $schema=../schemas/c.json\n{PLAIN}"


def test_files_in_numbers(tmp_path: Path) -> None:
    """Errors fail, and the advice names the command that tells them."""
    assert files(tmp_path, PLAIN)["files"] == Check("files", Level.OK, "clusters: 1; errors: 0, warnings: 0")
    broken = files(tmp_path, "project: [")["files"]
    assert broken.level is Level.FAIL
    assert broken.found.startswith("clusters: 0, refused: 1; errors: 1")
    assert "validate" in broken.advice


@pytest.mark.parametrize(
    ("schema", "level", "words"),
    [
        (None, Level.WARN, "clusters.d/a.yaml names it for editors, and it can't be read: no such file"),
        ("{", Level.WARN, "it is no json"),
        ("{}", Level.WARN, "not this version's"),
        (json.dumps(cluster_schema()), Level.OK, "this version's"),
    ],
)
def test_the_schema_that_editors_use(tmp_path: Path, schema: str | None, level: Level, words: str) -> None:
    """One that is missing, broken or of another version misleads editors; the advice is the command that writes it."""
    if schema is not None:
        (tmp_path / "schemas").mkdir()
        (tmp_path / "schemas" / "c.json").write_text(schema)
    check = files(tmp_path, NAMED)["schema"]
    assert (check.level, check.subject) == (level, "schemas/c.json")
    assert words in check.found
    assert (">schemas/c.json" in check.advice) == (level is Level.WARN)


@pytest.mark.parametrize("line", ["", "# yaml-language-server: $schema=https://example.com/c.json\n"])
def test_no_schema_of_ours(tmp_path: Path, line: str) -> None:
    """Files without the line, or with somebody's URL, are nobody's business."""
    assert "schema" not in files(tmp_path, line + PLAIN)
