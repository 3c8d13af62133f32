"""Operations and the states of a cluster around them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import requests
from emulator_client import LRO_SECONDS, Client, base_resource

from reconciler.emulator.server import Emulator, EmulatorConfig

TYPES = "type.googleapis.com/google.cloud.aiplatform.v1beta1."


def state(client: Client) -> str:
    """The cluster's state."""
    found: str = client.get().json()["clusterStatus"]["state"]
    return found


def error(answer: requests.Response) -> tuple[int, str]:
    """Code and status of an error."""
    assert answer.json()["error"]["code"] == answer.status_code
    return answer.status_code, answer.json()["error"]["status"]


def test_a_create_runs_and_then_has_its_effect(client: Client) -> None:
    """PROVISIONING, then RUNNING; the answer of the finished operation is the resource."""
    operation = client.create()
    running = client.poll(operation).json()
    assert "done" not in running
    assert state(client) == "PROVISIONING"
    assert "startTime" not in client.get().json()
    client.finish()
    done = client.poll(operation).json()
    assert done["done"] is True
    assert done["response"] == {"@type": f"{TYPES}ModelDevelopmentCluster", **client.get().json()}
    assert done["metadata"]["@type"] == f"{TYPES}CreateModelDevelopmentClusterOperationMetadata"
    assert state(client) == "RUNNING"


def test_an_update_shows_at_its_end(client: Client, base: dict[str, Any]) -> None:
    """UPDATING with the old values, then RUNNING with the new ones and a new update time."""
    before = client.running(body=base)
    operation = client.patch("labels", {"labels": {"a": "b"}})
    assert (state(client), client.get().json()["labels"]) == ("UPDATING", before["labels"])
    client.finish()
    after = client.get().json()
    assert (state(client), after["labels"]) == ("RUNNING", {"a": "b"})
    assert datetime.fromisoformat(after["updateTime"]) > datetime.fromisoformat(before["updateTime"])
    assert client.poll(operation).json()["response"]["labels"] == {"a": "b"}


def test_a_delete_removes_the_cluster_at_its_end(client: Client) -> None:
    """STOPPING, then NOT_FOUND; the response is Empty."""
    client.running()
    operation = client.delete()
    assert state(client) == "STOPPING"
    client.finish()
    assert error(client.get()) == (404, "NOT_FOUND")
    assert client.poll(operation).json()["response"] == {"@type": "type.googleapis.com/google.protobuf.Empty"}


def test_both_versions_and_both_project_names_poll(client: Client) -> None:
    """S2 polls v1, U polls v1beta1; the project may be given by its id."""
    operation = client.create()
    identifier = operation.json()["name"].rsplit("/", 1)[1]
    by_id = f"{client.base.removeprefix(client.url + '/v1beta1/').rsplit('/', 1)[0]}/operations/{identifier}"
    client.finish()
    answers = [client.poll(operation), client.poll(operation, "v1beta1"), client.poll(by_id)]
    assert {answer.text for answer in answers} == {answers[0].text}


def test_progress_moves_on(client: Client) -> None:
    """The message changes while the operation runs."""
    operation = client.create()
    messages = []
    for _ in range(5):
        messages.append(client.poll(operation).json()["metadata"]["progressMessage"])
        client.control.advance(LRO_SECONDS / 5)
    assert len(set(messages)) == 5
    assert "Creating node pool gpu (2 of 3)" in messages


@pytest.mark.parametrize("busy", ["create", "patch", "delete"])
def test_a_busy_cluster_takes_no_write(client: Client, base: dict[str, Any], busy: str) -> None:
    """FAILED_PRECONDITION, and the running operation goes on unharmed."""
    if busy == "create":
        operation = client.create()
    else:
        client.running()
        operation = client.delete() if busy == "delete" else client.patch("labels", base)
    assert error(client.patch("labels", base)) == (400, "FAILED_PRECONDITION")
    assert error(client.delete()) == (400, "FAILED_PRECONDITION")
    client.finish()
    assert "response" in client.poll(operation).json()


def test_an_existing_id_can_not_be_created_again(client: Client) -> None:
    """ALREADY_EXISTS while it is created, when it runs, and when it has failed (U)."""
    client.control.faults([{"match": {"kind": "create"}, "fault": {"kind": "operation_error"}, "times": 1}])
    client.create()
    assert error(client.create()) == (409, "ALREADY_EXISTS")
    client.finish()
    assert state(client) == "ERROR"
    assert error(client.create()) == (409, "ALREADY_EXISTS")
    assert client.delete().status_code == 200
    client.finish()
    assert client.create().status_code == 200


def test_operations_are_listed_newest_first(client: Client) -> None:
    """Page by page, each with its name."""
    names = [client.create(cluster).json()["name"] for cluster in ("one", "two", "three")]
    parent = f"{client.url}/v1beta1/{names[0].rsplit('/', 1)[0]}"
    first = client.session.get(parent, params={"pageSize": 2}).json()
    second = client.session.get(parent, params={"pageSize": 2, "pageToken": first["nextPageToken"]}).json()
    assert [item["name"] for item in first["operations"] + second["operations"]] == names[::-1]
    assert "nextPageToken" not in second


def test_an_unknown_operation_is_not_found(client: Client) -> None:
    """Also one of another location."""
    name = client.create().json()["name"]
    assert error(client.poll(name.replace("us-central1", "us-east1"))) == (404, "NOT_FOUND")
    assert error(client.poll(name + "9")) == (404, "NOT_FOUND")


def test_without_any_duration_an_operation_is_done_at_the_first_poll() -> None:
    """`lro_seconds=0`: the write's answer isn't done yet, the first poll is."""
    with Emulator(EmulatorConfig(lro_seconds=0)) as emulator, requests.Session() as session:
        client = Client(emulator.url, session, "acme-ml")
        operation = client.create(body=base_resource())
        assert "done" not in operation.json()
        assert client.poll(operation).json()["done"] is True


def fault(client: Client, call: str, kind: str, **options: Any) -> None:
    """One fault for the next call of a kind."""
    client.control.faults([{"match": {"kind": call}, "fault": {"kind": kind, **options}, "times": 1}])


def test_a_failed_create_leaves_an_error_cluster(client: Client) -> None:
    """State ERROR with the reason, and the operation's error with its details."""
    fault(client, "create", "operation_error", code=8, message="No capacity.", details=[{"@type": "x"}])
    operation = client.create()
    client.finish()
    assert client.poll(operation).json()["error"] == {"code": 8, "message": "No capacity.", "details": [{"@type": "x"}]}
    assert client.get().json()["clusterStatus"] == {"state": "ERROR", "error": "No capacity."}


def test_a_failed_update_changes_nothing(client: Client, base: dict[str, Any]) -> None:
    """The old values stay, and the cluster runs on."""
    before = client.running(body=base)
    fault(client, "patch", "operation_error")
    operation = client.patch("labels,display_name", {"labels": {"a": "b"}, "display_name": "x"})
    client.finish()
    assert client.poll(operation).json()["error"]["code"] == 13
    assert client.get().json() == before


def test_a_failed_update_may_be_partial(client: Client, base: dict[str, Any]) -> None:
    """Some of the paths are applied; of one list, its first changed item."""
    client.running(body=base)
    fault(client, "patch", "operation_error", partial=True)
    client.patch("labels,display_name", {"labels": {"a": "b"}, "display_name": "x"})
    client.finish()
    resource = client.get().json()
    assert (resource["displayName"], resource["labels"]) == ("x", {"team": "ml"})
    fault(client, "patch", "operation_error", partial=True, state="ERROR")
    for pool in base["node_pools"][1:]:
        pool["scaling_spec"]["max_node_count"] = 9
    client.patch("node_pools", base)
    client.finish()
    pools = {pool["id"]: pool["scalingSpec"]["maxNodeCount"] for pool in client.get().json()["nodePools"]}
    assert (pools, state(client)) == ({"cpu": "9", "gpu": "4", "login": "1"}, "ERROR")


def test_a_failed_delete_leaves_the_cluster(client: Client) -> None:
    """In state ERROR, to be deleted again."""
    client.running()
    fault(client, "delete", "operation_error", message="In use.")
    client.delete()
    client.finish()
    assert state(client) == "ERROR"
    assert client.delete().status_code == 200


def test_a_write_can_be_accepted_and_ignored(client: Client, base: dict[str, Any]) -> None:
    """200 and a finished operation, but all or some of the paths stay as they were."""
    before = client.running(body=base)
    body = {"labels": {"a": "b"}, "display_name": "x"}
    fault(client, "patch", "accept_but_ignore", paths=["labels"])
    after = client.updated("labels,display_name", body)
    assert (after["labels"], after["displayName"]) == (before["labels"], "x")
    fault(client, "patch", "accept_but_ignore")
    assert client.updated("labels", body)["labels"] == before["labels"]
    fault(client, "delete", "accept_but_ignore")
    operation = client.delete()
    client.finish()
    assert (client.poll(operation).json()["done"], state(client)) == (True, "RUNNING")


def test_an_operation_can_vanish(client: Client) -> None:
    """For one poll, or for good; its effect comes all the same."""
    operation = client.create("one")
    fault(client, "poll", "operation_vanishes")
    assert [client.poll(operation).status_code for _ in range(2)] == [404, 200]
    fault(client, "create", "operation_vanishes")
    operation = client.create()
    client.finish()
    assert client.poll(operation).status_code == 404
    assert state(client) == "RUNNING"


def test_an_operation_can_be_done_without_a_result(client: Client) -> None:
    """`done` with neither response nor error."""
    fault(client, "create", "operation_empty")
    operation = client.create()
    client.finish()
    assert set(client.poll(operation).json()) == {"name", "metadata", "done"}


def test_an_operation_can_run_for_ever(client: Client) -> None:
    """Never done; with `effect` the change is there all the same."""
    client.running()
    fault(client, "patch", "operation_never_done", effect=True)
    operation = client.patch("labels", {"labels": {"a": "b"}})
    client.finish()
    assert "done" not in client.poll(operation).json()
    assert client.get().json()["labels"] == {"a": "b"}
    fault(client, "patch", "operation_never_done")
    operation = client.patch("labels", {})
    client.finish()
    assert "done" not in client.poll(operation).json()
    assert state(client) == "UPDATING"


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("operation_never_done", {"name", "metadata"}),
        ("operation_empty", {"name", "metadata", "done"}),
        ("operation_error", {"name", "metadata", "done", "error"}),
    ],
)
def test_a_single_poll_can_say_something_else(client: Client, kind: str, keys: set[str]) -> None:
    """The next poll tells the truth again."""
    operation = client.create()
    client.finish()
    fault(client, "poll", kind)
    assert set(client.poll(operation).json()) == keys
    assert "response" in client.poll(operation).json()


def test_a_cluster_removed_by_hand_fails_its_update(client: Client, base: dict[str, Any]) -> None:
    """NOT_FOUND (5) in the operation."""
    client.running(body=base)
    operation = client.patch("labels", base)
    client.control.remove(client.name())
    client.finish()
    assert client.poll(operation).json()["error"]["code"] == 5
