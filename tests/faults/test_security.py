"""What comes from outside is shown, and obeyed by nobody; what is secret goes to the service alone."""

from __future__ import annotations

import itertools
import os
import re
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from reconciler.cli import inputs
from tests.contract.bench import LOCATION, Bench
from tests.contract.specs import pool, slurm
from tests.faults.rig import CANARY, Rig, spec
from tests.faults.scenarios import changed, submit

READS = ("plan", "drift --include-unmanaged", "list", "get one", "status one", "operations list", "jobs list one")
FORMATS = ("text", "json")
WRITES = ("apply --auto-approve", "delete one --auto-approve")
KINDS = ("list", "get", "create", "patch", "delete", "poll", "operations_list", "slurm")


# --- where credentials go


class _Honeypot(BaseHTTPRequestHandler):
    """Somebody else's server; whoever comes is noted."""

    visits: ClassVar[list[str]] = []

    def _note(self) -> None:
        self.visits.append(f"{self.command} {self.path} {self.headers.get('authorization')}")
        self.send_response(200)
        self.end_headers()

    do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = _note

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def honeypot() -> Iterator[tuple[str, list[str]]]:
    """Its address, and who came."""
    _Honeypot.visits.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Honeypot) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/", _Honeypot.visits
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_never_followed(rig: Rig, honeypot: tuple[str, list[str]], code: int) -> None:
    """Whatever is asked, and wherever the answer sends us: nobody else hears of it."""
    where, visits = honeypot
    changed(rig, "one")
    for kind in KINDS:
        rig.control.faults([{"match": {"kind": kind}, "fault": {"kind": "redirect", "code": code, "location": where}}])
    said = [rig.run(*command.split()) for command in (*READS, *WRITES)]
    assert {outcome.code for outcome in said} == {1}
    assert all("redirect" in outcome.out + outcome.err for outcome in said)
    assert visits == []


ELSEWHERE = (
    "http://example.com",
    "http://127.0.0.1.example.com",
    "http://localhost.example.com",
    "http://localhost@example.com",
    "http://127.0.0.1:80@example.com/",
    "http://[::1].example.com",
    "http://0x7f000001.example.com",
    "https://example.com",
    "https://googleapis.com.example.com",
    "https://us-central1-aiplatform.googleapis.com@example.com",
    "https://us-central1-aiplatform.googleapis.com:443@example.com",
    "https://example.com#us-central1-aiplatform.googleapis.com",
    "https://example.com/us-central1-aiplatform.googleapis.com",
    "https://example.com\\@us-central1-aiplatform.googleapis.com",
    "https://evilgoogleapis.com",
    "ftp://us-central1-aiplatform.googleapis.com",
    "//us-central1-aiplatform.googleapis.com",
    "us-central1-aiplatform.googleapis.com",
    "https://us-central1-aiplatform.googleapis.com\r\nHost: example.com",
)


@pytest.fixture
def no_network(rig: Rig) -> Iterator[list[object]]:
    """Where anybody wanted to connect to; nobody gets there."""
    wanted: list[object] = []

    def refuse(host: object, *_: object, **__: object) -> None:
        wanted.append(host)
        raise OSError("there is no network here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", refuse)
        patch.setattr(socket.socket, "connect", lambda _, address: refuse(address))
        yield wanted


@pytest.mark.parametrize("endpoint", ELSEWHERE)
def test_a_token_goes_to_no_other_host(rig: Rig, endpoint: str, no_network: list[object]) -> None:
    """Plain http off this machine, and hosts outside the credentials' universe, are refused before any connection."""
    rig.write("one", spec())
    for command in ("plan", "apply --auto-approve", "list"):
        assert rig.run("--endpoint", endpoint, *command.split()).code in (1, 64)
    assert no_network == []


@pytest.mark.parametrize(
    "location",
    ["example.com/", "x.example.com#", "us-central1@example.com", "a/../b", "us central1", "us-central1\n", ""],
)
def test_a_location_makes_no_host(
    rig: Rig, location: str, no_network: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes part of a host's name, and it comes from a file."""
    monkeypatch.delenv("RECONCILER_ENDPOINT")
    path = rig.write("one", spec())
    path.write_text(path.read_text().replace(f'"{LOCATION}"', f'"{location}"'.replace("\n", "\\n")))
    assert rig.run("plan").code == 1
    assert no_network == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_echoed_token_is_shown_nowhere(rig: Rig, kind: str) -> None:
    """Whatever an answer quotes, on whatever command, in whatever format: the rig sees to it that no token comes out."""
    quote = f"invalid token Authorization: Bearer {CANARY}"
    answers: list[dict[str, Any]] = [
        {"kind": "status", "code": 400, "message": quote},
        {"kind": "status", "code": 403, "body": quote},
        {"kind": "status", "code": 503, "message": quote, "headers": {"x-request-id": CANARY}},
        {"kind": "html", "code": 502, "body": f"<p>{quote}"},
        {"kind": "html", "body": quote},
        {"kind": "redirect", "location": f"http://192.0.2.1/?access_token={CANARY}"},
        {"kind": "wrong_type", "body": [quote]},
    ]
    changed(rig, "one")
    for answer, command in itertools.product(answers, ("plan --out plan.json", "apply --auto-approve", *READS[1:])):
        rig.control.faults([{"match": {"kind": kind}, "fault": answer, "times": 3}])
        rig.run(*command.split())
        rig.control.clear_faults()
    for path in rig.root.rglob("*"):
        assert path.is_dir() or CANARY not in path.read_text()


def test_a_good_answer_that_quotes_the_token(rig: Rig) -> None:
    """An operation's error, a label, an event: what the service stored is shown without it, in every format."""
    changed(rig, "one")
    fault = {"kind": "operation_error", "code": 8, "message": f"for {CANARY}", "details": [{"detail": CANARY}]}
    rig.control.faults([{"match": {"kind": "patch"}, "fault": fault, "times": 1}])
    failed = rig.run("apply", "--auto-approve", "--format", "json").ended(1)
    assert "[secret]" in failed.out
    for state in ("RUNNING", "UPDATING"):
        status = {"state": state, "detail": CANARY, "error": {"message": CANARY}}
        rig.control.live(rig.name("one"), {"clusterStatus": status, "labels": {"team": CANARY}})
        for command, format_ in itertools.product((*READS, "apply --auto-approve --timeout 1s"), FORMATS):
            rig.run(*command.split(), "--format", format_)


def test_a_retry_is_told_without_what_was_received(rig: Rig) -> None:
    """A status line may hold anything; nobody said --verbose, and it's told all the same."""

    class _Garbage(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.rfile.readline()
            self.wfile.write(f"{EVIL} {CANARY}\r\n\r\n".encode())

    rig.write("one", spec())
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Garbage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        outcome = Bench.run(rig, "--endpoint", f"http://127.0.0.1:{server.server_address[1]}", "plan")
        server.shutdown()
        thread.join()
    assert "retrying in" in outcome.err
    assert CANARY not in outcome.out + outcome.err
    _harmless(outcome.out)
    _harmless(outcome.err)


# --- what terminals obey

# Clear the screen, set the title, ring, C1's CSI, a bidi override, a carriage return over the line, and CI's commands.
EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202etxt.exe\r##[error]x\u2028::error::x"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def _harmless(text: str) -> None:
    """Nothing but printable characters, line ends and tabs, and no command of a CI log at the start of a line.

    Markdown breaks up marks by spaces of no width.
    """
    wrong = [each for each in text if not each.isprintable() and each not in "\n\t\u200b"]
    assert not wrong, repr(text)
    assert "##[" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())


def _evil_resource() -> dict[str, Any]:
    resource = spec()
    resource["labels"] = {"team": "ml", f"k{EVIL}": f"v{EVIL}"}
    resource["displayName"] = EVIL
    resource["nodePools"] = [{**each, "zone": f"z{EVIL}"} for each in resource.pop("node_pools")]
    part = slurm(resource)
    part["config"] = {f"MaxJobCount{EVIL}": EVIL}
    part["prolog_bash_scripts"] = [f"#!/bin/bash\necho '{EVIL}'\n"]
    part["partitions"].append({"id": f"p{EVIL}", "node_pool_ids": [EVIL]})
    node = {"nodePoolId": EVIL, "nodePoolType": EVIL, "nodeState": EVIL, "instanceName": EVIL}
    resource["clusterStatus"] = {"state": "RUNNING", "detail": EVIL, "error": {"message": EVIL}, "nodesStatus": [node]}
    resource["clusterEvents"] = [{"type": EVIL, "createTime": EVIL, "detail": EVIL}]
    resource[f"future{EVIL}"] = {EVIL: EVIL}
    return resource


@pytest.fixture
def evil(rig: Rig) -> Rig:
    """A live cluster all of whose texts want to be obeyed, and a file that wants it otherwise."""
    rig.control.put(rig.name("one"), _evil_resource())
    rig.control.put(rig.name("stray"), _evil_resource())
    wanted = spec() | {"display_name": EVIL}
    slurm(wanted)["epilog_bash_scripts"] = [f"#!/bin/bash\n: '{EVIL}'\n"]
    pool(wanted, "cpu")["startup_script"] = f"#!/bin/bash\n: '{EVIL}'\n"
    rig.write("one", wanted)
    return rig


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("command", ["validate", *READS, *WRITES])
def test_no_view_obeys_the_texts_of_a_cluster(evil: Rig, command: str, format_: str) -> None:
    """Live values, file values, states, events, nodes: all of them are shown escaped, on both streams."""
    outcome = evil.run(*command.split(), "--format", format_)
    _harmless(outcome.out)
    _harmless(outcome.err)


@pytest.mark.parametrize(
    "command", ["plan --format markdown", "plan --format markdown --full", "drift --format markdown"]
)
def test_markdown_obeys_nothing_either(evil: Rig, command: str) -> None:
    """Comments are views too."""
    _harmless(evil.run(*command.split()).out)


def test_annotations_obey_nothing_either(evil: Rig) -> None:
    """What CI is to obey is our own alone."""
    for line in evil.run("validate", "--format", "github").out.splitlines():
        assert line.startswith("::") or "::" not in line
        assert line.isprintable()


def test_an_import_shows_what_it_holds(evil: Rig) -> None:
    """What can't be seen is escaped in the file, and means itself when it is read: there is nothing to plan."""
    resource = spec()
    slurm(resource)["prolog_bash_scripts"] = ["#!/bin/bash\necho '\u202e\u200b\x07\U000e0001'\n"]
    evil.control.put(evil.name("one"), resource | {"displayName": "\u202eevil\x1b[2J"})
    outcome = evil.run("import", "one").ok()
    assert outcome.out.isascii()
    _harmless(outcome.out)
    evil.text("clusters.d/one.yaml", outcome.out)
    evil.run("plan", "--detailed-exitcode").ok()


def test_colours_are_our_own(evil: Rig) -> None:
    """At a terminal the only escapes are the tool's own colours."""
    process = evil.at_terminal("plan")
    process.end()
    assert "\x1b[" in process.out
    _harmless(_COLOURS.sub("", process.out).replace("\r\n", "\n"))


@pytest.mark.parametrize("kind", KINDS)
def test_error_answers_are_not_obeyed(rig: Rig, kind: str) -> None:
    """Messages, statuses, details, pages of HTML, headers: an error is shown in one harmless line."""
    changed(rig, "one")
    answers: list[dict[str, Any]] = [
        {"kind": "status", "code": 400, "message": EVIL, "details": [{"fieldViolations": [{"field": EVIL}]}]},
        {"kind": "status", "code": 403, "status": EVIL, "message": EVIL},
        {"kind": "html", "code": 404, "body": EVIL},
        {"kind": "redirect", "location": "http://192.0.2.1/\x9b31m"},
    ]
    for answer, command in itertools.product(answers, (*READS, "apply --auto-approve --format json")):
        rig.control.faults([{"match": {"kind": kind}, "fault": answer, "times": 2}])
        outcome = rig.run(*command.split())
        _harmless(outcome.out)
        _harmless(outcome.err)
        rig.control.clear_faults()


def test_a_failed_operation_is_not_obeyed(rig: Rig) -> None:
    """Its error stands in the report, the progress and in `operations`."""
    changed(rig, "one")
    fault = {"kind": "operation_error", "code": 8, "message": EVIL, "details": [{"detail": EVIL}]}
    rig.control.faults([{"match": {"kind": "patch"}, "fault": fault, "times": 1}])
    for command in ("apply --auto-approve", "operations list", "operations list --format json"):
        outcome = rig.run(*command.split())
        _harmless(outcome.out)
        _harmless(outcome.err)


def test_jobs_are_not_obeyed(rig: Rig) -> None:
    """Job names come from everybody on the cluster."""
    changed(rig, "one")
    submit(rig, "one", seconds=100, name=f"job{EVIL}")
    for command in ("jobs list one", "jobs list one --format json", "jobs show one 1", "delete one --auto-approve"):
        outcome = rig.run(*command.split())
        _harmless(outcome.out)
        _harmless(outcome.err)


# --- what files may reach


@pytest.fixture
def secret(rig: Rig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file outside the repository."""
    path = tmp_path_factory.mktemp("elsewhere") / "secret.sh"
    path.write_text(f"#!/bin/bash\n# {CANARY}\n")
    return path


def _make(rig: Rig, secret: Path) -> dict[str, str]:
    """Ways to name it, and things that never end."""
    (rig.root / "link.sh").symlink_to(secret)
    (rig.root / "folder").symlink_to(secret.parent)
    (rig.root / "zero.sh").symlink_to("/dev/zero")
    (rig.root / "loop.sh").symlink_to("loop.sh")
    os.mkfifo(rig.root / "pipe.sh")
    (rig.root / "large.sh").write_bytes(b"#" * (64 * 2**20))
    with (rig.root / "sparse.sh").open("wb") as stream:
        stream.truncate(2**40)
    return {
        "absolute": str(secret),
        "up": os.path.relpath(secret, rig.root / "clusters.d"),
        "up and down": f"../../{rig.root.name}/../{os.path.relpath(secret, rig.root.parent)}",
        "link": "../link.sh",
        "folder": "../folder/secret.sh",
        "home": "~/secret.sh",
        "url": f"file://{secret}",
        "nul": "../x.sh\0",
        "process": "/proc/self/environ",
        "device": "../zero.sh",
        "loop": "../loop.sh",
        "pipe": "../pipe.sh",
        "large": "../large.sh",
        "sparse": "../sparse.sh",
        "itself": ".",
        "shell": "$(cat x)",
    }


def test_scripts_never_leave_the_repository(rig: Rig, secret: Path) -> None:
    """By no name; devices, pipes and endless files aren't read either. Nothing is planned, and nothing comes out."""
    for reference in _make(rig, secret).values():
        wanted = spec()
        slurm(wanted)["prolog_bash_scripts"] = [{"file": reference}]
        rig.write("one", wanted)
        for command in ("validate", "plan --format json --out plan.json", "apply --auto-approve"):
            assert rig.run(*command.split()).code == 1, reference
    assert rig.writes() == []
    assert CANARY not in (rig.root / "plan.json").read_text()


@pytest.mark.parametrize("name", ["../.git/config", "../link.sh", "../part/.git/config", "../.git", "../.GIT/config"])
def test_scripts_never_come_from_git(rig: Rig, name: str) -> None:
    """A checkout's `.git/config` may hold a token: nothing below such a folder is read, by whatever way."""
    for folder in (".git", "part/.git", ".GIT"):
        (rig.root / folder).mkdir(parents=True, exist_ok=True)
        (rig.root / folder / "config").write_text(f"extraheader = {CANARY}\n")
    (rig.root / "link.sh").symlink_to(".git/config")
    wanted = spec()
    slurm(wanted)["prolog_bash_scripts"] = [{"file": name}]
    rig.write("one", wanted)
    outcome = rig.run("validate").ended(1)
    assert "inside a .git folder" in outcome.out + outcome.err
    rig.run("plan", "--format", "json", "--out", "plan.json").ended(1)
    assert CANARY not in (rig.root / "plan.json").read_text()


def test_scripts_with_git_in_their_names_are_fine(rig: Rig) -> None:
    """`.github` and `.gitlab` are folders like others."""
    for name in (".github/a.sh", "x.git/b.sh"):
        rig.text(name, "#!/bin/bash\ntrue\n")
    wanted = spec()
    slurm(wanted)["prolog_bash_scripts"] = [{"file": "../.github/a.sh"}, {"file": "../x.git/b.sh"}]
    rig.write("one", wanted)
    rig.run("validate").ok()


def _git(rig: Rig, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=rig.root, check=True, capture_output=True)


def _committed(rig: Rig) -> None:
    (rig.root / ".git").rmdir()
    _git(rig, "init", "--quiet")
    _git(rig, "add", "--all")
    _git(rig, "commit", "--quiet", "--message=x")


def test_links_at_the_base_multiply_nothing(rig: Rig) -> None:
    """Ten files and ten links back to their folder are ten files."""
    changed(rig, "one")
    for number in range(10):
        rig.text(f"x/f{number}", "x")
        (rig.root / "x" / f"l{number}").symlink_to("../x")
        (rig.root / "clusters.d" / f"l{number}").symlink_to("../x")
    _committed(rig)
    rig.run("plan", "--base", "HEAD").ok()


def test_links_crosswise_at_the_base_are_refused(rig: Rig) -> None:
    """What would be millions of paths is an error that says so."""
    changed(rig, "one")
    for one, other in itertools.permutations(range(12), 2):
        rig.text(f"d{one}/f", "x")
        (rig.root / f"d{one}" / f"to{other}").symlink_to(f"../d{other}")
    _committed(rig)
    assert "symbolic links lead to more than" in rig.run("plan", "--base", "HEAD").ended(1).err


def test_cluster_files_that_are_none(rig: Rig, secret: Path) -> None:
    """Links to devices, pipes and endless files among the cluster files are findings."""
    _make(rig, secret)
    for name in ("zero", "pipe", "large", "sparse", "loop"):
        (rig.root / "clusters.d" / f"{name}.yaml").symlink_to(f"../{name}.sh")
    outcome = rig.run("validate", "--format", "json").ended(1)
    assert {Path(each["file"]).stem for each in outcome.json["findings"]} == {"zero", "pipe", "large", "sparse", "loop"}


def test_no_program_is_run_on_content_but_bash_that_reads(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """`bash -n` with the text on standard input, no shell in between, whatever files and answers say."""
    started: list[tuple[Any, bool]] = []
    popen = subprocess.Popen

    class Watched(popen[Any]):  # type: ignore[type-arg, misc, valid-type]  # a class that is generic at run time
        def __init__(self, arguments: Any, *rest: Any, **options: Any) -> None:
            started.append((arguments, bool(options.get("shell"))))
            super().__init__(arguments, *rest, **options)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    monkeypatch.setattr(os, "system", lambda command: pytest.fail(command))
    hostile = "$(touch owned); `touch owned`; | touch owned"
    changed(rig, "one")
    wanted = spec(label=hostile)
    slurm(wanted)["prolog_bash_scripts"] = [f"#!/bin/bash\ntouch owned\n{hostile}\n", f"touch owned\n# {hostile}\n"]
    rig.write("one", wanted)
    rig.control.live(rig.name("one"), {"labels": {"team": hostile}})
    for command in ("validate", "plan", "apply --auto-approve", "drift", "import one"):
        rig.run(*command.split())
    assert started
    for arguments, shell in started:
        assert not shell
        assert arguments[1:2] == ["-n"], arguments
        assert hostile not in " ".join(arguments)
    assert not list(rig.root.rglob("owned"))


@pytest.mark.parametrize(
    "command",
    [
        "apply --auto-approve --plan zero.sh",
        "apply --auto-approve --smoke zero.sh",
        "jobs submit one zero.sh",
        "merge zero.sh",
    ],
)
def test_files_of_the_command_line_end(rig: Rig, secret: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan file or a script may come from anywhere, a device without end included."""
    monkeypatch.setattr(inputs.read_text, "__defaults__", (2**20,))
    _make(rig, secret)
    changed(rig, "one")
    outcome = rig.run(*command.split()).ended(1)
    assert "larger than" in outcome.err
    assert rig.writes() == []


def test_doctor_reads_nothing_without_end(rig: Rig, secret: Path) -> None:
    """A file's first line names a schema for editors, and doctor looks whether that is current."""
    _make(rig, secret)
    for name in ("zero.sh", "pipe.sh", "sparse.sh"):
        rig.text(f"clusters.d/{name}.yaml", f"# yaml-language-server: $schema=../{name}\n")
    (rig.root / "clusters.d" / "waiting.yaml").symlink_to("../pipe.sh")
    outcome = rig.run("doctor")
    assert "can't be read" in outcome.out
