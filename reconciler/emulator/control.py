"""A small client of the emulator's control endpoint, for tests and demos. Standard library only."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

_TIMEOUT_SECONDS = 30.0


class ControlError(Exception):
    """The control endpoint refused a request; the message says why."""


class Control:
    """Steers the emulator at `url`. A cluster's `name` is its full resource name, or `PROJECT/LOCATION/ID`."""

    def __init__(self, url: str) -> None:
        self._base = f"{url.rstrip('/')}/_emulator"

    def faults(self, rules: list[dict[str, Any]]) -> None:
        """Adds fault rules; see `reconciler.emulator.faults`."""
        self._call("POST", "/faults", rules)

    def fault_rules(self) -> list[dict[str, Any]]:
        """The rules in force; `matched` and `hit` count requests."""
        rules: list[dict[str, Any]] = self._call("GET", "/faults")["faults"]
        return rules

    def clear_faults(self) -> None:
        """Removes all fault rules."""
        self._call("DELETE", "/faults")

    def requests(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The API requests so far, the oldest first; `kind` is list, get, create, patch, delete, poll, …"""
        query = f"?kind={urllib.parse.quote(kind)}" if kind else ""
        entries: list[dict[str, Any]] = self._call("GET", f"/requests{query}")["requests"]
        return entries

    def clear_requests(self) -> None:
        """Forgets the requests so far."""
        self._call("DELETE", "/requests")

    def live(self, name: str, patch: dict[str, Any]) -> dict[str, Any]:
        """Merges a patch into a live cluster; see `reconciler.emulator.live`. Returns the stored resource."""
        return self._resource("POST", name, patch)

    def put(self, name: str, resource: dict[str, Any]) -> dict[str, Any]:
        """Makes a resource, as it is, the live one; creates it if need be. Returns the stored resource."""
        return self._resource("PUT", name, resource)

    def get(self, name: str) -> dict[str, Any]:
        """The stored resource: whole numbers as numbers, names as they were sent."""
        return self._resource("GET", name)

    def remove(self, name: str) -> None:
        """Removes a live cluster at once."""
        self._resource("DELETE", name)

    def service_refreshes(self, name: str) -> int:
        """How many updates have let the service refresh what it manages (USER_AND_SERVICE)."""
        count: int = self._call("GET", _live_path(name))["serviceRefreshes"]
        return count

    def quirks(self, **switches: Any) -> dict[str, Any]:
        """Sets switches; see `reconciler.emulator.quirks`. Returns all of them."""
        answer: dict[str, Any] = self._call("POST", "/quirks", switches)
        return answer

    def reset_quirks(self) -> None:
        """Sets every switch as it was at the start."""
        self._call("DELETE", "/quirks")

    def advance(self, seconds: float) -> None:
        """Moves the service's clock forward: that of the operations, and of the built-in Slurm."""
        self._call("POST", "/clock", {"advance": seconds})

    def slurm(self, **changes: Any) -> None:
        """Sets switches of the built-in Slurm, and puts jobs into it; see `BuiltinSlurm.configure`."""
        self._call("POST", "/slurm", changes)

    def _resource(self, method: str, name: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        resource: dict[str, Any] = self._call(method, _live_path(name), body)["resource"]
        return resource

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, method=method)  # noqa: S310 - our own http URL
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310 - as above
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise ControlError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from None


def _live_path(name: str) -> str:
    parts = name.strip("/").split("/")
    if len(parts) == 6 and parts[::2] == ["projects", "locations", "modelDevelopmentClusters"]:
        parts = parts[1::2]
    if len(parts) != 3:
        raise ValueError(f"not a cluster name: {name!r}")
    return "/live/" + "/".join(map(urllib.parse.quote, parts))
