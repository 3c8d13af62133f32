"""`github comment`: one comment per path and environment, whatever stands in the plan and whoever else comments."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options

from reconciler.errors import ReconcilerError
from reconciler.plan.model import Action, Blocker, Change, ClusterPlan, Note, Plan, summarise
from reconciler.spec.fields import Impact
from reconciler.views.github import COMMENT_LIMIT, marker, plan_fingerprint
from reconciler.views.json import error_json, plan_json
from reconciler.views.text import plan_text
from tests.contract.bench import Bench, Outcome
from tests.workflows.standin import BOT, LONGEST, Reply, Standin, serve

REPOSITORY = "acme/clusters"
NUMBER = 7
HEAD, BASE, NEWER = "a" * 40, "b" * 40, "c" * 40
MARKER = "<!-- reconciler:plan path=clusters.d environment=default -->"
PROLOG = "orchestrator_spec.slurm_spec.prolog_bash_scripts[0]"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Standin]:
    """GitHub with a pull request, and the environment of a run on it."""
    with serve() as standin:
        standin.pull(NUMBER, HEAD)
        event = tmp_path / "event.json"
        pull = {"number": NUMBER, "head": {"sha": HEAD}, "base": {"sha": BASE}}
        event.write_text(json.dumps({"pull_request": pull}))
        for name, value in {
            "GITHUB_API_URL": standin.url,
            "GITHUB_TOKEN": standin.token,
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_SHA": "d" * 40,
            "GITHUB_RUN_ID": "42",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        }.items():
            monkeypatch.setenv(name, value)
        yield standin


@pytest.fixture
def post(bench: Bench, hub: Standin) -> Any:
    """`post(plan, *arguments)` writes the plan's file and comments on the pull request."""

    def comment(plan: Plan, *arguments: str) -> Outcome:
        path = bench.text("plan.json", plan_json(plan))
        return bench.run("github", "comment", "--from", path, *arguments)

    return comment


def cluster(name: str = "demo", *changes: Change, action: Action = Action.UPDATE, **more: Any) -> ClusterPlan:
    """A cluster's plan."""
    return ClusterPlan(
        f"projects/p/locations/us-central1/modelDevelopmentClusters/{name}",
        f"clusters.d/{name}.yaml",
        action,
        changes,
        **more,
    )


def plan(*clusters: ClusterPlan, created_at: str = "2026-11-01T12:00:00Z") -> Plan:
    """A plan of clusters."""
    return Plan("0", created_at, clusters, summary=summarise(clusters))


def nodes(before: int = 4, after: int = 6, impact: Impact = Impact.IN_PLACE) -> Change:
    """Another maximum."""
    return Change("node_pools[cpu].scaling_spec.max_node_count", before, after, "node_pools", impact)


def script(before: str | None, after: str | None) -> Change:
    """Another prolog."""
    return Change(PROLOG, before, after, "orchestrator_spec.slurm_spec.prolog_bash_scripts", Impact.IN_PLACE)


class Page(HTMLParser):
    """The elements that a browser would make of a comment, in order, and its text outside of code."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.outside = ""
        self.comments = 0
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Opened."""
        self.tags.append(tag)
        if tag not in ("br", "hr", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Closed, in the order of nesting."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Text that GitHub would look for mentions in."""
        if not {"code", "pre"} & set(self.open):
            self.outside += data

    def handle_comment(self, data: str) -> None:
        """Markers."""
        self.comments += 1


def test_one_comment_updated_in_place(post: Any, hub: Standin) -> None:
    """The first plan posts, the next one edits that same comment, and both say where it is."""
    first = post(plan(cluster("demo", nodes()))).ok()
    assert first.out.startswith("created https://github.example/pull/7#issuecomment-")
    second = post(plan(cluster("demo", nodes(4, 8)))).ok()
    assert second.out.replace("updated", "created") == first.out
    (body,) = hub.bodies(NUMBER)
    assert body.startswith(f"{MARKER}\n")
    assert "`8`" in body


def test_the_same_text_is_not_sent_again(post: Any, hub: Standin) -> None:
    """A comment that says it all already is left alone."""
    post(plan(cluster("demo", nodes()))).ok()
    assert post(plan(cluster("demo", nodes())), "--format", "json").ok().json["outcome"] == "unchanged"
    assert hub.did("PATCH") == []


def test_one_comment_per_path_and_environment(post: Any, hub: Standin) -> None:
    """Other environments and other folders have comments of their own; a slash at the end makes no other folder."""
    changed = plan(cluster("demo", nodes()))
    for arguments in ((), ("--environment", "prod"), ("--path", "eu/clusters.d"), ("--path", "eu/clusters.d/")):
        post(changed, *arguments).ok()
    assert len(hub.bodies(NUMBER)) == 3


@pytest.mark.parametrize("path", ["./clusters.d", "clusters.d/", "clusters.d//", "x/../clusters.d"])
def test_a_folder_has_one_comment_however_it_is_spelled(post: Any, hub: Standin, path: str) -> None:
    """The marker and the title have it as it is called everywhere."""
    post(plan(cluster("demo", nodes()))).ok()
    assert post(plan(cluster("demo", nodes(4, 7))), "--path", path).ok().out.startswith("updated")
    (body,) = hub.bodies(NUMBER)
    assert body.startswith(f"{MARKER}\n")
    assert "## Plan for clusters.d\n" in body


@pytest.mark.parametrize("value", ["a -->", "a--><b>", "a\n<!--", "ü b", "--"])
def test_a_marker_holds_any_value(value: str) -> None:
    """No path and no environment ends the marker's comment or takes it to another line."""
    line = marker("plan", value, value)
    assert re.fullmatch(r"<!-- [^\n<>]* -->", line)
    assert marker("plan", value, "x") != marker("plan", f"{value}x", "x")


def test_pain_g79_the_comment_says_what_it_is_of(post: Any, hub: Standin) -> None:
    """Head commit, base, when live was read, the plan's fingerprint and the run; a merge commit isn't the head."""
    made = plan(cluster("demo", nodes()))
    post(made, "--artifact-url", "https://github.example/artifacts/1").ok()
    (body,) = hub.bodies(NUMBER)
    assert f"[`{HEAD[:10]}`](https://github.com/acme/clusters/commit/{HEAD})" in body
    assert f"[`{BASE[:10]}`]" in body
    assert "live read 2026-11-01 12:00:00 UTC" in body
    assert plan_fingerprint(made)[:19] in body
    assert "[run](https://github.com/acme/clusters/actions/runs/42)" in body
    assert "[artifact](https://github.example/artifacts/1)" in body
    assert "d" * 10 not in body


def test_the_fingerprint_is_of_the_plan_and_not_of_its_time() -> None:
    """Plans of the same inputs have the same one; others have others."""
    one, same = plan(cluster("demo", nodes())), plan(cluster("demo", nodes()), created_at="2026-11-02T12:00:00Z")
    assert plan_fingerprint(one) == plan_fingerprint(same)
    assert plan_fingerprint(one) != plan_fingerprint(plan(cluster("demo", nodes(4, 7))))


def test_a_commit_that_is_none_is_shown_as_it_is(post: Any, hub: Standin) -> None:
    """A branch's name in place of a commit becomes no link, and what it holds no markup."""
    post(plan(cluster("demo", nodes())), "--commit", "main`<b>@all").ok()
    page = Page(hub.bodies(NUMBER)[0])
    assert "b" not in page.tags[: page.tags.index("table")]
    assert "@" not in page.outside


def test_pain_g79_an_older_commit_says_so(post: Any, hub: Standin) -> None:
    """A run that was overtaken by a push says that its plan is outdated."""
    hub.pull(NUMBER, NEWER)
    post(plan(cluster("demo", nodes()))).ok()
    assert "The pull request has moved on to" in hub.bodies(NUMBER)[0]


def test_an_older_run_leaves_a_newer_comment_alone(post: Any, hub: Standin) -> None:
    """A slow run of an older commit doesn't overwrite what the newest one has said."""
    hub.pull(NUMBER, NEWER)
    post(plan(cluster("demo", nodes(4, 9))), "--commit", NEWER).ok()
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("skipped")
    assert "`9`" in hub.bodies(NUMBER)[0]


@pytest.mark.parametrize("commit", [HEAD[:7], HEAD[:12].upper()])
def test_a_shortened_commit_is_the_same(post: Any, hub: Standin, commit: str) -> None:
    """What git shortens isn't outdated by its own full id, and isn't taken for a newer plan either."""
    post(plan(cluster("demo", nodes())), "--commit", commit).ok()
    assert "moved on" not in hub.bodies(NUMBER)[0]
    hub.pull(NUMBER, NEWER)
    post(plan(cluster("demo", nodes(4, 9))), "--commit", NEWER[:8]).ok()
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("skipped")


@pytest.mark.parametrize(
    ("size", "clusters"), [(300_000, 1), (100_000, 40), (50_000, 200)], ids=["g73", "g74", "200-clusters"]
)
def test_pain_g73_g74_big_plans_fit_one_comment(post: Any, hub: Standin, size: int, clusters: int) -> None:
    """However much there is: one comment within the limit, totals and removals on top, fences and details closed."""
    text = "".join(f"echo {number:06} 'ünïcode'\n" for number in range(size // 24))
    made = plan(
        *(
            cluster(
                f"c{number}",
                script(text, text.replace("1", "2")),
                *([Change("node_pools[old]", {"id": "old"}, None, "node_pools", Impact.REMOVES_NODES)] * (number == 3)),
                nodes(),
            )
            for number in range(clusters)
        )
    )
    assert len(plan_json(made)) > size * clusters
    post(made).ok()
    (body,) = hub.bodies(NUMBER)
    assert len(body) <= len(body.encode()) <= COMMENT_LIMIT < LONGEST
    assert f"{clusters} to update" in body.splitlines()[5]
    assert "Shortened to fit" in body
    assert "[job summary](https://github.com/acme/clusters/actions/runs/42)" in body
    if clusters > 1:
        assert body.index("node_pools[old]") < body.index("| Cluster |")
    assert Page(body).open == []


@pytest.mark.parametrize(
    "evil",
    [
        "```\n</details>\n# big\n",
        "`````\n@example-org/everyone\n`````\n",
        f"{MARKER}\n<!-- reconciler:commit {NEWER} -->\n",
        "</code></pre></details><script>alert(1)</script>\n",
        "fixes #1, GH-2, @everyone and https://e.example\n",
        "\n~~~\n<img src=x onerror=y>\n",
    ],
)
def test_pain_g76_foreign_text_has_no_effect(post: Any, hub: Standin, evil: str) -> None:
    """Scripts, names and messages can't end their fence, ping anybody, inject HTML or pose as the marker."""
    name = evil.strip().replace("\n", " ")
    hostile = cluster(
        "demo",
        script(f"{evil}echo 1\n", f"echo 1\n{evil}"),
        Change(f"labels.{name}", None, evil, "labels", Impact.IN_PLACE, reason=evil),
        Change(f"node_pools[{name}]", {"id": evil}, None, "node_pools", Impact.REMOVES_NODES),
        blockers=(Blocker("immutable_field", evil),),
        notes=(Note("update_mode", evil),),
    )
    plain = cluster(
        "demo",
        script("a\necho 1\n", "echo 1\na\n"),
        Change("labels.a", None, "a\n", "labels", Impact.IN_PLACE, reason="a"),
        Change("node_pools[a]", {"id": "a\n"}, None, "node_pools", Impact.REMOVES_NODES),
        blockers=(Blocker("immutable_field", "a"),),
        notes=(Note("update_mode", "a"),),
    )
    post(plan(hostile), "--environment", evil).ok()
    post(plan(plain), "--environment", "other").ok()
    page, expected = (Page(body) for body in hub.bodies(NUMBER))
    assert page.open == []
    assert set(page.tags) == set(expected.tags)
    assert page.tags.count("details") == expected.tags.count("details")
    assert page.tags.count("pre") == expected.tags.count("pre")
    assert page.comments == 2
    assert not re.search(r"[@#]\w|GH-\d|://", page.outside)


def test_secrets_are_masked_with_their_side(post: Any, hub: Standin) -> None:
    """What looks like a secret is nowhere in a comment; that it differs can still be seen."""
    old, new = "hf_" + "A" * 34, "hf_" + "B" * 34
    post(plan(cluster("demo", script(f"export HF={old}\n", f"export HF={new}\n")))).ok()
    (body,) = hub.bodies(NUMBER)
    assert "[masked before]" in body
    assert "[masked after]" in body
    assert old not in body
    assert new not in body


def test_secrets_are_masked_by_their_names(post: Any, hub: Standin) -> None:
    """Parameters whose name says secret, alone and inside of a new partition; where they only say a path, that is told."""
    config = "orchestrator_spec.slurm_spec.config"
    changes = (
        Change(f"{config}.AccountingStoragePass", "one-of-old", "one-of-new", config, Impact.IN_PLACE),
        Change(f"{config}.JobCompPass", None, "/run/munge.socket", config, Impact.IN_PLACE),
        Change("partitions[x]", None, {"id": "x", "config": {"job_comp_pass": "two-of-new"}}, "p", Impact.IN_PLACE),
    )
    post(plan(cluster("demo", *changes))).ok()
    (body,) = hub.bodies(NUMBER)
    assert "-of-" not in body
    assert body.count("[masked after]") == 2
    assert "/run/munge.socket" in body


@pytest.mark.parametrize(
    "line", ["DB_PASS=made-up-1", "curl -u bob:made-up-1 x", 'token = "made-up-1"', "mysql -uroot -pmade-up-1"]
)
def test_secrets_of_all_kinds_are_masked(post: Any, hub: Standin, line: str) -> None:
    """In a script, in whatever form; their kinds are a table of `spec/secrets.py`."""
    post(plan(cluster("demo", script("exit 0\n", f"{line}\n")))).ok()
    assert "made-up-1" not in hub.bodies(NUMBER)[0]
    assert "[masked after]" in hub.bodies(NUMBER)[0]


def test_secrets_are_masked_in_the_log_too() -> None:
    """What a run prints of a plan is read by as many as its comment."""
    secret = "hf_" + "A" * 34
    told = plan_text(plan(cluster("demo", script(f"export HF={secret}\n", "exit 0\n"))))
    assert "[masked before]" in told
    assert secret not in told


def test_pain_g77_the_plan_comes_from_a_file_or_standard_input(bench: Bench, hub: Standin) -> None:
    """A plan beyond what an argument or a variable can hold is read from standard input as well."""
    text = plan_json(plan(cluster("demo", script(None, "echo\n" * 60_000))))
    assert len(text) > 250_000
    assert "No such file" in bench.run("github", "comment", "--from", "no-plan.json").ended(1).err
    command = [sys.executable, "-m", "reconciler", "github", "comment", "--from", "-"]
    subprocess.run(command, input=text.encode(), check=True, capture_output=True)
    assert len(hub.bodies(NUMBER)) == 1


def test_pain_g80_a_failed_post_loses_nothing(post: Any, hub: Standin, tmp_path: Path) -> None:
    """A token that may not comment: exit code 0, the plan in the job summary, and the permission that is missing."""
    accepted = {"X-Accepted-GitHub-Permissions": "issues=write; pull_requests=write"}
    hub.fault("POST .*/comments", Reply(403, {"message": "Resource not accessible by integration"}, accepted))
    done = post(plan(cluster("demo", nodes(8, 4, Impact.REMOVES_NODES)))).ok()
    assert done.out == "failed\n"
    assert "pull-requests: write" in done.err
    summary = (tmp_path / "summary.md").read_text()
    assert "Resource not accessible by integration" in summary
    assert "removes nodes" in summary


SET_UP_WRONG = [
    ("GITHUB_REPOSITORY", "nobody", 64, "is no repository"),
    ("GITHUB_TOKEN", "two words", 64, "GITHUB_TOKEN holds spaces"),
    ("GITHUB_API_URL", "ftp://x", 64, "GITHUB_API_URL"),
    ("GITHUB_EVENT_PATH", "", 64, "say --pr N"),
    ("GITHUB_EVENT_PATH", "no-event.json", 1, "no-event.json"),
]


@pytest.mark.parametrize(
    ("variable", "value", "code", "said"), SET_UP_WRONG, ids=[f"{a}={b}" for a, b, *_ in SET_UP_WRONG]
)
def test_pain_g80_what_is_set_up_wrong_loses_nothing_either(
    post: Any,
    hub: Standin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    code: int,
    said: str,
) -> None:
    """No repository, no number, no URL, no token that is one: an error, and the plan in the job summary all the same."""
    monkeypatch.setenv(variable, value)
    assert said in post(plan(cluster("demo", nodes()))).ended(code).err
    summary = (tmp_path / "summary.md").read_text()
    assert "1 to update" in summary
    assert "This couldn't be posted" in summary
    assert hub.requests == []


def test_an_event_isnt_needed_where_the_number_is_given(
    post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken event file is no reason not to post to --pr."""
    monkeypatch.setenv("GITHUB_EVENT_PATH", "no-event.json")
    assert post(plan(cluster("demo", nodes())), "--pr", "7").ok().out.startswith("created")


@pytest.mark.parametrize("question", ["POST /graphql", "GET .*/pulls/7", "GET .*/comments"])
def test_a_question_without_an_answer_holds_nothing_up(
    post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Who we are, which commit is newest, what stands there: 502 for each, and the plan is posted."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "0.01s")
    hub.fault(question, Reply(502, b"<html>"))
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("created")
    hub.faults.clear()
    assert post(plan(cluster("demo", nodes(4, 7)))).ok().out.startswith("updated")
    assert len(hub.bodies(NUMBER)) == 1


def test_pain_g80_an_annotation_on_actions(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a run of GitHub Actions the warning is an annotation, in one line."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    hub.fault("POST .*/comments", Reply(404, {"message": "Not Found\n::error::x"}))
    done = post(plan(cluster("demo", nodes()))).ok()
    (line,) = done.err.splitlines()
    assert line.startswith("::warning title=reconciler::nothing was posted: POST ")


@pytest.mark.parametrize(("arguments", "code"), [((), 0), (("--fail-on-error",), 1), (("--no-fail-on-error",), 0)])
def test_pain_g80_whether_a_failed_post_fails_is_said(
    post: Any, hub: Standin, arguments: tuple[str, ...], code: int
) -> None:
    """By itself a comment never fails a run; --fail-on-error lets it."""
    hub.fault(".*", Reply(403, {"message": "no"}))
    done = post(plan(cluster("demo", nodes())), "--format", "json", *arguments).ended(code)
    assert done.json["error"]["code"] == "http_403"


def test_without_a_token_the_plan_is_kept(
    post: Any, hub: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No GITHUB_TOKEN: nothing is sent, and what to write into the workflow is said."""
    monkeypatch.delenv("GITHUB_TOKEN")
    done = post(plan(cluster("demo", nodes()))).ok()
    assert "GITHUB_TOKEN isn't set" in done.err
    assert "github.token" in done.err
    assert "1 to update" in (tmp_path / "summary.md").read_text()
    assert hub.requests == []


def test_a_failed_post_outside_of_a_run(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no job summary the reason is all that is said."""
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    hub.fault("POST .*/comments", Reply(403, {"message": "no"}))
    assert "warning: nothing was posted" in post(plan(cluster("demo", nodes()))).ok().err


@pytest.mark.parametrize("value", ["two words", "ü", "line\nbreak"])
def test_a_token_that_is_none_is_refused_unseen(
    post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """What can't be a header's value is a usage error that doesn't quote it."""
    monkeypatch.setenv("GITHUB_TOKEN", value)
    done = post(plan(cluster("demo", nodes()))).ended(64)
    assert value not in done.err
    assert hub.requests == []


@pytest.mark.parametrize("url", ["http://github.example/api/v3", "ftp://x", "https://a b"])
def test_the_token_goes_to_no_plain_http(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """An API URL that is neither https nor on this machine is refused, by its variable's name."""
    monkeypatch.setenv("GITHUB_API_URL", url)
    assert "GITHUB_API_URL" in post(plan(cluster("demo", nodes()))).ended(64).err


def test_an_enterprise_server_under_a_path(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API under /api/v3 is respected, and its queries are beside it."""
    hub.url += "/api/v3"
    monkeypatch.setenv("GITHUB_API_URL", hub.url)
    post(plan(cluster("demo", nodes()))).ok()
    assert len(hub.bodies(NUMBER)) == 1
    assert "POST /api/graphql" in hub.did("POST")


@pytest.mark.parametrize("name", ["", "acme", "acme/clusters/x", "../x/y", "a b/c", "acme/..", "a/b?c"])
def test_a_repository_is_one(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What is no OWNER/REPO never becomes a part of a URL."""
    monkeypatch.delenv("GITHUB_REPOSITORY")
    assert "is no repository" in post(plan(cluster("demo", nodes())), "--repository", name).ended(64).err


def test_the_number_comes_from_the_event_or_the_command(
    post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--pr wins over the event; without both it is a usage error."""
    hub.pull(8)
    post(plan(cluster("demo", nodes())), "--pr", "8").ok()
    assert len(hub.bodies(8)) == 1
    monkeypatch.delenv("GITHUB_EVENT_PATH")
    assert "say --pr N" in post(plan(cluster("demo", nodes()))).ended(64).err


def test_found_on_any_page(post: Any, hub: Standin) -> None:
    """The comment is found again behind hundreds of others."""
    hub.page = 2
    for number in range(5):
        hub.write(NUMBER, f"comment {number}")
    post(plan(cluster("demo", nodes()))).ok()
    for number in range(4):
        hub.write(NUMBER, f"comment {number}")
    assert post(plan(cluster("demo", nodes(4, 7)))).ok().out.startswith("updated")
    assert len(hub.bodies(NUMBER)) == 10


@pytest.mark.parametrize(
    ("login", "kind"), [("somebody", "User"), ("github-actions", "User"), ("other-app[bot]", "Bot")]
)
def test_what_others_wrote_is_not_taken(post: Any, hub: Standin, login: str, kind: str) -> None:
    """A comment of anybody else that begins with the marker is left as it is."""
    theirs = hub.write(NUMBER, f"{MARKER}\nmine", login, kind)
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("created")
    assert theirs["body"].endswith("mine")


def test_a_marker_further_down_is_none(post: Any, hub: Standin) -> None:
    """A comment of ours that quotes the marker isn't the one."""
    hub.write(NUMBER, f"Look:\n{MARKER}", BOT, "Bot")
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("created")


@pytest.mark.parametrize("kind", ["User", "Bot"])
def test_the_own_login_without_queries(post: Any, hub: Standin, kind: str) -> None:
    """A server without GraphQL tells a person's token by GET /user; an installation's is known to be a bot's."""
    hub.has_graphql = False
    hub.me = {"login": "deploy", "type": kind}
    hub.app_token = kind == "Bot"
    hub.write(NUMBER, f"{MARKER}\ntheirs", "somebody", "User")
    post(plan(cluster("demo", nodes()))).ok()
    assert post(plan(cluster("demo", nodes(4, 7)))).ok().out.startswith("updated")
    assert len(hub.bodies(NUMBER)) == 2


def test_doubles_are_removed(post: Any, hub: Standin) -> None:
    """Two runs at once may have made two comments; the next one keeps the older."""
    for _ in range(3):
        hub.write(NUMBER, f"{MARKER}\nold", BOT, "Bot")
    hub.fault("DELETE", Reply(404, {"message": "Not Found"}), times=1, done=True)  # as if somebody was faster
    post(plan(cluster("demo", nodes()))).ok()
    (body,) = hub.bodies(NUMBER)
    assert "1 to update" in body


def other_run(hub: Standin, body: str = f"{MARKER}\ntheirs") -> Any:
    """Another run of ours that comments at the same time."""
    return lambda: hub.write(NUMBER, body, BOT, "Bot")


def test_two_runs_at_once_keep_one_comment(post: Any, hub: Standin) -> None:
    """Both looked before either commented: the older one stays, with our text, and the younger one goes."""
    hub.meanwhile("GET .*/comments", other_run(hub))
    assert post(plan(cluster("demo", nodes()))).ok().out == "updated https://github.example/pull/7#issuecomment-1001\n"
    (body,) = hub.bodies(NUMBER)
    assert "1 to update" in body


def test_two_runs_at_once_where_ours_is_the_older(post: Any, hub: Standin) -> None:
    """Ours stays, and theirs goes; a removal that fails is left to the next run."""
    hub.meanwhile("POST .*/comments", other_run(hub))
    hub.fault("DELETE", Reply(403, {"message": "no"}), times=1)
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("created")
    assert len(hub.bodies(NUMBER)) == 2
    post(plan(cluster("demo", nodes()))).ok()
    (body,) = hub.bodies(NUMBER)
    assert "1 to update" in body


def test_two_runs_at_once_keep_the_newer_plan(post: Any, hub: Standin) -> None:
    """The other one is of a newer commit: its text is what the one that stays says."""
    hub.pull(NUMBER, NEWER)
    newer = f"{MARKER}\n<!-- reconciler:commit {NEWER} -->\n\nnewer"
    hub.meanwhile("POST .*/comments", other_run(hub, newer))
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("skipped")
    assert hub.bodies(NUMBER) == [newer]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "//x", "https://e.example/a) [b](https://f.example"])
def test_a_link_leads_to_one_page(post: Any, hub: Standin, url: str) -> None:
    """What is no web address becomes no link, and none ends its own markup."""
    post(plan(cluster("demo", nodes())), "--artifact-url", url).ok()
    page = cmarkgfm.github_flavored_markdown_to_html(hub.bodies(NUMBER)[0])
    assert page.count("<a href") == 3 + url.startswith("https://")
    assert "javascript:" not in page


def test_a_plan_without_changes_makes_no_comment(post: Any, hub: Standin) -> None:
    """Nothing to say, nothing said; but a comment that is there says so from then on."""
    assert post(plan(cluster("demo", action=Action.NO_OP))).ok().out == "none\n"
    post(plan(cluster("demo", nodes()))).ok()
    assert post(plan(cluster("demo", action=Action.NO_OP))).ok().out.startswith("updated")
    (body,) = hub.bodies(NUMBER)
    assert "0 to update" in body


def test_pain_g82_a_removed_file_is_worth_a_comment(post: Any, hub: Standin) -> None:
    """A cluster that will no longer be managed is said, though nothing is changed."""
    gone = cluster("demo", action=Action.NO_OP, notes=(Note("file_removed", "the cluster itself stays"),))
    post(plan(gone)).ok()
    assert "the cluster itself stays" in hub.bodies(NUMBER)[0]


def test_pain_i101_the_removal_is_the_first_thing(post: Any, hub: Standin) -> None:
    """Sixty harmless lines and a removal: the removal stands on top, with its count."""
    harmless = [Change(f"labels.l{number}", None, "x", "labels", Impact.IN_PLACE) for number in range(60)]
    removal = Change("node_pools[old]", {"id": "old"}, None, "node_pools", Impact.REMOVES_NODES)
    post(plan(cluster("demo", *harmless, removal))).ok()
    (body,) = hub.bodies(NUMBER)
    assert body.index("Removes or recreates: 1") < body.index("node_pools[old]") < body.index("labels.l0")


def test_failed_marks_the_older_plan(bench: Bench, post: Any, hub: Standin) -> None:
    """--failed replaces an older plan by the news that there is none; it makes no comment of its own."""
    assert bench.run("github", "comment", "--failed").ok().out == "none\n"
    post(plan(cluster("demo", nodes()))).ok()
    bench.run("github", "comment", "--failed").ok()
    (body,) = hub.bodies(NUMBER)
    assert "No plan could be made" in body
    assert HEAD[:10] in body


@pytest.mark.parametrize("arguments", [[], ["--failed", "--from", "plan.json"]])
def test_a_plan_or_its_failure(bench: Bench, hub: Standin, arguments: list[str]) -> None:
    """Neither and both make no sense."""
    assert "either" in bench.run("github", "comment", *arguments).ended(64).err


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json", '{"format_version": "9"}', "\xff\xfe"])
def test_what_is_no_plan_is_refused(bench: Bench, hub: Standin, text: str) -> None:
    """A file that isn't a plan is an error that names what is wrong, and nothing is sent."""
    path = bench.text("plan.json", text.encode("latin-1"))
    bench.run("github", "comment", "--from", path).ended(1)
    assert hub.requests == []


def test_the_error_of_a_command_is_told_as_one(bench: Bench, hub: Standin) -> None:
    """A plan that ended with an error comments so, in place of an older plan, without secrets and without effect."""
    error = ReconcilerError("DB_PASS=made-up-1 <b>no</b> @all", code="credentials")
    path = bench.text("plan.json", error_json(error))
    assert bench.run("github", "comment", "--from", path).ok().out.startswith("created")
    (body,) = hub.bodies(NUMBER)
    assert body.startswith(f"{MARKER}\n")
    assert "No plan could be made" in body
    assert "made-up-1" not in body
    assert Page(body).open == []
    assert "b" not in Page(body).tags


@pytest.mark.parametrize("text", ['{"error": 1}', '{"error": {}}', '{"error": null}', '{"error": []}'])
@pytest.mark.parametrize("command", ["comment", "issue", "applied", "summary"])
def test_an_error_that_is_none(bench: Bench, hub: Standin, command: str, text: str) -> None:
    """Nothing of ours: refused, and nothing is sent."""
    done = bench.run("github", command, "--from", bench.text("x.json", text)).ended(1)
    assert "this is no" in done.err or "the file is no plan" in done.err
    assert hub.requests == []


@pytest.mark.parametrize("option", ["--environment", "--path", "--commit", "--base", "--artifact-url"])
def test_bytes_that_are_no_text(post: Any, hub: Standin, option: str) -> None:
    """What the shell passes on as it is comes to no harm, and makes no harm."""
    value = "https://x/\udcff" if option == "--artifact-url" else "\udcff"
    made = post(plan(cluster("d\ud800", nodes(), script("a\ud800", "b\udcff"))), option, value).ok()
    assert made.out.startswith("created")
    hub.bodies(NUMBER)[0].encode()


def test_a_server_and_a_run_that_are_none(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links that lead nowhere are left out, and nothing else is."""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://[::1\udcff")
    monkeypatch.setenv("GITHUB_RUN_ID", "\udcff")
    post(plan(cluster("demo", nodes()))).ok()
    assert "1 to update" in hub.bodies(NUMBER)[0]


@pytest.mark.parametrize("number", [True, -5, 0, 1.5, "7", 10**30, None, [7]])
def test_a_number_in_the_event_that_is_none(post: Any, hub: Standin, tmp_path: Path, number: Any) -> None:
    """It never becomes a part of a URL."""
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": number}}))
    assert "say --pr N" in post(plan(cluster("demo", nodes()))).ended(64).err
    assert hub.requests == []


def test_a_comment_deleted_meanwhile_is_made_anew(post: Any, hub: Standin) -> None:
    """Somebody deletes the comment between the look and the edit."""
    post(plan(cluster("demo", nodes()))).ok()
    hub.fault("PATCH", Reply(404, {"message": "Not Found"}))
    assert post(plan(cluster("demo", nodes(4, 7)))).ok().out.startswith("created")


def test_an_ambiguous_answer_makes_no_double(post: Any, hub: Standin) -> None:
    """The comment was made and the answer was lost: it is looked for, and edited rather than made again."""
    hub.fault("POST .*/comments", Reply(502, b"<html>Bad gateway</html>"), times=1, done=True)
    post(plan(cluster("demo", nodes()))).ok()
    assert len(hub.bodies(NUMBER)) == 1


def test_an_answer_lost_before_anything_was_made(post: Any, hub: Standin) -> None:
    """The connection broke and no comment is there: it is made."""
    hub.fault("POST .*/comments", None, times=1)
    assert post(plan(cluster("demo", nodes()))).ok().out.startswith("created")
    assert len(hub.bodies(NUMBER)) == 1


def test_the_token_is_nowhere(bench: Bench, hub: Standin, tmp_path: Path) -> None:
    """Not in the log of requests, not in messages, not in the summary, even where an answer quotes it."""
    hub.fault("POST .*/comments", Reply(403, {"message": f"Bearer {hub.token} may not"}))
    path = bench.text("plan.json", plan_json(plan(cluster("demo", nodes()))))
    done = bench.run("--verbose", "github", "comment", "--from", path).ok()
    assert f"GET {hub.url}/repos/acme/clusters/issues/7/comments" in done.err
    assert hub.token not in done.out + done.err + (tmp_path / "summary.md").read_text()


def test_a_number_that_is_no_pull_request(post: Any, hub: Standin) -> None:
    """A 404 is told with what may be wrong, and the plan is kept."""
    done = post(plan(cluster("demo", nodes())), "--pr", "999").ok()
    assert "is the repository right?" in done.err


def test_an_event_that_cant_be_read(post: Any, hub: Standin, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A broken or missing event file is an error with its name."""
    broken = tmp_path / "broken.json"
    for text in ("{", None):
        monkeypatch.setenv("GITHUB_EVENT_PATH", str(broken))
        broken.write_text(text) if text else broken.unlink()
        assert "GITHUB_EVENT_PATH" in post(plan(cluster("demo", nodes()))).ended(1).err


def test_a_summary_that_is_full_stays_as_it_is(post: Any, hub: Standin, tmp_path: Path) -> None:
    """GitHub drops a summary above its limit whole, so nothing is added where it wouldn't fit."""
    summary = tmp_path / "summary.md"
    summary.write_text("x" * (2**20 - 100))
    hub.fault("POST .*/comments", Reply(403, {"message": "no"}))
    assert "the job summary is full" in post(plan(cluster("demo", nodes()))).ok().err
    assert summary.stat().st_size == 2**20 - 100


def test_what_is_kept_fits_what_room_is_left(post: Any, hub: Standin, tmp_path: Path) -> None:
    """A large plan that couldn't be posted is shortened to the rest of the job summary."""
    summary = tmp_path / "summary.md"
    summary.write_text("x" * (2**20 - 8_000))
    hub.fault("POST .*/comments", Reply(403, {"message": "no"}))
    post(plan(*(cluster(f"c{number}", script("a\n", "b\n" * 9_000), nodes()) for number in range(30)))).ok()
    assert 2**20 - 8_000 < summary.stat().st_size <= 2**20
    assert "30 to update" in summary.read_text()


def test_blocked_and_moved_plans_are_no_quiet_ones(post: Any, hub: Standin) -> None:
    """A blocker on an unchanged cluster is told too."""
    blocked = replace(cluster("demo", action=Action.NO_OP), blockers=(Blocker("immutable_field", "no"),))
    post(plan(blocked)).ok()
    assert "Blocked, apply refuses: 1" in hub.bodies(NUMBER)[0]
