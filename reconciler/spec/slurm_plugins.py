"""Which plugins Slurm has, by the values that slurm.conf takes (`priority/multifactor`), in 22.05 to 25.11.

A package may lack some of them (each links to a library that isn't everywhere), and a version most of what is newer or
gone since: this tells a plugin that is missing on a machine from one that is nowhere.
"""

from __future__ import annotations

_NAMES = {
    "acct_gather_energy": "none gpu ibmaem ipmi pm_counters rapl xcc",
    "acct_gather_filesystem": "none lustre",
    "acct_gather_interconnect": "none ofed sysfs",
    "acct_gather_profile": "none hdf5 influxdb",
    "core_spec": "none cray_aries",
    "hash": "k12 sha3",
    "job_container": "none cncu tmpfs",
    "jobacct_gather": "none linux cgroup",
    "mcs": "none account group user label",
    "namespace": "none linux tmpfs",
    "preempt": "none partition_prio qos",
    "priority": "basic multifactor",
    "proctrack": "cgroup cray_aries linuxproc pgid",
    "route": "default topology",
    "sched": "backfill builtin",
    "select": "cons_res cons_tres cray_aries linear",
    "switch": "none cray_aries generic hpe_slingshot nvidia_imex",
    "task": "none affinity cgroup cray_aries",
    "topology": "none default flat tree block ring 3d_torus torus3d hypercube",
}


def known_plugins(kind: str) -> tuple[str, ...]:
    """The plugins of a kind; none of a kind that takes plugins of other people's (`site_factor`) or isn't known."""
    return tuple(f"{kind}/{name}" for name in _NAMES.get(kind, "").split())
