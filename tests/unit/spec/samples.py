"""Cluster files for tests of the loader, and short ways to load them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reconciler.spec.document import Check
from reconciler.spec.findings import Finding
from reconciler.spec.loader import Loaded, load, load_text

HEAD = """\
project: acme-ml
location: us-central1
cluster_id: demo
"""
POOL = """\
  node_pools:
    - id: cpu
      machine_spec: {machine_type: n2-standard-8}
      scaling_spec: {min_node_count: 0, max_node_count: 4}
"""
MINIMAL = HEAD + "spec:\n" + POOL
SLURM = """\
  orchestrator_spec:
    slurm_spec:
"""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Put files below a folder, which is returned."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def load_one(text: str | bytes, others: dict[str, str | bytes] | None = None, checks: Sequence[Check] = ()) -> Loaded:
    """Load one cluster file, `clusters.d/a.yaml`, beside others, all in memory."""
    files = {"clusters.d/a.yaml": text, **(others or {})}
    data = {name: content.encode() if isinstance(content, str) else content for name, content in files.items()}
    return load_text(data, checks=checks)


def load_in(root: Path, *paths: str) -> Loaded:
    """Load from a folder as the working directory."""
    return load(paths or ("clusters.d",), cwd=root)


def told(findings: Sequence[Finding]) -> list[str]:
    """Findings as lines, without the hints."""
    return [f"{each.file}:{each.line}:{each.column} {each.rule}: {each.message}" for each in findings]


def the_error(loaded: Loaded) -> str:
    """The one finding there is, of files that can't be used."""
    assert not loaded.clusters
    assert loaded.refused
    (line,) = told(loaded.findings)
    return line
