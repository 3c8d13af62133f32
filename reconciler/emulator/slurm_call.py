"""callSlurmRestApi: checks the envelope and hands it to whatever plays Slurm (S1)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from reconciler.emulator.defaults import state_of
from reconciler.emulator.errors import ApiError, invalid_field
from reconciler.emulator.live import add_event
from reconciler.emulator.names import ClusterKey
from reconciler.emulator.service import Service
from reconciler.emulator.slurm_replies import SlurmUnavailable
from reconciler.emulator.store import Cluster

if TYPE_CHECKING:
    from reconciler.emulator.slurm import BuiltinSlurm

_METHODS = {"HTTP_METHOD_GET": "GET", "HTTP_METHOD_POST": "POST", "HTTP_METHOD_DELETE": "DELETE"}


class Backend(Protocol):
    """What plays Slurm. Its methods may block, and are called from threads."""

    def handle(
        self, cluster_name: str, resource: Mapping[str, Any], method: str, path: str, body: object | None
    ) -> tuple[int, str]:
        """Slurm's HTTP status and body text."""
        ...

    def on_cluster_changed(self, cluster_name: str, resource: Mapping[str, Any] | None) -> None:
        """A cluster was created or updated, or removed (None)."""
        ...


class SlurmCalls:
    """Slurm for all clusters: the built-in one, or a real one behind a socket."""

    def __init__(self, service: Service, database: Path, socket: Path | None, config_dir: Path | None) -> None:
        """`database` is the built-in Slurm's. A real one gets its configuration in `config_dir`, if it is known."""
        self._service = service
        self._events: deque[tuple[str, dict[str, Any]]] = deque()
        self._stopping = threading.Event()
        self._builtin = None if socket else self._open_builtin(database)
        self._backend: Backend = self._builtin or _open_real(service, Path(socket or ""), config_dir)

    def _open_builtin(self, database: Path) -> BuiltinSlurm:
        from reconciler.emulator.slurm import BuiltinSlurm

        def sleep(seconds: float) -> None:
            self._stopping.wait(seconds)

        return BuiltinSlurm(
            database, self._service.now, sleep=sleep, on_event=lambda name, event: self._events.append((name, event))
        )

    def stop(self) -> None:
        """Ends calls that the built-in Slurm keeps waiting."""
        self._stopping.set()

    def close(self) -> None:
        """Closes the built-in Slurm's database."""
        if self._builtin is not None:
            self._builtin.close()

    def configure(self, changes: object) -> None:
        """Sets the built-in Slurm's switches; see its `configure`. Raises ApiError."""
        if self._builtin is None or not isinstance(changes, dict):
            raise ApiError("INVALID_ARGUMENT", "Takes an object of switches, and only the built-in Slurm has them.")
        try:
            self._builtin.configure(changes)
        except ValueError as error:
            raise ApiError("INVALID_ARGUMENT", str(error)) from error

    async def call(self, cluster: Cluster, envelope: tuple[str, str, object | None]) -> str:
        """The answer's text. Raises ApiError UNAVAILABLE while the cluster, or Slurm, can't be reached."""
        state = state_of(cluster.resource)
        if state not in ("RUNNING", "UPDATING"):
            raise ApiError("UNAVAILABLE", f"Cluster '{cluster.key.name}' is in state {state}.")
        try:
            status, body = await asyncio.to_thread(self._backend.handle, cluster.key.name, cluster.resource, *envelope)
        except SlurmUnavailable as error:
            raise ApiError("UNAVAILABLE", f"The cluster's Slurm REST API can't be reached: {error}") from error
        self._take_events()
        return json.dumps({"status": status, "body": body}, ensure_ascii=False)

    async def changed(self, key: ClusterKey, cluster: Cluster | None) -> None:
        """Tells Slurm of a cluster that was changed, or removed."""
        resource = cluster.resource if cluster else None
        await asyncio.to_thread(self._backend.on_cluster_changed, key.name, resource)
        self._take_events()

    def _take_events(self) -> None:
        """Writes the events that came from threads; only the server's own thread touches the store."""
        while self._events:
            name, event = self._events.popleft()
            with self._service.store.transaction():
                add_event(self._service, name, event)


def _open_real(service: Service, socket: Path, config_dir: Path | None) -> Backend:
    from reconciler.emulator.slurm_socket import SlurmSocket

    real = SlurmSocket(socket, config_dir)
    with service.store.transaction():
        clusters = list(service.store.clusters()) if config_dir else []
    for cluster in clusters:
        real.on_cluster_changed(cluster.key.name, cluster.resource)
    return real


def read_envelope(raw: bytes, body: object, limit: int) -> tuple[str, str, object | None]:
    """(method, path, body) of a request. `limit` is in bytes. Raises ApiError INVALID_ARGUMENT."""
    if len(raw) >= limit:
        raise ApiError("INVALID_ARGUMENT", f"The request has {len(raw)} bytes; it must be smaller than 1 MB.")
    if not isinstance(body, dict):
        raise ApiError("INVALID_ARGUMENT", "Invalid JSON payload received. A JSON object is expected.")
    for name in body:
        if name not in ("method", "path", "body"):
            message = f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
            raise ApiError("INVALID_ARGUMENT", message)
    method = _METHODS.get(str(body.get("method")))
    path, payload = body.get("path"), body.get("body")
    if method is None:
        raise invalid_field("method", f"must be one of {', '.join(_METHODS)}.")
    if not isinstance(path, str) or not path.startswith(("/slurm/", "/slurmdb/")):
        raise invalid_field("path", "must start with /slurm/ or /slurmdb/.")
    if method != "POST" and payload is not None:
        raise invalid_field("body", "must be left out unless the method is HTTP_METHOD_POST.")
    if method == "POST" and not isinstance(payload, dict):
        raise invalid_field("body", "must be a JSON object when the method is HTTP_METHOD_POST.")
    return method, path, payload
