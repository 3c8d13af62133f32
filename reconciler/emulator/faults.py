"""Faults: rules that make chosen requests go wrong.

A rule is `{"match": {"method"?, "kind"?, "cluster"?}, "fault": {"kind": …}, "after": N, "times": N}`: the first `after`
matches pass unharmed, then `times` matches are hit (absent or null: all of them). `cluster` may be a glob. The first
rule that hits a request wins; rules before it have counted the request as a match. The fault kinds and their options
are in `FAULTS`; `effect` says whether the request is carried out although the client doesn't learn its answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from reconciler.emulator.errors import invalid_field

# kind -> options
FAULTS: dict[str, set[str]] = {
    # answers that come from something in front of the service
    "status": {"code", "status", "message", "details", "body", "headers", "effect"},
    "html": {"code", "body", "effect"},
    "empty": {"code", "effect"},
    "wrong_type": {"body", "effect"},
    "redirect": {"code", "location"},
    # the connection: `seconds` before the answer or between drips, `missing` or `chunk` in bytes
    "reset": {"effect"},
    "hang": {"seconds"},
    "truncate": {"missing"},
    "slow_drip": {"chunk", "seconds"},
    # operations: of the write that is hit, or of the poll that is hit alone
    "operation_error": {"code", "message", "details", "partial", "state"},
    "operation_vanishes": set(),
    "operation_empty": set(),
    "operation_never_done": {"effect"},
    # the write succeeds and changes nothing, or nothing under the mask paths `paths`
    "accept_but_ignore": {"paths"},
}
SERVICE_FAULTS = {
    "operation_error",
    "operation_vanishes",
    "operation_empty",
    "operation_never_done",
    "accept_but_ignore",
}
_REQUIRED = {"status": "code", "redirect": "location", "hang": "seconds"}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "code": int,
    "chunk": int,
    "missing": int,
    "seconds": (int, float),
    "effect": bool,
    "partial": bool,
    "headers": dict,
    "paths": list,
}
_MATCH = {"method", "kind", "cluster"}


@dataclass
class Rule:
    """One rule, with the count of the requests it matched and of those it hit."""

    match: dict[str, str]
    fault: dict[str, Any]
    after: int = 0
    times: int | None = None
    matched: int = 0
    hit: int = 0

    def strikes(self, request: dict[str, str]) -> bool:
        """Whether this request is hit; counts it."""
        if not all(fnmatchcase(request[part], pattern) for part, pattern in self.match.items()):
            return False
        self.matched += 1
        if self.matched <= self.after or (self.times is not None and self.hit >= self.times):
            return False
        self.hit += 1
        return True


class Faults:
    """The rules in force, in the order they came."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def add(self, raw: object) -> None:
        """Adds rules after the ones in force. Raises ApiError for anything it doesn't know: a typo must not pass."""
        rules = raw if isinstance(raw, list) else [raw]
        self.rules += [_rule(item) for item in rules]

    def clear(self) -> None:
        """Removes all rules."""
        self.rules.clear()

    def pick(self, *, method: str, kind: str, cluster: str) -> dict[str, Any]:
        """The fault that hits a request; empty for none."""
        request = {"method": method, "kind": kind, "cluster": cluster}
        return next((rule.fault for rule in self.rules if rule.strikes(request)), {})


def _rule(raw: object) -> Rule:
    rule = _object("rule", raw, {"match", "fault", "after", "times"})
    match = _object("match", rule.get("match", {}), _MATCH)
    fault = dict(_object("fault", rule.get("fault"), None))
    kind = str(fault.get("kind"))
    if kind not in FAULTS:
        raise invalid_field("fault.kind", f"'{kind}' is not one of {', '.join(FAULTS)}.")
    _object("fault", fault, {"kind", *FAULTS[kind]})
    for option, value in fault.items():
        if option in _TYPES and not isinstance(value, _TYPES[option]):
            raise invalid_field(f"fault.{option}", f"{value!r} is of the wrong type.")
    if kind in _REQUIRED and _REQUIRED[kind] not in fault:
        raise invalid_field(f"fault.{_REQUIRED[kind]}", f"required for {kind}.")
    after, times = rule.get("after", 0), rule.get("times")
    if not isinstance(after, int) or not isinstance(times, int | None):
        raise invalid_field("rule", "after and times are whole numbers.")
    return Rule({part: str(pattern) for part, pattern in match.items()}, fault, after, times)


def _object(name: str, raw: object, known: Iterable[str] | None) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise invalid_field(name, "must be an object.")
    unknown = set(raw) - set(known) if known is not None else set()
    if unknown:
        raise invalid_field(name, f"doesn't know {', '.join(sorted(unknown))}.")
    return raw
