"""Rules on resource names and on the export of Lustre data."""

from __future__ import annotations

import pytest

from tests.unit.spec.rule_cases import GONE, SLURM, ZONE, Broken, Fine, assert_broken, assert_fine, label

EXPORT = "spec.lustre_export_config"

BROKEN = [
    Broken(
        "pain 10: a bare network name",
        "resource-name",
        {"spec.network.network": "net-a"},
        "spec.network.network",
        ('network: "net-a"', "projects/PROJECT/global/networks/net-a", "projects/acme-ml/global/networks/net-a"),
    ),
    Broken(
        "a network without its project",
        "resource-name",
        {"spec.network.network": "global/networks/net-a"},
        "spec.network.network",
        ("projects/PROJECT/global/networks/net-a",),
    ),
    Broken(
        "a bare subnetwork name",
        "resource-name",
        {"spec.network.subnetwork": "sub-a"},
        "spec.network.subnetwork",
        ("projects/PROJECT/regions/REGION/subnetworks/sub-a",),
    ),
    Broken(
        "a network for a subnetwork",
        "resource-name",
        {"spec.network.subnetwork": "projects/p/global/networks/n"},
        "spec.network.subnetwork",
        ("regions/REGION/subnetworks/n",),
    ),
    Broken(
        "a bare Filestore name for /home",
        "resource-name",
        {f"{SLURM}.home_directory_storage": "home/"},
        f"{SLURM}.home_directory_storage",
        ("projects/PROJECT/locations/ZONE/instances/home",),
    ),
    Broken(
        "a bare Filestore name of a pool",
        "resource-name",
        {"spec.node_pools.1.filestores.1": "files2"},
        "spec.node_pools.1.filestores.1",
        ('filestores: "files2"', "locations/ZONE/instances/files2"),
    ),
    Broken(
        "a bare Lustre name of a pool and the export",
        "resource-name",
        {"spec.node_pools.1.lustres": ["l"], f"{EXPORT}.lustres": ["l"]},
        f"{EXPORT}.lustres.0",
        ('lustres: "l"',),
    ),
    Broken(
        "a slash is no name",
        "resource-name",
        {"spec.network.network": "/"},
        "spec.network.network",
        ("networks/NAME",),
    ),
    Broken(
        "a bare image name",
        "image-name",
        {"spec.node_pools.1.node_image": "slurm-v2"},
        "spec.node_pools.1.node_image",
        ('"slurm-v2"', "images/family/FAMILY"),
    ),
    Broken(
        "a service account's short name",
        "service-account",
        {"spec.runtime_spec.service_account": "nodes"},
        "spec.runtime_spec.service_account",
        ('"nodes"', "@"),
    ),
    Broken(
        "an instance that no pool mounts",
        "lustre-export-unattached",
        {f"{EXPORT}.lustres.1": f"{ZONE}/other"},
        f"{EXPORT}.lustres.1",
        ("instances/other", "lustres"),
    ),
    Broken(
        "another project's instance of the same name",
        "lustre-export-unattached",
        {f"{EXPORT}.lustres.0": "projects/other/locations/us-central1-a/instances/lustre"},
        f"{EXPORT}.lustres.0",
        ("projects/other",),
    ),
    Broken(
        "an instance twice, in two spellings",
        "lustre-export-repeated",
        {f"{EXPORT}.lustres.1": f"https://lustre.googleapis.com/v1/{ZONE}/lustre"},
        f"{EXPORT}.lustres.1",
        ("twice",),
    ),
    Broken(
        "a bucket's URL",
        "lustre-export-bucket",
        {f"{EXPORT}.destination_bucket": "gs://exports/"},
        f"{EXPORT}.destination_bucket",
        ('"gs://exports/"', 'name: "exports"'),
    ),
    Broken(
        "a day cut short",
        "lustre-export-day",
        {f"{EXPORT}.days_of_week.0": "mon"},
        f"{EXPORT}.days_of_week.0",
        ('"mon"', 'did you mean "MONDAY"?'),
    ),
    Broken(
        "no day at all",
        "lustre-export-day",
        {f"{EXPORT}.days_of_week.0": "x"},
        f"{EXPORT}.days_of_week.0",
        ("one of MONDAY, TUESDAY",),
    ),
    *(
        Broken(
            f"{name} {value}",
            "lustre-export-time",
            {f"{EXPORT}.start_time.{name}": value},
            f"{EXPORT}.start_time.{name}",
            (f"{name} {value}", f"0 to {most}"),
        )
        for name, value, most in (("hours", 24, 23), ("minutes", 60, 59), ("hours", -1, 23))
    ),
]

FINE = [
    Fine("placeholders of the documentation", {"spec.network.network": "projects/PROJECT_ID/global/networks/NETWORK"}),
    Fine("a URL", {f"{SLURM}.home_directory_storage": f"//file.googleapis.com/v1/{ZONE}/home"}),
    Fine("a number may be the id's", {f"{EXPORT}.lustres.0": "projects/7/locations/us-central1-a/instances/lustre"}),
    Fine("midnight", {f"{EXPORT}.start_time": {}}),
    Fine("no export", {EXPORT: GONE}),
    Fine("a service account's number", {"spec.runtime_spec.service_account": "104567890123456789012"}),
    Fine("an image's URL", {"spec.node_pools.1.node_image": "https://www.googleapis.com/compute/v1/projects/p/x"}),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)
