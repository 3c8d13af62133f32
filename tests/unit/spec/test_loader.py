"""From PATHS to clusters: discovery, envelope, lifecycle, checks, twins, selection, places."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from reconciler.spec.files import DiskFiles, FileType, MappingFiles, UnreadableError
from reconciler.spec.findings import Problem, Severity
from reconciler.spec.loader import Loaded, load, load_text
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from tests.unit.spec.samples import HEAD, MINIMAL, POOL, SLURM, load_in, load_one, the_error, told, write


def named(cluster_id: str, text: str = MINIMAL) -> str:
    return text.replace("demo", cluster_id)


def sources(loaded: Loaded) -> list[str]:
    return [desired.source for desired in loaded.clusters]


def only(loaded: Loaded) -> Desired:
    assert told(loaded.findings) == []
    assert not loaded.refused
    (desired,) = loaded.clusters
    return desired


# Which files


def test_folders_are_gone_through(tmp_path: Path) -> None:
    """YAML and JSON files at every depth, in order; names that begin with `_` or `.` aren't clusters."""
    write(
        tmp_path,
        {
            "clusters.d/b.yml": named("b"),
            "clusters.d/a.yaml": named("a"),
            "clusters.d/deep/er/c.json": json.dumps(
                {"project": "p", "location": "l", "cluster_id": "c", "spec": {"nodePools": []}}
            ),
            "clusters.d/_hidden.yaml": "[",
            "clusters.d/.hidden.yaml": "[",
            "clusters.d/_folder/x.yaml": "[",
            "clusters.d/.folder/x.yaml": "[",
            "clusters.d/README.md": "[",
            "clusters.d/scripts/x.sh": "[",
            "clusters.d/yaml": "[",
        },
    )
    loaded = load_in(tmp_path)
    assert loaded.findings == ()
    assert sources(loaded) == ["clusters.d/a.yaml", "clusters.d/b.yml", "clusters.d/deep/er/c.json"]


def test_a_file_that_is_named_is_taken_whatever_its_name(tmp_path: Path) -> None:
    """Somebody who names a file means it."""
    write(tmp_path, {"_odd.txt": named("a"), "clusters.d/b.yaml": named("b")})
    assert sources(load_in(tmp_path, "_odd.txt")) == ["_odd.txt"]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    """By a folder and itself, by two spellings, or by a link: it's one file, and no twin of itself."""
    write(tmp_path, {"clusters.d/a.yaml": MINIMAL})
    (tmp_path / "clusters.d/z.yaml").symlink_to("a.yaml")
    loaded = load_in(tmp_path, "clusters.d", "clusters.d/a.yaml", "./clusters.d/../clusters.d", str(tmp_path))
    assert loaded.findings == ()
    assert sources(loaded) == ["clusters.d/a.yaml"]


def test_links_in_circles_come_to_an_end(tmp_path: Path) -> None:
    """A folder that holds a link to itself, or to what holds it, is gone through once."""
    write(tmp_path, {"clusters.d/deep/a.yaml": MINIMAL})
    (tmp_path / "clusters.d/deep/up").symlink_to("..")
    (tmp_path / "clusters.d/loop").symlink_to("loop")
    (tmp_path / "clusters.d/self").symlink_to(".")
    assert len(load_in(tmp_path).clusters) == 1


def test_a_linked_folder_is_followed(tmp_path: Path) -> None:
    """Folders may be put together by links."""
    write(tmp_path, {"teams/ml/a.yaml": MINIMAL, "clusters.d/x": ""})
    (tmp_path / "clusters.d/ml").symlink_to("../teams/ml")
    assert sources(load_in(tmp_path)) == ["clusters.d/ml/a.yaml"]


def test_the_default_path_is_clusters_d(tmp_path: Path) -> None:
    """Without PATHS."""
    write(tmp_path, {"clusters.d/a.yaml": MINIMAL})
    assert sources(load(cwd=tmp_path)) == ["clusters.d/a.yaml"]
    assert sources(load_text({"clusters.d/a.yaml": MINIMAL.encode()})) == ["clusters.d/a.yaml"]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """One wrong path is told and doesn't hide the others."""
    write(tmp_path, {"clusters.d/a.yaml": MINIMAL})
    loaded = load_in(tmp_path, "nosuch", "clusters.d")
    assert told(loaded.findings) == ["nosuch:0:0 no-such-file: no such file or folder"]
    assert [(each.source, each.message, each.name) for each in loaded.refused] == [
        ("nosuch", "no such file or folder", None)
    ]
    assert sources(loaded) == ["clusters.d/a.yaml"]


def test_a_folder_without_cluster_files_is_a_warning(tmp_path: Path) -> None:
    """Nothing to do is no error, but most likely not meant."""
    write(tmp_path, {"clusters.d/_defaults.yaml": "spec: {}"})
    loaded = load_in(tmp_path)
    assert told(loaded.findings) == [
        "clusters.d:0:0 no-files: no cluster file (*.yaml, *.yml or *.json) in this folder"
    ]
    assert loaded.findings[0].severity is Severity.WARNING
    assert not loaded.refused


@pytest.mark.parametrize("name", ["pipe.yaml", "zero.yaml", "folder.json", "broken.yaml", "loop.yaml"])
def test_what_is_no_file_is_told_and_never_waited_for(tmp_path: Path, name: str) -> None:
    """Pipes, devices, broken and looping links end in a finding; a folder with such a name is a folder."""
    write(tmp_path, {"clusters.d/folder.json/a.yaml": MINIMAL})
    folder = tmp_path / "clusters.d"
    os.mkfifo(folder / "pipe.yaml")
    (folder / "zero.yaml").symlink_to("/dev/zero")
    (folder / "broken.yaml").symlink_to("nowhere")
    (folder / "loop.yaml").symlink_to("loop.yaml")
    expected = {
        "pipe.yaml": "unreadable: can't be read: not a regular file",
        "zero.yaml": "unreadable: can't be read: not a regular file",
        "broken.yaml": "unreadable: can't be read: no such file or folder",
        "loop.yaml": "unreadable: can't be read: too many levels of symbolic links",
    }
    lines = told(load_in(tmp_path).findings)
    if name in expected:
        assert f"clusters.d/{name}:0:0 {expected[name]}" in lines
    else:
        assert not any(name in line for line in lines)


def test_a_pipe_that_is_named_is_told(tmp_path: Path) -> None:
    """As a path on the command line too."""
    os.mkfifo(tmp_path / "pipe")
    assert the_error(load_in(tmp_path, "pipe")) == "pipe:0:0 unreadable: not a regular file"


def test_a_name_that_cannot_be_shown_is_told(tmp_path: Path) -> None:
    """Bytes that aren't UTF-8 and line breaks in names end in a finding that can be printed."""
    folder = write(tmp_path, {"clusters.d/a\nb.yaml": MINIMAL}) / "clusters.d"
    (Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.yaml"))).write_text(MINIMAL)
    message = "0:0 unreadable: its name has characters that can't be shown"
    assert told(load_in(tmp_path).findings) == [
        f"clusters.d/a\\nb.yaml:{message}",
        f"clusters.d/caf\\udce9.yaml:{message}",
    ]


def test_a_folder_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """What a folder refuses doesn't end the others. (As root every folder can be read: one goes away instead.)"""
    files = DiskFiles(tmp_path)
    with pytest.raises(UnreadableError, match="no such file or folder"):
        files.entries(str(tmp_path / "gone"))
    write(tmp_path, {"clusters.d/a.yaml": MINIMAL})

    class Vanishing(DiskFiles):
        def entries(self, folder: str) -> list[tuple[str, bool]]:
            return (
                [*super().entries(folder), ("gone", True)] if folder.endswith("clusters.d") else super().entries(folder)
            )

    from reconciler.spec.discovery import discover

    discovered = discover(["clusters.d"], Vanishing(tmp_path))
    assert [Path(found.path).name for found in discovered.files] == ["a.yaml"]
    assert [each.message for each in discovered.findings] == ["can't be read: no such file or folder"]


def test_paths_are_shown_as_people_know_them(tmp_path: Path) -> None:
    """Relative to the working directory; elsewhere as they were given, or else relative still."""
    write(tmp_path, {"work/x": "", "other/a.yaml": MINIMAL + "      startup_script: {file: ../s.sh}\n", "s.sh": "x"})
    work = tmp_path / "work"
    relative = load(["../other"], cwd=work, root=tmp_path)
    assert sources(relative) == ["../other/a.yaml"]
    assert relative.clusters[0].spec["node_pools"][0]["startup_script"].file == "../s.sh"
    assert sources(load([tmp_path / "other"], cwd=work, root=tmp_path)) == [f"{tmp_path}/other/a.yaml"]
    assert sources(load([str(tmp_path / "other")], cwd=tmp_path)) == ["other/a.yaml"]


# Files in memory


def test_files_in_memory_load_like_files_on_the_disk(tmp_path: Path) -> None:
    """A git revision gives the same clusters and the same findings, from any folder of the repository."""
    files: dict[str, str | bytes] = {
        "_defaults.yaml": "project: p\nspec: {labels: {a: b}}",
        "sub/clusters.d/a.yaml": "location: l\ncluster_id: a\nspec:\n"
        + POOL
        + "      startup_script: {file: ../../s.sh}\n",
        "sub/clusters.d/deep/b.yaml": named("b"),
        "sub/clusters.d/deep/c.yaml": "spec: [",
        "sub/clusters.d/d.yaml/e.json": "{}",
        "s.sh": "#!/bin/bash\n",
    }
    write(tmp_path, {**files, ".git/HEAD": ""})
    data = {name: content.encode() if isinstance(content, str) else content for name, content in files.items()}
    for paths in (["clusters.d"], ["clusters.d/deep", "nosuch", "clusters.d/a.yaml"], ["../s.sh"], [".."]):
        disk = load(paths, cwd=tmp_path / "sub")
        memory = load_text(data, paths, cwd="sub")
        assert disk.clusters == memory.clusters
        assert told(disk.findings) == told(memory.findings)
        assert disk.refused == memory.refused
        assert disk.findings or disk.clusters


def test_files_in_memory_answer_like_the_disk() -> None:
    """The port's other answers."""
    files = MappingFiles({"a/b.yaml": b"x", "./a/c/d.yaml": b"y"})
    folder = files.absolute("a")
    assert files.entries(folder) == [("b.yaml", False), ("c", True)]
    assert [files.type(files.absolute(name)) for name in ("a", "a/b.yaml", "z")] == [
        FileType.FOLDER,
        FileType.FILE,
        FileType.MISSING,
    ]
    with pytest.raises(UnreadableError, match="not a regular file"):
        files.read(folder, 10)
    with pytest.raises(UnreadableError, match="no such file"):
        files.read(files.absolute("z"), 10)
    with pytest.raises(UnreadableError, match="larger than 0 KiB"):
        files.read(files.absolute("a/b.yaml"), 0)


def test_the_disk_says_what_stands_there(tmp_path: Path) -> None:
    """Files, folders, pipes, nothing, and paths that can't be."""
    write(tmp_path, {"file": ""})
    os.mkfifo(tmp_path / "pipe")
    files = DiskFiles(tmp_path)
    answers = {name: files.type(files.absolute(name)) for name in ("file", ".", "pipe", "none", "a\0b")}
    assert list(answers.values()) == [
        FileType.FILE,
        FileType.FOLDER,
        FileType.OTHER,
        FileType.MISSING,
        FileType.MISSING,
    ]


# What a document says


def test_a_minimal_file() -> None:
    """Name, defaults of the lifecycle, typed spec."""
    desired = only(load_one(MINIMAL))
    assert desired.name == ClusterName("acme-ml", "us-central1", "demo")
    assert (desired.source, desired.document) == ("clusters.d/a.yaml", 0)
    assert (desired.lifecycle.state, desired.lifecycle.prevent_destroy) == ("present", True)
    assert desired.spec["node_pools"][0]["scaling_spec"] == {"min_node_count": 0, "max_node_count": 4}


def test_several_documents_of_a_file_are_several_clusters() -> None:
    """Empty documents between them are passed over, and counted."""
    loaded = load_one(f"---\n{named('b')}\n---\n# nothing\n---\n{named('a')}\n---\n")
    assert [(desired.name.cluster_id, desired.document) for desired in loaded.clusters] == [("a", 2), ("b", 0)]


def test_names_without_quotes_are_taken_as_they_stand() -> None:
    """A project's number is a name, as `010` and `true` are."""
    desired = only(load_one("project: 123456789012\nlocation: true\ncluster_id: 010\nspec:\n" + POOL))
    assert desired.name == ClusterName("123456789012", "true", "010")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "spec: {}\nlifecycle: {state: absent}",
            [
                "1:1 required: project is missing",
                "1:1 required: location is missing",
                "1:1 required: cluster_id is missing",
            ],
        ),
        (
            "project: [p]\nlocation: {a: b}\ncluster_id: ~\nlifecycle: {state: absent}",
            [
                "1:1 type: project must be a string, got a list",
                "2:1 type: location must be a string, got a mapping",
                "3:1 required: cluster_id is missing",
            ],
        ),
        (
            "project: a/b\nlocation: ''\ncluster_id: 'a b'\nlifecycle: {state: absent}",
            [
                '1:1 name: project must be one name without slashes and spaces, got "a/b"',
                '2:1 name: location must be one name without slashes and spaces, got ""',
                '3:1 name: cluster_id must be one name without slashes and spaces, got "a b"',
            ],
        ),
        (
            "project: !!int 5\nlocation: l\ncluster_id: c\nlifecycle: {state: absent}",
            ['1:1 type: project must be a string, got "5"'],
        ),
        (HEAD, ["1:1 required: spec is missing"]),
        (HEAD + "spec: null\n", ["4:1 required: spec is missing"]),
        (HEAD + "spec: []\n", ["4:1 type: spec must be a mapping, got a list"]),
        (HEAD + "spec: text\n", ['4:1 type: spec must be a mapping, got "text"']),
        (HEAD + "spec: {}\n", ["4:1 required: node_pools is missing"]),
        (HEAD + "lifecycle: []\n", ["4:1 type: lifecycle must be a mapping, got a list"]),
        (HEAD + "lifecycle: absent\n", ['4:1 type: lifecycle must be a mapping, got "absent"']),
    ],
)
def test_wrong_types_of_the_document_are_findings(text: str, lines: list[str]) -> None:
    """Whatever stands where a name, a lifecycle or a spec should, it is told at its place."""
    loaded = load_one(text)
    assert told(loaded.findings) == [f"clusters.d/a.yaml:{line}" for line in lines]
    assert not loaded.clusters


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("clusterId", 'did you mean "cluster_id"?'),
        ("lifecycel", 'did you mean "lifecycle"?'),
        ("node_pools", "it belongs under spec"),
        ("displayName", "it belongs under spec"),
        ("whatever", "known here: project, location, cluster_id, lifecycle, spec"),
    ],
)
def test_unknown_keys_of_the_document_have_a_hint(key: str, hint: str) -> None:
    """What was most likely meant, or where it belongs."""
    (finding,) = load_one(MINIMAL + f"{key}: x\n").findings
    assert told([finding]) == [f"clusters.d/a.yaml:9:1 unknown-field: unknown key {key}"]
    assert finding.hint == hint


def test_a_key_with_control_characters_is_shown_without() -> None:
    """Nothing from a file reaches a terminal as a command."""
    (finding,) = load_one(MINIMAL + '"a\\e[31m\\nb": x\n').findings
    assert finding.message == "unknown key a\\x1b[31m\\nb"


def test_an_absent_cluster_needs_no_spec() -> None:
    """It may have one, and then it's read like any other."""
    absent = HEAD + "lifecycle: {state: absent}\n"
    assert only(load_one(absent)).spec == {}
    assert only(load_one(absent + "spec: {}\n")).spec == {}
    assert only(load_one(absent + "spec:\n" + POOL)).spec["node_pools"]
    assert "display_nam" in the_error(load_one(absent + "spec:\n" + POOL + "  display_nam: x\n"))


def test_a_whole_lifecycle() -> None:
    """Every setting, as the contract shows it."""
    lifecycle = only(
        load_one(
            MINIMAL
            + """\
lifecycle:
  state: present
  prevent_destroy: false
  replace_on: [immutable_change, error_state]
  running_jobs: warn
  ignore_changes: [labels.cost-center]
  allow_unknown_fields: true
  paused: {reason: holidays, until: 2026-12-24T08:00:00Z}
  maintenance_window: {days: [sat, sun], start: "02:00", hours: 4, time_zone: Europe/Zurich}
"""
        )
    ).lifecycle
    assert lifecycle.replace_on == ("immutable_change", "error_state")
    assert lifecycle.paused is not None
    assert lifecycle.paused.until is not None
    assert lifecycle.paused.until.isoformat() == "2026-12-24T08:00:00+00:00"
    assert lifecycle.maintenance_window is not None
    assert lifecycle.maintenance_window.days == ("sat", "sun")


def test_null_in_the_lifecycle_is_the_default() -> None:
    """As everywhere, null is absence."""
    lifecycle = only(load_one(MINIMAL + "lifecycle: {state: null, prevent_destroy: ~, paused: null}\n")).lifecycle
    assert (lifecycle.state, lifecycle.prevent_destroy, lifecycle.paused) == ("present", True, None)


@pytest.mark.parametrize(
    ("text", "rule", "message", "hint"),
    [
        ("state: abset", "type", 'state must be present or absent, got "abset"', 'did you mean "absent"?'),
        ("prevent_destroy: no", "type", 'prevent_destroy must be true or false, got "no"', ""),
        ("prevent_destroy: 0", "type", 'prevent_destroy must be true or false, got "0"', ""),
        ("preventDestroy: true", "unknown-field", None, 'did you mean "prevent_destroy"?'),
        (
            "protect: true",
            "unknown-field",
            None,
            f"known here: {', '.join(each.name for each in fields(Lifecycle))}",
        ),
        ("replace_on: error_state", "type", 'replace_on must be a list, got "error_state"', ""),
        ("replace_on: [error]", "type", 'replace_on[0] must be immutable_change or error_state, got "error"', ""),
        ("ignore_changes: [1]", "type", 'ignore_changes[0] must be a string, got "1"', ""),
        ("paused: true", "type", "paused must be a mapping, got true", ""),
        ("paused: {}", "required", "paused.reason is missing", "add it, or leave out lifecycle.paused"),
        ("paused: {reason: ''}", "type", 'paused.reason must be a text that isn\'t empty, got ""', ""),
        ("paused: {reason: x, untl: y}", "unknown-field", None, 'did you mean "until"?'),
        (
            "paused: {reason: x, until: soon}",
            "type",
            'paused.until must be a time with its zone, such as 2026-12-24T08:00:00Z, got "soon"',
            "",
        ),
        (
            "paused: {reason: x, until: 2026-12-24T08:00:00}",
            "type",
            'paused.until must be a time with its zone, such as 2026-12-24T08:00:00Z, got "2026-12-24T08:00:00"',
            "",
        ),
        (
            "paused: {reason: x, until: 20261224}",
            "type",
            'paused.until must be a time with its zone, such as 2026-12-24T08:00:00Z, got "20261224"',
            "",
        ),
    ],
)
def test_what_is_wrong_in_the_lifecycle(text: str, rule: str, message: str | None, hint: str) -> None:
    """Every fault at its place, in words, with what was most likely meant."""
    loaded = load_one(MINIMAL + f"lifecycle:\n  {text}\n")
    assert not loaded.clusters
    (finding,) = loaded.findings
    otherwise = f"correct it, or leave out lifecycle.{text.partition(':')[0]}"
    assert (finding.line, finding.rule, finding.hint) == (10, rule, hint or otherwise)
    assert message is None or finding.message == f"lifecycle.{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("days: []", "days must be a list that isn't empty, got a list"),
        ("days: [Saturday]", 'days[0] must be mon or tue or wed or thu or fri or sat or sun, got "Saturday"'),
        ("days: [mon, so]", 'days[1] must be mon or tue or wed or thu or fri or sat or sun, got "so"'),
        ("start: 5", 'start must be a string, got "5"'),
        ("start: 25:00", 'start must be a time of day such as "02:00", got "25:00"'),
        ("hours: 0", 'hours must be greater than 0, got "0"'),
        ("hours: 25", 'hours must be less than or equal to 24, got "25"'),
        ("hours: four", 'hours must be a number, got "four"'),
        ("hours: " + "9" * 90, "hours must be less than or equal to 24, got a huge number"),
        ("time_zone: null", "time_zone must be a string, got nothing (null)"),
    ],
)
def test_what_is_wrong_in_a_maintenance_window(text: str, message: str) -> None:
    """Each with the words of somebody who writes YAML."""
    window = {"days": "[sat]", "start": '"02:00"', "hours": "4"} | dict([text.split(": ", 1)])
    lines = "".join(f"    {key}: {value}\n" for key, value in window.items())
    loaded = load_one(MINIMAL + "lifecycle:\n  maintenance_window:\n" + lines)
    assert [each.message for each in loaded.findings] == [f"lifecycle.maintenance_window.{message}"]


def test_the_fault_of_a_lifecycle_does_not_hide_those_of_the_spec() -> None:
    """Nor does it make fields unknown that it says may be."""
    text = MINIMAL + "  future: 1\n  labels: []\nlifecycle: {state: gone, allow_unknown_fields: true}\n"
    assert [each.rule for each in load_one(text).findings] == ["type", "type"]


def test_unknown_fields_pass_when_allowed() -> None:
    """As they stand."""
    desired = only(load_one(MINIMAL + "  futureKnob: {a_b: [1, x]}\nlifecycle: {allow_unknown_fields: true}\n"))
    assert desired.spec["futureKnob"] == {"a_b": [1, "x"]}


# Cases from the field


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        (MINIMAL.replace("max_node_count", "maxNodesCount"), 8, 'did you mean "maxNodeCount"?'),
        (MINIMAL.replace("node_pools", "nodePool"), 5, 'did you mean "nodePools"?'),
        (MINIMAL + SLURM + "      partition: []\n", 11, 'did you mean "partitions"?'),
    ],
)
def test_a_mistyped_key_is_an_error_at_every_depth(text: str, line: int, hint: str) -> None:
    """Pain point 128: nothing is ignored so that a default applies."""
    unknown = [each for each in load_one(text).findings if each.rule == "unknown-field"]
    assert [(each.line, each.hint) for each in unknown] == [(line, hint)]


def test_yaml_surprises_reach_slurm_as_written() -> None:
    """Pain point 130: what looks like a boolean, an octal number or a time is the text that stands there."""
    config = "{OverSubscribe: NO, PreemptMode: OFF, MaxTime: 4-00:00:00, DefaultTime: 12:30:00, Weight: 010, Ok: true}"
    desired = only(load_one(MINIMAL + SLURM + f"      config: {config}\n"))
    assert desired.spec["orchestrator_spec"]["slurm_spec"]["config"] == {
        "OverSubscribe": "NO",
        "PreemptMode": "OFF",
        "MaxTime": "4-00:00:00",
        "DefaultTime": "12:30:00",
        "Weight": "010",
        "Ok": "true",
    }


def test_keys_that_are_data_are_never_respelled() -> None:
    """Pain point 28: keys of labels and of Slurm's maps stay byte for byte, numbers among them too."""
    text = MINIMAL + "  labels: {my_team: a, cost-center-2: b, myTeam: c, 8080: d, true: e}\n"
    desired = only(load_one(text + SLURM + '      config: {PriorityWeightAge: "1000", def_mem_per_cpu: 1}\n'))
    assert desired.spec["labels"] == {"my_team": "a", "cost-center-2": "b", "myTeam": "c", "8080": "d", "true": "e"}
    assert list(desired.spec["orchestrator_spec"]["slurm_spec"]["config"]) == ["PriorityWeightAge", "def_mem_per_cpu"]


def test_an_empty_message_is_empty_and_null_is_absent() -> None:
    """Pain point 29: `bootDisk: {}` says a boot disk with nothing wished of it; null says nothing."""
    empty = MINIMAL.replace("id: cpu\n", "id: cpu\n      bootDisk: {}\n")
    assert only(load_one(empty)).spec["node_pools"][0]["boot_disk"] == {}
    null = MINIMAL.replace("id: cpu\n", "id: cpu\n      bootDisk: null\n")
    assert "boot_disk" not in only(load_one(null)).spec["node_pools"][0]


def test_a_key_twice_is_an_error_and_a_merge_is_not() -> None:
    """Pain point 131: twice in one pool is told with both lines; an anchor merged and overridden is meant."""
    twice = MINIMAL + "      scaling_spec: {min_node_count: 1}\n"
    assert the_error(load_one(twice)) == (
        'clusters.d/a.yaml:9:7 duplicate-key: the key "scaling_spec" is here twice: on line 8 too'
    )
    merged = MINIMAL.replace("- id: cpu", "- &cpu\n      id: cpu") + "    - {<<: *cpu, id: big}\n"
    first, second = only(load_one(merged)).spec["node_pools"]
    assert (first["id"], second["id"]) == ("cpu", "big")
    assert second["machine_spec"] == first["machine_spec"]


# Checks


def complain(desired: Desired) -> Iterator[Problem]:
    yield Problem(("spec", "node_pools", 0, "id"), "my-rule", f"{desired.name.cluster_id} displeases", "do better")
    yield Problem(("spec", "nodePools"), "my-rule", "so-so", severity=Severity.WARNING)


def test_checks_become_findings_at_their_places() -> None:
    """An error of a check refuses the cluster."""
    loaded = load_one(MINIMAL, checks=(complain,))
    assert told(loaded.findings) == [
        "clusters.d/a.yaml:5:3 my-rule: so-so",
        "clusters.d/a.yaml:6:7 my-rule: demo displeases",
    ]
    assert loaded.findings[1].hint == "do better"
    assert not loaded.clusters
    assert [(each.message, each.name) for each in loaded.refused] == [
        ("a.yaml:6: demo displeases", ClusterName("acme-ml", "us-central1", "demo"))
    ]


def test_warnings_refuse_nothing() -> None:
    """A cluster with warnings is usable."""
    loaded = load_one(MINIMAL, checks=(lambda desired: list(complain(desired))[1:],))
    assert [each.severity for each in loaded.findings] == [Severity.WARNING]
    assert loaded.clusters
    assert not loaded.refused


@pytest.mark.parametrize(
    ("text", "is_checked"),
    [
        (MINIMAL, True),
        (MINIMAL + "  unknown: 1\n", True),
        (MINIMAL + "  displayName: a\n  display_name: b\n", True),
        (MINIMAL + "      startup_script: {file: nosuch}\n", True),
        (MINIMAL + "  labels: []\n", True),
        (HEAD + "spec: {}\n", True),
        (MINIMAL + "lifecycle: {state: gone}\n", False),
        (MINIMAL.replace("cluster_id: demo\n", ""), False),
        (MINIMAL + "  labels: {a: !x b}\n", False),
    ],
)
def test_checks_run_where_it_is_known_what_is_wanted(text: str, is_checked: bool) -> None:
    """Not without a name or a state, nor where the YAML itself is at fault; a wrong type elsewhere hinders none."""
    seen: list[Desired] = []
    load_one(text, checks=(lambda desired: seen.append(desired) or (),))
    assert bool(seen) is is_checked


# More files than one


def test_one_bad_file_hides_nothing_of_the_others() -> None:
    """Each file's findings come, sorted by place, and good clusters stay usable."""
    loaded = load_one(
        MINIMAL + "  unknwn: 1\n",
        {
            "clusters.d/b.yaml": "spec: [",
            "clusters.d/c.yaml": named("good"),
            "clusters.d/d.yaml": named("d") + "  labels: []\n---\n" + named("e") + "  labels: 5\n---\n" + named("f"),
        },
    )
    assert [(each.file, each.line) for each in loaded.findings] == [
        ("clusters.d/a.yaml", 9),
        ("clusters.d/b.yaml", 2),
        ("clusters.d/d.yaml", 9),
        ("clusters.d/d.yaml", 19),
    ]
    assert [desired.name.cluster_id for desired in loaded.clusters] == ["f", "good"]
    assert [(each.source, each.document, each.name and each.name.cluster_id) for each in loaded.refused] == [
        ("clusters.d/a.yaml", 0, "demo"),
        ("clusters.d/b.yaml", 0, None),
        ("clusters.d/d.yaml", 0, "d"),
        ("clusters.d/d.yaml", 1, "e"),
    ]


def test_two_documents_for_one_cluster_are_refused_with_both_places() -> None:
    """Each names the other; a third one is told too; a broken one counts, and so does one in the same file."""
    loaded = load_one(
        MINIMAL + "---\n" + MINIMAL,
        {"clusters.d/b.yaml": "# moved\n" + MINIMAL + "  unknwn: 1\n", "clusters.d/c.yaml": named("good")},
    )
    message = "duplicate-cluster: demo in acme-ml/us-central1 is described twice: in clusters.d/a.yaml"
    assert [line for line in told(loaded.findings) if "twice" in line] == [
        f"clusters.d/a.yaml:3:1 {message}:12 too",
        f"clusters.d/a.yaml:12:1 {message}:3 too",
        f"clusters.d/b.yaml:4:1 {message}:3 too",
    ]
    assert [desired.name.cluster_id for desired in loaded.clusters] == ["good"]
    assert [each.source for each in loaded.refused] == ["clusters.d/a.yaml"] * 2 + ["clusters.d/b.yaml"]


def test_a_document_with_faults_in_its_yaml_still_counts_as_a_twin() -> None:
    """Its name can be read, so its other file isn't taken for the only one."""
    loaded = load_one(MINIMAL, {"clusters.d/b.yaml": MINIMAL + "  labels: {a: !x b}\n"})
    assert {each.rule for each in loaded.findings} == {"tag", "duplicate-cluster"}
    assert not loaded.clusters


def test_one_id_in_two_places_is_two_clusters() -> None:
    """A cluster is its project, location and id."""
    loaded = load_one(MINIMAL, {"clusters.d/b.yaml": MINIMAL.replace("us-central1", "us-east1")})
    assert loaded.findings == ()
    assert [desired.name.location for desired in loaded.clusters] == ["us-central1", "us-east1"]


def test_a_projects_id_and_a_number_may_be_one_project() -> None:
    """Only the service knows, so two namesakes of which one says a number are refused; of two numbers neither is."""
    by_number = MINIMAL.replace("acme-ml", '"579703651575"')
    loaded = load_one(MINIMAL, {"clusters.d/b.yaml": by_number})
    assert {each.rule for each in loaded.findings} == {"duplicate-cluster"}
    assert "if 579703651575 is the same project" in loaded.findings[0].message
    assert not loaded.clusters
    assert load_one(by_number, {"clusters.d/b.yaml": MINIMAL.replace("acme-ml", '"4711"')}).findings == ()


def test_endless_errors_come_to_an_end() -> None:
    """After a hundred errors a document isn't looked at further; the finding says so."""
    text = MINIMAL + "".join(f"  unknown{number}: 1\n" for number in range(500))
    loaded = load_one(text, {"clusters.d/b.yaml": named("good")})
    assert len(loaded.findings) == 101
    assert [each.message for each in loaded.findings if each.rule == "too-many-errors"] == [
        "there are 100 errors by now; what follows is not looked at"
    ]
    assert [desired.name.cluster_id for desired in loaded.clusters] == ["good"]


# Selection


@pytest.fixture
def several() -> Loaded:
    """Clusters a1, a2 and b, with warnings of a1 and b; c, which is refused; and a file of which nothing is known."""

    def warn(desired: Desired) -> Iterator[Problem]:
        if desired.name.cluster_id in ("a1", "b"):
            yield Problem(("cluster_id",), "w", desired.name.cluster_id, severity=Severity.WARNING)

    return load_one(
        named("a1"),
        {
            "clusters.d/a2.yaml": named("a2").replace("us-central1", "us-east1"),
            "clusters.d/b.yaml": named("b"),
            "clusters.d/c.yaml": named("c") + "  unknwn: 1\n",
            "clusters.d/d.yaml": "[",
        },
        checks=(warn,),
    )


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [
        (["a1"], {"a1"}),
        (["a?", "c"], {"a1", "a2", "c"}),
        (["*"], {"a1", "a2", "b", "c"}),
        (["acme-ml/us-east1/*"], {"a2"}),
        (["*/*/b"], {"b"}),
        (["projects/acme-ml/locations/us-central1/modelDevelopmentClusters/a1"], {"a1"}),
        (["us-east1/*"], set()),
        (["A1"], set()),
        ([], set()),
    ],
)
def test_selecting_clusters(several: Loaded, patterns: list[str], ids: set[str]) -> None:
    """By globs over ids or PROJECT/LOCATION/ID; what concerns other clusters goes, what may concern any stays."""
    chosen = several.select(patterns)
    assert {desired.name.cluster_id for desired in chosen.clusters} == ids - {"c"}
    assert {each.name.cluster_id for each in chosen.refused if each.name} == ids & {"c"}
    assert [each.source for each in chosen.refused if each.name is None] == ["clusters.d/d.yaml"]
    assert {each.message for each in chosen.findings if each.rule == "w"} == ids & {"a1", "b"}
    assert ("clusters.d/c.yaml" in {each.file for each in chosen.findings}) is ("c" in ids)
    assert "clusters.d/d.yaml" in {each.file for each in chosen.findings}


def test_what_was_selected_can_be_asked_for(several: Loaded) -> None:
    """Of clusters that no file names too: the files at another revision are narrowed down in the same way."""
    a1, b, new = (ClusterName("acme-ml", "us-central1", each) for each in ("a1", "b", "new"))
    assert [several.concerns(name) for name in (a1, b, new)] == [True, True, True]
    chosen = several.select(["a1", "new"])
    assert [chosen.concerns(name) for name in (a1, b, new)] == [True, False, True]
    assert [chosen.select(["b", "new"]).concerns(name) for name in (a1, b, new)] == [False, False, True]


# Places, later


def test_a_place_is_found_later_by_reading_again(tmp_path: Path) -> None:
    """With merge keys and in either spelling; what can't be found any more is the whole file."""
    text = (
        named("first") + "---\n" + MINIMAL.replace("- id: cpu", "- &cpu\n      id: cpu") + "    - {<<: *cpu, id: big}\n"
    )
    write(tmp_path, {"clusters.d/a.yaml": text})
    loaded = load_in(tmp_path)
    desired = next(each for each in loaded.clusters if each.document == 1)
    assert loaded.locate(desired, ("spec", "nodePools", 1, "machineSpec")) == ("clusters.d/a.yaml", 17, 7)
    assert loaded.locate(desired, ("spec", "node_pools", 1, "id")) == ("clusters.d/a.yaml", 19, 18)
    for now in (MINIMAL, "[", f"{MINIMAL}---\n- a\n"):
        write(tmp_path, {"clusters.d/a.yaml": now})
        assert loaded.locate(desired, ("spec",)) == ("clusters.d/a.yaml", 0, 0)
    (tmp_path / "clusters.d/a.yaml").unlink()
    assert loaded.locate(desired, ("spec",)) == ("clusters.d/a.yaml", 0, 0)


def test_results_do_not_depend_on_the_order_of_paths(tmp_path: Path) -> None:
    """Equal inputs, equal output."""
    write(
        tmp_path,
        {f"clusters.d/{name}.yaml": named(name) + "  unknwn: 1\n" for name in "abc"} | {"x/d.yaml": named("d")},
    )
    results: list[Any] = []
    for paths in (["clusters.d", "x"], ["x", "clusters.d"], ["clusters.d/c.yaml", "x", "clusters.d"]):
        loaded = load_in(tmp_path, *paths)
        results.append((loaded.clusters, loaded.findings, loaded.refused))
    assert results[0] == results[1] == results[2]
