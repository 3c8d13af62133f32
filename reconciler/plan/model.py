"""The plan as a value: what would be done and why (contract section 3). Serialisable, sorted, no clock, no closures."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from enum import StrEnum
from typing import Any

from reconciler.spec.fields import Impact

FORMAT_VERSION = "1"


class Action(StrEnum):
    NO_OP = "no_op"
    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"


class Origin(StrEnum):
    """Whose change it is, told with `--base`: this branch's, or the live cluster's that had moved away already."""

    EDIT = "edit"
    DRIFT = "drift"


@dataclass(frozen=True, slots=True)
class Change:
    """One path, before and after. `mask` is the updateMask path that covers it, "" where none does.

    `reason` is text for people; nothing may be decided by it. `field` is the table's path and `item` the id of the
    pool, partition or node set that it lies in; both are there to decide by, and aren't serialised.
    """

    path: str
    before: Any
    after: Any
    mask: str
    impact: Impact
    origin: Origin | None = None
    reason: str = ""
    field: str = dataclass_field(default="", compare=False)
    item: str = dataclass_field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Request:
    """The call that apply would make. `path` starts at the API version; the body is the full desired resource."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why apply refuses a cluster."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Note:
    """Worth knowing, refuses nothing."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Job:
    """A running or pending job that a change would touch."""

    job_id: int
    user: str
    partition: str
    state: str
    name: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Range:
    """Node counts, at least and at most."""

    low: int
    high: int

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How a pool's nodes of one machine type change; a pool that isn't there has none.

    `per_node` counts a node's accelerators. A pool that gets other machines stands there once for either type.
    """

    pool: str
    before: Range
    after: Range
    accelerator: str = ""
    per_node: int = 0
    machine_type: str = ""


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What would be done to one cluster. `live_fingerprint` is None where no cluster is there."""

    cluster: str
    source: str
    action: Action
    changes: tuple[Change, ...] = ()
    request: Request | None = None
    blockers: tuple[Blocker, ...] = ()
    notes: tuple[Note, ...] = ()
    jobs: tuple[Job, ...] = ()
    live_fingerprint: str | None = None
    desired_fingerprint: str = ""
    capacity: tuple[Capacity, ...] = ()

    @property
    def masks(self) -> list[str]:
        """The mask paths of the changes, sorted, each once."""
        return sorted({change.mask for change in self.changes if change.mask})


@dataclass(frozen=True, slots=True)
class PlanError:
    """A cluster or file that couldn't be planned; the others were."""

    source: str
    code: str
    message: str
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    create: int = 0
    update: int = 0
    replace: int = 0
    delete: int = 0
    no_op: int = 0
    blocked: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """All clusters, in the order of their names. Two plans of the same inputs are equal but for `created_at`.

    `shard` is I/N where these are one shard's clusters, and empty for a whole plan.
    """

    tool_version: str
    created_at: str
    clusters: tuple[ClusterPlan, ...]
    errors: tuple[PlanError, ...] = ()
    format_version: str = FORMAT_VERSION
    summary: Summary = dataclass_field(default_factory=Summary)
    shard: str = ""

    @property
    def has_changes(self) -> bool:
        return any(cluster.action is not Action.NO_OP for cluster in self.clusters)

    @property
    def update_mode(self) -> str:
        """The one that its updates ask for; empty where there are none."""
        asked = (cluster.request.query.get("updateMode") for cluster in self.clusters if cluster.request)
        return next(filter(None, asked), "")

    @property
    def is_blocked(self) -> bool:
        return any(cluster.blockers for cluster in self.clusters)


def summarise(clusters: tuple[ClusterPlan, ...]) -> Summary:
    """Count the actions; a blocked cluster counts under its action and as blocked."""
    counts = {action: sum(cluster.action is action for cluster in clusters) for action in Action}
    blocked = sum(bool(cluster.blockers) for cluster in clusters)
    return Summary(**{action.value: count for action, count in counts.items()}, blocked=blocked)
