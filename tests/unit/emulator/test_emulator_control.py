"""The control endpoint: the request log, live edits, quirks and the clock."""

from __future__ import annotations

from typing import Any

import pytest
from emulator_client import Client

from reconciler.emulator.control import ControlError


def test_the_log_shows_requests_without_secrets(client: Client, base: dict[str, Any]) -> None:
    """Method, path, query, body, status, kind and headers, but no credentials."""
    client.running(body=base)
    client.control.clear_requests()
    client.session.headers.update({"Authorization": "Bearer t0ps3cret", "X-Goog-User-Project": "billing"})
    client.session.patch(f"{client.base}/demo?updateMask=labels&access_token=t0ps3cret", json={"labels": {"a": "b"}})
    (entry,) = client.control.requests("patch")
    assert entry["query"] == {"updateMask": "labels"}
    assert (entry["method"], entry["status"], entry["cluster"]) == ("PATCH", 200, "demo")
    assert entry["path"] == f"{client.base.removeprefix(client.url)}/demo"
    assert entry["body"] == {"labels": {"a": "b"}}
    assert entry["headers"]["x-goog-user-project"] == "billing"
    assert "t0ps3cret" not in str(client.control.requests())
    assert client.control.requests("delete") == []


def test_a_live_edit_merges(client: Client) -> None:
    """By name, by pool id, and null removes."""
    client.running()
    edit = {
        "labels": {"cost": "1", "team": None},
        "nodePools": {"cpu": {"scalingSpec": {"maxNodeCount": 9}}, "gpu": None, "new": {"zone": "us-central1-b"}},
        "clusterEvents": [{"type": "VM_DELETION"}],
    }
    client.control.live(client.name(), edit)
    resource = client.get().json()
    assert resource["labels"] == {"cost": "1"}
    assert [pool["id"] for pool in resource["nodePools"]] == ["cpu", "login", "new"]
    assert resource["nodePools"][0]["scalingSpec"] == {"maxNodeCount": "9"}
    assert resource["clusterEvents"] == [{"type": "VM_DELETION"}]


def test_states_and_nodes_can_be_set(client: Client) -> None:
    """Whatever state, also one that nobody has heard of, and any number of nodes."""
    client.running()
    edit = {"clusterStatus": {"state": "REPAIRING"}, "_nodes": {"cpu": 2, "gpu": {"count": 1, "state": "ERROR"}}}
    client.control.live(client.name(), edit)
    status = client.get().json()["clusterStatus"]
    nodes = [(node["nodePoolId"], node["nodeState"]) for node in status["nodesStatus"]]
    assert status["state"] == "REPAIRING"
    assert nodes == [("login", "RUNNING"), ("cpu", "RUNNING"), ("cpu", "RUNNING"), ("gpu", "ERROR")]


def test_the_last_hundred_events_are_kept(client: Client) -> None:
    """As the service does (T)."""
    client.running()
    client.control.live(client.name(), {"clusterEvents": [{"number": number} for number in range(120)]})
    events = client.get().json()["clusterEvents"]
    assert [events[0], events[-1], len(events)] == [{"number": 20}, {"number": 119}, 100]


def test_put_takes_a_resource_as_it_is(client: Client) -> None:
    """No rules, no defaults, unknown fields and words kept; a second PUT replaces it all."""
    odd = {"nodePools": [{"id": "x", "provisioningModel": "LEASED", "knob": {"a_b": 0}}], "labels": {"A": "B"}}
    client.control.put(client.name(), odd)
    resource = client.get().json()
    assert (resource["nodePools"], resource["labels"]) == (odd["nodePools"], odd["labels"])
    assert resource["clusterStatus"] == {"state": "RUNNING"}
    client.control.put(f"projects/{client.project}/locations/us-central1/modelDevelopmentClusters/demo", {})
    assert "nodePools" not in client.get().json()


def test_get_shows_the_stored_resource(client: Client) -> None:
    """Numbers as numbers, names as they were sent."""
    client.running()
    stored = client.control.get(client.name())
    assert stored["network"]["network"] == "projects/example-net/global/networks/net-a"
    assert stored["nodePools"][1]["scalingSpec"]["maxNodeCount"] == 4


def test_remove_takes_a_cluster_away(client: Client) -> None:
    """At once, without an operation."""
    client.running()
    client.control.remove(client.name())
    assert client.get().status_code == 404
    with pytest.raises(ControlError, match="404"):
        client.control.get(client.name())


@pytest.mark.parametrize(
    "switches",
    [{"int65": "all"}, {"int64": "some"}, {"page_cap": "3"}, {"single_mask_path": 1}, {"future_fields": [1]}],
)
def test_an_unknown_quirk_is_refused(client: Client, switches: dict[str, Any]) -> None:
    """As is an unfit value."""
    with pytest.raises(ControlError, match="400"):
        client.control.quirks(**switches)


def test_quirks_are_set_one_by_one_and_reset(client: Client) -> None:
    """Setting one leaves the others."""
    client.control.quirks(page_cap=3)
    assert client.control.quirks(int64="all")["page_cap"] == 3
    client.control.reset_quirks()
    assert client.control.quirks()["page_cap"] is None


def test_the_clock_only_goes_forward(client: Client) -> None:
    """And takes numbers only."""
    for seconds in (-1, "x", None):
        with pytest.raises(ControlError, match="advance"):
            client.control.advance(seconds)  # type: ignore[arg-type] # wrong on purpose


def test_a_bad_cluster_name_is_a_value_error(client: Client) -> None:
    """The client refuses it before asking."""
    with pytest.raises(ValueError, match="not a cluster name"):
        client.control.get("demo")


@pytest.mark.parametrize(
    "body",
    [[], {"nodePools": [], "node_pools": []}, {"nodePools": "x"}, {"nodePools": [None]}, {"_nodes": {"cpu": "many"}}],
)
def test_a_live_edit_must_make_sense(client: Client, body: Any) -> None:
    """An object, with one spelling per field and lists where lists belong."""
    client.running()
    with pytest.raises(ControlError, match="400"):
        client.control.live(client.name(), body)
