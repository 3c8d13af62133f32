"""How large a machine is taken to be."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.spec.machines import Machine, machine

MACHINES: list[tuple[str, dict[str, Any], Machine]] = [
    ("vCPUs stand in the name", {"machine_type": "n2-standard-8"}, Machine(8, 32_000)),
    ("memory goes by the family", {"machine_type": "c3-highcpu-22"}, Machine(22, 44_000)),
    ("much memory", {"machine_type": "m3-highmem-4"}, Machine(4, 32_000)),
    ("a family that isn't known is taken as large", {"machine_type": "m3-ultramem-32"}, Machine(32, 1_024_000)),
    ("GPUs stand in the name", {"machine_type": "a4-highgpu-8g"}, Machine(224, 3_968_000, 8)),
    ("the file says how many GPUs", {"machine_type": "a4-highgpu-8g", "accelerator_count": 4}, Machine(224, 3_968_000, 4)),
    ("a GPU machine of the future", {"machine_type": "a9-giga-16g"}, Machine(512, 16_384_000, 16)),
    ("a machine of the future", {"machine_type": "z9"}, Machine(512, 16_384_000)),
    ("no type", {}, Machine(512, 16_384_000)),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "spec", "size"), MACHINES, ids=[case[0] for case in MACHINES])
def test_size(reason: str, spec: dict[str, Any], size: Machine) -> None:
    """By the machine type's name; what isn't known is large, so that nothing is called too big for it."""
    assert machine(spec) == size, reason
