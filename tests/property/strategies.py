"""Clusters that the service accepts, drawn along the field table.

Each field is drawn by its row's kind; only where the service has a rule about it (ids, references, what goes with
which machine) does a function here say more. A row that is new in the table is so generated from the day it stands
there. A cluster is drawn in parts, one for each mask path, so that an edit can draw some of them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from reconciler.spec.fields import Impact, Kind, Many
from reconciler.spec.tree import ROOT, Node

Strategy = st.SearchStrategy[Any]
POOL = ROOT.children["node_pools"]
SLURM = "orchestrator_spec.slurm_spec"
NET = "example-net"
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


DISKS = {"cpu": ["pd-ssd", "pd-standard"], "reserved": ["hyperdisk-balanced"], "flex": ["hyperdisk-balanced"]}
MACHINES = {"cpu": "n2-standard-8", "reserved": "a3-ultragpu-8g", "flex": "a3-megagpu-8g"}
MODELS = {"reserved": "RESERVATION", "flex": "FLEX_START"}
SCRATCH = f"projects/{NET}/locations/us-central1-a/instances/scratch"


@dataclass(frozen=True)
class Shape:
    """What stays the same over all edits: the project, and of each pool its kind and its immutable fields."""

    project: str
    kinds: dict[str, str]
    fixed: dict[str, dict[str, Any]]

    @property
    def workers(self) -> list[str]:
        return [name for name in self.kinds if name != "login"]


@st.composite
def shapes(draw: st.DrawFn, project: str) -> Shape:
    """One to three pools beside the login pool."""
    ids = draw(st.lists(st.text("abcxyz", min_size=1, max_size=3), min_size=1, max_size=3, unique=True))
    shape = Shape(project, {"login": "cpu", **{name: draw(st.sampled_from(sorted(MACHINES))) for name in ids}}, {})
    for name, kind in shape.kinds.items():
        drawn = {child.name: draw(_field(child, shape, name)) for child in POOL.children.values() if _is_fixed(child)}
        drawn["provisioning_model"] = MODELS.get(kind)
        shape.fixed[name] = {key: value for key, value in drawn.items() if value is not None}
    return shape


def _is_fixed(node: Node) -> bool:
    return node.impact is Impact.IMMUTABLE


@st.composite
def parts(draw: st.DrawFn, shape: Shape) -> dict[str, dict[str, Any]]:
    """A cluster as a spec for each mask path; "" holds what no mask covers."""
    drawn: dict[str, dict[str, Any]] = {}
    for path, node in _roots(ROOT):
        value = draw(_field(node, shape))
        if value is not None:
            drawn.setdefault(node.mask, {})[path] = value
    return _fit(draw, drawn)


def _roots(node: Node) -> list[tuple[str, Node]]:
    """The fields that are drawn as one: those with a mask of their own, and whole messages that no mask covers."""
    found: list[tuple[str, Node]] = []
    for child in node.children.values():
        if child.row.output:
            continue
        holds_masks = child.kind is Kind.MESSAGE and not child.mask and any(each.mask for each in _below(child))
        found += _roots(child) if holds_masks else [(child.path.removesuffix("[]"), child)]
    return found


def _below(node: Node) -> list[Node]:
    return [each for child in node.children.values() for each in (child, *_below(child))]


def _fit(draw: st.DrawFn, drawn: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
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


@st.composite
def edits(draw: st.DrawFn, shape: Shape, before: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The cluster with some of its parts drawn anew; what can't be changed stays."""
    after = draw(parts(shape))
    masks = sorted({*before, *after} - {""})
    chosen = draw(st.lists(st.sampled_from(masks), min_size=1, unique=True))
    mixed = {mask: (after if mask in chosen else before).get(mask, {}) for mask in ["", *masks]}
    mixed[""] = before.get("", {})
    return _fit(draw, {mask: fields for mask, fields in mixed.items() if fields})


def joined(drawn: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The spec that the parts make together."""
    spec: dict[str, Any] = {}
    for fields in drawn.values():
        for path, value in fields.items():
            *parents, leaf = path.split(".")
            target = spec
            for parent in parents:
                target = target.setdefault(parent, {})
            target[leaf] = value
    return spec


# --- fields


def _field(node: Node, shape: Shape, pool: str = "") -> Strategy:
    """A value of the field, or None for none; within a node pool, `pool` is its id."""
    if special := SPECIAL.get(node.path):
        return special(node, shape, pool)
    present = _many(node, shape, pool)
    return present if node.row.required else st.none() | present


def _many(node: Node, shape: Shape, pool: str) -> Strategy:
    one = _one(node, shape, pool)
    if node.many is Many.NO:
        return one
    if node.many is Many.SET:
        return st.lists(one, max_size=3, unique_by=str)
    return st.lists(one, max_size=3)


def _one(node: Node, shape: Shape, pool: str) -> Strategy:
    match node.kind:
        case Kind.MESSAGE:
            return _message(node, shape, pool)
        case Kind.INT | Kind.INT64:
            return st.integers(0, 20)
        case Kind.BOOL:
            return st.booleans()
        case Kind.ENUM:
            return st.sampled_from(node.row.values or ("ONE", "TWO"))
        case Kind.DURATION:
            return st.sampled_from(["30s", "60.5s", "604800s"])
        case Kind.RESOURCE:
            return WORDS.map(lambda name: f"projects/{NET}/locations/us-central1-a/instances/{name}")
        case Kind.IMAGE:
            return WORDS.map(lambda name: f"projects/{NET}/global/images/{name}")
        case Kind.SCRIPT:
            return SCRIPTS
        case Kind.LABELS:
            return LABELS
        case Kind.SLURM:
            names = st.sampled_from(PARAMETERS.get(node.path, ["Weight"]))
            return st.dictionaries(names, st.integers(1, 50).map(str), max_size=3)
        case Kind.ANY:
            return OBJECTS
    return WORDS


def _message(node: Node, shape: Shape, pool: str) -> Strategy:
    wanted = (
        child for child in node.children.values() if not (child.row.output or (node is POOL and _is_fixed(child)))
    )
    members = {child.name: _field(child, shape, pool) for child in wanted}
    return st.fixed_dictionaries(members).map(lambda drawn: {k: v for k, v in drawn.items() if v is not None})


def _keyed(ids: Callable[[Shape], list[str]], *, least: int = 0) -> Callable[[Node, Shape, str], Strategy]:
    """Items of a keyed list, in any order, with some of these ids."""

    def strategy(node: Node, shape: Shape, _: str) -> Strategy:
        def items(chosen: list[str]) -> Strategy:
            return st.tuples(
                *(
                    _message(node, shape, each).map(lambda item, each=each: {**item, node.row.key: each})
                    for each in chosen
                )
            ).map(list)

        known = ids(shape)
        return st.lists(st.sampled_from(known), min_size=min(least, len(known)), unique=True).flatmap(items)

    return strategy


def _pools(node: Node, shape: Shape, _: str) -> Strategy:
    return st.permutations(list(shape.kinds)).flatmap(
        lambda order: st.tuples(*(_pool(node, shape, name) for name in order)).map(list)
    )


def _pool(node: Node, shape: Shape, name: str) -> Strategy:
    return _message(node, shape, name).map(lambda drawn: {**drawn, **shape.fixed[name], "id": name})


def _scaling(_: Node, __: Shape, pool: str) -> Strategy:
    counts = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)
    if pool == "login":  # as many at the least as at the most (C)
        counts = st.integers(1, 3).map(lambda count: [count, count])
    return counts.map(lambda pair: {"min_node_count": pair[0], "max_node_count": pair[1]})


def _affinity(_: Node, shape: Shape, pool: str) -> Strategy:
    reservation = f"projects/{shape.project}/zones/us-central1-a/reservations/res"
    affinity = {
        "reservation_affinity_type": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [reservation],
    }
    return st.just(affinity) if shape.kinds[pool] == "reserved" else st.none()


def _always(value: Any) -> Callable[[Node, Shape, str], Strategy]:
    return lambda *_: st.just(value)


def _maybe(values: list[Any]) -> Callable[[Node, Shape, str], Strategy]:
    return lambda *_: st.none() | st.sampled_from(values)


def _nothing(*_: Any) -> Strategy:
    return st.none()


def _named(form: str) -> Callable[[Node, Shape, str], Strategy]:
    return lambda _, shape, __: st.just(form.format(project=shape.project))


SPECIAL: dict[str, Callable[[Node, Shape, str], Strategy]] = {
    "network": lambda _, shape, __: st.none() | st.just(
        {
            "network": f"projects/{shape.project}/global/networks/net",
            "subnetwork": f"projects/{shape.project}/regions/us-central1/subnetworks/sub",
        }
    ),
    "runtime_spec": _maybe([{"service_account": "runner@example.iam.gserviceaccount.com"}]),
    "node_pools[]": _pools,
    "node_pools[].id": lambda _, __, pool: st.just(pool),
    "node_pools[].machine_spec.machine_type": lambda _, shape, pool: st.just(MACHINES[shape.kinds[pool]]),
    "node_pools[].machine_spec.accelerator_type": _nothing,
    "node_pools[].machine_spec.accelerator_count": _nothing,
    "node_pools[].machine_spec.reservation_affinity": _affinity,
    "node_pools[].provisioning_model": _nothing,
    "node_pools[].flex_start_max_duration": lambda _, shape, pool: (
        st.none() | st.sampled_from(["30s", "86400s", "604800s", "90.5s"]) if shape.kinds[pool] == "flex" else st.none()
    ),
    "node_pools[].scaling_spec": _scaling,
    "node_pools[].zone": _maybe(["us-central1-a", "us-central1-b"]),
    "node_pools[].boot_disk.boot_disk_type": lambda _, shape, pool: st.none() | st.sampled_from(DISKS[shape.kinds[pool]]),
    "node_pools[].boot_disk.boot_disk_size_gb": lambda *_: st.none() | st.integers(10, 500),
    # One pool has the file system that may be exported.
    "node_pools[].lustres[]": lambda _, __, pool: st.just([SCRATCH]) if pool == "login" else st.none(),
    f"{SLURM}.home_directory_storage": _named("projects/{project}/locations/us-central1-a/instances/home"),
    f"{SLURM}.login_node_pool_id": _always("login"),
    f"{SLURM}.partitions[]": _keyed(lambda shape: [f"p{name}" for name in shape.workers], least=1),
    f"{SLURM}.partitions[].node_pool_ids[]": lambda _, shape, __: st.lists(
        st.sampled_from(shape.workers), min_size=1, unique=True
    ),
    f"{SLURM}.default_partition_id": _nothing,
    f"{SLURM}.node_sets[]": _keyed(lambda shape: shape.workers),
    f"{SLURM}.scheduling.preempt_mode": _maybe(["OFF", ["A", "B"]]),
    f"{SLURM}.accounting.accounting_storage_enforce": _maybe(["limits", ["qos", "limits"]]),
    "lustre_export_config.lustres[]": lambda *_: st.just([SCRATCH]) | st.none(),
    "lustre_export_config.start_time.hours": lambda *_: st.integers(0, 23),
    "lustre_export_config.start_time.minutes": lambda *_: st.integers(0, 59),
}  # fmt: skip
