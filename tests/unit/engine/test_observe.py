"""Reading many clusters: what a list shows counts only for the clusters that it names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.engine.observe import observe
from reconciler.errors import ReconcilerError
from reconciler.spec.names import ClusterName

NAMES = [ClusterName("acme", "us-central1", cluster) for cluster in ("aa", "bb", "cc")]


class Shelf:
    """Answers LIST by `listed` and GET by the cluster's own name."""

    def __init__(self, listed: list[str]) -> None:
        self.listed = listed
        self.got: list[ClusterName] = []

    def get(self, name: ClusterName) -> dict[str, Any]:
        self.got.append(name)
        return {"name": str(name), "displayName": "by get"}

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        assert (project, location) == ("acme", "us-central1")
        for name in self.listed:
            yield {"name": name, "displayName": "by list"}


def _seen(shelf: Shelf) -> dict[str, str]:
    seen: dict[str, str] = {}

    def note(name: ClusterName, answer: dict[str, Any] | None) -> None:
        assert name.cluster_id not in seen
        seen[name.cluster_id] = str(answer and answer["displayName"])

    def fail(_name: ClusterName, error: ReconcilerError) -> None:
        raise error

    observe(shelf, NAMES, note, fail)
    return seen


@pytest.mark.parametrize(
    "parent",
    ["projects/acme/locations/europe-west4", "projects/other/locations/us-central1", "projects/7/locations/us-east1"],
)
def test_a_list_of_elsewhere_is_not_ours(parent: str) -> None:
    """Clusters of another location or project, whatever their ids, are asked for one by one."""
    shelf = Shelf([f"{parent}/modelDevelopmentClusters/{name.cluster_id}" for name in NAMES])
    assert _seen(shelf) == dict.fromkeys(("aa", "bb", "cc"), "by get")
    assert sorted(shelf.got) == NAMES


def test_the_project_may_be_its_number() -> None:
    """The service answers names with the project's number; ours come after a stranger of the same id."""
    mine = [f"projects/7/locations/us-central1/modelDevelopmentClusters/{name.cluster_id}" for name in NAMES]
    shelf = Shelf(["projects/acme/locations/us-east1/modelDevelopmentClusters/aa", *mine])
    assert _seen(shelf) == dict.fromkeys(("aa", "bb", "cc"), "by list")
    assert shelf.got == []
