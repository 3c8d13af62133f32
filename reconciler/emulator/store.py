"""The emulator's state in SQLite. WAL and one transaction per request: a kill at any moment loses no accepted write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reconciler.emulator.names import ClusterKey
from reconciler.emulator.operations import Operation

_SCHEMA = """
CREATE TABLE IF NOT EXISTS clusters (
  project TEXT, location TEXT, cluster TEXT, project_id TEXT, resource TEXT, refreshes INTEGER DEFAULT 0,
  rendered TEXT, render_key TEXT, PRIMARY KEY (project, location, cluster));
CREATE TABLE IF NOT EXISTS operations (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, project TEXT, location TEXT, cluster TEXT, project_id TEXT,
  verb TEXT, change TEXT, steps TEXT, started REAL, due REAL, fault TEXT, settled INTEGER DEFAULT 0, result TEXT);
CREATE INDEX IF NOT EXISTS operations_due ON operations (due) WHERE NOT settled;
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT);
"""
_AT = "project = ? AND location = ? AND cluster = ?"


@dataclass(frozen=True)
class Cluster:
    """A stored cluster. `refreshes` counts updates that let the service refresh what it manages (S2)."""

    key: ClusterKey
    project_id: str
    resource: dict[str, Any]
    refreshes: int = 0


@dataclass(frozen=True)
class Page:
    """Clusters in the order of their ids, as (key, rendered text or None when out of date)."""

    rows: list[tuple[ClusterKey, str | None]]
    more: bool


class Store:
    """All of the emulator's lasting state. Methods must be called within `transaction`."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        """Opens or creates the database. `durable` also survives a power cut; a kill is survived either way.

        Raises sqlite3.Error for a file that is none of its own.
        """
        # Opened by the thread that starts the server, then used by the server's thread alone.
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
            self._db.executescript(_SCHEMA)
        except sqlite3.Error:
            self._db.close()
            raise

    def close(self) -> None:
        """Closes the database."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything within becomes durable together, or not at all."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def cluster(self, key: ClusterKey) -> Cluster | None:
        """One cluster, or None."""
        query = f"SELECT project_id, resource, refreshes FROM clusters WHERE {_AT}"  # noqa: S608 - a constant
        row = self._db.execute(query, _at(key)).fetchone()
        return Cluster(key, row[0], json.loads(row[1]), row[2]) if row else None

    def clusters(self) -> Iterator[Cluster]:
        """Every cluster of every project."""
        rows = self._db.execute("SELECT project, location, cluster, project_id, resource, refreshes FROM clusters")
        for project, location, name, project_id, resource, refreshes in rows:
            yield Cluster(ClusterKey(project, location, name), project_id, json.loads(resource), refreshes)

    def put(self, cluster: Cluster) -> None:
        """Writes a cluster; what was rendered of it is out of date then."""
        self._db.execute(
            "INSERT OR REPLACE INTO clusters (project, location, cluster, project_id, resource, refreshes)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (*_at(cluster.key), cluster.project_id, _dump(cluster.resource), cluster.refreshes),
        )

    def remove(self, key: ClusterKey) -> None:
        """Removes a cluster, if it is there."""
        self._db.execute(f"DELETE FROM clusters WHERE {_AT}", _at(key))  # noqa: S608 - a constant

    def page(self, project: str, location: str, after: str, size: int, render_key: str) -> Page:
        """Up to `size` clusters whose ids come after `after`, with the texts rendered under `render_key`."""
        rows = self._db.execute(
            "SELECT cluster, CASE WHEN render_key = ? THEN rendered END FROM clusters"
            " WHERE project = ? AND location = ? AND cluster > ? ORDER BY cluster LIMIT ?",
            (render_key, project, location, after, size + 1),
        ).fetchall()
        return Page([(ClusterKey(project, location, row[0]), row[1]) for row in rows[:size]], len(rows) > size)

    def keep_rendered(self, key: ClusterKey, text: str, render_key: str) -> None:
        """Remembers a cluster's rendered text, so that lists needn't render it again."""
        query = f"UPDATE clusters SET rendered = ?, render_key = ? WHERE {_AT}"  # noqa: S608 - a constant
        self._db.execute(query, (text, render_key, *_at(key)))

    def add_operation(self, operation: Operation) -> None:
        """Writes a new operation."""
        self._db.execute(
            "INSERT INTO operations"
            " (id, project, location, cluster, project_id, verb, change, steps, started, due, fault)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                operation.id,
                *_at(operation.key),
                operation.project_id,
                operation.verb,
                *map(_dump, (operation.change, operation.steps)),
                operation.started,
                operation.due,
                _dump(operation.fault),
            ),
        )

    def settle(self, operation: Operation, result: dict[str, Any]) -> Operation:
        """Marks an operation as having taken effect."""
        self._db.execute("UPDATE operations SET settled = 1, result = ? WHERE id = ?", (_dump(result), operation.id))
        return replace(operation, settled=True, result=result)

    def due_operations(self, now: float) -> list[Operation]:
        """Operations whose time has come and that haven't taken effect yet, in the order of their time."""
        return [item for _, item in self._operations("NOT settled AND due <= ? ORDER BY due, number", now)]

    def operation(self, project: str, location: str, identifier: str) -> Operation | None:
        """One operation, or None."""
        found = self._operations("project = ? AND location = ? AND id = ?", project, location, identifier)
        return found[0][1] if found else None

    def operations(self, project: str, location: str, before: int, size: int) -> list[tuple[int, Operation]]:
        """Up to `size` (number, operation), the newest first, with numbers below `before`."""
        where = "project = ? AND location = ? AND number < ? ORDER BY number DESC LIMIT ?"
        return self._operations(where, project, location, before, size)

    def _operations(self, where: str, *values: object) -> list[tuple[int, Operation]]:
        columns = "number, id, project, location, cluster, project_id, verb, change, steps, started, due, fault"
        query = f"SELECT {columns}, settled, result FROM operations WHERE {where}"  # noqa: S608 - `where` is ours
        return [(row[0], _operation(row)) for row in self._db.execute(query, values)]

    def setting(self, key: str) -> Any:
        """A stored setting, or None."""
        row = self._db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def set_setting(self, key: str, value: Any) -> None:
        """Stores a setting."""
        self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, _dump(value)))


def _at(key: ClusterKey) -> tuple[str, str, str]:
    return key.project, key.location, key.cluster


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _operation(row: tuple[Any, ...]) -> Operation:
    _, identifier, project, location, cluster, project_id, verb, change, steps, started, due, fault, settled, result = (
        row
    )
    return Operation(
        identifier,
        ClusterKey(project, location, cluster),
        project_id,
        verb,
        json.loads(change),
        json.loads(steps),
        started,
        due,
        json.loads(fault),
        bool(settled),
        json.loads(result) if result else None,
    )
