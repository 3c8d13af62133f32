"""What an applied cluster looks like in the configuration directory of a single-node Slurm.

The directory's slurm.conf (tests/slurm/harness.py writes one) includes ``settings.conf`` and
``partitions.conf`` and names ``prolog.sh`` and ``epilog.sh``; only those four files and the two
script folders are written here. Every partition gets all nodes of that Slurm, whatever its pools.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SETTINGS_FILE = "settings.conf"
PARTITIONS_FILE = "partitions.conf"
PROLOG_FILE = "prolog.sh"
EPILOG_FILE = "epilog.sh"

# Slurm complains on every command's standard error when an included file is empty.
_HEADER = "# Written by the emulator from the applied cluster.\n"

# Set by whoever runs that Slurm: a cluster's value would cut it off from its own daemons.
_HOST_OWNED = frozenset(
    {
        "authinfo", "authtype", "clustername", "credtype", "epilog", "include", "nodename", "partitionname", "prolog",
        "slurmctldhost", "slurmctldlogfile", "slurmctldpidfile", "slurmctldport", "slurmdlogfile", "slurmdpidfile",
        "slurmdport", "slurmdspooldir", "slurmuser", "statesavelocation",
    }
)  # fmt: skip


def parameter_key(name: str) -> str:
    """A slurm.conf parameter's name as the service compares it: without case and underscores (api-facts C)."""
    return name.replace("_", "").lower()


def write_configuration(directory: Path, resource: Mapping[str, Any]) -> None:
    """Writes partitions, settings, prolog and epilog of a cluster (camelCase API form) into ``directory``.

    Raises OSError when the directory can't be written.
    """
    spec = slurm_spec(resource)
    _write(directory / SETTINGS_FILE, _HEADER + render_settings(spec.get("config") or {}))
    _write(directory / PARTITIONS_FILE, _HEADER + render_partitions(spec))
    _write_scripts(directory / PROLOG_FILE, spec.get("prologBashScripts") or [])
    _write_scripts(directory / EPILOG_FILE, spec.get("epilogBashScripts") or [])


def slurm_spec(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    """``orchestratorSpec.slurmSpec`` of a cluster; empty when it has none."""
    return (resource.get("orchestratorSpec") or {}).get("slurmSpec") or {}


def default_partition(spec: Mapping[str, Any]) -> str | None:
    """The default partition's id: the named one, else the first (api-facts, "The resource")."""
    partitions = spec.get("partitions") or []
    return spec.get("defaultPartitionId") or (partitions[0]["id"] if partitions else None)


def render_settings(config: Mapping[str, str]) -> str:
    """The cluster-wide config map as slurm.conf lines."""
    return "".join(f"{_assignment(name, value)}\n" for name, value in config.items() if not _is_host_owned(name))


def render_partitions(spec: Mapping[str, Any]) -> str:
    """One PartitionName line for each partition, config maps included."""
    default = default_partition(spec)
    lines = []
    for partition in spec.get("partitions") or []:
        fields = [f"PartitionName={partition['id']}", "Nodes=ALL"]
        fields.append(f"Default={'YES' if partition['id'] == default else 'NO'}")
        config = partition.get("config") or {}
        fields += [_assignment(name, value) for name, value in config.items() if parameter_key(name) != "default"]
        lines.append(" ".join(fields) + "\n")
    return "".join(lines)


def _is_host_owned(name: str) -> bool:
    return parameter_key(name) in _HOST_OWNED


def _assignment(name: str, value: str) -> str:
    # Slurm ignores case but not underscores; a bare value ends at the first blank, and a line break
    # would begin a parameter of its own.
    text = " ".join(str(value).split())
    quoted = f'"{text}"' if " " in text and not text.startswith('"') else text
    return f"{name.replace('_', '')}={quoted}"


def _write_scripts(wrapper: Path, scripts: Sequence[str]) -> None:
    """Writes each script to a file of its own, and a wrapper that runs them in order up to the first failure."""
    folder = Path(tempfile.mkdtemp(prefix=f"{wrapper.stem}.", dir=wrapper.parent))
    folder.chmod(0o755)
    calls = []
    for index, text in enumerate(scripts):
        script = folder / f"{index:02d}.sh"
        _write(script, text, mode=0o755)
        calls.append(f"bash '{script}' || exit $?\n")
    _write(wrapper, "#!/bin/bash\n" + "".join(calls) + "exit 0\n", mode=0o755)
    # The folder before this one stays: a job may be in the middle of the wrapper that names it.
    folders = sorted(wrapper.parent.glob(f"{wrapper.stem}.*/"), key=lambda path: path.stat().st_mtime)
    for stale in folders[:-2]:
        shutil.rmtree(stale)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Replaces a file in one step: a daemon may read it at any moment."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8")
    temporary.chmod(mode)
    temporary.replace(path)
