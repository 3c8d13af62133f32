"""What a cluster file says, apart from the resource itself, whose fields stand in `fields.py`.

Plain dataclasses, since a sound file needs no more. Where one isn't, and for the JSON Schema, pydantic reads the same
classes: `metadata` holds its constraints. It costs more to import than all else that planning one cluster needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from reconciler.spec.names import ClusterName
from reconciler.spec.reading import Typed

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_STRICT: dict[str, Any] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Paused:
    """The plan is shown, apply skips the cluster: until when, and why."""

    __pydantic_config__: ClassVar = _STRICT

    reason: str = field(metadata={"min_length": 1})
    until: datetime | None = None  # aware


@dataclass(frozen=True, slots=True)
class MaintenanceWindow:
    """When disruptive changes may be made."""

    __pydantic_config__: ClassVar = _STRICT

    days: tuple[Day, ...] = field(metadata={"min_length": 1})
    start: str = field(
        metadata={"pattern": r"^([01]\d|2[0-3]):[0-5]\d$", "description": "HH:MM in time_zone"},
    )
    hours: float = field(metadata={"gt": 0, "le": 24})
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """How the tool treats a cluster. All optional; these are the defaults (contract section 1)."""

    __pydantic_config__: ClassVar = _STRICT

    state: Literal["present", "absent"] = field(default="present", metadata={"description": "absent plans a delete"})
    prevent_destroy: bool = field(default=True, metadata={"description": "a delete or a replace is blocked while true"})
    replace_on: tuple[Literal["immutable_change", "error_state"], ...] = field(
        default=(), metadata={"description": "what may lead to delete and create"}
    )
    running_jobs: Literal["block", "wait", "warn"] = field(
        default="block", metadata={"description": "what a disruptive change does while jobs run"}
    )
    ignore_changes: tuple[str, ...] = field(default=(), metadata={"description": "field paths that others own"})
    allow_unknown_fields: bool = field(
        default=False, metadata={"description": "pass on fields that this version doesn't know"}
    )
    paused: Paused | None = field(default=None, metadata={"description": "plan shows, apply skips"})
    maintenance_window: MaintenanceWindow | None = field(
        default=None, metadata={"description": "disruptive changes wait for it"}
    )


@dataclass(frozen=True, slots=True)
class Desired:
    """One cluster as its file wants it: defaults merged, scripts read, fields typed and checked.

    `source` is the file's path as people know it (relative to the working directory, posix); `document` counts the
    documents of that file from 0. `spec` may be empty where `lifecycle.state` is absent.
    """

    name: ClusterName
    source: str
    lifecycle: Lifecycle
    spec: Typed
    document: int = 0
