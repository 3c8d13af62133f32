"""The cluster calls, against the emulator and against odd answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reconciler.cloud.clusters import Clusters
from reconciler.cloud.transport import Transport
from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator
from reconciler.errors import AmbiguousError, ApiError, ConflictError, NotFoundError, UnavailableError, UsageError
from reconciler.spec.names import ClusterName
from tests.unit.cloud.scripted import CLUSTER, CLUSTERS, Reply, Script

Connect = Callable[..., Transport]
NAME = ClusterName("p", "us-central1", "demo")


def named(cluster_id: str) -> dict[str, Any]:
    """A cluster as an answer shows it: by the project's number."""
    return {"name": f"projects/123/locations/us-central1/modelDevelopmentClusters/{cluster_id}"}


def body() -> dict[str, Any]:
    """A cluster that the service accepts."""
    pool = {
        "id": "login",
        "zone": "us-central1-a",
        "machine_spec": {"machine_type": "n2-standard-8"},
        "scaling_spec": {"min_node_count": 1, "max_node_count": 1},
    }
    slurm = {
        "home_directory_storage": "projects/p/locations/us-central1-a/instances/home",
        "login_node_pool_id": "login",
        "partitions": [{"id": "cpu", "node_pool_ids": ["login"]}],
    }
    return {"display_name": "demo", "node_pools": [pool], "orchestrator_spec": {"slurm_spec": slurm}}


def test_the_life_of_a_cluster(emulator: Emulator, control: Control, connect: Connect) -> None:
    """Absent, created, found, listed, changed, deleted, absent."""
    clusters = Clusters(connect(emulator.url))
    name = ClusterName("life", "us-central1", "demo")
    assert clusters.get(name) is None
    assert "/operations/" in clusters.create(name, body())["name"]
    with pytest.raises(ConflictError) as caught:
        clusters.create(name, body())
    assert caught.value.reason == "ALREADY_EXISTS"
    control.advance(60)
    found = clusters.get(name)
    assert found is not None
    assert found["displayName"] == "demo"
    assert [cluster["name"] for cluster in clusters.list("life", "us-central1")] == [found["name"]]
    query = {"updateMask": "labels", "updateMode": "USER_AND_SERVICE"}
    clusters.patch(f"/v1beta1/{name}", query, {**body(), "labels": {"team": "ml"}})
    control.advance(60)
    assert (clusters.get(name) or {})["labels"] == {"team": "ml"}
    clusters.delete(name)
    control.advance(60)
    assert clusters.get(name) is None
    with pytest.raises(NotFoundError):
        clusters.delete(name)


def test_a_list_of_many_pages(emulator: Emulator, control: Control, connect: Connect) -> None:
    """Short pages, empty pages and the other key: everything is found, each page asked for once."""
    for number in range(5):
        control.put(f"many/us-central1/c{number}", {"displayName": f"c{number}"})
    control.quirks(page_cap=2, empty_pages=2, list_key="clusters")
    clusters = Clusters(connect(emulator.url))
    found = [cluster["name"].rpartition("/")[2] for cluster in clusters.list("many", "us-central1")]
    assert found == ["c0", "c1", "c2", "c3", "c4"]
    assert len(control.requests("list")) == 9


def test_pages_are_fetched_as_they_are_consumed(script: Script, connect: Connect) -> None:
    """Memory holds a page, not the list."""
    script.answers(
        Reply(body={"modelDevelopmentClusters": [named("a"), named("b")], "nextPageToken": "t1"}),
        Reply(body={"clusters": [named("c")]}),
    )
    clusters = Clusters(connect(script.url)).list("p", "us-central1")
    assert next(clusters) == named("a")
    assert len(script.requests) == 1
    assert list(clusters) == [named("b"), named("c")]
    assert [request.query.get("pageToken") for request in script.requests] == [None, "t1"]
    assert {request.path for request in script.requests} == {CLUSTERS}


@pytest.mark.parametrize("empty", [{}, {"clusters": None}, {"modelDevelopmentClusters": [], "nextPageToken": ""}])
def test_an_empty_list(script: Script, connect: Connect, empty: dict[str, Any]) -> None:
    """proto3 leaves empty lists out."""
    script.answers(Reply(body=empty))
    assert list(Clusters(connect(script.url)).list("p", "us-central1")) == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"clusters": "x"}, "a string where a list was expected"),
        ({"clusters": {"a": 1}}, "an object where a list was expected"),
        ({"clusters": [named("a"), None]}, "a list with null where an object was expected"),
        ({"clusters": [{"displayName": "nameless"}]}, "a cluster without a name"),
        ({"clusters": [{"name": 7}]}, "a cluster without a name"),
        ({"clusters": [named("a")], "nextPageToken": 7}, "page token comes again, or isn't one"),
        ({"clusters": [named("a")], "nextPageToken": ["t"]}, "page token comes again, or isn't one"),
        ({"clusters": [named("a")], "nextPageToken": "same"}, "page token comes again"),
    ],
)
def test_what_is_no_list(script: Script, connect: Connect, answer: dict[str, Any], says: str) -> None:
    """A broken list is an error that names the call, and never a shorter list."""
    script.answers(Reply(body=answer))
    with pytest.raises(UnavailableError, match=f"GET {CLUSTERS}: .*{says}"):
        list(Clusters(connect(script.url)).list("p", "us-central1"))


def test_endless_empty_pages_end(script: Script, connect: Connect) -> None:
    """New tokens for ever, and nothing ever on the pages."""
    script.answers(*(Reply(body={"nextPageToken": f"t{number}"}) for number in range(1100)))
    with pytest.raises(UnavailableError, match="never ends"):
        list(Clusters(connect(script.url)).list("p", "us-central1"))


def test_endless_pages_end(script: Script, connect: Connect) -> None:
    """A new token for ever, and always something on the page."""
    replies = [Reply(body={"clusters": [named(f"c{number}")], "nextPageToken": f"t{number}"}) for number in range(2001)]
    script.answers(*replies)
    with pytest.raises(UnavailableError, match=r"doesn't end: there is a page after 2,000"):
        for _ in Clusters(connect(script.url)).list("p", "us-central1"):
            pass
    assert len(script.requests) == 2000


ELSEWHERE = [
    {"name": "projects/p/locations/europe-west4/modelDevelopmentClusters/demo"},
    {"name": "projects/123/locations/us-central10/modelDevelopmentClusters/demo"},
    {"name": "projects/q/locations/us-central1/modelDevelopmentClusters/demo"},
]


@pytest.mark.parametrize(
    "answer", [{}, {"displayName": "demo"}, {"name": 7}, {"name": "demo"}, named("other"), *ELSEWHERE]
)
def test_what_is_not_this_cluster(script: Script, connect: Connect, answer: dict[str, Any]) -> None:
    """An empty or foreign object must not pass for a cluster that has lost its fields."""
    script.answers(Reply(body=answer))
    with pytest.raises(UnavailableError, match=f"GET {CLUSTER}: .+ isn't this cluster"):
        Clusters(connect(script.url)).get(NAME)


def test_a_foreign_404_is_not_absence(script: Script, connect: Connect) -> None:
    """A wrong endpoint answers 404 to everything; nothing follows from it."""
    script.answers(Reply(404, b"<html>not found</html>"))
    with pytest.raises(ApiError, match="is the endpoint right"):
        Clusters(connect(script.url)).get(NAME)


@pytest.mark.parametrize("answer", [{}, {"name": 7}, {"name": "x"}, {"name": "/operations/"}, named("demo")])
def test_a_write_that_answers_no_operation(script: Script, connect: Connect, answer: dict[str, Any]) -> None:
    """It may have taken effect, and there is nothing to wait for: somebody must look."""
    script.answers(Reply(body=answer))
    with pytest.raises(AmbiguousError, match=f"DELETE {CLUSTER}: accepted, but answered no operation"):
        Clusters(connect(script.url)).delete(NAME)


def test_a_create_names_the_cluster_in_the_query(script: Script, connect: Connect) -> None:
    """C's spelling of the parameter."""
    script.answers(Reply(body={"name": "projects/1/locations/us-central1/operations/7"}))
    Clusters(connect(script.url)).create(NAME, {"display_name": "demo"})
    (request,) = script.requests
    assert (request.method, request.path) == ("POST", CLUSTERS)
    assert request.query == {"model_development_cluster_id": "demo"}


def test_a_path_without_a_location(script: Script, connect: Connect) -> None:
    """A plan file that was tampered with sends nothing."""
    with pytest.raises(UsageError, match="names no location"):
        Clusters(connect(script.url)).send("DELETE", "/v1beta1/projects/p")
    assert not script.requests
