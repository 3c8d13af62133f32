"""Which API call a request is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from reconciler.emulator.errors import ApiError

Kind = Literal["list", "get", "create", "patch", "delete", "poll", "operations_list", "slurm", "unknown"]

# A project id may hold a colon (example.com:project).
_PARENT = r"/projects/(?P<project>[^/]+)/locations/(?P<location>[^/:]+)"
_CLUSTERS = r"/v1beta1" + _PARENT + r"/modelDevelopmentClusters"
_CLUSTER = _CLUSTERS + r"/(?P<cluster>[^/:]+)"
_OPERATIONS = r"/v1(?:beta1)?" + _PARENT + r"/operations"
_ROUTES: tuple[tuple[str, Kind, str], ...] = (
    ("GET", "list", _CLUSTERS),
    ("POST", "create", _CLUSTERS),
    ("GET", "get", _CLUSTER),
    ("PATCH", "patch", _CLUSTER),
    ("DELETE", "delete", _CLUSTER),
    ("POST", "slurm", _CLUSTER + ":callSlurmRestApi"),
    ("GET", "operations_list", _OPERATIONS),
    ("GET", "poll", _OPERATIONS + r"/(?P<operation>[^/:]+)"),
)
# Query parameters by kind; each may be spelled in snake_case or camelCase.
_PARAMETERS: dict[Kind, dict[str, str]] = {
    "list": {"pageSize": "page_size", "pageToken": "page_token"},
    "operations_list": {"pageSize": "page_size", "pageToken": "page_token"},
    "create": {"modelDevelopmentClusterId": "model_development_cluster_id"},
    "patch": {"updateMask": "update_mask", "updateMode": "update_mode"},
}
# Parameters that every Google API takes; nothing here depends on them.
_SYSTEM = {"$alt", "alt", "prettyPrint", "$prettyPrint", "quotaUser", "key", "access_token", "$.xgafv"}


@dataclass(frozen=True)
class Call:
    """A request's meaning. Parts that the URL doesn't name are empty."""

    kind: Kind
    project: str = ""
    location: str = ""
    cluster: str = ""
    operation: str = ""


def recognise(method: str, path: str) -> Call:
    """The call that a method and a path make; kind `unknown` when there is none."""
    for wanted, kind, pattern in _ROUTES:
        found = re.fullmatch(pattern, path)
        if found and wanted == method:
            return Call(kind, **found.groupdict())
    return Call("unknown")


def bind_query(call: Call, pairs: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """The query's parameters by snake_case name. Raises ApiError for unknown and repeated ones."""
    known = _PARAMETERS.get(call.kind, {})
    bound: dict[str, str] = {}
    for name, value in pairs:
        if name in _SYSTEM:
            continue
        parameter = known.get(name, name)
        if parameter not in known.values():
            message = f'Invalid JSON payload received. Unknown name "{name}": Cannot bind query parameter.'
            raise ApiError("INVALID_ARGUMENT", message)
        if parameter in bound:
            raise ApiError("INVALID_ARGUMENT", f'Query parameter "{name}" is given more than once.')
        bound[parameter] = value
    return bound
