"""What an answer says besides the resource's own fields: its state, its nodes, its events. Read tolerantly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from reconciler.spec.reading import Typed

BUSY_STATES = frozenset({"PROVISIONING", "UPDATING", "STOPPING"})
KNOWN_STATES = BUSY_STATES | {"RUNNING", "ERROR", "STATE_UNSPECIFIED", ""}


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """`nodes` counts the existing nodes by pool id; None where the answer doesn't list nodes."""

    state: str = ""
    detail: str = ""
    error: str = ""
    nodes: dict[str, int] | None = None
    events: tuple[dict[str, Any], ...] = field(default=())

    @property
    def is_busy(self) -> bool:
        return self.state in BUSY_STATES


def live_status(live: Typed) -> LiveStatus:
    """The status of a live cluster in typed form (api-facts, "Answers only")."""
    status = live.get("cluster_status")
    events = live.get("cluster_events")
    if not isinstance(status, dict):
        status = {}
    return LiveStatus(
        state=str(_get(status, "state") or ""),
        detail=str(_get(status, "detail") or ""),
        error=_error_text(_get(status, "error")),
        nodes=_nodes(_get(status, "nodesStatus", "nodes_status")),
        events=tuple(event for event in events if isinstance(event, dict)) if isinstance(events, list) else (),
    )


def _get(mapping: dict[str, Any], *names: str) -> Any:
    return next((mapping[name] for name in names if name in mapping), None)


def _error_text(error: Any) -> str:
    if isinstance(error, dict):
        return str(error.get("message") or error)
    return str(error or "")


def _nodes(listed: Any) -> dict[str, int] | None:
    if not isinstance(listed, list):
        return None
    pools = (_get(node, "nodePoolId", "node_pool_id") for node in listed if isinstance(node, dict))
    return dict(Counter(pool for pool in pools if isinstance(pool, str)))
