"""The rules that the service enforces on a whole cluster. Numbers are those of the list of documented rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from reconciler.emulator.defaults import is_gpu_family
from reconciler.emulator.errors import Violation, invalid
from reconciler.emulator.names import Projects
from reconciler.emulator.quirks import Quirks
from reconciler.emulator.slurm_rules import slurm_violations, unique

_CLUSTER_ID = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_STRICT_DISPLAY_NAME = re.compile(r"[a-z][a-z0-9]{0,9}")
_DISK_TYPES = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
_A4X_STEP = 18  # the nodes of one NVL72 domain (rule 7, R)


def check_cluster_id(cluster: str, resource: dict[str, Any]) -> None:
    """Rule 1. Raises ApiError."""
    field = "model_development_cluster_id"
    slurm = "slurmSpec" in resource.get("orchestratorSpec", {})
    if len(cluster) > 10 or not _CLUSTER_ID.fullmatch(cluster):
        raise invalid([Violation(field, f"'{cluster}' must be 1-10 characters matching {_CLUSTER_ID.pattern}.")])
    if slurm and "-" in cluster:
        raise invalid([Violation(field, f"'{cluster}' must not hold hyphens when slurm_spec is set.")])


def check_resource(resource: dict[str, Any], location: str, quirks: Quirks) -> None:
    """All rules on the resource's content. Raises ApiError naming every field that breaks one."""
    pools = resource.get("nodePools", [])
    violations = [
        *_display_name(resource.get("displayName", ""), quirks),
        *_labels(resource.get("labels", {})),
        *unique("node_pools.id", (pool.get("id", "") for pool in pools)),
        *(violation for index, pool in enumerate(pools) for violation in _pool(f"node_pools[{index}]", pool, location)),
        *_lustre_export(resource.get("lustreExportConfig", {}), pools),
        *slurm_violations(resource),
    ]
    if violations:
        raise invalid(violations)


def _display_name(name: str, quirks: Quirks) -> Iterator[Violation]:
    if len(name) > 128:
        yield Violation("display_name", "must not exceed 128 characters.")
    elif name and quirks.display_name == "strict" and not _STRICT_DISPLAY_NAME.fullmatch(name):
        yield Violation("display_name", "must be at most 10 lower-case letters and digits, starting with a letter.")


def _labels(labels: dict[str, str]) -> Iterator[Violation]:
    for key, value in labels.items():
        if not key or not all(len(text) <= 64 and all(map(_label_character, text)) for text in (key, value)):
            yield Violation(
                "labels", f"'{key}': '{value}': at most 64 lower-case letters, digits, underscores and dashes."
            )


def _label_character(character: str) -> bool:
    return character in "_-" or (character.isalnum() and character == character.lower())


def _pool(at: str, pool: dict[str, Any], location: str) -> Iterator[Violation]:
    if not pool.get("machineSpec", {}).get("machineType"):
        yield Violation(f"{at}.machine_spec.machine_type", "required.")
    zone = pool.get("zone", "")
    if zone and not zone.startswith(f"{location}-"):
        yield Violation(f"{at}.zone", f"'{zone}' is not in {location}.")
    yield from _scaling(f"{at}.scaling_spec", pool)
    yield from _provisioning(at, pool)
    yield from _flex_start(f"{at}.flex_start_max_duration", pool)
    yield from _boot_disk(f"{at}.boot_disk", pool)


def _scaling(at: str, pool: dict[str, Any]) -> Iterator[Violation]:
    low = pool.get("scalingSpec", {}).get("minNodeCount", 0)
    high = pool.get("scalingSpec", {}).get("maxNodeCount", 0)
    if not 0 <= low <= high:
        yield Violation(at, f"0 <= min_node_count <= max_node_count doesn't hold for {low} and {high}.")
    if pool.get("machineSpec", {}).get("machineType", "").startswith("a4x-") and (low % _A4X_STEP or high % _A4X_STEP):
        yield Violation(at, f"node counts of a4x pools are multiples of {_A4X_STEP}.")


def _provisioning(at: str, pool: dict[str, Any]) -> Iterator[Violation]:
    machine = pool.get("machineSpec", {})
    affinity = machine.get("reservationAffinity")
    model = pool.get("provisioningModel")
    gpu = "acceleratorType" in machine or "acceleratorCount" in machine or is_gpu_family(pool)
    if affinity is None and model == "RESERVATION":
        yield Violation(f"{at}.machine_spec.reservation_affinity", "required when provisioning_model is RESERVATION.")
    if affinity is not None and model not in (None, "RESERVATION"):
        yield Violation(f"{at}.provisioning_model", "must be RESERVATION when reservation_affinity is set.")
    if affinity is None and model is None and gpu:
        yield Violation(f"{at}.provisioning_model", "required for GPU node pools without a reservation.")
    specific = (affinity or {}).get("reservationAffinityType") == "SPECIFIC_RESERVATION"
    if specific and not (affinity or {}).get("values"):
        yield Violation(
            f"{at}.machine_spec.reservation_affinity.values", "required when the type is SPECIFIC_RESERVATION."
        )


def _flex_start(at: str, pool: dict[str, Any]) -> Iterator[Violation]:
    duration = pool.get("flexStartMaxDuration")
    if duration is None:
        return
    if pool.get("provisioningModel") != "FLEX_START":
        yield Violation(at, "only allowed when provisioning_model is FLEX_START.")
    if not 30 <= Decimal(duration.removesuffix("s")) <= 604800:
        yield Violation(at, "must be between 30s and 604800s.")


def _boot_disk(at: str, pool: dict[str, Any]) -> Iterator[Violation]:
    disk = pool.get("bootDisk", {}).get("bootDiskType")
    if disk is not None and disk not in _DISK_TYPES:
        yield Violation(f"{at}.boot_disk_type", f"'{disk}' is not one of {', '.join(_DISK_TYPES)}.")
    elif disk not in (None, "hyperdisk-balanced") and is_gpu_family(pool):
        yield Violation(f"{at}.boot_disk_type", "GPU machine types need hyperdisk-balanced.")
    if pool.get("bootDisk", {}).get("bootDiskSizeGb", 1) < 1:
        yield Violation(f"{at}.boot_disk_size_gb", "must be positive.")


def _lustre_export(export: dict[str, Any], pools: list[dict[str, Any]]) -> Iterator[Violation]:
    attached = {lustre for pool in pools for lustre in pool.get("lustres", [])}
    counts = Counter(export.get("lustres", []))
    for lustre, count in counts.items():
        if lustre not in attached:
            yield Violation("lustre_export_config.lustres", f"'{lustre}' is not attached to a node pool.")
        if count > 1:
            yield Violation("lustre_export_config.lustres", f"'{lustre}' is repeated.")
    if export.get("destinationBucket", "").startswith("gs://"):
        yield Violation("lustre_export_config.destination_bucket", "must not start with gs://.")


_IMMUTABLE = ("machineSpec", "provisioningModel", "confidentialInstanceConfig")
_IMMUTABLE_NAMES = ("machine_spec", "provisioning_model", "confidential_instance_config")


def check_immutable(before: dict[str, Any], after: dict[str, Any], projects: Projects) -> None:
    """Refuses a changed immutable field of a node pool that stays (T). Both resources have their defaults filled."""
    old = {pool.get("id"): pool for pool in before.get("nodePools", [])}
    violations = [
        Violation(
            f"node_pools[{index}].{name}", f"immutable; node pool '{pool['id']}' must be replaced under a new id."
        )
        for index, pool in enumerate(after.get("nodePools", []))
        if pool.get("id") in old
        for field, name in zip(_IMMUTABLE, _IMMUTABLE_NAMES, strict=True)
        if _meaning(old[pool["id"]].get(field), projects) != _meaning(pool.get(field), projects)
    ]
    if violations:
        raise invalid(violations)


def _meaning(value: Any, projects: Projects) -> Any:
    if isinstance(value, dict):
        return {key: _meaning(item, projects) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(projects.canonical(str(item)) for item in value)
    return projects.canonical(value) if isinstance(value, str) else value
