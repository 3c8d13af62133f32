"""How answers look: names, defaults, numbers, order, what the service fills in."""

from __future__ import annotations

import gzip
import http.client
import re
from typing import Any

import pytest
from emulator_client import LOCATION, Client


def pool(resource: dict[str, Any], identifier: str) -> dict[str, Any]:
    """One node pool of an answer."""
    return next(item for item in resource["nodePools"] if item["id"] == identifier)


def test_names_show_the_project_number(client: Client) -> None:
    """The cluster's name, its network and its operation carry the number, whatever the request said."""
    operation = client.create().json()["name"]
    resource = client.get().json()
    number = resource["name"].split("/")[1]
    assert re.fullmatch(r"\d{12}", number)
    assert resource["name"] == f"projects/{number}/locations/{LOCATION}/modelDevelopmentClusters/demo"
    assert operation.startswith(f"projects/{number}/locations/{LOCATION}/operations/")
    assert re.fullmatch(r"projects/\d{12}/global/networks/net-a", resource["network"]["network"])


def test_a_project_is_one_by_id_and_by_number(client: Client) -> None:
    """Requests may address the same cluster by either."""
    name = client.running()["name"]
    by_number = client.session.get(f"{client.url}/v1beta1/{name}")
    assert by_number.json() == client.get().json()


def test_defaults_are_left_out(client: Client, base: dict[str, Any]) -> None:
    """0, false, empty strings, lists, maps and UNSPECIFIED enums never come back; empty map values do."""
    base["labels"] = {"empty": ""}
    base["node_pools"][1] |= {"enable_public_ips": False, "startup_script": "", "filestores": [], "labels": {}}
    base["node_pools"][1]["provisioning_model"] = "PROVISIONING_MODEL_UNSPECIFIED"
    resource = client.running(body=base)
    cpu = pool(resource, "cpu")
    assert cpu["scalingSpec"] == {"maxNodeCount": "4"}
    assert not {"enablePublicIps", "startupScript", "filestores", "labels"} & set(cpu)
    assert resource["labels"] == {"empty": ""}


@pytest.mark.parametrize(("mode", "count", "accelerators"), [("mixed", "4", 8), ("all", "4", "8"), ("none", 4, 8)])
def test_whole_numbers_come_back_as_the_switch_says(
    client: Client, mode: str, count: object, accelerators: object
) -> None:
    """Which numbers are 64-bit, and so strings, isn't documented."""
    client.running()
    client.control.quirks(int64=mode)
    gpu = pool(client.get().json(), "gpu")
    assert gpu["scalingSpec"]["maxNodeCount"] == count
    assert gpu["machineSpec"]["acceleratorCount"] == accelerators


def test_the_service_fills_what_is_absent(client: Client, base: dict[str, Any]) -> None:
    """Network, boot disk, image, provisioning model and service account get values (T)."""
    del base["network"]
    resource = client.running(body=base)
    assert resource["network"]["network"].endswith("/global/networks/default")
    assert resource["network"]["subnetwork"].endswith(f"/regions/{LOCATION}/subnetworks/default")
    assert pool(resource, "cpu")["bootDisk"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": "100"}
    assert pool(resource, "gpu")["bootDisk"]["bootDiskType"] == "hyperdisk-balanced"
    assert pool(resource, "cpu")["provisioningModel"] == "ON_DEMAND"
    assert pool(resource, "cpu")["nodeImage"]
    assert resource["runtimeSpec"]["serviceAccount"]


def test_a_reservation_implies_its_provisioning_model(client: Client, base: dict[str, Any]) -> None:
    """Unset with a reservation means RESERVATION (rule 4)."""
    del base["node_pools"][2]["provisioning_model"]
    assert pool(client.running(body=base), "gpu")["provisioningModel"] == "RESERVATION"


def test_flex_start_pools_show_their_effective_duration(client: Client, base: dict[str, Any]) -> None:
    """The output-only duration is the asked one, or seven days."""
    base["node_pools"][1]["provisioning_model"] = "FLEX_START"
    assert pool(client.running(body=base), "cpu")["effectiveFlexStartMaxDuration"] == "604800s"


def test_pools_are_sorted_and_partitions_keep_their_order(client: Client) -> None:
    """The service doesn't keep the order of pools; that of partitions means something."""
    resource = client.running()
    assert [item["id"] for item in resource["nodePools"]] == ["cpu", "gpu", "login"]
    assert [item["id"] for item in resource["orchestratorSpec"]["slurmSpec"]["partitions"]] == ["gpu", "cpu"]


def test_pool_order_can_be_reversed_or_kept(client: Client) -> None:
    """The switch for the order of pools."""
    client.running()
    client.control.quirks(pool_order="reversed")
    assert [item["id"] for item in client.get().json()["nodePools"]] == ["login", "gpu", "cpu"]
    client.control.quirks(pool_order="kept")
    assert [item["id"] for item in client.get().json()["nodePools"]] == ["login", "cpu", "gpu"]


def test_keys_that_are_data_are_never_re_cased(client: Client, base: dict[str, Any]) -> None:
    """Labels and Slurm parameters keep their spelling."""
    spec = base["orchestrator_spec"]["slurm_spec"]
    base["labels"] = {"cost_center": "a-1"}
    spec["config"] = {"DefMemPerCPU": "2048", "def_time": "1"}
    spec["partitions"][0]["config"] = {"max_time": "INFINITE"}
    spec["node_sets"] = [{"node_pool_id": "cpu", "config": {"core_spec_count": "1"}}]
    answer = client.running(body=base)
    slurm = answer["orchestratorSpec"]["slurmSpec"]
    assert answer["labels"] == {"cost_center": "a-1"}
    assert slurm["config"] == {"DefMemPerCPU": "2048", "def_time": "1"}
    assert slurm["partitions"][0]["config"] == {"max_time": "INFINITE"}
    assert slurm["nodeSets"] == [{"nodePoolId": "cpu", "config": {"core_spec_count": "1"}}]


def test_nodes_follow_the_minimum(client: Client) -> None:
    """`nodesStatus` has as many nodes per pool as its minimum says."""
    nodes = client.running()["clusterStatus"]["nodesStatus"]
    assert [node["nodePoolId"] for node in nodes] == ["gpu", "gpu", "login"]
    assert {node["nodeState"] for node in nodes} == {"RUNNING"}
    assert len({node["instanceName"] for node in nodes}) == 3


@pytest.mark.parametrize(
    ("mode", "start"),
    [
        ("number", r"projects/\d{12}/"),
        ("id", r"projects/example-net/"),
        ("url", r"https://www\.googleapis\.com/compute/v1/projects/example-net/"),
    ],
)
def test_resource_names_come_back_as_the_switch_says(client: Client, mode: str, start: str) -> None:
    """Network names: with the number, as sent, or as a URL."""
    client.running()
    client.control.quirks(resource_names=mode)
    network = client.get().json()["network"]
    assert re.match(start, network["network"])
    assert re.match(start, network["subnetwork"])


def test_other_resource_names_follow_when_asked_to(client: Client) -> None:
    """Storage and reservation names are left as sent, unless a switch says otherwise."""
    resource = client.running()
    home = resource["orchestratorSpec"]["slurmSpec"]["homeDirectoryStorage"]
    assert home.startswith("projects/example-net/")
    client.control.quirks(all_resource_names=True, resource_names="url")
    slurm = client.get().json()["orchestratorSpec"]["slurmSpec"]
    assert slurm["homeDirectoryStorage"] == f"https://file.googleapis.com/v1/{home}"


def test_the_cluster_name_can_keep_the_project_id(client: Client) -> None:
    """The switch for the cluster's own name; lists follow although they keep rendered texts."""
    client.running()
    assert not client.session.get(client.base).json()["modelDevelopmentClusters"][0]["name"].count(client.project)
    client.control.quirks(cluster_name="id")
    for resource in (client.get().json(), client.session.get(client.base).json()["modelDevelopmentClusters"][0]):
        assert resource["name"].startswith(f"projects/{client.project}/")


def test_durations_and_images_can_be_re_spelled(client: Client, base: dict[str, Any]) -> None:
    """Switches for `604800.000s`, and for an image family that comes back as an image."""
    base["node_pools"][1] |= {
        "provisioning_model": "FLEX_START",
        "flex_start_max_duration": "3600s",
        "node_image": "projects/example-net/global/images/family/slurm-a",
    }
    client.running(body=base)
    client.control.quirks(durations="decimal", resolve_image_family=True)
    cpu = pool(client.get().json(), "cpu")
    assert cpu["flexStartMaxDuration"] == "3600.000s"
    assert cpu["nodeImage"] == "projects/example-net/global/images/slurm-a-v1"


def test_answers_are_gzipped_on_request(client: Client) -> None:
    """`Accept-Encoding: gzip` is honoured, and only that."""
    client.running()
    host = client.url.removeprefix("http://")
    texts = []
    for headers in ({"Accept-Encoding": "gzip"}, {}):
        connection = http.client.HTTPConnection(host)
        connection.request("GET", f"{client.base.removeprefix(client.url)}/demo", headers=headers)
        answer = connection.getresponse()
        assert (answer.headers.get("Content-Encoding") == "gzip") == bool(headers)
        body = answer.read()
        texts.append(gzip.decompress(body) if headers else body)
        connection.close()
    assert texts[0] == texts[1]


@pytest.mark.parametrize("path", ["/", "/v1beta1/projects/p/locations/l/endpoints", "/v2/projects/p/locations/l"])
def test_an_unknown_url_is_a_json_404(client: Client, path: str) -> None:
    """Errors are JSON, even here."""
    answer = client.session.get(client.url + path)
    assert answer.status_code == 404
    assert answer.json()["error"]["status"] == "NOT_FOUND"


@pytest.mark.parametrize("call", ["get", "delete"])
def test_an_unknown_cluster_is_not_found(client: Client, call: str) -> None:
    """GET, DELETE and PATCH of nothing answer NOT_FOUND."""
    answers = [getattr(client, call)("nothing"), client.patch("labels", {}, "nothing")]
    assert {(item.status_code, item.json()["error"]["status"]) for item in answers} == {(404, "NOT_FOUND")}
