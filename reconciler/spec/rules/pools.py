"""Rules on what a node pool's machines are: zone, accelerators, boot disk, node counts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.spec.findings import Severity, did_you_mean
from reconciler.spec.paths import parse, resolve
from reconciler.spec.reading import Typed
from reconciler.spec.rules.rule import Hit, Subject, pick, rule
from reconciler.spec.values import describe

GPU_FAMILIES = ("a3-", "a4-", "a4x-")
_DISK_TYPES = ("hyperdisk-balanced", "pd-ssd", "pd-standard")
_GPU_DISK = "hyperdisk-balanced"
_A4X_STEP = 18  # the nodes of one NVLink domain (R)
_GPUS = re.compile(r"-(\d+)g\b")
_MACHINE = ("node_pools[*]", "machine_spec")
_ENUMS = tuple(
    (path[1:], resolve(parse(".".join(path))).row.values)
    for path in (
        (*_MACHINE, "accelerator_type"),
        (*_MACHINE, "reservation_affinity", "reservation_affinity_type"),
        ("node_pools[*]", "provisioning_model"),
    )
)


def machine_type(pool: Typed) -> str:
    """The pool's machine type, or the empty string."""
    return pick(pool, "machine_spec", "machine_type") or ""


def is_gpu_family(pool: Typed) -> bool:
    """Whether the machine type is one that comes with GPUs (api-facts, rule 4)."""
    return machine_type(pool).startswith(GPU_FAMILIES)


@rule("machine-type", "A node pool names its machine type.", source="C")
def empty_machine_type(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        if pick(pool, "machine_spec", "machine_type") == "":
            yield Hit((*path, "machine_spec", "machine_type"), 'machine_type "" is empty', "such as n2-standard-8")


@rule("zone", "A node pool's zone lies in the cluster's region.", source="C")
def zone(subject: Subject) -> Iterator[Hit]:
    region = subject.name.location
    for path, pool in subject.pools:
        if pool.get("zone") and not pool["zone"].startswith(f"{region}-"):
            yield Hit(
                (*path, "zone"),
                f"zone {describe(pool['zone'])} is not in the cluster's region {region}",
                f"a zone of it, such as {region}-a",
            )


@rule("node-count", "0 <= min_node_count <= max_node_count.", source="T")
def node_count(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        scaling = pool.get("scaling_spec", {})
        low, high = scaling.get("min_node_count", 0), scaling.get("max_node_count")
        for name, count in (("min_node_count", low), ("max_node_count", high or 0)):
            if count < 0:
                yield Hit((*path, "scaling_spec", name), f"{name} {count} is negative", "0 or more")
        if high is not None and low > high >= 0:
            yield Hit(
                (*path, "scaling_spec", "max_node_count"),
                f"max_node_count {high} is less than min_node_count {low}",
                "raise the one or lower the other",
            )


@rule("a4x-node-count", "Node counts of a4x pools are multiples of 18.", source="R")
def a4x_node_count(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        if not machine_type(pool).startswith("a4x-"):
            continue
        for name, count in pool.get("scaling_spec", {}).items():
            if name in ("min_node_count", "max_node_count") and count % _A4X_STEP:
                near = count - count % _A4X_STEP
                yield Hit(
                    (*path, "scaling_spec", name),
                    f"{name} {count} is not a multiple of {_A4X_STEP}, as {describe(machine_type(pool))} needs",
                    f"{near} or {near + _A4X_STEP}",
                )


@rule("unknown-value", "The value is none that this version knows.", source="C T", severity=Severity.WARNING)
def unknown_value(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        for names, known in _ENUMS:
            value = pick(pool, *names)
            if value and value not in known and not value.endswith("_UNSPECIFIED"):
                yield Hit(
                    (*path, *names),
                    f"{names[-1]} {describe(value)} is not known to this version",
                    did_you_mean(value.upper().replace("-", "_"), known) or f"known: {', '.join(known)}",
                )


@rule(
    "accelerator-count",
    "The number of accelerators is that of the machine type (8; 4 on a4x-highgpu-4g).",
    source="C R",
    severity=Severity.WARNING,
)
def accelerator_count(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        count = pick(pool, "machine_spec", "accelerator_count")
        gpus = _GPUS.search(machine_type(pool)) if is_gpu_family(pool) else None
        if count and gpus and count != int(gpus[1]):
            yield Hit(
                (*path, "machine_spec", "accelerator_count"),
                f"accelerator_count {count} is not what {describe(machine_type(pool))} has",
                f"write {int(gpus[1])}",
            )


@rule("boot-disk-type", "Boot disk types: hyperdisk-balanced, pd-ssd, pd-standard.", source="T")
def boot_disk_type(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        disk = pick(pool, "boot_disk", "boot_disk_type")
        if disk and disk not in _DISK_TYPES:
            yield Hit(
                (*path, "boot_disk", "boot_disk_type"),
                f"boot_disk_type {describe(disk)} is none that the service takes",
                did_you_mean(disk, _DISK_TYPES) or f"one of {', '.join(_DISK_TYPES)}",
            )


@rule("gpu-boot-disk", "GPU machine types boot from hyperdisk-balanced.", source="U")
def gpu_boot_disk(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        disk = pick(pool, "boot_disk", "boot_disk_type")
        if disk in _DISK_TYPES and disk != _GPU_DISK and is_gpu_family(pool):
            yield Hit(
                (*path, "boot_disk", "boot_disk_type"),
                f"boot_disk_type {describe(disk)} doesn't go with {describe(machine_type(pool))}",
                f"GPU machine types need {_GPU_DISK}",
            )


@rule("boot-disk-size", "A boot disk's size isn't negative.", source="T")
def boot_disk_size(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        size = pick(pool, "boot_disk", "boot_disk_size_gb") or 0
        if size < 0:
            yield Hit((*path, "boot_disk", "boot_disk_size_gb"), f"boot_disk_size_gb {size} is negative", "in GB")
