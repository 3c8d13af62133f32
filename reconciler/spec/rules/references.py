"""Rules on ids: that they are there, are unique, and that what they name exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reconciler.spec.findings import Path, Severity, did_you_mean
from reconciler.spec.rules.rule import SLURM, Hit, Item, Subject, rule
from reconciler.spec.values import describe


def _keyed(subject: Subject) -> tuple[tuple[str, str, tuple[Item, ...]], ...]:
    return (
        ("node pool", "id", subject.pools),
        ("partition", "id", subject.partitions),
        ("node set for pool", "node_pool_id", subject.node_sets),
    )


def _ids(items: Iterable[Item]) -> list[str]:
    return [item.value["id"] for item in items if item.value.get("id")]


@rule("no-node-pools", "A cluster has at least one node pool.", source="S2 C", is_local=False)
def no_node_pools(subject: Subject) -> Iterator[Hit]:
    if "node_pools" in subject.spec and not subject.pools:
        yield Hit(("spec", "node_pools"), "node_pools [] is empty", "a cluster needs at least one node pool")


@rule("empty-id", "An id that must be there isn't empty.", source="C T")
def empty_id(subject: Subject) -> Iterator[Hit]:
    for what, key, items in _keyed(subject):
        for path, value in items:
            if value.get(key) == "":
                yield Hit((*path, key), f'the {key} "" of a {what} is empty', "name it")


@rule("duplicate-id", "Ids of node pools, partitions and node sets are unique.", source="T")
def duplicate_id(subject: Subject) -> Iterator[Hit]:
    for what, key, items in _keyed(subject):
        seen: dict[str, int | str] = {}
        for path, value in items:
            identifier = value.get(key)
            if not identifier:
                continue
            if identifier in seen:
                first = f"{path[-2]}[{seen[identifier]}]"
                yield Hit(
                    (*path, key),
                    f"there are two: {what} {describe(identifier)} is {first} already",
                    "rename or remove one",
                )
            seen.setdefault(identifier, path[-1])


@rule("unknown-node-pool", "Every node pool that is referred to exists.", source="T", is_local=False)
def unknown_node_pool(subject: Subject) -> Iterator[Hit]:
    pools = _ids(subject.pools)
    if len(pools) < len(subject.pools) or "node_pools" not in subject.spec:
        return  # a pool whose id couldn't be read may be the one that is meant
    for path, pool in _pool_references(subject):
        if pool not in pools:
            yield Hit(path, f"there is no node pool {describe(pool)}", _known(pool, pools))


def _pool_references(subject: Subject) -> Iterator[tuple[Path, str]]:
    if login := subject.slurm.get("login_node_pool_id"):
        yield (*SLURM, "login_node_pool_id"), login
    for path, partition in subject.partitions:
        for index, pool in enumerate(partition.get("node_pool_ids", ())):
            yield (*path, "node_pool_ids", index), pool
    for path, node_set in subject.node_sets:
        if pool := node_set.get("node_pool_id"):
            yield (*path, "node_pool_id"), pool


def _known(word: str, known: list[str]) -> str:
    return did_you_mean(word, known) or "known: " + (", ".join(dict.fromkeys(known)) or "none")


@rule("unknown-partition", "The default partition exists.", source="T", is_local=False)
def unknown_partition(subject: Subject) -> Iterator[Hit]:
    partitions = _ids(subject.partitions)
    default = subject.slurm.get("default_partition_id")
    if default and default not in partitions and len(partitions) == len(subject.partitions):
        yield Hit(
            (*SLURM, "default_partition_id"),
            f"there is no partition {describe(default)}",
            _known(default, partitions),
        )


@rule("partition-without-pools", "A partition has at least one node pool.", source="C", is_local=False)
def partition_without_pools(subject: Subject) -> Iterator[Hit]:
    for path, partition in subject.partitions:
        if partition.get("node_pool_ids") == []:
            name = describe(partition.get("id", ""))
            yield Hit((*path, "node_pool_ids"), f"partition {name} has no node pools", "name one or drop the partition")


@rule(
    "unused-node-pool",
    "A node pool is in some partition, or is the login pool.",
    source="C",
    severity=Severity.WARNING,
    is_local=False,
)
def unused_node_pool(subject: Subject) -> Iterator[Hit]:
    if not subject.slurm:
        return
    used = {pool for partition in subject.partitions for pool in partition.value.get("node_pool_ids", ())}
    used.add(subject.slurm.get("login_node_pool_id"))
    for path, pool in subject.pools:
        if pool.get("id") and pool["id"] not in used:
            yield Hit(
                (*path, "id"),
                f"node pool {describe(pool['id'])} is in no partition: no job can use it",
                "add it to a partition's node_pool_ids or remove it",
            )


@rule("login-pool-in-node-sets", "The login pool is in no node set.", source="C")
def login_pool_in_node_sets(subject: Subject) -> Iterator[Hit]:
    login = subject.slurm.get("login_node_pool_id")
    for path, node_set in subject.node_sets:
        if login and node_set.get("node_pool_id") == login:
            yield Hit(
                (*path, "node_pool_id"),
                f"node pool {describe(login)} is the login pool, which can't be in node_sets",
                "remove this node set",
            )


@rule("login-pool-size", "The login pool has as many nodes at the least as at the most.", source="C", is_local=False)
def login_pool_size(subject: Subject) -> Iterator[Hit]:
    login = subject.slurm.get("login_node_pool_id")
    for path, pool in subject.pools:
        scaling = pool.get("scaling_spec", {})
        if not login or pool.get("id") != login or "max_node_count" not in scaling:
            continue
        low, high = scaling.get("min_node_count", 0), scaling["max_node_count"]
        if low != high:
            yield Hit(
                (*path, "scaling_spec"),
                f"login pool {describe(login)} has min_node_count {low} and max_node_count {high}",
                "a login pool has both the same",
            )
