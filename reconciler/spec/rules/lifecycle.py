"""Rules on how the tool is to treat the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from reconciler.spec.paths import parse, resolve
from reconciler.spec.rules.rule import Hit, Subject, rule
from reconciler.spec.values import describe


@rule("ignore-changes", "Paths in ignore_changes are fields of the resource.", source="contract")
def ignore_changes(subject: Subject) -> Iterator[Hit]:
    for index, pattern in enumerate(subject.lifecycle.ignore_changes):
        if fault := _path_fault(pattern):
            yield Hit(
                ("lifecycle", "ignore_changes", index),
                f"ignore_changes {describe(pattern)}: {fault}",
                "paths as a plan shows them, such as node_pools[ID].scaling_spec or labels.KEY",
            )


@cache
def _path_fault(pattern: str) -> str:
    try:
        resolve(parse(pattern))
    except ValueError as error:
        return str(error)
    return ""


@rule("pause-reason", "A pause says why.", source="contract")
def pause_reason(subject: Subject) -> Iterator[Hit]:
    paused = subject.lifecycle.paused
    if paused and not paused.reason.strip():
        yield Hit(
            ("lifecycle", "paused", "reason"),
            f"paused.reason {describe(paused.reason)} says nothing",
            "say why, for whoever finds the cluster skipped",
        )


@rule("time-zone", "The maintenance window's time zone is one of the IANA names.", source="contract")
def time_zone(subject: Subject) -> Iterator[Hit]:
    window = subject.lifecycle.maintenance_window
    if window and not _is_time_zone(window.time_zone):
        yield Hit(
            ("lifecycle", "maintenance_window", "time_zone"),
            f"time_zone {describe(window.time_zone)} is not known",
            "an IANA name such as Europe/Zurich, or UTC",
        )


@cache
def _is_time_zone(name: str) -> bool:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # few clusters have a window

    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # also: names that are no file's, or a folder's
        return False
    return True
