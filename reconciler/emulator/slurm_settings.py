"""Switches of the built-in Slurm: how fast things go, which API versions it serves, how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

MODERN_VERSIONS = ("v0.0.40", "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44")
KNOWN_VERSIONS = ("v0.0.38", "v0.0.39", *MODERN_VERSIONS)


@dataclass(frozen=True)
class Fault:
    """How the next ``times`` calls fail (None = all until it is taken back).

    ``hang_seconds`` passes before the answer; ``status`` and ``body`` replace it (an HTML or empty body included);
    ``unavailable`` leaves none at all. ``method`` narrows it to GET, POST or DELETE. ``after``: the call is still
    carried out, only its answer is lost.
    """

    hang_seconds: float = 0.0
    status: int | None = None
    body: str = ""
    unavailable: bool = False
    method: str | None = None
    after: bool = False
    times: int | None = None


@dataclass(frozen=True)
class Settings:
    """All durations are in seconds.

    versions: the API versions that are served; any other is 404.
    user: whose jobs are submitted and may be cancelled.
    default_seconds: how long a script runs that says nothing about it.
    pending_seconds: how long a job waits at least before it starts.
    completing_seconds: how long a cancelled job still shows COMPLETING.
    min_job_age: after which a finished job is found in slurmdb only.
    accounting_lag: how long a new job is not yet found in slurmdb.
    prolog_fails: every job's prolog fails (as a ``# emulator: fail`` line in a prolog script does).
    fault: how calls fail.
    """

    versions: tuple[str, ...] = MODERN_VERSIONS
    user: str = "researcher"
    default_seconds: float = 1.0
    pending_seconds: float = 0.5
    completing_seconds: float = 0.5
    min_job_age: float = 300.0
    accounting_lag: float = 0.0
    prolog_fails: bool = False
    fault: Fault | None = None

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with ``changes`` (JSON values). Raises ValueError for an unknown name or a wrong value."""
        values = dict(changes)
        if "versions" in values:
            values["versions"] = _versions(values["versions"])
        if isinstance(values.get("fault"), Mapping):
            check_values(Fault, values["fault"])
            values["fault"] = Fault(**values["fault"])
        check_values(Settings, values)
        return replace(self, **values)


def _versions(value: Any) -> tuple[str, ...]:
    versions = tuple(value) if isinstance(value, (list, tuple)) else ()
    unknown = [version for version in versions if version not in KNOWN_VERSIONS]
    if not versions or unknown:
        raise ValueError(f"versions: a list of {', '.join(KNOWN_VERSIONS)}; got {value!r}")
    return versions


def check_values(kind: type, values: Mapping[str, Any]) -> None:
    """Raises ValueError for what is no field of a dataclass, or no value for it; numbers can't be negative."""
    hints = get_type_hints(kind)
    for name, value in values.items():
        if name not in hints:
            raise ValueError(f"no such field: {name}; there are {', '.join(hints)}")
        if not _fits(value, hints[name]):
            raise ValueError(f"{name}: {value!r} is no {getattr(hints[name], '__name__', hints[name])}")


def _fits(value: object, hint: Any) -> bool:
    if isinstance(hint, UnionType):
        return any(_fits(value, arm) for arm in get_args(hint))
    if hint in (int, float):
        numeric = int if hint is int else (int, float)
        return isinstance(value, numeric) and not isinstance(value, bool) and value >= 0
    return isinstance(value, get_origin(hint) or hint)
