"""The rules that the service enforces, one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from emulator_client import Client, violations

SLURM = "orchestrator_spec.slurm_spec"
Change = Callable[[dict[str, Any]], Any]


def pool(index: int, **fields: Any) -> Change:
    """Sets fields of a pool; None removes one."""

    def change(base: dict[str, Any]) -> None:
        merged = {**base["node_pools"][index], **fields}
        base["node_pools"][index] = {key: value for key, value in merged.items() if value is not None}

    return change


def slurm(**fields: Any) -> Change:
    """Sets fields of the Slurm spec."""
    return lambda base: base["orchestrator_spec"]["slurm_spec"].update(fields)


def top(**fields: Any) -> Change:
    """Sets top-level fields."""
    return lambda base: base.update(fields)


def machine(kind: str, **fields: Any) -> dict[str, Any]:
    """A machine spec."""
    return {"machine_type": kind, **fields}


def scaling(low: int, high: int) -> dict[str, Any]:
    """A scaling spec."""
    return {"min_node_count": low, "max_node_count": high}


AFFINITY = {"reservation_affinity_type": "SPECIFIC_RESERVATION", "key": "k"}
LUSTRE = "projects/p/locations/us-central1-a/instances/lustre-a"

REFUSED: list[tuple[str, Change, str]] = [
    ("2: pool ids unique", pool(1, id="login"), "node_pools.id"),
    ("2: pool ids there", pool(1, id=""), "node_pools.id"),
    ("2: partition ids unique", slurm(partitions=[{"id": "a"}, {"id": "a"}]), f"{SLURM}.partitions.id"),
    (
        "2: partition's pool exists",
        slurm(partitions=[{"id": "a", "node_pool_ids": ["gpuu"]}]),
        f"{SLURM}.partitions[0].node_pool_ids",
    ),
    ("2: login pool exists", slurm(login_node_pool_id="lgn"), f"{SLURM}.login_node_pool_id"),
    (
        "2: node set's pool exists",
        slurm(node_sets=[{"node_pool_id": "x", "config": {}}]),
        f"{SLURM}.node_sets[0].node_pool_id",
    ),
    ("2: default partition exists", slurm(default_partition_id="x"), f"{SLURM}.default_partition_id"),
    (
        "2: login pool in no node set",
        slurm(node_sets=[{"node_pool_id": "login", "config": {}}]),
        f"{SLURM}.node_sets[0].node_pool_id",
    ),
    ("2: login pool of one size", pool(0, scaling_spec=scaling(1, 2)), f"{SLURM}.login_node_pool_id"),
    ("3: min <= max", pool(1, scaling_spec=scaling(5, 4)), "node_pools[1].scaling_spec"),
    ("3: 0 <= min", pool(1, scaling_spec=scaling(-1, 4)), "node_pools[1].scaling_spec"),
    (
        "4: GPU pool names a model",
        pool(2, machine_spec=machine("a3-megagpu-8g"), provisioning_model=None),
        "node_pools[2].provisioning_model",
    ),
    (
        "4: accelerators too",
        pool(1, machine_spec=machine("n1-standard-8", accelerator_type="NEWEST_GPU", accelerator_count=1)),
        "node_pools[1].provisioning_model",
    ),
    (
        "4: RESERVATION needs affinity",
        pool(2, machine_spec=machine("a3-megagpu-8g")),
        "node_pools[2].machine_spec.reservation_affinity",
    ),
    (
        "4: affinity needs RESERVATION",
        pool(2, provisioning_model="SPOT"),
        "node_pools[2].provisioning_model",
    ),
    (
        "4: SPECIFIC_RESERVATION needs values",
        pool(2, machine_spec=machine("a3-megagpu-8g", reservation_affinity=AFFINITY)),
        "node_pools[2].machine_spec.reservation_affinity.values",
    ),
    (
        "5: duration only with FLEX_START",
        pool(1, flex_start_max_duration="60s"),
        "node_pools[1].flex_start_max_duration",
    ),
    (
        "5: at least 30 s",
        pool(1, provisioning_model="FLEX_START", flex_start_max_duration="29.9s"),
        "node_pools[1].flex_start_max_duration",
    ),
    (
        "5: at most 7 days",
        pool(1, provisioning_model="FLEX_START", flex_start_max_duration="604801s"),
        "node_pools[1].flex_start_max_duration",
    ),
    ("6: GPU disks", pool(2, boot_disk={"boot_disk_type": "pd-standard"}), "node_pools[2].boot_disk.boot_disk_type"),
    ("6: disk types", pool(1, boot_disk={"boot_disk_type": "floppy"}), "node_pools[1].boot_disk.boot_disk_type"),
    (
        "7: a4x in eighteens",
        pool(1, machine_spec=machine("a4x-highgpu-4g"), provisioning_model="SPOT", scaling_spec=scaling(0, 17)),
        "node_pools[1].scaling_spec",
    ),
    ("9: config and scheduling", slurm(config={"A": "1"}, scheduling={"priority_type": "x"}), f"{SLURM}.config"),
    (
        "9: config and accounting",
        slurm(config={"A": "1"}, accounting={"accounting_storage_enforce": "x"}),
        f"{SLURM}.config",
    ),
    ("9: refused key", slurm(config={"HealthCheckProgram": "/bin/true"}), f"{SLURM}.config"),
    ("9: refused key, other spelling", slurm(config={"health_check_interval": "1"}), f"{SLURM}.config"),
    ("9: slurmdbd key", slurm(config={"StorageHost": "x"}), f"{SLURM}.config"),
    ("9: another slurmdbd key", slurm(config={"PurgeJobAfter": "1month"}), f"{SLURM}.config"),
    (
        "9: Default at a partition",
        slurm(partitions=[{"id": "a", "config": {"DEFAULT": "YES"}}]),
        f"{SLURM}.partitions[0].config",
    ),
    ("10: lustre attached", top(lustre_export_config={"lustres": [LUSTRE]}), "lustre_export_config.lustres"),
    (
        "10: no gs://",
        top(lustre_export_config={"destination_bucket": "gs://b"}),
        "lustre_export_config.destination_bucket",
    ),
    ("11: zone in region", pool(1, zone="us-central2-a"), "node_pools[1].zone"),
    ("labels lower-case", top(labels={"Team": "ml"}), "labels"),
    ("labels short", top(labels={"team": "m" * 65}), "labels"),
    ("display name short", top(display_name="x" * 129), "display_name"),
    ("machine type there", pool(1, machine_spec={}), "node_pools[1].machine_spec.machine_type"),
]


@pytest.mark.parametrize(("change", "field"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_broken_rule_names_its_field(client: Client, base: dict[str, Any], change: Change, field: str) -> None:
    """INVALID_ARGUMENT with the field, and nothing is created."""
    change(base)
    assert field in violations(client.create(body=base))
    assert client.get().status_code == 404


def test_all_broken_rules_are_named_at_once(client: Client, base: dict[str, Any]) -> None:
    """One answer, every field."""
    pool(1, zone="elsewhere-a")(base)
    slurm(login_node_pool_id="x")(base)
    assert set(violations(client.create(body=base))) >= {"node_pools[1].zone", f"{SLURM}.login_node_pool_id"}


def test_a_repeated_lustre_is_refused(client: Client, base: dict[str, Any]) -> None:
    """Rule 10: attached, and named once."""
    pool(1, lustres=[LUSTRE])(base)
    top(lustre_export_config={"lustres": [LUSTRE, LUSTRE], "destination_bucket": "b"})(base)
    assert "repeated" in violations(client.create(body=base))["lustre_export_config.lustres"]


@pytest.mark.parametrize("identifier", ["", "Demo", "1demo", "demo-", "a" * 11, "de-mo", "d_emo"])
def test_bad_cluster_ids_are_refused(client: Client, identifier: str) -> None:
    """Rule 1; no hyphens with slurm_spec."""
    assert list(violations(client.create(identifier))) == ["model_development_cluster_id"]


def test_a_hyphen_is_fine_without_slurm(client: Client, base: dict[str, Any]) -> None:
    """Rule 1 forbids it for Slurm clusters alone."""
    del base["orchestrator_spec"]
    assert client.create("de-mo", base).status_code == 200


ACCEPTED: list[tuple[str, Change]] = [
    (
        "8: a newer accelerator",
        pool(1, machine_spec=machine("n1-x", accelerator_type="NEWEST"), provisioning_model="SPOT"),
    ),
    ("9: PreemptType is not caught", slurm(config={"PreemptType": "preempt/none", "PreemptMode": "SUSPEND,GANG"})),
    ("9: HealthCheck only at the top", slurm(partitions=[{"id": "a", "config": {"DefaultTime": "10"}}])),
    ("international labels", top(labels={"gruppe_ä": "größe-1"})),
    ("display name by T", top(display_name="A cluster, für alle")),
    ("7: eighteen a4x", pool(1, machine_spec=machine("a4x-x"), provisioning_model="SPOT", scaling_spec=scaling(0, 18))),
]


@pytest.mark.parametrize("change", [case[1] for case in ACCEPTED], ids=[case[0] for case in ACCEPTED])
def test_what_the_service_lets_pass(client: Client, base: dict[str, Any], change: Change) -> None:
    """Warnings of ours are no errors there."""
    change(base)
    answer = client.create(body=base)
    assert answer.status_code == 200, answer.text


def test_any_region_is_accepted(client: Client, base: dict[str, Any]) -> None:
    """Rule 12 is informative."""
    url = client.base.replace("us-central1", "mars-north1")
    for item in base["node_pools"]:
        item["zone"] = "mars-north1-a"
    assert client.session.post(url, params={"modelDevelopmentClusterId": "demo"}, json=base).status_code == 200


def test_the_strict_display_name_is_a_switch(client: Client, base: dict[str, Any]) -> None:
    """C's rule: ten lower-case characters."""
    client.control.quirks(display_name="strict")
    assert list(violations(client.create(body={**base, "display_name": "a4train-one"}))) == ["display_name"]
    assert client.create(body={**base, "display_name": "a4train"}).status_code == 200
