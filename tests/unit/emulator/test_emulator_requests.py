"""What requests may look like: spellings, types, broken JSON, query parameters, curl."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from emulator_client import Client, violations

ROOT = "model_development_cluster"


def camel_keys(value: Any) -> Any:
    """The base resource has no data keys that would suffer from this."""
    if isinstance(value, list):
        return [camel_keys(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {"".join([key.split("_")[0], *map(str.title, key.split("_")[1:])]): camel_keys(value[key]) for key in value}


def stored(client: Client, body: Any) -> dict[str, Any]:
    """What of an answer depends on the request alone."""
    resource = client.running(body=body)
    assert client.delete().status_code == 200
    client.finish()
    varying = {"createTime", "updateTime", "startTime", "name"}
    return {key: value for key, value in resource.items() if key not in varying}


def test_snake_camel_and_mixed_spellings_are_one(client: Client, base: dict[str, Any]) -> None:
    """Requests take either spelling, even mixed (C)."""
    mixed = {**base, "node_pools": camel_keys(base["node_pools"])}
    assert stored(client, base) == stored(client, camel_keys(base)) == stored(client, mixed)


def test_numbers_and_booleans_may_be_strings(client: Client, base: dict[str, Any]) -> None:
    """`"4"`, `4.0` and `"true"` are read as what they mean."""
    expected = stored(client, base)
    base["node_pools"][0]["enable_public_ips"] = "true"
    base["node_pools"][1]["scaling_spec"] = {"min_node_count": "0", "max_node_count": 4.0}
    assert stored(client, base) == expected


def test_output_only_fields_are_ignored(client: Client, base: dict[str, Any]) -> None:
    """A GET answer can be sent back as it is."""
    expected = client.running(body=base)
    sent = json.loads(json.dumps(expected))
    sent["clusterStatus"]["state"] = "ERROR"
    sent["clusterEvents"] = [{"type": "VM_DELETION"}]
    after = client.updated("labels,node_pools", sent)
    assert {**after, "updateTime": ""} == {**expected, "updateTime": ""}


@pytest.mark.parametrize(
    ("change", "place", "word"),
    [
        ({"displayNme": "x"}, ROOT, '"displayNme"'),
        ({"displayName": "x"}, ROOT, "twice"),
        ({"node_pools": {}}, f"{ROOT}.node_pools", "a list"),
        ({"node_pools": [{"id": 3}]}, f"{ROOT}.node_pools[0].id", "TYPE_STRING"),
        ({"node_pools": [{"Id": "x"}]}, f"{ROOT}.node_pools[0]", '"Id"'),
        ({"node_pools": [None]}, f"{ROOT}.node_pools[0]", "null"),
        ({"node_pools": [{"scaling_spec": {"minNodeCount": "four"}}]}, None, "TYPE_INT64"),
        ({"node_pools": [{"scaling_spec": {"minNodeCount": 1.5}}]}, None, "TYPE_INT64"),
        ({"node_pools": [{"scaling_spec": {"minNodeCount": True}}]}, None, "TYPE_INT64"),
        ({"node_pools": [{"scaling_spec": {"minNodeCount": 2**63}}]}, None, "TYPE_INT64"),
        ({"node_pools": [{"scaling_spec": []}]}, f"{ROOT}.node_pools[0].scaling_spec", "an object"),
        ({"node_pools": [{"enablePublicIps": 1}]}, None, "TYPE_BOOL"),
        ({"node_pools": [{"provisioning_model": "LEASED"}]}, None, "TYPE_ENUM"),
        ({"node_pools": [{"flexStartMaxDuration": "7d"}]}, None, "duration"),
        ({"labels": {"a": 1}}, f"{ROOT}.labels", "TYPE_STRING"),
        ({"labels": ["a"]}, f"{ROOT}.labels", "a map"),
    ],
)
def test_unreadable_fields_are_named(
    client: Client, base: dict[str, Any], change: dict[str, Any], place: str | None, word: str
) -> None:
    """INVALID_ARGUMENT says where, and what was wrong there."""
    found = violations(client.create(body={**base, **change}))
    (field, description), *_ = found.items()
    assert word in description
    assert place is None or field == place


def test_the_documented_payload_is_taken_with_its_trailing_commas(client: Client) -> None:
    """S2 shows one; a comma within a string is none."""
    text = '{"display_name": "a,}", "node_pools": [{"id": "x",},],}'
    answer = client.session.post(client.base, params={"modelDevelopmentClusterId": "demo"}, data=text)
    assert "payload" not in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "text",
    [
        '{"labels": {"a": "b",,}}',
        "{'labels': {}}",
        "{",
        "[" * 100_000,
        '{"display_name": NaN}',
        '{"display_name": "\\ud800"}',
        b"\xff\xfe",
        "x" * 10,
    ],
)
def test_broken_json_is_an_invalid_argument(client: Client, text: str | bytes) -> None:
    """Doubled commas, single quotes, NaN and broken UTF are refused."""
    answer = client.session.post(client.base, params={"modelDevelopmentClusterId": "demo"}, data=text)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize("text", ["[]", '"text"', "3"])
def test_a_body_that_is_no_object_is_refused(client: Client, text: str) -> None:
    """JSON of another type than an object."""
    answer = client.session.post(client.base, params={"modelDevelopmentClusterId": "demo"}, data=text)
    assert ROOT in violations(answer)


@pytest.mark.parametrize("query", ["updatemask=labels", "mask=labels", "updateMask=labels&update_mask=labels"])
def test_unknown_and_repeated_query_parameters_are_refused(client: Client, query: str) -> None:
    """A misspelt parameter must not pass for a missing one."""
    client.running()
    answer = client.session.patch(f"{client.base}/demo?{query}", json={})
    assert answer.status_code == 400
    assert "uery parameter" in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", ["model_development_cluster_id", "modelDevelopmentClusterId"])
def test_both_spellings_of_the_id_parameter_create(client: Client, base: dict[str, Any], name: str) -> None:
    """C and T differ in the spelling; both work."""
    assert client.session.post(client.base, params={name: "demo"}, json=base).status_code == 200


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_documented_curl_calls_work(client: Client, base: dict[str, Any], tmp_path: Path) -> None:
    """S2's calls as they stand: `-d @file` sends a form's content type, and the body is JSON all the same."""
    client.running(body=base)
    payload = tmp_path / "update-payload.json"
    base["node_pools"][1]["scaling_spec"]["max_node_count"] = 9
    payload.write_text(json.dumps(base, indent=2), encoding="utf-8")

    def curl(*arguments: str) -> Any:
        command = ["curl", "-sS", "-H", "Authorization: Bearer none", *arguments]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    mask = "orchestrator_spec.slurm_spec.partitions,node_pools"
    url = f"{client.base}/demo?updateMask={mask}&updateMode=USER_AND_SERVICE"
    operation = curl("-X", "PATCH", "-d", f"@{payload}", url)
    identifier = operation["name"].rsplit("/", 1)[1]
    client.finish()
    parent = client.base.replace("/v1beta1/", "/v1/").rsplit("/", 1)[0]
    assert curl(f"{parent}/operations/{identifier}")["done"] is True
    assert len(curl(f"{client.base}?pageSize=5")["modelDevelopmentClusters"]) == 1
    assert curl("-X", "GET", f"{client.base}/demo")["nodePools"][0]["scalingSpec"]["maxNodeCount"] == "9"
    assert "name" in curl("-X", "DELETE", f"{client.base}/demo")


def test_scripts_lose_trailing_whitespace_only_by_a_switch(client: Client, base: dict[str, Any]) -> None:
    """Scripts are kept to the byte; the quirk trims them on write."""
    spec = base["orchestrator_spec"]["slurm_spec"]
    spec["prolog_bash_scripts"] = ["#!/bin/bash\r\nexit 0 \n\n"]
    path = "orchestrator_spec.slurm_spec.prolog_bash_scripts"
    before = client.running(body=base)["orchestratorSpec"]["slurmSpec"]["prologBashScripts"]
    client.control.quirks(normalise_scripts=True)
    after = client.updated(path, base)["orchestratorSpec"]["slurmSpec"]["prologBashScripts"]
    assert (before, after) == (["#!/bin/bash\r\nexit 0 \n\n"], ["#!/bin/bash\r\nexit 0"])
