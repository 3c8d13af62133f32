"""A spec that breaks no rule, and a way to say what a case changes in it."""

from __future__ import annotations

import copy
import json
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from reconciler.spec.findings import Problem
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.rules import check
from reconciler.spec.slurm_parameters import Record

GONE = object()
SLURM = "spec.orchestrator_spec.slurm_spec"
ZONE = "projects/acme-ml/locations/us-central1-a/instances"
GPU, FLEX, A4X = 2, 3, 4  # where these pools stand

_SPEC: dict[str, Any] = {
    "display_name": "a4train",
    "labels": {"team": "ml", "größe": "klein", "日本": ""},
    "network": {
        "network": "projects/acme-ml/global/networks/net-a",
        "subnetwork": "https://www.googleapis.com/compute/v1/projects/1/regions/us-central1/subnetworks/sub-a",
    },
    "node_pools": [
        {
            "id": "login",
            "zone": "us-central1-a",
            "machine_spec": {"machine_type": "n2-standard-8"},
            "scaling_spec": {"min_node_count": 1, "max_node_count": 1},
        },
        {
            "id": "cpu",
            "machine_spec": {"machine_type": "n2-standard-8"},
            "scaling_spec": {"max_node_count": 4},
            "boot_disk": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 120},
            "node_image": "projects/acme-ml/global/images/family/slurm",
            "filestores": [f"{ZONE}/files"],
            "lustres": [f"{ZONE}/lustre"],
            "labels": {"kind": "cpu"},
            "startup_script": "#!/bin/bash\nexport TOKEN=$(gcloud secrets versions access latest --secret=token)\n",
        },
        {
            "id": "gpu",
            "machine_spec": {
                "machine_type": "a4-highgpu-8g",
                "accelerator_type": "NVIDIA_B200",
                "accelerator_count": 8,
                "reservation_affinity": {
                    "reservation_affinity_type": "SPECIFIC_RESERVATION",
                    "values": ["projects/acme-ml/reservations/r1"],
                },
            },
            "provisioning_model": "RESERVATION",
            "scaling_spec": {"min_node_count": 2, "max_node_count": 2},
            "boot_disk": {"boot_disk_type": "hyperdisk-balanced"},
        },
        {
            "id": "flex",
            "machine_spec": {"machine_type": "a3-highgpu-8g"},
            "provisioning_model": "FLEX_START",
            "flex_start_max_duration": "86400s",
            "scaling_spec": {"min_node_count": 0, "max_node_count": 2},
        },
        {
            "id": "a4x",
            "machine_spec": {"machine_type": "a4x-highgpu-4g", "accelerator_count": 4},
            "provisioning_model": "SPOT",
            "scaling_spec": {"min_node_count": 0, "max_node_count": 36},
        },
    ],
    "orchestrator_spec": {
        "slurm_spec": {
            "home_directory_storage": f"{ZONE}/home",
            "login_node_pool_id": "login",
            "default_partition_id": "cpu",
            "partitions": [
                {"id": "cpu", "node_pool_ids": ["cpu"], "config": {"MaxTime": "1-0", "OverSubscribe": "NO"}},
                {"id": "gpu", "node_pool_ids": ["gpu", "flex", "a4x"]},
            ],
            "node_sets": [{"node_pool_id": "cpu", "config": {"Weight": "10"}}],
            "config": {"DefMemPerCPU": "4000", "PreemptType": "preempt/qos", "PreemptMode": "SUSPEND,GANG"},
            "prolog_bash_scripts": ["#!/bin/bash\n# squeue isn't called here\nexit 0\n"],
        }
    },
    "lustre_export_config": {
        "destination_bucket": "exports",
        "lustres": [f"{ZONE}/lustre"],
        "days_of_week": ["MONDAY", "SUNDAY"],
        "start_time": {"hours": 23, "minutes": 59},
    },
    "runtime_spec": {"service_account": "nodes@acme-ml.iam.gserviceaccount.com"},
}


class Broken(NamedTuple):
    """What is changed, and the only rule that must speak then, with the place and words of what it says."""

    reason: str
    rule: str
    changes: dict[str, Any]
    place: str
    words: tuple[str, ...]


class Fine(NamedTuple):
    """What is changed without any rule speaking."""

    reason: str
    changes: dict[str, Any]


def label(case: Broken | Fine) -> str:
    """A test's name."""
    return case.reason.replace(" ", "_")


def document(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """The document with these changes, given by dotted paths from its root."""
    made: dict[str, Any] = {
        "project": "acme-ml",
        "location": "us-central1",
        "cluster_id": "a4train",
        "lifecycle": {},
        "spec": copy.deepcopy(_SPEC),
    }
    for path, value in (changes or {}).items():
        _put(made, [int(part) if part.isdecimal() else part for part in path.split(".")], value)
    return made


def problems(changes: dict[str, Any] | None = None) -> list[Problem]:
    """What the rules say of the document with these changes."""
    return list(check(_desired(document(changes))))


def _desired(raw: dict[str, Any]) -> Desired:
    name = ClusterName(raw["project"], raw["location"], raw["cluster_id"])
    return Desired(name, "a.yaml", TypeAdapter(Lifecycle).validate_python(raw["lifecycle"]), raw["spec"])


def _put(target: Any, path: list[int | str], value: Any) -> None:
    *way, last = path
    for part in way:
        target = target[part] if isinstance(target, list) else target.setdefault(part, {})
    if value is GONE:
        del target[last]
    elif isinstance(target, list) and last == len(target):
        target.append(value)
    else:
        target[last] = value


def assert_broken(case: Broken) -> None:
    found = problems(case.changes)
    assert {problem.rule for problem in found} == {case.rule}
    places = [".".join(map(str, problem.path)) for problem in found]
    assert case.place in places
    problem = found[places.index(case.place)]
    said = f"{problem.message} ({problem.hint})"
    assert [word for word in case.words if word not in said] == []
    assert problem.hint


def assert_fine(case: Fine) -> None:
    assert problems(case.changes) == []


@cache
def slurm_names() -> dict[Record, set[str]]:
    """All names of the data file, by record."""
    text = resources.files("reconciler.data").joinpath("slurm-parameters.json").read_text("utf-8")
    versions = json.loads(text).values()
    return {record: {name for version in versions for name in version[record]} for record in Record}
