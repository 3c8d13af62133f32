"""A fleet of made-up clusters of realistic size: cluster files, and the same clusters live.

Each file has some 120 lines: five pools, four partitions, node sets, Slurm parameters, and scripts by `{file: …}`.
A project and location holds a thousand clusters at most, so a fleet of ten thousand lies in ten of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PER_LOCATION = 1000
PAGE = 500  # what the tool asks for
_LOCATIONS = ("us-central1", "us-east4", "us-west1", "europe-west4", "europe-west1")
_NODES = 16
_SCRIPTS = ("tune-host", "check-gpus", "mount-scratch", "clean-tmp")


@dataclass(frozen=True)
class Fleet:
    """The cluster files in `root`, and what is live of them: at first the same."""

    root: Path
    size: int

    @property
    def folder(self) -> Path:
        """Where its cluster files are."""
        return self.root / "clusters.d"

    @property
    def changed(self) -> int:
        """How many clusters `want` edits: one in a hundred, and one at the least."""
        return max(1, self.size // 100)

    @property
    def pages(self) -> int:
        """How many pages it takes to list it."""
        full, rest = divmod(self.size, PER_LOCATION)
        return full * -(-PER_LOCATION // PAGE) + -(-rest // PAGE)

    def write(self) -> None:
        """Write the cluster files and their scripts."""
        (self.root / ".git").mkdir(parents=True)
        scripts = self.folder / "scripts"
        scripts.mkdir(parents=True)
        for name in _SCRIPTS:
            (scripts / f"{name}.sh").write_text(_script(name))
        for index in range(self.size):
            self._path(index).parent.mkdir(exist_ok=True)
            self._path(index).write_text(_file_text(*_place(index)) % _values(index))

    def want(self, nodes: int) -> None:
        """Edit one file in a hundred: another greatest number of nodes in one of its pools, and another label."""
        for index in range(0, self.size, self.size // self.changed):
            text = _file_text(*_place(index)) % _values(index)
            text = text.replace(f"max_node_count: {_NODES}", f"max_node_count: {nodes}")
            self._path(index).write_text(text.replace("managed-by: reconciler", f"managed-by: reconciler-{nodes}"))

    def seed(self, path: Path) -> None:
        """Write what is live, as the emulator's `--seed` takes it."""
        texts = (_live_text(*_place(index)) % _values(index) for index in range(self.size))
        path.write_text(f"[{','.join(texts)}]")

    def _path(self, index: int) -> Path:
        return self.folder / f"{_place(index)[1]}-{index // PER_LOCATION}" / f"{_id(index)}.yaml"


def _place(index: int) -> tuple[str, str]:
    group = index // PER_LOCATION
    return f"fleet-{group // len(_LOCATIONS)}", _LOCATIONS[group % len(_LOCATIONS)]


def _id(index: int) -> str:
    return f"c{index:06}"


def _values(index: int) -> dict[str, object]:
    """What tells a cluster from the others of its location."""
    return {
        "id": _id(index),
        "number": index,
        "team": ("foundation", "vision", "speech", "robotics")[index % 4],
        "centre": index % 97,
        "scratch": index % 13,
        "weight": 2000 + index % 5,
    }


@cache
def _file_text(project: str, location: str) -> str:
    """The YAML of a location's clusters, with %-places for `_values`."""
    document = {
        "project": project,
        "location": location,
        "cluster_id": "%(id)s",
        "lifecycle": {"prevent_destroy": True, "running_jobs": "block"},
        "spec": _spec(project, location),
    }
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=120)


@cache
def _live_text(project: str, location: str) -> str:
    """The JSON of a location's live clusters, with %-places."""
    name = f"projects/{project}/locations/{location}/modelDevelopmentClusters/%(id)s"
    return json.dumps({"name": name, **_with_scripts(_spec(project, location))})


class _Dumper(yaml.CSafeDumper):
    """Lists of names in one line, and no anchors for what comes twice: as people write it."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature of the library
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:  # noqa: FBT001
        short = all(isinstance(item, str) for item in sequence)
        return super().represent_sequence(tag, sequence, flow_style=short or flow_style)


def _with_scripts(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_scripts(item) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["file"]:
        return _script(Path(value["file"]).stem)
    return {key: _with_scripts(item) for key, item in value.items()}


def _script(name: str) -> str:
    checks = "\n".join(f'  test -e /dev/null || echo "{name}: step {step} failed" >&2' for step in range(1, 13))
    return f'#!/bin/bash\n# {name}, on every node.\nset -euo pipefail\n\nmain() {{\n{checks}\n}}\n\nmain "$@"\n'


def _file(name: str) -> dict[str, str]:
    return {"file": f"../scripts/{name}.sh"}


def _spec(project: str, location: str) -> dict[str, Any]:
    zone = f"{location}-a"
    return {
        "display_name": "%(id)s",
        "labels": {"team": "%(team)s", "cost-center": "cc-%(centre)s", "managed-by": "reconciler"},
        "network": {
            "network": f"projects/{project}/global/networks/training",
            "subnetwork": f"projects/{project}/regions/{location}/subnetworks/training",
        },
        "node_pools": list(_pools(project, zone)),
        "orchestrator_spec": {"slurm_spec": _slurm(project, zone)},
    }


def _pools(project: str, zone: str) -> Iterator[dict[str, Any]]:
    filestore = f"projects/{project}/locations/{zone}/instances/scratch-%(scratch)s"
    yield _pool("login", "n2-standard-8", (1, 1), zone, "pd-standard", enable_public_ips=True)
    yield _pool("cpu", "n2-standard-32", (0, _NODES), zone, "pd-standard", filestores=[filestore])
    reservation = {
        "reservation_affinity_type": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [f"projects/{project}/reservations/block-%(number)s"],
    }
    gpu = _pool("a4", "a4-highgpu-8g", (2, 2), zone, "hyperdisk-balanced", accelerator="NVIDIA_B200")
    gpu["machine_spec"]["reservation_affinity"] = reservation
    yield {**gpu, "provisioning_model": "RESERVATION", "startup_script": _file("tune-host"), "filestores": [filestore]}
    flex = _pool("h100", "a3-megagpu-8g", (0, 8), zone, "hyperdisk-balanced", accelerator="NVIDIA_H100_MEGA_80GB")
    yield {**flex, "provisioning_model": "FLEX_START", "flex_start_max_duration": "259200s"}
    yield _pool("spot", "n2-standard-16", (0, 4), zone, "pd-standard", provisioning_model="SPOT")


def _pool(
    name: str, machine: str, nodes: tuple[int, int], zone: str, disk: str, *, accelerator: str = "", **more: Any
) -> dict[str, Any]:
    machine_spec: dict[str, Any] = {"machine_type": machine}
    if accelerator:
        machine_spec |= {"accelerator_type": accelerator, "accelerator_count": 8}
    return {
        "id": name,
        "machine_spec": machine_spec,
        "scaling_spec": {"min_node_count": nodes[0], "max_node_count": nodes[1]},
        "zone": zone,
        "boot_disk": {"boot_disk_type": disk, "boot_disk_size_gb": 200},
        **more,
    }


def _slurm(project: str, zone: str) -> dict[str, Any]:
    return {
        "home_directory_storage": f"projects/{project}/locations/{zone}/instances/home-%(number)s",
        "login_node_pool_id": "login",
        "partitions": [
            {"id": "a4", "node_pool_ids": ["a4"], "config": {"MaxTime": "7-00:00:00", "OverSubscribe": "EXCLUSIVE"}},
            {"id": "h100", "node_pool_ids": ["h100"], "config": {"MaxTime": "3-00:00:00"}},
            {"id": "cpu", "node_pool_ids": ["cpu", "spot"], "config": {"MaxTime": "12:00:00"}},
            {"id": "spot", "node_pool_ids": ["spot"]},
        ],
        "node_sets": [{"node_pool_id": "a4", "config": {"Weight": "10"}}],
        "prolog_bash_scripts": [_file("check-gpus"), _file("mount-scratch")],
        "epilog_bash_scripts": [_file("clean-tmp")],
        "config": {
            "PriorityType": "priority/multifactor",
            "PriorityWeightAge": "1000",
            "PriorityWeightFairshare": "%(weight)s",
        },
    }
