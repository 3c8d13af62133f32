"""No cluster file, however broken, ends in anything but a clear error with its place, and exit 1. (Contract 5.3)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.contract.bench import LOCATION, Bench

HEAD = f"project: p\nlocation: {LOCATION}\ncluster_id: bad\n"
BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
BROKEN: dict[str, str | bytes] = {
    "empty": "",
    "comments": "# nothing\n---\n# here\n",
    "scalar": "hello",
    "list": "- 1\n- 2\n",
    "tabs": f"{HEAD}spec:\n\tdisplay_name: x\n",
    "binary": bytes(range(256)),
    "bad UTF-8": f"{HEAD}spec: {{display_name: ".encode() + b"\xff\xfe}}",
    "UTF-16": HEAD.encode("utf-16"),
    "unclosed": f'{HEAD}spec: {{"a": [1, 2',
    "cyclic": f"{HEAD}spec: &a\n  b: *a\n",
    "exploding": f"{HEAD}{BOMB}",
    "python tag": f"{HEAD}spec: !!python/object/apply:os.system ['true']\n",
    "undefined alias": f"{HEAD}spec: *nowhere\n",
    "1e400": f"{HEAD}spec: {{node_pools: [{{id: a, scaling_spec: {{max_node_count: 1e400}}}}]}}",
    "huge number": f"{HEAD}spec: {{node_pools: [{{id: a, scaling_spec: {{max_node_count: {'9' * 5000}}}}}]}}",
    "nan": f"{HEAD}spec: {{labels: .nan}}",
    "deep lists": f"{HEAD}spec: {'[' * 5000}{']' * 5000}",
    "deep maps": f"{HEAD}spec: {'{a: ' * 5000}1{'}' * 5000}",
    "deep blocks": HEAD + "spec:\n" + "".join(f"{' ' * n}a:\n" for n in range(1, 1500)),
    "spec a list": f"{HEAD}spec: []\n",
    "spec a number": f"{HEAD}spec: 1\n",
    "spec null": f"{HEAD}spec: null\n",
    "no spec": HEAD,
    "no project": "location: l\ncluster_id: bad\nspec: {}\n",
    "project a list": "project: [p]\nlocation: l\ncluster_id: bad\nspec: {}\n",
    "project with a slash": "project: a/b\nlocation: l\ncluster_id: bad\nspec: {}\n",
    "pools a map": f"{HEAD}spec: {{node_pools: {{cpu: {{}}}}}}\n",
    "pool a string": f"{HEAD}spec: {{node_pools: [cpu]}}\n",
    "pool null": f"{HEAD}spec: {{node_pools: [null]}}\n",
    "id a map": f"{HEAD}spec: {{node_pools: [{{id: {{}}}}]}}\n",
    "labels a list": f"{HEAD}spec: {{labels: [a]}}\n",
    "label a map": f"{HEAD}spec: {{labels: {{a: {{}}}}}}\n",
    "lifecycle a list": f"{HEAD}lifecycle: []\nspec: {{}}\n",
    "lifecycle of words": f"{HEAD}lifecycle: {{prevent_destroy: maybe, state: gone, nonsense: 1}}\nspec: {{}}\n",
    "script a number": f"{HEAD}spec: {{orchestrator_spec: {{slurm_spec: {{prolog_bash_scripts: [7]}}}}}}\n",
    "script elsewhere": f"{HEAD}spec: {{node_pools: [{{id: a, startup_script: {{file: /etc/passwd}}}}]}}\n",
    "script above": f"{HEAD}spec: {{node_pools: [{{id: a, startup_script: {{file: ../../../x.sh}}}}]}}\n",
    "script missing": f"{HEAD}spec: {{node_pools: [{{id: a, startup_script: {{file: none.sh}}}}]}}\n",
    "duplicate key": f"{HEAD}project: q\nspec: {{}}\n",
    "merge of nothing": f"{HEAD}spec:\n  <<: 7\n",
    "key a list": f"{HEAD}spec:\n  ? [a, b]\n  : 1\n",
    "null byte": f"{HEAD}spec: {{display_name: \"a\0b\"}}\n",
    "conflict": f"<<<<<<< ours\n{HEAD}=======\n{HEAD}>>>>>>> theirs\n",
    "json cut short": '{"project": "p", "location": "l", "cluster_id": "bad", "spec": {"node_pools": [{"id"',
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file(bench: Bench, kind: str) -> None:
    """validate, plan and apply name the file, exit 1, and let the file beside it through."""
    text = BROKEN[kind]
    bench.text("clusters.d/bad.yaml", text)
    bench.write("good", bench.small())
    found = bench.run("validate", "--format", "json").ended(1).json["findings"]
    errors = [each for each in found if each["severity"] == "error"]
    assert {each["file"] for each in errors} == {"clusters.d/bad.yaml"}
    assert all(each["message"] for each in errors)
    plan = bench.run("plan", "--format", "json").ended(1).json
    assert [each["action"] for each in plan["clusters"]] == ["create"]
    assert {each["source"] for each in plan["errors"]} == {"clusters.d/bad.yaml"}
    applied = bench.apply().ended(1).json["results"]
    assert [each["status"] for each in applied if each["cluster"] == bench.name("good")] == ["applied"]


@pytest.mark.parametrize("kind", ["tabs", "unclosed", "1e400", "spec a number", "undefined alias", "duplicate key"])
def test_the_place_is_told(bench: Bench, kind: str) -> None:
    """File and line, as editors jump to."""
    bench.text("clusters.d/bad.yaml", BROKEN[kind])
    first = bench.run("validate").ended(1).out.splitlines()[0]
    path, line, _ = first.split(":", 2)
    assert path == "clusters.d/bad.yaml"
    assert int(line) >= 4


def test_other_things_than_files(bench: Bench) -> None:
    """A pipe, a dangling link, a link to itself, a folder with a file's name, a file that may not be read."""
    folder = bench.root / "clusters.d"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "dangling.yaml").symlink_to("nowhere")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    (folder / "folder.yaml").mkdir()
    (folder / "again").symlink_to(folder)
    bench.write("good", bench.small())
    found = bench.run("validate", "--format", "json").ended(1).json["findings"]
    assert {Path(each["file"]).name for each in found} == {"pipe.yaml", "dangling.yaml", "loop.yaml"}
    assert len(bench.run("plan", "--format", "json").ended(1).json["clusters"]) == 1


def test_scripts_behind_a_link_out_of_the_repository(bench: Bench, tmp_path: Path) -> None:
    """A symbolic link doesn't smuggle a file from outside into a payload."""
    outside = tmp_path.parent / f"{tmp_path.name}.sh"
    outside.write_text("#!/bin/bash\n")
    (bench.root / "link.sh").symlink_to(outside)
    spec = bench.small()
    spec["node_pools"][1]["startup_script"] = {"file": "../link.sh"}
    bench.write("demo", spec)
    assert "outside the repository" in bench.run("validate").ended(1).out


@pytest.mark.parametrize("text", ["{", "- 1", "cluster_id: x", "\xff"])
def test_broken_defaults(bench: Bench, text: str) -> None:
    """Broken defaults are one error at their place, and the clusters below them aren't used without."""
    bench.text("clusters.d/_defaults.yaml", text)
    bench.write("demo", bench.small())
    bench.run("validate").ended(1)
    bench.apply().ended(1)
    assert bench.writes() == []


def test_defaults_are_layered(bench: Bench) -> None:
    """Maps are merged, the nearer file wins, lists are replaced; files that begin with _ or . are no clusters."""
    bench.text(
        "clusters.d/_defaults.yaml", f"project: {bench.project}\nlocation: us-east1\nspec: {{labels: {{a: x, b: x}}}}\n"
    )
    bench.text("clusters.d/near/_defaults.yaml", f"location: {LOCATION}\nspec: {{labels: {{b: y}}}}\n")
    bench.text("clusters.d/near/_other.yaml", "not a cluster")
    bench.text("clusters.d/near/.hidden.yaml", "not a cluster")
    pools = "[{id: login, machine_spec: {machine_type: n2}, scaling_spec: {max_node_count: 1}}]"
    bench.text("clusters.d/near/demo.yaml", f"cluster_id: demo\nspec: {{node_pools: {pools}, labels: {{c: z}}}}\n")
    bench.apply().ok()
    assert bench.live()["labels"] == {"a": "x", "b": "y", "c": "z"}
