"""How large a machine is: enough for a slurm.conf that a controller finds plausible, no more.

GPU machines' sizes are those of Compute Engine's machine family pages; of others the type's name tells the vCPUs.
Where it doesn't, machines are taken as large, so that nothing which would fit the real one is called too big.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reconciler.spec.reading import Typed


class Machine(NamedTuple):
    cpus: int
    memory_mb: int
    gpus: int = 0


_GPU_MACHINES = {  # vCPUs, GB
    "a3-highgpu-1g": (26, 234),
    "a3-highgpu-2g": (52, 468),
    "a3-highgpu-4g": (104, 936),
    "a3-highgpu-8g": (208, 1872),
    "a3-megagpu-8g": (208, 1872),
    "a3-edgegpu-8g": (208, 1872),
    "a3-ultragpu-8g": (224, 2952),
    "a4-highgpu-8g": (224, 3968),
    "a4x-highgpu-4g": (140, 884),
}
_GB_PER_CPU = {"standard": 4, "highmem": 8, "highcpu": 2}
_LARGE_CPU_GB = 32
_LARGE = (512, 16_384)
_CPUS = re.compile(r"[a-z0-9]+-([a-z]+)-(\d{1,4})")
_GPUS = re.compile(r".*-(\d{1,2})g")


def machine(machine_spec: Typed) -> Machine:
    """The size of a `machine_spec`'s machine."""
    name = str(machine_spec.get("machine_type", ""))
    cpus, memory_gb = _GPU_MACHINES.get(name, _LARGE)
    if named := _CPUS.fullmatch(name):
        cpus = max(1, int(named[2]))
        memory_gb = cpus * _GB_PER_CPU.get(named[1], _LARGE_CPU_GB)
    gpus = machine_spec.get("accelerator_count") or 0
    if not gpus and (counted := _GPUS.fullmatch(name)):
        gpus = int(counted[1])
    return Machine(cpus, memory_gb * 1000, int(gpus))
