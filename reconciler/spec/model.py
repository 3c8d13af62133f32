"""What a cluster file says, apart from the resource itself, whose fields stand in `fields.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from reconciler.spec.names import ClusterName
from reconciler.spec.reading import Typed

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Paused(_Strict):
    """The plan is shown, apply skips the cluster: until when, and why."""

    reason: Annotated[str, Field(min_length=1)]
    until: AwareDatetime | None = None


class MaintenanceWindow(_Strict):
    """When disruptive changes may be made."""

    days: Annotated[tuple[Day, ...], Field(min_length=1)]
    start: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="HH:MM in time_zone")]
    hours: Annotated[float, Field(gt=0, le=24)]
    time_zone: str = "UTC"


class Lifecycle(_Strict):
    """How the tool treats a cluster. All optional; these are the defaults (contract section 1)."""

    state: Annotated[Literal["present", "absent"], Field(description="absent plans a delete")] = "present"
    prevent_destroy: Annotated[bool, Field(description="a delete or a replace is blocked while true")] = True
    replace_on: Annotated[
        tuple[Literal["immutable_change", "error_state"], ...],
        Field(description="what may lead to delete and create"),
    ] = ()
    running_jobs: Annotated[
        Literal["block", "wait", "warn"],
        Field(description="what a disruptive change does while jobs run"),
    ] = "block"
    ignore_changes: Annotated[tuple[str, ...], Field(description="field paths that others own")] = ()
    allow_unknown_fields: Annotated[bool, Field(description="pass on fields that this version doesn't know")] = False
    paused: Annotated[Paused | None, Field(description="plan shows, apply skips")] = None
    maintenance_window: Annotated[
        MaintenanceWindow | None,
        Field(description="disruptive changes wait for it"),
    ] = None


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
