"""The cluster calls (api-facts, "Endpoints"). Writes answer long-running operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.cloud.answers import kind_of
from reconciler.cloud.operations import is_name
from reconciler.cloud.paging import pages
from reconciler.cloud.transport import Transport
from reconciler.errors import AmbiguousError, NotFoundError, UnavailableError, UsageError
from reconciler.spec.names import ClusterName
from reconciler.spec.shape import misshapen

_VERSION = "/v1beta1/"
# V names the first, S2 speaks of "a clusters array".
_LIST_KEYS = ("modelDevelopmentClusters", "clusters")


class Clusters:
    """Clusters as the service knows them: plain JSON objects, nothing left out, nothing renamed.

    All methods raise what `Transport.request` raises.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        """All clusters of a project and location, fetched page by page as they are consumed."""
        path = f"{_VERSION}projects/{project}/locations/{location}/modelDevelopmentClusters"
        for page in pages(self._transport, path, location=location, keys=_LIST_KEYS):
            for cluster in page:
                if _named(cluster) is None:
                    raise UnavailableError(f"GET {path}: answered a cluster without a name")
                yield cluster

    def get(self, name: ClusterName) -> dict[str, Any] | None:
        """A cluster, or None if the API itself says that there is none."""
        path = f"{_VERSION}{name}"
        try:
            cluster = self._transport.request("GET", path, location=name.location)
        except NotFoundError:
            return None
        found = _named(cluster)
        # An empty or foreign object must not pass for a cluster that has lost all its fields.
        if found is None or not is_same(name, found):
            raise UnavailableError(f"GET {path}: answered {kind_of(cluster)} that isn't this cluster")
        if wrong := misshapen(cluster):
            raise UnavailableError(f"GET {path}: answered what is no cluster: {wrong}")
        return cluster

    def create(self, name: ClusterName, body: Mapping[str, Any]) -> dict[str, Any]:
        """Start a create; the operation. ConflictError with reason ALREADY_EXISTS where one is there (U)."""
        path = f"{_VERSION}{name.parent}/modelDevelopmentClusters"
        # C's spelling. T's, `modelDevelopmentClusterId`, is the same field.
        return self.send("POST", path, {"model_development_cluster_id": name.cluster_id}, body)

    def patch(self, path: str, query: Mapping[str, str], body: Mapping[str, Any]) -> dict[str, Any]:
        """Start an update of the cluster at `path` (with its version); the operation."""
        return self.send("PATCH", path, query, body)

    def delete(self, name: ClusterName) -> dict[str, Any]:
        """Start a delete; the operation. Raises NotFoundError where there is nothing to delete."""
        return self.send("DELETE", f"{_VERSION}{name}")

    def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send a write as a plan holds it; the operation. Raises AmbiguousError for an answer that is no operation."""
        answer = self._transport.request(method, path, location=_location(path), query=query, body=body)
        if not is_name(answer.get("name")):
            raise AmbiguousError(
                f"{method} {path}: accepted, but answered no operation",
                hint="look at the cluster before it is sent again",
            )
        return answer


def is_same(asked: ClusterName, shown: ClusterName) -> bool:
    """Whether an answer's name is that of the cluster asked for. It may have the project's number for its id (C)."""
    if asked[1:] != shown[1:]:
        return False
    return asked.project == shown.project or asked.project.isdigit() or shown.project.isdigit()


def _named(cluster: dict[str, Any]) -> ClusterName | None:
    name = cluster.get("name")
    return ClusterName.parse(name) if isinstance(name, str) else None


def _location(path: str) -> str:
    parts = path.split("/")
    if parts[4:5] != ["locations"] or len(parts) < 6:
        raise UsageError(f"{path!r} names no location")
    return parts[5]
