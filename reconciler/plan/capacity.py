"""What a plan means in machines: nodes and accelerators by pool, before and after, at least and at most."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from reconciler.plan.model import Action, Capacity, ClusterPlan, Range
from reconciler.spec.reading import Typed, read_live

_NONE = Range(0, 0)
_GPUS = re.compile(r"-(\d+)g$")  # `a4-highgpu-8g` has eight
_FAMILIES = {  # C, R: the accelerators of the GPU families, for pools that leave accelerator_type out
    "a3-highgpu": "NVIDIA_H100_80GB",
    "a3-megagpu": "NVIDIA_H100_MEGA_80GB",
    "a3-ultragpu": "NVIDIA_H200_141GB",
    "a4-highgpu": "NVIDIA_B200",
}


def capacity_of(action: Action, before: Typed, after: Typed) -> tuple[Capacity, ...]:
    """The pools whose nodes change, in the order of their ids. `before` and `after` are typed specs.

    A pool that gets other machines stands there twice: the old ones go, the new ones come.
    """
    if action is Action.NO_OP:
        return ()
    old, new = _pools(before), {} if action is Action.DELETE else _pools(after)
    found: list[Capacity] = []
    for pool in sorted(old.keys() | new.keys()):
        found += _changes(pool, old.get(pool), new.get(pool))
    return tuple(found)


def _changes(pool: str, was: Typed | None, will: Typed | None) -> list[Capacity]:
    before, after = _range(was), _range(will)
    goes, comes = _kind(was or will or {}), _kind(will or was or {})
    if was is None or will is None or _are_alike(was, will):
        return [Capacity(pool, before, after, *comes)] if before != after else []
    sides = (Capacity(pool, before, _NONE, *goes), Capacity(pool, _NONE, after, *comes))
    return [side for side in sides if side.before != side.after]


def _are_alike(was: Typed, will: Typed) -> bool:
    """Whether the machines are the same. What one of them doesn't say of its accelerators, its type implies."""
    old, new = _machine(was), _machine(will)
    return old.get("machine_type") == new.get("machine_type") and all(
        not old.get(name) or not new.get(name) or old[name] == new[name]
        for name in ("accelerator_type", "accelerator_count")
    )


def _kind(pool: Typed) -> tuple[str, int, str]:
    return *accelerators(pool), str(_machine(pool).get("machine_type") or "")


def accelerators(pool: Typed) -> tuple[str, int]:
    """The type and the number of a node's accelerators; ("", 0) where it has none."""
    machine = _machine(pool)
    kind = str(machine.get("machine_type") or "")
    in_name = _GPUS.search(kind)
    count = machine.get("accelerator_count") or (int(in_name[1]) if in_name else 0)
    named = str(machine.get("accelerator_type") or "")
    if named.endswith("_UNSPECIFIED"):
        named = ""
    return (
        (named or _FAMILIES.get(kind.rpartition("-")[0], "accelerators"), count)
        if isinstance(count, int) and count
        else ("", 0)
    )


def totals(clusters: Iterable[ClusterPlan]) -> list[Capacity]:
    """What the nodes of all pools come to, by accelerator, then by machine type of nodes without any.

    All pools of the clusters that change are counted, whether or not a pool does; what stays the same is left out.
    """
    sums: dict[tuple[str, int, str], Capacity] = {}
    for each in (pool for cluster in clusters for pool in (*cluster.capacity, *_kept(cluster))):
        key = (each.accelerator, each.per_node, "" if each.per_node else each.machine_type)
        sofar = sums.get(key, Capacity("", _NONE, _NONE, *key))
        sums[key] = Capacity("", sofar.before + each.before, sofar.after + each.after, *key)
    ordered = sorted(sums.items(), key=lambda pair: (not pair[0][0], pair[0]))
    return [total for _, total in ordered if total.before != total.after]


def _kept(cluster: ClusterPlan) -> Iterator[Capacity]:
    """The pools whose nodes stay as they are: those that the request has besides. It holds the whole resource."""
    body = cluster.request.body if cluster.request else None
    changed = {each.pool for each in cluster.capacity}
    for pool, spec in _pools(read_live({"node_pools": (body or {}).get("node_pools")})).items():
        if pool not in changed:
            count = _range(spec)
            yield Capacity(pool, count, count, *_kind(spec))


def _machine(pool: Typed) -> Typed:
    machine = pool.get("machine_spec")
    return machine if isinstance(machine, dict) else {}


def _pools(spec: Typed) -> dict[str, Typed]:
    pools = spec.get("node_pools")
    return {str(pool.get("id")): pool for pool in pools if isinstance(pool, dict)} if isinstance(pools, list) else {}


def _range(pool: Typed | None) -> Range:
    scaling = (pool or {}).get("scaling_spec")
    low, high = (scaling.get(f"{end}_node_count") if isinstance(scaling, dict) else 0 for end in ("min", "max"))
    return Range(low if isinstance(low, int) else 0, high if isinstance(high, int) else 0)
