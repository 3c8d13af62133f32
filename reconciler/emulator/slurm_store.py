"""What the built-in Slurm remembers, in SQLite: each call is one transaction, so that a kill loses nothing half."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_view import slurm_part

_SCHEMA = """
CREATE TABLE IF NOT EXISTS slurm_clusters (name TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS slurm_jobs (
    cluster TEXT NOT NULL, job_id INTEGER NOT NULL, job TEXT NOT NULL, PRIMARY KEY (cluster, job_id));
"""


@dataclass
class ClusterState:
    """One cluster's Slurm at ``time`` (seconds since the epoch).

    ``resource``: the part of the cluster that Slurm depends on, as last seen. ``drained``: node -> reason.
    """

    name: str
    time: float
    next_job_id: int = 1
    resource: dict[str, Any] = field(default_factory=lambda: slurm_part({}))
    drained: dict[str, str] = field(default_factory=dict)
    jobs: dict[int, Job] = field(default_factory=dict)

    def take_job_id(self) -> int:
        """The next job id; ids start at 1 in each cluster."""
        self.next_job_id += 1
        return self.next_job_id - 1


class SlurmStore:
    """Cluster states in a SQLite file (also one that others use), or in memory when there is none."""

    def __init__(self, path: Path | None) -> None:
        self._lock = threading.RLock()
        # Guarded by the lock, so that the web server's threads may share it.
        self._connection = sqlite3.connect(path or ":memory:", timeout=30, check_same_thread=False)
        with self._connection:
            self._connection.executescript(_SCHEMA)

    @contextmanager
    def cluster(self, name: str, now: float) -> Iterator[ClusterState]:
        """A cluster's state to work on; what has changed by the end is written, unless an exception ends it."""
        with self._lock, self._connection:
            # Before reading, so that two processes with one file can't both take the same job id.
            self._connection.execute("BEGIN IMMEDIATE")
            state, stored = self._load(name, now)
            yield state
            self._save(state, stored)

    def forget(self, name: str) -> None:
        """Drops a cluster and its jobs."""
        with self._lock, self._connection:
            self._connection.execute("DELETE FROM slurm_clusters WHERE name = ?", (name,))
            self._connection.execute("DELETE FROM slurm_jobs WHERE cluster = ?", (name,))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._connection.close()

    def _load(self, name: str, now: float) -> tuple[ClusterState, dict[int, str]]:
        rows = self._connection.execute("SELECT job_id, job FROM slurm_jobs WHERE cluster = ?", (name,))
        stored = dict(rows.fetchall())
        row = self._connection.execute("SELECT state FROM slurm_clusters WHERE name = ?", (name,)).fetchone()
        state = ClusterState(name, now) if row is None else ClusterState(name, **json.loads(row[0]))
        state.jobs = {job_id: Job(**json.loads(text)) for job_id, text in sorted(stored.items())}
        return state, stored

    def _save(self, state: ClusterState, stored: dict[int, str]) -> None:
        scalars = {"time": state.time, "next_job_id": state.next_job_id}
        text = json.dumps({**scalars, "resource": state.resource, "drained": state.drained})
        self._connection.execute("INSERT OR REPLACE INTO slurm_clusters VALUES (?, ?)", (state.name, text))
        jobs = {job_id: json.dumps(vars(job)) for job_id, job in state.jobs.items()}
        changed = [(state.name, job_id, job) for job_id, job in jobs.items() if stored.get(job_id) != job]
        self._connection.executemany("INSERT OR REPLACE INTO slurm_jobs VALUES (?, ?, ?)", changed)
