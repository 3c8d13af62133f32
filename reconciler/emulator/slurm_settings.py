"""Switches of the built-in Slurm: how fast things go, which API versions it serves, how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar, get_type_hints

MODERN_VERSIONS = ("v0.0.40", "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44")
KNOWN_VERSIONS = ("v0.0.38", "v0.0.39", *MODERN_VERSIONS)


_Switches = TypeVar("_Switches", "Fault", "Settings")


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
            values["fault"] = _build(Fault(), values["fault"])
        return _build(self, values)


def _versions(value: Any) -> tuple[str, ...]:
    versions = tuple(value) if isinstance(value, (list, tuple)) else ()
    unknown = [version for version in versions if version not in KNOWN_VERSIONS]
    if not versions or unknown:
        raise ValueError(f"versions: a list of {', '.join(KNOWN_VERSIONS)}; got {value!r}")
    return versions


def _build(base: _Switches, values: Mapping[str, Any]) -> _Switches:
    hints = get_type_hints(type(base))
    for name, value in values.items():
        if name not in hints:
            raise ValueError(f"no such switch: {name}; known: {', '.join(hints)}")
        if hints[name] is float:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
                raise ValueError(f"{name}: a number of seconds; got {value!r}")
        elif name != "versions" and not isinstance(value, hints[name]):
            raise ValueError(f"{name}: {getattr(hints[name], '__name__', hints[name])}; got {value!r}")
    return replace(base, **values)
