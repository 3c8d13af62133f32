"""Drift as Prometheus text, for the node exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from reconciler.engine.results import Drift
from reconciler.plan.model import Action
from reconciler.spec.names import ClusterName

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def drift_metrics(drift: Drift) -> str:
    """Gauges by cluster and for the whole; alert on `reconciler_drift_clusters` or on an old `…_last_run_…`."""
    plan = drift.plan
    changed = [cluster for cluster in plan.clusters if cluster.action is not Action.NO_OP]
    taken = datetime.fromisoformat(plan.created_at.replace("Z", "+00:00")).timestamp()
    lines = [
        *_gauge("reconciler_drift_clusters", "Clusters that differ from their files.", [("", len(changed))]),
        *_gauge("reconciler_unmanaged_clusters", "Live clusters in no file.", [("", len(drift.unmanaged))]),
        *_gauge("reconciler_drift_errors", "Clusters and files that could not be read.", [("", len(plan.errors))]),
        *_gauge("reconciler_drift_last_run_timestamp_seconds", "When drift was last looked for.", [("", int(taken))]),
        *_gauge(
            "reconciler_cluster_drift_changes",
            "Fields of a cluster that differ from its file.",
            [(_labels(cluster.cluster), len(cluster.changes)) for cluster in plan.clusters],
        ),
    ]
    return "\n".join(lines) + "\n"


def _gauge(name: str, meaning: str, samples: Iterable[tuple[str, int]]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} gauge"
    yield from (f"{name}{labels} {value}" for labels, value in samples)


def _labels(cluster: str) -> str:
    name = ClusterName.parse(cluster) or ClusterName("", "", cluster)
    parts = {"project": name.project, "location": name.location, "cluster": name.cluster_id}
    return "{" + ",".join(f'{key}="{value.translate(_ESCAPES)}"' for key, value in parts.items()) + "}"
