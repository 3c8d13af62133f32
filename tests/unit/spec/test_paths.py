"""Field paths as people write them."""

from __future__ import annotations

import re

import pytest

from reconciler.spec.paths import Segment as S
from reconciler.spec.paths import parse, resolve

SLURM = (S("orchestrator_spec"), S("slurm_spec"))

PARSED = [
    ("labels", (S("labels"),), "labels"),
    ("labels.cost-center", (S("labels"), S("cost-center")), "labels"),
    ("labels.a.b[c]", (S("labels"), S("a.b[c]")), "labels"),
    ("labels[cost-center]", (S("labels"), S("cost-center")), "labels"),
    ("labels.*", (S("labels"), S("*")), "labels"),
    ("nodePools[*]", (S("node_pools", "*"),), "node_pools[]"),
    ("node_pools[a4].scaling_spec", (S("node_pools", "a4"), S("scaling_spec")), "node_pools[].scaling_spec"),
    ("node_pools[a.4].labels.x", (S("node_pools", "a.4"), S("labels"), S("x")), "node_pools[].labels"),
    ("node_pools[*].lustres", (S("node_pools", "*"), S("lustres")), "node_pools[].lustres[]"),
    (
        "orchestratorSpec.slurm_spec.config.DefMemPerCPU",
        (*SLURM, S("config"), S("DefMemPerCPU")),
        "orchestrator_spec.slurm_spec.config",
    ),
    (
        "orchestrator_spec.slurmSpec.prologBashScripts[0]",
        (*SLURM, S("prolog_bash_scripts", "0")),
        "orchestrator_spec.slurm_spec.prolog_bash_scripts[]",
    ),
    (
        "orchestrator_spec.slurm_spec.prolog_bash_scripts[*]",
        (*SLURM, S("prolog_bash_scripts", "*")),
        "orchestrator_spec.slurm_spec.prolog_bash_scripts[]",
    ),
    (
        "node_pools[x].confidential_instance_config.a.b",
        (S("node_pools", "x"), S("confidential_instance_config"), S("a.b")),
        "node_pools[].confidential_instance_config",
    ),
]


@pytest.mark.parametrize(("text", "segments", "field"), PARSED, ids=[case[0] for case in PARSED])
def test_a_path_leads_to_its_field(text: str, segments: tuple[S, ...], field: str) -> None:
    """Either spelling of a name; below a map the rest is one key, as it stands."""
    assert parse(text) == segments
    assert resolve(segments).path == field


@pytest.mark.parametrize("text", ["", ".", "a..b", "a.", ".a", "a[", "a]", "a[]", "a[b]c", "a[b][c]", "node_pools[a]."])
def test_what_is_no_path(text: str) -> None:
    """A sentence says so."""
    with pytest.raises(ValueError, match=r"not a field path|can't be empty"):
        parse(text)


def test_unknown_names_are_left_to_resolve() -> None:
    """Parsing knows no unknown fields: camelCase is turned to snake_case for all."""
    assert parse("futureKnob.fooBar2Baz[x]") == (S("future_knob"), S("foo_bar2_baz", "x"))


UNRESOLVED = [
    ("lables.x", 'there is no field "lables"; did you mean "labels"?'),
    ("zzz", "known: cluster_events, "),
    ("node_pools[a].zone_", 'node_pools has no field "zone_"; did you mean "zone"?'),
    ("spec.labels", 'leave out "spec."'),
    ("display_name.x", "display_name is a single value"),
    ("network[a].network", "network is not a list: leave out [a]"),
    ("labels[x].y", "labels is not a list: leave out [x]"),
    ("node_pools.zone", "say node_pools[ID] or node_pools[*]"),
    ("orchestrator_spec.slurm_spec.node_sets.config", "node_sets[NODE_POOL_ID]"),
    ("node_pools[a].lustres[b]", "compared as a whole"),
    ("orchestrator_spec.slurm_spec.epilog_bash_scripts[a]", "known by their number"),
]


@pytest.mark.parametrize(("text", "words"), UNRESOLVED, ids=[case[0] for case in UNRESOLVED])
def test_a_path_to_nowhere(text: str, words: str) -> None:
    """The sentence says where the path breaks off, and what is near."""
    with pytest.raises(ValueError, match=re.escape(words)):
        resolve(parse(text))
