"""Clusters that the service accepts, drawn along the field table.

Each field is drawn by its row's kind; only where the service has a rule about it (ids, references, what goes with
which machine) does this module say more. A row that is new in the table is so generated from the day it stands there.
A cluster is drawn in parts, one for each mask path, so that an edit can draw some of them anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from reconciler.spec.fields import Impact, Kind, Many
from reconciler.spec.tree import ROOT, Node

Strategy = st.SearchStrategy[Any]
POOL = ROOT.children["node_pools"]
SLURM = "orchestrator_spec.slurm_spec"
NET = "example-net"
PROJECT = "THE-PROJECT"  # replaced once the spec is whole
WORDS = st.text("abcdefgh", min_size=1, max_size=6)
# What YAML, JSON and shells may trip over, but no service does.
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20) | st.sampled_from(
    [
        "on",
        "null",
        "~",
        "1e3",
        "0o14",
        "010",
        "12:30:00",
        "# x",
        "a: b",
        "- a",
        "'",
        '"',
        "{",
        "%a",
        " a ",
        "\u2028",
        "",
    ]
)
LABELS = st.dictionaries(
    st.text("abc019_-é日", min_size=1, max_size=5), st.text("abc019_-é日", max_size=5) | st.sampled_from(["on", "1e3"]), max_size=3
)  # fmt: skip
# Not for bash, whose `bash -n` would be run for each.
SCRIPTS = st.lists(TEXTS, max_size=3).map(
    lambda lines: "\n".join(["#!/usr/bin/python3", *(f"# {x}" for x in lines), ""])
)
OBJECTS = st.dictionaries(WORDS, WORDS | st.integers(1, 9) | st.just(True), min_size=1, max_size=2)
# Parameters of each record of slurm.conf whose values are numbers, in spellings that are all the same to Slurm.
PARAMETERS = {
    f"{SLURM}.config": ["PriorityWeightAge", "priority_weight_qos", "MaxJobCount", "tcptimeout"],
    f"{SLURM}.partitions[].config": ["PriorityTier", "max_nodes", "MinNodes"],
    f"{SLURM}.node_sets[].config": ["Weight", "mem_spec_limit"],
}


SCRATCH = f"projects/{NET}/locations/us-central1-a/instances/scratch"


@dataclass(frozen=True)
class Shape:
    """What stays the same over all edits: the project, and of each pool its role and its immutable fields.

    A role is "login", or the kind of machine, which decides on what goes with it.
    """

    project: str
    roles: dict[str, str]
    fixed: dict[str, dict[str, Any]]

    @property
    def workers(self) -> list[str]:
        return [name for name in self.roles if name != "login"]


@st.composite
def shapes(draw: st.DrawFn, project: str) -> Shape:
    """One to three pools beside the login pool."""
    ids = draw(st.lists(st.text("abcxyz", min_size=1, max_size=3), min_size=1, max_size=3, unique=True))
    roles = {"login": "login", **{name: draw(st.sampled_from(["cpu", "flex", "reserved"])) for name in ids}}
    return Shape(project, roles, {name: draw(_message(POOL, role, fixed=True)) for name, role in roles.items()})


Parts = dict[str, dict[str, Any]]


@st.composite
def parts(draw: st.DrawFn, shape: Shape) -> Parts:
    """A cluster: mask path -> field path -> value; "" holds what no mask covers."""
    drawn: Parts = {}
    for path, node in ROOTS:
        value = _keyed(draw, node, shape) if node.many is Many.KEYED else draw(_field(node, ""))
        if value is not None:
            drawn.setdefault(node.mask, {})[path] = value
    return _fit(draw, drawn)


@st.composite
def edits(draw: st.DrawFn, shape: Shape, before: Parts) -> Parts:
    """The cluster with some of its parts drawn anew; what can't be changed stays."""
    after = draw(parts(shape))
    masks = sorted({*before, *after} - {""})
    chosen = draw(st.lists(st.sampled_from(masks), min_size=1, unique=True))
    mixed = {mask: (after if mask in chosen else before).get(mask, {}) for mask in masks}
    mixed[""] = before.get("", {})
    return _fit(draw, {mask: fields for mask, fields in mixed.items() if fields})


def joined(drawn: Parts, shape: Shape) -> dict[str, Any]:
    """The spec that the parts make together."""
    spec: dict[str, Any] = {}
    for fields in drawn.values():
        for path, value in fields.items():
            *parents, leaf = path.split(".")
            target = spec
            for parent in parents:
                target = target.setdefault(parent, {})
            target[leaf] = value
    named: dict[str, Any] = json.loads(json.dumps(spec).replace(PROJECT, shape.project))
    return named


def _fit(draw: st.DrawFn, drawn: Parts) -> Parts:
    """What parts ask of each other: config excludes scheduling and accounting (C), and the default must exist (T)."""
    drawn = dict(drawn)
    if drawn.get(f"{SLURM}.config"):
        for mask in (f"{SLURM}.scheduling", f"{SLURM}.accounting") if draw(st.booleans()) else (f"{SLURM}.config",):
            drawn.pop(mask, None)
    partitions = drawn.get(f"{SLURM}.partitions", {}).get(f"{SLURM}.partitions", [])
    default = f"{SLURM}.default_partition_id"
    drawn.pop(default, None)
    if partitions and draw(st.booleans()):
        drawn[default] = {default: draw(st.sampled_from([partition["id"] for partition in partitions]))}
    return drawn


# --- lists whose items have ids


def _keyed(draw: st.DrawFn, node: Node, shape: Shape) -> list[dict[str, Any]]:
    """Pools: all of the shape, in any order. Partitions and node sets: some over its workers."""
    if node is POOL:
        order = draw(st.permutations(list(shape.roles)))
        return [{**draw(_message(POOL, shape.roles[name])), **shape.fixed[name], "id": name} for name in order]
    least = 1 if node.name == "partitions" else 0
    chosen = draw(st.lists(st.sampled_from(shape.workers), min_size=least, unique=True))
    return [_over_pools(draw, node, shape, name) for name in chosen]


def _over_pools(draw: st.DrawFn, node: Node, shape: Shape, name: str) -> dict[str, Any]:
    item = {**draw(_message(node, "")), node.row.key: name}
    if "node_pool_ids" in node.children:
        item |= {
            "id": f"p{name}",
            "node_pool_ids": draw(st.lists(st.sampled_from(shape.workers), min_size=1, unique=True)),
        }
    return item


# --- fields


@cache
def _field(node: Node, role: str) -> Strategy:
    """A value of the field, or None for none; `role` is that of the node pool around it."""
    special = SPECIAL.get(node.path)
    if special is not None:
        return special.get(role, special[""]) if isinstance(special, dict) else special
    if node.many is Many.NO:
        present = _one(node, role)
    else:
        present = st.lists(_one(node, role), max_size=3, unique_by=str if node.many is Many.SET else None)
    return present if node.row.required else st.none() | present


def _one(node: Node, role: str) -> Strategy:
    if node.kind is Kind.MESSAGE:
        return _message(node, role)
    if node.kind is Kind.ENUM:
        return st.sampled_from(node.row.values or ("ONE", "TWO"))
    if node.kind is Kind.SLURM:
        return st.dictionaries(st.sampled_from(PARAMETERS[node.path]), st.integers(1, 50).map(str), max_size=3)
    return BY_KIND[node.kind]


@cache
def _message(node: Node, role: str, *, fixed: bool = False) -> Strategy:
    """A message without the fields that can't be changed, or with them alone."""
    wanted = [child for child in node.children.values() if not child.row.output]
    if node is POOL:
        wanted = [child for child in wanted if (child.impact is Impact.IMMUTABLE) is fixed]
    members = {child.name: _field(child, role) for child in wanted if child.name != node.row.key}
    return st.fixed_dictionaries(members).map(lambda drawn: {k: v for k, v in drawn.items() if v is not None})


def _name(kind: str) -> Strategy:
    return WORDS.map(lambda name: f"projects/{NET}/{kind}/{name}")


BY_KIND: dict[Kind, Strategy] = {
    Kind.STRING: WORDS,
    Kind.INT: st.integers(0, 20),
    Kind.INT64: st.integers(0, 20),
    Kind.BOOL: st.booleans(),
    Kind.DURATION: st.sampled_from(["30s", "60.5s", "604800s"]),
    Kind.RESOURCE: _name("locations/us-central1-a/instances"),
    Kind.IMAGE: _name("global/images"),
    Kind.SCRIPT: SCRIPTS,
    Kind.LABELS: LABELS,
    Kind.ANY: OBJECTS,
}
NOTHING = st.none()
HOME = f"projects/{PROJECT}/locations/us-central1-a/instances/home"
NETWORK = {
    "network": f"projects/{PROJECT}/global/networks/net",
    "subnetwork": f"projects/{PROJECT}/regions/us-central1/subnetworks/sub",
}
AFFINITY = {
    "reservation_affinity_type": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": [f"projects/{PROJECT}/zones/us-central1-a/reservations/res"],
}
SAME = st.integers(1, 3).map(lambda count: {"min_node_count": count, "max_node_count": count})
RANGE = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(
    lambda pair: {"min_node_count": min(pair), "max_node_count": max(pair)}
)
ANY_DISK = NOTHING | st.sampled_from(["pd-ssd", "pd-standard"])
# path -> its strategy, or one for each role and "" for the others
SPECIAL: dict[str, Strategy | dict[str, Strategy]] = {
    "network": NOTHING | st.just(NETWORK),
    "runtime_spec": NOTHING | st.just({"service_account": "runner@example.iam.gserviceaccount.com"}),
    "node_pools[].machine_spec.machine_type": {
        "": st.just("n2-standard-8"),
        "flex": st.just("a3-megagpu-8g"),
        "reserved": st.just("a3-ultragpu-8g"),
    },
    "node_pools[].machine_spec.accelerator_type": NOTHING,
    "node_pools[].machine_spec.accelerator_count": NOTHING,
    "node_pools[].machine_spec.reservation_affinity": {"": NOTHING, "reserved": st.just(AFFINITY)},
    "node_pools[].provisioning_model": {
        "": NOTHING,
        "flex": st.just("FLEX_START"),
        "reserved": NOTHING | st.just("RESERVATION"),
    },
    "node_pools[].flex_start_max_duration": {
        "": NOTHING,
        "flex": NOTHING | st.sampled_from(["30s", "86400s", "604800s", "90.5s"]),
    },
    "node_pools[].scaling_spec": {"": RANGE, "login": SAME},  # the login pool's bounds are the same (C)
    "node_pools[].zone": NOTHING | st.sampled_from(["us-central1-a", "us-central1-b"]),
    "node_pools[].boot_disk.boot_disk_type": {
        "": ANY_DISK,
        "flex": NOTHING | st.just("hyperdisk-balanced"),
        "reserved": NOTHING | st.just("hyperdisk-balanced"),
    },
    "node_pools[].boot_disk.boot_disk_size_gb": NOTHING | st.integers(10, 500),
    # One pool has the file system that may be exported.
    "node_pools[].lustres[]": {"": NOTHING, "login": st.just([SCRATCH])},
    f"{SLURM}.home_directory_storage": st.just(HOME),
    f"{SLURM}.login_node_pool_id": st.just("login"),
    f"{SLURM}.default_partition_id": NOTHING,  # drawn last: it must exist
    f"{SLURM}.scheduling.preempt_mode": NOTHING | st.sampled_from(["OFF", ["A", "B"]]),
    f"{SLURM}.accounting.accounting_storage_enforce": NOTHING | st.sampled_from(["limits", ["qos", "limits"]]),
    "lustre_export_config.lustres[]": NOTHING | st.just([SCRATCH]),
    "lustre_export_config.start_time.hours": st.integers(0, 23),
    "lustre_export_config.start_time.minutes": st.integers(0, 59),
}


def _roots(node: Node) -> list[tuple[str, Node]]:
    """The fields that are drawn as one: those with a mask of their own, and whole messages that no mask covers."""
    found: list[tuple[str, Node]] = []
    for child in node.children.values():
        holds_masks = child.kind is Kind.MESSAGE and not child.mask and any(each.mask for each in _below(child))
        if not child.row.output:
            found += _roots(child) if holds_masks else [(child.path.removesuffix("[]"), child)]
    return found


def _below(node: Node) -> list[Node]:
    return [each for child in node.children.values() for each in (child, *_below(child))]


ROOTS = _roots(ROOT)
