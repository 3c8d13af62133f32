"""`init`: a repository that works as it was written, and nobody's files overwritten."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from reconciler.engine import origin, scaffold
from reconciler.spec.schema import cluster_schema
from tests.contract.bench import LOCATION, Bench, Outcome
from tests.contract.process import ROOT

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = f"acme/reconciler@{COMMIT}"
WRITTEN = {
    ".github/workflows/apply.yml",
    ".github/workflows/drift.yml",
    ".github/workflows/plan.yml",
    ".pre-commit-config.yaml",
    ".vscode/settings.json",
    "clusters.d/_defaults.yaml",
    "clusters.d/scripts/check-node.sh",
    "clusters.d/train.yaml",
    "schemas/cluster.schema.json",
}


@pytest.fixture(autouse=True)
def _empty(bench: Bench) -> None:
    """A repository with nothing in it."""
    (bench.root / "clusters.d").rmdir()


def contents(root: Path) -> dict[str, str]:
    """Every file's text by its path, git's own aside."""
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def init(bench: Bench, *arguments: str) -> Outcome:
    return bench.run("init", "--project", bench.project, "--cluster-id", "train", *arguments)


def lines(outcome: Outcome, word: str) -> set[str]:
    """The files of which a word was said."""
    return {line.removeprefix(f"{word} ") for line in outcome.out.splitlines() if line.startswith(f"{word} ")}


def test_it_works_as_it_is(bench: Bench) -> None:
    """Every file is said; validate has nothing to say; what it describes can be made, and is then as its file says."""
    outcome = init(bench).ok()
    assert lines(outcome, "wrote") == WRITTEN == contents(bench.root).keys()
    assert bench.run("validate").ok().out == "Nothing found.\n"
    assert bench.run("doctor", "--format", "json").ok().json["summary"]["warn"] == 0
    bench.run("apply", "--auto-approve").ok()
    bench.settled()


def test_without_anything_given(bench: Bench) -> None:
    """All has a default, and is then still valid."""
    bench.run("init").ok()
    assert bench.run("validate").ok().out == "Nothing found.\n"


def test_a_region_that_nobody_knows(bench: Bench) -> None:
    """New ones may come: a warning of `validate` keeps nobody from starting there."""
    init(bench, "--location", "europe-west9").ok()
    assert "unknown-region" in bench.run("validate").ok().out


def test_names_are_put_in(bench: Bench) -> None:
    """Project, region and id, in the file and in the zones."""
    bench.run("init", "repo", "--project", "example.com:ml", "--location", "europe-west4", "--cluster-id", "b200").ok()
    bench.root = bench.root / "repo"
    (planned,) = bench.run("plan", "--format", "json", "--endpoint", "emulator").json["clusters"]
    assert planned["cluster"] == "projects/example.com:ml/locations/europe-west4/modelDevelopmentClusters/b200"
    assert not [text for text in contents(bench.root).values() if re.search(r"<(project|location|cluster)>", text)]


def test_what_is_commented_out_is_right_too(bench: Bench) -> None:
    """Whoever takes the comment signs away has valid files: the GPU pool, its partition, the lifecycle, the defaults."""
    init(bench).ok()
    for name in ("clusters.d/train.yaml", "clusters.d/_defaults.yaml"):
        path = bench.root / name
        text = re.sub(r"(?m)^( *)# (?=[ -]*[{\w-]+:( |$)|- \{|- id)(?!state:|yaml-)", r"\1", path.read_text())
        path.write_text(text.replace("prevent_destroy: true", "prevent_destroy: false"))
    assert bench.run("validate").ok().out == "Nothing found.\n"
    assert all(
        name in bench.run("plan", "--format", "json").out for name in ("h200", "managed-by", "networks/training")
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--cluster-id", "Train"),
        ("--cluster-id", "my-train"),
        ("--cluster-id", "../train"),
        ("--location", "us-central1-a"),
        ("--project", "a: b"),
        ("--project", "a\nb"),
        ("--project", "null"),
        ("--project", "projects/p"),
        ("--source", "somewhere"),
        ("--from-live", "p/us-central1", "--cluster-id", "train"),
    ],
)
def test_names_that_are_none(bench: Bench, arguments: tuple[str, ...]) -> None:
    """A usage error, and nothing is written."""
    assert bench.run("init", *arguments).code in (1, 64)
    assert contents(bench.root) == {}


def test_twice_is_as_once(bench: Bench) -> None:
    """What is there and the same is left alone."""
    init(bench).ok()
    before = contents(bench.root)
    outcome = init(bench).ok()
    assert lines(outcome, "unchanged") == WRITTEN
    assert contents(bench.root) == before


def test_nothing_is_overwritten(bench: Bench) -> None:
    """A file that differs stops all of it; --force overwrites it, but for what holds other things too."""
    mine = bench.text("schemas/cluster.schema.json", "mine")
    outcome = init(bench).ended(1)
    assert "schemas/cluster.schema.json" in outcome.err
    assert contents(bench.root) == {"schemas/cluster.schema.json": "mine"}
    init(bench, "--force").ok()
    assert json.loads(mine.read_text()) == cluster_schema()


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_shared_files_stay(bench: Bench, force: tuple[str, ...]) -> None:
    """A pre-commit configuration and editor settings that are there are never edited: an entry to add is shown."""
    bench.text(".pre-commit-config.yaml", "repos: []\n")
    bench.text(".vscode/settings.json", "{}")
    outcome = init(bench, "--source", SOURCE, *force).ok()
    assert lines(outcome, "kept") == {".pre-commit-config.yaml", ".vscode/settings.json"}
    assert (bench.root / ".pre-commit-config.yaml").read_text() == "repos: []\n"
    entry = yaml.safe_load(outcome.out.partition("add to the repos of .pre-commit-config.yaml:\n")[2])
    assert entry == [
        {"repo": "https://github.com/acme/reconciler", "rev": COMMIT, "hooks": [{"id": "reconciler-validate"}]}
    ]


def test_a_hook_that_is_there(bench: Bench) -> None:
    """Nothing is to be added to a configuration that has it."""
    bench.text(".pre-commit-config.yaml", "repos: [{repo: local, hooks: [{id: reconciler-validate}]}]\n")
    assert "add to the repos" not in init(bench).ok().out


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda root: (root / "schemas").write_text(""), "schemas/cluster.schema.json"),
        (lambda root: (root / "schemas" / "cluster.schema.json").mkdir(parents=True), "schemas/cluster.schema.json"),
        (lambda root: (root / ".github").symlink_to(root.parent), ".github/workflows/plan.yml"),
    ],
)
def test_places_that_can_not_be_written(bench: Bench, make: Any, path: str) -> None:
    """A file above, a folder there, a link out of the repository: known before the first file is written."""
    make(bench.root)
    outcome = init(bench, "--force").ended(1)
    assert path in outcome.err
    assert not (bench.root / "clusters.d").exists()


def test_parts_can_be_left_out(bench: Bench) -> None:
    """--no-workflows and --no-hook."""
    init(bench, "--no-workflows", "--no-hook").ok()
    assert {name for name in contents(bench.root) if name.startswith((".github", ".pre"))} == set()


def test_a_repository_with_clusters(bench: Bench) -> None:
    """An example has no place among real clusters; asking for one by name is an error, and nothing is written."""
    bench.write("demo", bench.base())
    before = contents(bench.root)
    assert "clusters.d/demo.yaml" in init(bench).ended(1).err
    assert contents(bench.root) == before
    bench.run("init").ok()
    after = contents(bench.root)
    assert {name for name in after if name.startswith("clusters.d")} == {"clusters.d/demo.yaml"}
    assert ".github/workflows/plan.yml" in after


def test_a_folder_below(bench: Bench) -> None:
    """GitHub wouldn't find workflows there: that is said."""
    assert "repository's root alone" in init(bench, "below").ok().err
    assert "repository's root alone" not in init(bench).ok().err


# From live clusters


def test_from_live(bench: Bench) -> None:
    """Every live cluster has a file, its scripts beside it, and a plan that is empty."""
    bench.created("demo", bench.base())
    bench.created("small", bench.small())
    for path in bench.root.glob("clusters.d/*"):
        path.unlink()
    outcome = bench.run("init", "--from-live", f"{bench.project}/{LOCATION}").ok()
    clusters = {name for name in lines(outcome, "wrote") if name.startswith("clusters.d")}
    assert clusters == {
        "clusters.d/_defaults.yaml",
        "clusters.d/demo.yaml",
        "clusters.d/scripts/demo-prolog-0.sh",
        "clusters.d/small.yaml",
    }
    first = (bench.root / "clusters.d/demo.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../schemas/cluster.schema.json"
    assert bench.writes() == []
    bench.run("validate").ok()
    bench.settled()


def test_from_live_beside_files(bench: Bench) -> None:
    """A cluster that has a file keeps it, defaults too; one that is being deleted is left out."""
    bench.created("demo", bench.base())
    (bench.root / "clusters.d/demo.yaml").rename(bench.root / "clusters.d/mine.yaml")
    bench.text("clusters.d/_defaults.yaml", "lifecycle: {running_jobs: wait}\n")
    bench.control.put(bench.name("stray"), {"displayName": "stray"})
    bench.control.put(bench.name("going"), {"displayName": "going", "clusterStatus": {"state": "STOPPING"}})
    outcome = bench.run("init", "--from-live", f"{bench.project}/{LOCATION}").ok()
    written = {name for name in lines(outcome, "wrote") if name.startswith("clusters.d")}
    assert written == {"clusters.d/stray.yaml"}
    assert "demo is in clusters.d/mine.yaml" in outcome.err
    assert "going is being deleted" in outcome.err


def test_from_live_where_nothing_is(bench: Bench) -> None:
    """An error, and nothing is written."""
    assert "no clusters" in bench.run("init", "--from-live", f"{bench.project}/{LOCATION}").ended(1).err
    bench.run("init", "--from-live", bench.project).ended(64)
    assert contents(bench.root) == {}


def test_from_live_that_fails(bench: Bench) -> None:
    """A service that refuses leaves no half of a repository behind."""
    bench.fault("status", "list", code=403, status="PERMISSION_DENIED", message="not yours")
    bench.run("init", "--from-live", f"{bench.project}/{LOCATION}").ended(1)
    assert contents(bench.root) == {}


def test_from_live_with_scripts_of_one_name(bench: Bench) -> None:
    """Two clusters' scripts don't end up in one file, whatever the ids."""
    for cluster, pool in (("a", "b-c"), ("a-b", "c")):
        pools = [{"id": pool, "startupScript": f"#!/bin/bash\necho {cluster}\n"}]
        bench.control.put(bench.name(cluster), {"displayName": cluster, "nodePools": pools})
    outcome = bench.run("init", "--from-live", f"{bench.project}/{LOCATION}").ended(1)
    assert "clusters.d/scripts/a-b-c-startup.sh" in outcome.err
    assert contents(bench.root) == {}


# Workflows and the hook


def test_workflows_are_this_repository_s_own() -> None:
    """One source: but for where the action is from, users get what this repository runs."""
    for name in scaffold.WORKFLOWS:
        own = (Path(ROOT) / f".github/workflows/{name}.yml").read_text()
        (text,) = (text for path, text in scaffold.workflows(origin.given(SOURCE)).items() if path.stem == name)
        assert "uses: ./" not in text
        action = re.compile(rf"acme/reconciler/\.github/actions/reconciler@{COMMIT} # reconciler \S+")
        assert action.sub("./.github/actions/reconciler", text) == own
        assert action.search(text)


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("local", "remote", "expected"),
    [
        (["main"], None, "main"),
        (["trunk"], None, "trunk"),
        (["master", "a-change"], None, "master"),
        (["a-change", "main"], None, "main"),
        (["a-change"], "release/1+x", "release/1+x"),
    ],
)
def test_workflows_are_for_the_branch_that_is(
    bench: Bench, local: list[str], remote: str | None, expected: str
) -> None:
    """The default branch of the origin, or else what the clone has, whichever branch is checked out."""
    (bench.root / ".git").rmdir()
    git(bench.root, "init", "--quiet", f"--initial-branch={local[0]}")
    if len(local) > 1:
        git(bench.root, "commit", "--quiet", "--allow-empty", "--message=x")
        git(bench.root, "checkout", "--quiet", "-b", local[1])
    if remote:
        git(bench.root, "symbolic-ref", "refs/remotes/origin/HEAD", f"refs/remotes/origin/{remote}")
    done = init(bench).ok()
    flow = yaml.safe_load((bench.root / ".github/workflows/apply.yml").read_text())
    assert flow[True]["push"]["branches"] == [expected.replace("+", "\\+")]  # YAML 1.1 reads `on` as true
    assert f"merged to the branch {expected}\n" in done.err


def test_comments_lead_to_no_file_that_isnt_there(bench: Bench) -> None:
    """What is written into somebody's repository names no page of this one."""
    init(bench).ok()
    for path in (bench.root / ".github/workflows").iterdir():
        assert not re.search(r"\bdocs/", path.read_text())


def test_every_action_is_pinned(bench: Bench) -> None:
    """By a whole commit, also where nobody knows from where the tool is; then it's said what to do."""
    outcome = init(bench).ok()
    flows = [text for name, text in contents(bench.root).items() if name.startswith(".github")]
    used = [line.split("uses: ")[1] for text in flows for line in text.splitlines() if "uses: " in line]
    assert used
    assert all(re.match(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # ", each) for each in used)
    assert "--source OWNER/NAME@COMMIT" in outcome.err
    assert "--source" not in bench.run("init", "--source", SOURCE, "--force").ok().err


def test_linters_have_nothing_to_say(bench: Bench) -> None:
    """actionlint and zizmor on what was written."""
    init(bench, "--source", SOURCE).ok()
    tools = Path(sys.executable).parent
    commands: list[list[str | Path]] = [
        [tools / "actionlint", *(bench.root / ".github/workflows").iterdir()],
        [tools / "zizmor", "--offline", "--quiet", "--min-severity", "medium", bench.root / ".github"],
    ]
    for command in commands:
        done = subprocess.run(command, cwd=bench.root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_variables_are_named(bench: Bench) -> None:
    """What the workflows read of the repository's settings is told, in step with their text."""
    outcome = init(bench).ok()
    assert "RECONCILER_WORKLOAD_IDENTITY_PROVIDER" in outcome.err
    text = "".join(text for name, text in contents(bench.root).items() if name.startswith(".github"))
    assert all(name in outcome.err for name in re.findall(r"vars\.(\w+)", text))


@pytest.fixture
def hook() -> dict[str, Any]:
    """The hook that this repository offers."""
    (only,) = yaml.safe_load((Path(ROOT) / ".pre-commit-hooks.yaml").read_text())
    return dict(only)


def test_the_hook(hook: dict[str, Any]) -> None:
    """Its entry is a command that the package installs, on all files at once."""
    scripts = tomllib.loads((Path(ROOT) / "pyproject.toml").read_text())["project"]["scripts"]
    command, *arguments = hook["entry"].split()
    assert command in scripts
    assert arguments == ["validate"]
    assert (hook["id"], hook["language"], hook["pass_filenames"]) == ("reconciler-validate", "python", False)


@pytest.mark.parametrize(
    ("path", "is_met"),
    [
        ("clusters.d/a.yaml", True),
        ("clusters.d/research/a.yml", True),
        ("clusters.d/_defaults.yaml", True),
        ("clusters.d/a.json", True),
        ("clusters.d/scripts/check", True),
        ("clusters.d/research/scripts/check.py", True),
        ("clusters.d/prolog.sh", True),
        ("fleet/clusters.d/a.yaml", True),
        ("scripts/prolog.sh", True),
        ("scripts/epilogs/check", True),
        ("fleet/prologs/check.bash", True),
        ("clusters.d/prolog", False),
        ("myscripts/a.py", False),
        ("clusters.d/README.md", False),
        ("myclusters.d/a.yaml", False),
        ("src/a.yaml", False),
    ],
)
def test_what_starts_the_hook(hook: dict[str, Any], path: str, is_met: bool) -> None:
    """Cluster files, defaults and scripts do, other files don't; as pre-commit searches for it."""
    assert bool(re.search(hook["files"], path)) is is_met


def test_the_hook_of_an_unknown_origin(hook: dict[str, Any]) -> None:
    """Without a repository to take it from, the installed tool is the hook: the same one."""
    (repository,) = yaml.safe_load(scaffold.hook(None)[scaffold.HOOK])["repos"]
    (local,) = repository["hooks"]
    assert repository["repo"] == "local"
    assert local.items() - {("language", "system")} <= hook.items()


@pytest.mark.parametrize("good", [True, False])
def test_the_hook_runs(bench: Bench, hook: dict[str, Any], good: bool) -> None:
    """Run as pre-commit would at the repository's root: it fails what is wrong."""
    init(bench).ok()
    if not good:
        bench.text("clusters.d/train.yaml", "project: [")
    bench.run(*hook["entry"].split()[1:]).ended(0 if good else 1)
