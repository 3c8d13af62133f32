"""`_defaults.yaml`: maps are merged, the nearer file wins, and every part keeps its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reconciler.spec.loader import Loaded, load
from tests.unit.spec.samples import HEAD, MINIMAL, POOL, load_in, load_one, told, write


def spec_of(loaded: Loaded) -> dict[str, Any]:
    assert told(loaded.findings) == []
    (desired,) = loaded.clusters
    return desired.spec


def layered(defaults: str, document: str) -> Loaded:
    return load_one(document, {"clusters.d/_defaults.yaml": defaults})


def test_maps_are_merged_and_the_nearer_file_wins() -> None:
    """What only the defaults say holds; what both say, the file says."""
    spec = spec_of(
        layered("spec:\n  labels: {team: ml, env: dev}\n  display_name: x\n", MINIMAL + "  labels: {env: prod}\n")
    )
    assert spec["labels"] == {"env": "prod", "team": "ml"}
    assert spec["display_name"] == "x"


def test_lists_and_scalars_are_replaced() -> None:
    """A file with its own pools has none of the defaults' pools."""
    defaults = (
        "spec:\n  node_pools: [{id: other, machine_spec: {machine_type: a}, scaling_spec: {max_node_count: 1}}]\n"
    )
    assert [pool["id"] for pool in spec_of(layered(defaults, MINIMAL))["node_pools"]] == ["cpu"]


def test_null_drops_a_default() -> None:
    """A file takes back a default by saying null."""
    spec = spec_of(layered("spec: {display_name: x, labels: {a: b}}", MINIMAL + "  display_name:\n  labels: null\n"))
    assert "display_name" not in spec
    assert "labels" not in spec


def test_a_map_over_another_kind_replaces_it() -> None:
    """Only two maps are merged."""
    allowed = "lifecycle: {allow_unknown_fields: true}\n"
    spec = spec_of(layered("spec: {knob: 5, labels: null}", MINIMAL + "  knob: {a: b}\n  labels: {a: b}\n" + allowed))
    assert (spec["knob"], spec["labels"]) == ({"a": "b"}, {"a": "b"})


def test_spellings_of_a_field_are_one_field_across_files() -> None:
    """camelCase in the file lies on snake_case in the defaults, at every depth."""
    defaults = "spec:\n  orchestrator_spec: {slurm_spec: {login_node_pool_id: a, default_partition_id: d}}\n"
    spec = spec_of(layered(defaults, MINIMAL + "  orchestratorSpec: {slurmSpec: {loginNodePoolId: b}}\n"))
    assert spec["orchestrator_spec"] == {"slurm_spec": {"login_node_pool_id": "b", "default_partition_id": "d"}}


def test_slurm_parameters_are_one_without_case_and_underscores() -> None:
    """The nearer spelling of a parameter stands, once."""
    defaults = "spec: {orchestrator_spec: {slurm_spec: {config: {DefMemPerCPU: 1, MaxTime: 2}}}}\n"
    document = MINIMAL + "  orchestrator_spec: {slurm_spec: {config: {def_mem_per_cpu: 3}}}\n"
    config = spec_of(layered(defaults, document))["orchestrator_spec"]["slurm_spec"]["config"]
    assert config == {"def_mem_per_cpu": "3", "MaxTime": "2"}


def test_labels_are_told_apart_by_their_exact_keys() -> None:
    """Keys of labels are data: `my_team` and `myteam` are two."""
    spec = spec_of(layered("spec: {labels: {my_team: a}}", MINIMAL + "  labels: {myteam: b}\n"))
    assert spec["labels"] == {"my_team": "a", "myteam": "b"}


def test_fields_that_nobody_knows_are_merged_by_exact_keys() -> None:
    """Unknown maps are merged like others, by what their keys say."""
    allow = "lifecycle: {allow_unknown_fields: true}\n"
    document = HEAD + allow + "spec:\n  future: {b: {d: 3}}\n" + POOL
    spec = spec_of(layered("spec: {future: {a: 1, b: {c: 2}}}", document))
    assert spec["future"] == {"a": 1, "b": {"c": 2, "d": 3}}


def test_two_spellings_in_one_file_stay_an_error() -> None:
    """Neither of two spellings is quietly preferred, with defaults below or without."""
    loaded = layered("spec: {labels: {a: b}}", MINIMAL + "  displayName: x\n  display_name: y\n")
    assert told(loaded.findings) == [
        "clusters.d/a.yaml:10:3 two-spellings: display_name and displayName are the same field"
    ]


def test_every_part_of_the_document_may_have_defaults() -> None:
    """Project, location and lifecycle too; the nearer lifecycle setting wins by itself."""
    defaults = "project: p\nlocation: l\nlifecycle: {prevent_destroy: false, running_jobs: wait}\n"
    loaded = layered(defaults, "cluster_id: demo\nlifecycle: {running_jobs: warn}\nspec:\n" + POOL)
    (desired,) = loaded.clusters
    assert tuple(desired.name) == ("p", "l", "demo")
    assert (desired.lifecycle.prevent_destroy, desired.lifecycle.running_jobs) == (False, "warn")


def test_folders_are_laid_over_each_other(tmp_path: Path) -> None:
    """From the working directory down to the file's folder, the nearest last; a sibling's defaults don't count."""
    write(
        tmp_path,
        {
            "_defaults.yaml": "spec: {labels: {a: top, b: top, c: top}}",
            "clusters.d/_defaults.yaml": "spec: {labels: {b: middle, c: middle}}",
            "clusters.d/deep/er/_defaults.yaml": "spec: {labels: {c: near}}",
            "clusters.d/other/_defaults.yaml": "spec: {labels: {d: sibling}}",
            "clusters.d/deep/er/a.yaml": MINIMAL,
            "clusters.d/b.yaml": MINIMAL.replace("demo", "second"),
        },
    )
    first, second = load_in(tmp_path).clusters
    assert first.spec["labels"] == {"a": "top", "b": "middle", "c": "near"}
    assert second.spec["labels"] == {"a": "top", "b": "middle", "c": "middle"}


def test_defaults_above_the_repository_do_not_count(tmp_path: Path) -> None:
    """The nearest folder with a `.git` is where looking ends, from any working directory in it."""
    write(
        tmp_path,
        {
            "_defaults.yaml": "spec: {labels: {a: outside}}",
            "repo/.git/HEAD": "",
            "repo/_defaults.yaml": "spec: {labels: {b: inside}}",
            "repo/sub/clusters.d/a.yaml": MINIMAL,
        },
    )
    assert spec_of(load_in(tmp_path / "repo/sub"))["labels"] == {"b": "inside"}
    assert spec_of(load_in(tmp_path, "repo/sub/clusters.d/a.yaml"))["labels"] == {"b": "inside"}


def test_the_root_can_be_given(tmp_path: Path) -> None:
    """A root that is told wins over one that is found; a file outside it has its own."""
    write(
        tmp_path,
        {
            ".git": "gitdir: elsewhere",
            "_defaults.yaml": "spec: {labels: {a: repository}}",
            "clusters.d/a.yaml": MINIMAL,
            "other/b.yaml": MINIMAL,
        },
    )
    inside = load(["clusters.d"], cwd=tmp_path, root=tmp_path / "clusters.d")
    assert "labels" not in spec_of(inside)
    outside = load(["other/b.yaml"], cwd=tmp_path, root=tmp_path / "clusters.d")
    assert spec_of(outside)["labels"] == {"a": "repository"}


def test_outside_of_any_repository_the_given_folder_is_the_limit(tmp_path: Path) -> None:
    """A folder elsewhere is read with its own defaults and not with those around it."""
    write(
        tmp_path,
        {
            "_defaults.yaml": "spec: {labels: {a: outside}}",
            "given/_defaults.yaml": "spec: {labels: {b: given}}",
            "given/deep/a.yaml": MINIMAL,
            "work/x": "",
        },
    )
    assert spec_of(load_in(tmp_path / "work", str(tmp_path / "given")))["labels"] == {"b": "given"}


def test_a_finding_stands_where_the_value_was_written() -> None:
    """A fault that a file has from its defaults is told in the defaults, once for all files."""
    loaded = load_one(
        MINIMAL,
        {
            "clusters.d/_defaults.yaml": "spec:\n  labels:\n    a: [1]\n  network: {netwrk: x}\n",
            "clusters.d/b.yaml": MINIMAL.replace("demo", "second"),
        },
    )
    assert told(loaded.findings) == [
        "clusters.d/_defaults.yaml:3:5 type: labels.a: expected a string, got a list",
        "clusters.d/_defaults.yaml:4:13 unknown-field: unknown field network.netwrk",
    ]
    assert [each.source for each in loaded.refused] == ["clusters.d/a.yaml", "clusters.d/b.yaml"]
    assert loaded.refused[0].message == "_defaults.yaml:3: labels.a: expected a string, got a list (and 1 more)"


OVERRIDDEN: list[tuple[str, str, str]] = [
    ("a spec that is none", "project: p\nspec: 1\n", '2:1 type: spec must be a mapping, got "1"'),
    ("a lifecycle that is none", "lifecycle: [1]\n", "1:1 type: lifecycle must be a mapping, got a list"),
    ("labels that are none", "spec:\n  labels: x\n", '2:3 type: labels must be a mapping of names to strings, got "x"'),
    ("one label", "spec:\n  labels:\n    a: [1]\n", "3:5 type: labels.a: expected a string, got a list"),
    ("pools that are none", "spec:\n  nodePools: {}\n", "2:3 type: node_pools must be a list, got a mapping"),
    ("a state", "lifecycle:\n  state: gone\n", '2:3 type: lifecycle.state must be present or absent, got "gone"'),
    ("a location", "location: [a]\n", "1:1 type: location must be a string, got a list"),
    ("a number", "spec:\n  lustre_export_config: {start_time: {hours: x}}\n",
     '2:39 type: hours: expected a whole number, got "x"'),
    ("two spellings", "spec:\n  display_name: a\n  displayName: b\n",
     "3:3 two-spellings: displayName and display_name are the same field"),
]  # fmt: skip
OVERRIDES = (
    MINIMAL
    + "  labels: {a: b}\n  display_name: x\n  lustre_export_config: {start_time: {hours: 1}}\nlifecycle: {state: present}\n"
)


@pytest.mark.parametrize(("reason", "defaults", "message"), OVERRIDDEN, ids=[case[0] for case in OVERRIDDEN])
def test_a_value_that_cannot_be_is_an_error_though_every_file_overrides_it(
    reason: str, defaults: str, message: str
) -> None:
    """The next file may not, and nobody would know what it inherits: told once, at its place; the files are refused."""
    others: dict[str, str | bytes] = {
        "clusters.d/_defaults.yaml": defaults,
        "clusters.d/deep/b.yaml": OVERRIDES.replace("demo", "second"),
        "elsewhere/c.yaml": MINIMAL,
    }
    loaded = load_one(OVERRIDES, others)
    assert told(loaded.findings) == [f"clusters.d/_defaults.yaml:{message}"], reason
    assert loaded.clusters == ()
    assert {(each.source, each.message) for each in loaded.refused} == {
        (source, "the _defaults.yaml of its folder, or of one above, can't be used")
        for source in ("clusters.d/a.yaml", "clusters.d/deep/b.yaml")
    }


def test_what_a_nearer_file_makes_right_is_no_fault_of_defaults() -> None:
    """Parts of messages, fields that the file lets pass, scripts in files: each file is judged as a whole."""
    defaults = """\
lifecycle:
  paused: {until: 2030-01-01T00:00:00Z}
spec:
  future_knob: 1
  node_pools: []
  orchestrator_spec: {slurm_spec: {prolog_bash_scripts: [{file: s.sh}]}}
"""
    mine = MINIMAL + "lifecycle: {allow_unknown_fields: true, paused: {reason: x}}\n"
    loaded = load_one(mine, {"clusters.d/_defaults.yaml": defaults, "clusters.d/s.sh": "#!/bin/bash\n"})
    assert told(loaded.findings) == []
    assert loaded.clusters


def test_a_place_in_defaults_is_found_later() -> None:
    """Places are looked up by reading again, layers and merge keys included."""
    loaded = layered("spec:\n  labels:\n    team: ml\n", MINIMAL + "  labels: {a: b}\n")
    (desired,) = loaded.clusters
    assert loaded.locate(desired, ("spec", "labels", "team")) == ("clusters.d/_defaults.yaml", 3, 5)
    assert loaded.locate(desired, ("spec", "labels", "a")) == ("clusters.d/a.yaml", 9, 12)


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "{}", "spec:\n", "lifecycle: null\n"])
def test_defaults_may_be_empty(text: str) -> None:
    """A file with nothing in it is no fault."""
    loaded = layered(text, MINIMAL)
    assert loaded.findings == ()
    assert loaded.clusters


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "spec: [",
            "2:1 yaml: not valid YAML: did not find expected node content while parsing a flow node (from line 2)",
        ),
        ("- a", "1:1 defaults: defaults must be a mapping"),
        ("text", "1:1 defaults: defaults must be a mapping"),
        ("spec: {}\n---\nspec: {}\n", "3:1 defaults: defaults are one document, not several"),
        ("spec: {}\ncluster_id: x\n", "2:1 defaults: cluster_id can't be a default: it is what tells clusters apart"),
        ("spec: {labels: {a: !x b}}", "1:20 tag: the tag !x is not allowed here"),
        ("spec: &a {labels: *a}", "1:7 cycle: this value holds itself, through its anchor"),
        ("\x00", "1:1 encoding: not a text: it holds the control character U+0000"),
    ],
)
def test_broken_defaults_are_told_once_and_refuse_their_files(text: str, message: str) -> None:
    """One finding in the defaults; every file below is refused without one of its own, and others are not."""
    loaded = load_one(
        MINIMAL,
        {
            "clusters.d/sub/_defaults.yaml": text,
            "clusters.d/sub/b.yaml": MINIMAL.replace("demo", "second"),
            "clusters.d/sub/deep/c.yaml": MINIMAL.replace("demo", "third"),
        },
    )
    assert told(loaded.findings) == [f"clusters.d/sub/_defaults.yaml:{message}"]
    assert [desired.name.cluster_id for desired in loaded.clusters] == ["demo"]
    assert [(each.source, each.message) for each in loaded.refused] == [
        ("clusters.d/sub/b.yaml", "the _defaults.yaml of its folder, or of one above, can't be used"),
        ("clusters.d/sub/deep/c.yaml", "the _defaults.yaml of its folder, or of one above, can't be used"),
    ]


def test_all_that_is_wrong_with_defaults_is_told() -> None:
    """Several faults of the YAML come together."""
    loaded = layered("spec: {labels: {a: 1, a: 2, b: !x c}}", MINIMAL)
    assert [each.rule for each in loaded.findings] == ["duplicate-key", "tag"]


def test_defaults_that_are_no_file_are_broken(tmp_path: Path) -> None:
    """A folder of that name is told, not passed over."""
    write(tmp_path, {"clusters.d/_defaults.yaml/x": "", "clusters.d/a.yaml": MINIMAL})
    loaded = load_in(tmp_path)
    assert told(loaded.findings) == ["clusters.d/_defaults.yaml:0:0 unreadable: can't be read: not a regular file"]
    assert not loaded.clusters


def test_a_broken_merge_in_a_file_over_defaults_is_told() -> None:
    """Merge keys are looked at before the layers are joined, and wrong ones end in their finding."""
    loaded = layered("spec: {}\nproject: p\n", HEAD + "<<: 5\n")
    assert told(loaded.findings) == ["clusters.d/a.yaml:4:1 merge: << takes a mapping, or a list of mappings"]


def test_a_key_that_is_no_name_is_told_over_defaults() -> None:
    """Such a key is kept for the reader to report."""
    loaded = layered("project: p\n", MINIMAL + "? [a]\n: b\n")
    assert told(loaded.findings) == ["clusters.d/a.yaml:9:3 key: a key must be a name, not a list or a mapping"]


def test_defaults_named_outright_are_checked(tmp_path: Path) -> None:
    """`validate clusters.d/*` names them too: they are no cluster, and no clusters is no fault of theirs."""
    write(tmp_path, {"clusters.d/_defaults.yaml": "spec: {labels: {a: b}}"})
    loaded = load_in(tmp_path, "clusters.d/_defaults.yaml")
    assert (loaded.clusters, loaded.findings, loaded.refused) == ((), (), ())
    write(tmp_path, {"clusters.d/_defaults.yaml": "- a"})
    loaded = load_in(tmp_path, "clusters.d/_defaults.yaml")
    assert told(loaded.findings) == ["clusters.d/_defaults.yaml:1:1 defaults: defaults must be a mapping"]
    assert [each.source for each in loaded.refused] == ["clusters.d/_defaults.yaml"]
    write(tmp_path, {"clusters.d/_defaults.yaml": "spec: 1"})
    loaded = load_in(tmp_path, "clusters.d/_defaults.yaml")
    assert told(loaded.findings) == ['clusters.d/_defaults.yaml:1:1 type: spec must be a mapping, got "1"']
    assert [each.source for each in loaded.refused] == ["clusters.d/_defaults.yaml"]


@pytest.mark.parametrize("name", ["_defaults.yml", "_defaults.json"])
def test_defaults_under_another_name_are_a_warning(tmp_path: Path, name: str) -> None:
    """They aren't read, and nobody would notice."""
    write(tmp_path, {f"clusters.d/{name}": "spec: {}", "clusters.d/a.yaml": MINIMAL})
    loaded = load_in(tmp_path)
    assert told(loaded.findings) == [f"clusters.d/{name}:0:0 defaults: not read as defaults"]
    assert loaded.clusters
    assert not loaded.refused
