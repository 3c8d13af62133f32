"""Rules on node pools: machines, counts, disks, and how capacity is got."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.spec.rule_cases import A4X, FLEX, GONE, GPU, Broken, Fine, assert_broken, assert_fine, label


def pool(index: int, rest: str = "") -> str:
    return f"spec.node_pools.{index}.{rest}".rstrip(".")


MACHINE = pool(GPU, "machine_spec")
AFFINITY = f"{MACHINE}.reservation_affinity"
COUNTS = "scaling_spec.min_node_count", "scaling_spec.max_node_count"


def on_demand(machine: dict[str, Any]) -> dict[str, Any]:
    """The GPU pool with these machines and neither a model nor a reservation."""
    return {MACHINE: machine, pool(GPU, "provisioning_model"): GONE, pool(GPU, "boot_disk"): GONE}


BROKEN = [
    Broken(
        "an empty machine type",
        "machine-type",
        {pool(1, "machine_spec.machine_type"): ""},
        pool(1, "machine_spec.machine_type"),
        ('""', "n2-standard-8"),
    ),
    Broken(
        "a zone elsewhere",
        "zone",
        {pool(1, "zone"): "us-east1-b"},
        pool(1, "zone"),
        ('"us-east1-b"', "region us-central1", "us-central1-a"),
    ),
    Broken(
        "a region with a longer name",
        "zone",
        {pool(1, "zone"): "us-central12-b"},
        pool(1, "zone"),
        ('"us-central12-b"',),
    ),
    Broken(
        "a negative minimum",
        "node-count",
        {pool(1, COUNTS[0]): -1},
        pool(1, COUNTS[0]),
        ("min_node_count -1",),
    ),
    Broken(
        "a negative maximum",
        "node-count",
        {pool(1, COUNTS[1]): -2},
        pool(1, COUNTS[1]),
        ("max_node_count -2",),
    ),
    Broken(
        "the minimum above the maximum",
        "node-count",
        {pool(1, COUNTS[0]): 5},
        pool(1, COUNTS[1]),
        ("max_node_count 4", "min_node_count 5"),
    ),
    Broken(
        "a4x maximum",
        "a4x-node-count",
        {pool(A4X, COUNTS[1]): 20},
        pool(A4X, COUNTS[1]),
        ("max_node_count 20", "18 or 36", '"a4x-highgpu-4g"'),
    ),
    Broken(
        "a4x minimum",
        "a4x-node-count",
        {pool(A4X, COUNTS[0]): 1},
        pool(A4X, COUNTS[0]),
        ("min_node_count 1", "0 or 18"),
    ),
    Broken(
        "an accelerator mistyped",
        "unknown-value",
        {f"{MACHINE}.accelerator_type": "nvidia-b200"},
        f"{MACHINE}.accelerator_type",
        ('"nvidia-b200"', 'did you mean "NVIDIA_B200"?'),
    ),
    Broken(
        "a newer accelerator is only warned of",
        "unknown-value",
        {f"{MACHINE}.accelerator_type": "QUANTUM"},
        f"{MACHINE}.accelerator_type",
        ('"QUANTUM"', "known: NVIDIA_H100_80GB"),
    ),
    Broken(
        "a provisioning model in small letters",
        "unknown-value",
        {pool(A4X, "provisioning_model"): "spot"},
        pool(A4X, "provisioning_model"),
        ('did you mean "SPOT"?',),
    ),
    Broken(
        "a kind of reservation that isn't known",
        "unknown-value",
        {f"{AFFINITY}.reservation_affinity_type": "SPECIFIC"},
        f"{AFFINITY}.reservation_affinity_type",
        ('"SPECIFIC"',),
    ),
    Broken(
        "fewer GPUs than the machine has",
        "accelerator-count",
        {f"{MACHINE}.accelerator_count": 4},
        f"{MACHINE}.accelerator_count",
        ("accelerator_count 4", "write 8"),
    ),
    Broken(
        "more GPUs than an a4x machine has",
        "accelerator-count",
        {pool(A4X, "machine_spec.accelerator_count"): 8},
        pool(A4X, "machine_spec.accelerator_count"),
        ("write 4",),
    ),
    Broken(
        "a disk type mistyped",
        "boot-disk-type",
        {pool(1, "boot_disk.boot_disk_type"): "pd-sdd"},
        pool(1, "boot_disk.boot_disk_type"),
        ('"pd-sdd"', 'did you mean "pd-ssd"?'),
    ),
    Broken(
        "a disk type that isn't taken",
        "boot-disk-type",
        {pool(GPU, "boot_disk.boot_disk_type"): "scratch"},
        pool(GPU, "boot_disk.boot_disk_type"),
        ("one of hyperdisk-balanced, pd-ssd, pd-standard",),
    ),
    *(
        Broken(
            f"a GPU machine that boots from {disk}",
            "gpu-boot-disk",
            {pool(GPU, "boot_disk.boot_disk_type"): disk},
            pool(GPU, "boot_disk.boot_disk_type"),
            (f'"{disk}"', '"a4-highgpu-8g"', "hyperdisk-balanced"),
        )
        for disk in ("pd-standard", "pd-ssd")
    ),
    Broken(
        "a negative disk",
        "boot-disk-size",
        {pool(1, "boot_disk.boot_disk_size_gb"): -1},
        pool(1, "boot_disk.boot_disk_size_gb"),
        ("-1",),
    ),
    *(
        Broken(
            f"GPUs and neither model nor reservation: {machine}",
            "gpu-provisioning-model",
            on_demand(machine),
            pool(GPU),
            ("FLEX_START", "reservation_affinity"),
        )
        for machine in (
            {"machine_type": "a3-megagpu-8g"},
            {"machine_type": "g2-standard-4", "accelerator_type": "NVIDIA_B200"},
            {"machine_type": "g2-standard-4", "accelerator_count": 1},
        )
    ),
    Broken(
        "an unspecified model is none",
        "gpu-provisioning-model",
        on_demand({"machine_type": "a3-megagpu-8g"})
        | {pool(GPU, "provisioning_model"): "PROVISIONING_MODEL_UNSPECIFIED"},
        pool(GPU),
        ('"a3-megagpu-8g"',),
    ),
    Broken(
        "a reservation for spot machines",
        "reservation-model",
        {pool(GPU, "provisioning_model"): "SPOT"},
        pool(GPU, "provisioning_model"),
        ('"SPOT"', "RESERVATION"),
    ),
    Broken(
        "the model RESERVATION without one",
        "reservation-missing",
        {AFFINITY: {}},
        pool(GPU, "provisioning_model"),
        ("reservation_affinity",),
    ),
    Broken(
        "a specific reservation without a name",
        "reservation-values",
        {f"{AFFINITY}.values": []},
        AFFINITY,
        ('"SPECIFIC_RESERVATION"', "values"),
    ),
    Broken(
        "a duration for spot machines",
        "flex-start-model",
        {pool(FLEX, "provisioning_model"): "SPOT"},
        pool(FLEX, "flex_start_max_duration"),
        ('"86400s"', '"SPOT"'),
    ),
    Broken(
        "a duration and no model",
        "flex-start-model",
        {pool(1, "flex_start_max_duration"): "60s"},
        pool(1, "flex_start_max_duration"),
        ("no provisioning_model",),
    ),
    *(
        Broken(
            f"a duration of {text}",
            "flex-start-duration",
            {pool(FLEX, "flex_start_max_duration"): text},
            pool(FLEX, "flex_start_max_duration"),
            (f'"{text}"', "30s to 604800s"),
        )
        for text in ("0s", "29.999s", "604800.001s", "9" * 30 + "s")
    ),
]

FINE = [
    Fine("equal counts", {pool(1, COUNTS[0]): 4}),
    Fine("no zone", {pool(0, "zone"): GONE}),
    Fine("18 nodes", {pool(A4X, COUNTS[0]): 18, pool(A4X, COUNTS[1]): 18}),
    Fine("more members of scaling", {pool(A4X, "scaling_spec.future"): 7}),
    Fine("unspecified is absent", {f"{MACHINE}.accelerator_type": "ACCELERATOR_TYPE_UNSPECIFIED"}),
    Fine("one GPU of a small machine", {pool(FLEX, "machine_spec"): {
        "machine_type": "a3-highgpu-1g", "accelerator_count": 1}}),
    Fine("nothing is known of other families", {pool(1, "machine_spec.accelerator_count"): 3} | {
        pool(1, "provisioning_model"): "SPOT"}),
    Fine("a machine type without a number", {pool(FLEX, "machine_spec"): {
        "machine_type": "a3-custom", "accelerator_count": 2}}),
    Fine("a reservation means its model", {pool(GPU, "provisioning_model"): GONE}),
    Fine("any reservation needs no values", {f"{AFFINITY}": {"reservation_affinity_type": "ANY_RESERVATION"}}),
    Fine("30 seconds", {pool(FLEX, "flex_start_max_duration"): "30s"}),
    Fine("7 days", {pool(FLEX, "flex_start_max_duration"): "604800.000s"}),
]  # fmt: skip


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)
