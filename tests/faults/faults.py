"""The faults of the matrix, and how a run that meets one of them may end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# Further than any test goes: an answer that never comes.
_NEVER = 3600
ELSEWHERE = "http://192.0.2.1/"
READS, WRITES = frozenset({"list", "get", "poll", "operations", "slurm"}), frozenset({"create", "patch", "delete"})


@dataclass(frozen=True)
class Fault:
    """One row. `rule` is the emulator's; `passes`: a single one must not keep a run from converging.

    Where it doesn't pass, `says` are the error codes of which the cluster's result must name one. `only` narrows it to
    kinds of requests.
    """

    name: str
    rule: dict[str, Any]
    passes: bool = True
    says: frozenset[str] = frozenset()
    only: frozenset[str] = READS | WRITES

    @property
    def never_ends(self) -> bool:
        """Whether only the request's timeout ends it."""
        return self.rule.get("seconds") == _NEVER

    @property
    def has_effect(self) -> bool:
        """Whether the request is carried out although its answer is lost, or comes late."""
        return bool(self.rule.get("effect")) or self.rule["kind"] in ("truncate", "slow_drip")


def _status(code: int, name: str = "", **rule: Any) -> Fault:
    return Fault(name or str(code), {"kind": "status", "code": code, **rule})


def _after(fault: Fault) -> Fault:
    """The same after the request took effect, which only writes have."""
    return Fault(f"{fault.name}, done", {**fault.rule, "effect": True}, only=WRITES)


def _refusal(code: int, status: str, *says: str) -> Fault:
    rule = {"kind": "status", "code": code, "status": status}
    return Fault(str(code), rule, passes=False, says=frozenset({status.lower(), *says}))


_BUSY = [_status(code) for code in (408, 500, 502, 503, 504)]
_GARBLED = [
    Fault("HTML 200", {"kind": "html"}),
    Fault("HTML 502", {"kind": "html", "code": 502}),
    Fault("empty", {"kind": "empty"}),
    Fault("a list", {"kind": "wrong_type", "body": []}),
    Fault("null", {"kind": "wrong_type", "body": None}),
]
# JSON, and an object: nothing is wrong with it but that it isn't what was asked for.
_FOREIGN = Fault("{}", {"kind": "wrong_type", "body": {}}, passes=False)
_RESET = Fault("reset", {"kind": "reset"})

PASSING = (
    *_BUSY,
    *map(_after, _BUSY),
    _status(429),
    _status(429, "429 Retry-After", headers={"retry-after": "7"}),
    _RESET,
    _after(_RESET),
    Fault("hang", {"kind": "hang", "seconds": _NEVER}),
    Fault("hang, done", {"kind": "slow_drip", "chunk": 1, "seconds": _NEVER}),
    Fault("slow drip", {"kind": "slow_drip", "chunk": 256, "seconds": 0.001}),
    Fault("truncated", {"kind": "truncate"}),
    *_GARBLED,
    *map(_after, _GARBLED),
    _after(_FOREIGN),
)
REFUSALS = (
    _FOREIGN,
    _refusal(400, "INVALID_ARGUMENT"),
    _refusal(401, "UNAUTHENTICATED", "credentials"),
    _refusal(403, "PERMISSION_DENIED"),
    _refusal(404, "NOT_FOUND"),
    _refusal(409, "ABORTED"),
    Fault("HTML 404", {"kind": "html", "code": 404}, passes=False, says=frozenset({"http_404"})),
    Fault("redirect", {"kind": "redirect", "location": ELSEWHERE}, passes=False, says=frozenset({"http_302"})),
)
FAULTS = (*PASSING, *REFUSALS)

# What a run may name when a fault that would pass doesn't.
LASTING = frozenset({"unavailable", "ambiguous"})


def named(scenario: str, fault: Fault) -> frozenset[str]:
    """The codes of the errors in which a run that meets this fault may end."""
    codes = LASTING if fault.passes or fault is _FOREIGN else fault.says
    if scenario in ("poll", "operations"):
        return frozenset({"pending"})  # whatever keeps us from looking, it says nothing about the operation
    if scenario == "slurm":
        return frozenset({"jobs_unknown"})  # the change is blocked: nobody knows whom it would hurt
    if fault.name == "404" and scenario == "get":
        return frozenset({"already_exists", "stale"})  # the service denies a cluster, and then it's there
    if fault.name == "404" and scenario == "delete":
        return frozenset({"not_converged"})  # gone, says the service, and then it's there
    if scenario == "get" and (codes == LASTING or fault.name == "401"):
        codes |= {"pending"}  # the change is made, and nobody can look at it
    return codes
