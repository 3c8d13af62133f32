"""JSON as the contract fixes it (sections 3 and 4).

Written by hand from the values, since ten thousand clusters are a plan too: a line per item of a top-level list, which
also makes two plans comparable line by line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from reconciler.engine.results import ApplyReport, Drift, ErrorInfo, Result
from reconciler.errors import OperationError, PendingError, ReconcilerError
from reconciler.plan.model import Capacity, Change, ClusterPlan, Plan
from reconciler.spec.findings import Finding, Severity
from reconciler.views.live import status_document
from reconciler.views.safe import escape_json

Document = dict[str, Any]


def plan_json(plan: Plan) -> str:
    """The plan, as `--format json` and `--out` write it."""
    return dump(plan_document(plan))


def drift_json(drift: Drift) -> str:
    """A plan's document and `unmanaged`, the clusters that no file knows. `before` is live, `after` the file."""
    unmanaged = {"unmanaged": list(drift.unmanaged), "include_unmanaged": drift.include_unmanaged}
    return dump({**plan_document(drift.plan), **unmanaged})


def apply_json(report: ApplyReport) -> str:
    """Every cluster's fate, and what couldn't be planned."""
    return dump(
        {
            "started_at": report.started_at,
            "interrupted": report.interrupted,
            "summary": {status.value: count for status, count in report.counts.items()},
            "results": [_result(result) for result in report.results],
            "errors": [_flat(error) for error in report.errors],
        }
    )


def findings_json(findings: Iterable[Finding]) -> str:
    """All findings and how many of them are errors and warnings."""
    # A finding on a whole file stands at its beginning: machines want a place in any case.
    rows = [_flat(replace(each, line=each.line or 1, column=each.column or 1)) for each in findings]
    counts = {f"{severity}s": sum(row["severity"] is severity for row in rows) for severity in Severity}
    return dump({"summary": counts, "findings": rows})


def clusters_json(clusters: Iterable[Mapping[str, Any]]) -> str:
    """Resources as the service gave them."""
    return dump({"clusters": [dict(cluster) for cluster in clusters]})


def operations_json(operations: Iterable[Mapping[str, Any]]) -> str:
    """Operations as the service gave them."""
    return dump({"operations": [dict(operation) for operation in operations]})


def resource_json(resource: Mapping[str, Any]) -> str:
    """One resource as the service gave it."""
    return dump(dict(resource))


def status_json(resource: Mapping[str, Any]) -> str:
    """A cluster's state, nodes by pool, partitions, events (newest first) and errors."""
    return dump(status_document(resource))


def error_json(error: ReconcilerError) -> str:
    """What ended a command, under `--format json`. `operation` is there when one goes on or has failed."""
    document = _flat(ErrorInfo.of(error))
    if isinstance(error, OperationError | PendingError):
        document["operation"] = error.operation
    return dump({"error": document})


def plan_document(plan: Plan) -> Document:
    """The plan as JSON values (contract section 3)."""
    return {
        "format_version": plan.format_version,
        "tool_version": plan.tool_version,
        "created_at": plan.created_at,
        **({"shard": plan.shard} if plan.shard else {}),
        "summary": _flat(plan.summary),
        "clusters": [_cluster(cluster) for cluster in plan.clusters],
        "errors": [_flat(error) for error in plan.errors],
    }


def _cluster(plan: ClusterPlan) -> Document:
    return {
        "cluster": plan.cluster,
        "source": plan.source,
        "action": plan.action,
        "changes": [_change(change) for change in plan.changes],
        "request": _flat(plan.request) if plan.request else None,
        "blockers": [_flat(blocker) for blocker in plan.blockers],
        "notes": [_flat(note) for note in plan.notes],
        "jobs": [_flat(job) for job in plan.jobs],
        "live_fingerprint": plan.live_fingerprint,
        "desired_fingerprint": plan.desired_fingerprint,
        "capacity": [_capacity(each) for each in plan.capacity],
    }


def _capacity(capacity: Capacity) -> Document:
    return {**_flat(capacity), "before": _flat(capacity.before), "after": _flat(capacity.after)}


def _change(change: Change) -> Document:
    document = {
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "mask": change.mask or None,
        "impact": change.impact,
    }
    if change.origin:
        document["origin"] = change.origin
    if change.reason:
        document["reason"] = change.reason
    return document


def _result(result: Result) -> Document:
    return {**_flat(result), "error": _flat(result.error) if result.error else None}


def _flat(value: Any) -> Document:
    """A dataclass's own members; what they hold isn't copied."""
    return {member.name: getattr(value, member.name) for member in fields(value)}


def dump(document: Document) -> str:
    """JSON text: a line per member, and per item of a member that is a list."""
    members = (f"{_encode(key)}: {_member(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(members) + "\n}\n"


def _member(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(map(_encode, value)) + "\n]"
    return _encode(value)


def _encode(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)
    return escape_json(text)


def _finite(value: Any) -> Any:
    """NaN and the infinities as proto3 JSON spells them, since JSON has none."""
    match value:
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list():
            return [_finite(item) for item in value]
        case float() if math.isnan(value):
            return "NaN"
        case float() if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
    return value
