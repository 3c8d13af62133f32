"""The built-in Slurm: a small queue that answers the Slurm job API as slurmrestd would.

Good enough for demos and tests where no real Slurm is installed. Answers follow those recorded from real ones;
partitions and nodes come from the cluster itself. With `slurm_socket.SlurmSocket` a real one takes its place.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from reconciler.emulator import slurm_dialect_v38, slurm_dialect_v40, slurm_intake
from reconciler.emulator.slurm_replies import Dialect, Reply, SlurmUnavailable
from reconciler.emulator.slurm_rest import RestCall
from reconciler.emulator.slurm_scheduler import Scheduler
from reconciler.emulator.slurm_settings import Fault, Settings
from reconciler.emulator.slurm_store import SlurmStore

_PATH = re.compile(r"/+(slurm|slurmdb)/(v\d+\.\d+\.\d+)/([^?]*)(?:\?.*)?")

EventCallback = Callable[[str, dict[str, Any]], None]


class BuiltinSlurm:
    """One small Slurm for each cluster name. Safe to call from several threads."""

    def __init__(
        self,
        db_path: Path | None = None,
        clock: Callable[[], float] = time.time,
        *,
        sleep: Callable[[float], None] = time.sleep,
        on_event: EventCallback | None = None,
    ) -> None:
        """State lives in the SQLite file ``db_path`` (its tables begin with ``slurm_``), or in memory.

        ``clock`` gives seconds since the epoch. ``on_event(cluster_name, event)`` gets what belongs into the
        cluster's ``clusterEvents``; it is called outside of any lock.
        """
        self.settings = Settings()
        self.on_event = on_event
        self._store = SlurmStore(db_path)
        self._clock = clock
        self._sleep = sleep
        self._switching = threading.Lock()

    def handle(
        self, cluster_name: str, resource: Mapping[str, Any], method: str, path: str, body: object | None
    ) -> Reply:
        """Slurm's HTTP status and body text for one call on a cluster (camelCase API form).

        Raises `SlurmUnavailable` when a fault says so.
        """
        fault = self._take_fault(method)
        reply = None
        if fault is None or fault.after:
            reply = self._answer(cluster_name, resource, method, path, body)
        if fault is not None:
            self._sleep(fault.hang_seconds)
            if fault.unavailable:
                raise SlurmUnavailable("the controller does not answer")
            if fault.status is not None:
                return fault.status, fault.body
        return reply or self._answer(cluster_name, resource, method, path, body)

    def on_cluster_changed(self, cluster_name: str, resource: Mapping[str, Any] | None) -> None:
        """A cluster was created or updated, or deleted (None): jobs on nodes that are gone end as NODE_FAIL."""
        if resource is None:
            self._store.forget(cluster_name)
            return
        with self._scheduler(cluster_name) as scheduler:
            scheduler.change_cluster(resource)

    def configure(self, changes: Mapping[str, Any]) -> None:
        """Sets switches (see `Settings`; ``fault`` an object of `Fault` fields, or null), and does two things:

        ``resume_nodes``: names of clusters whose drained nodes come back; ``inject_jobs``: a list of objects with
        ``cluster`` and the fields of `inject_job`. Raises ValueError for what it doesn't know.
        """
        values = dict(changes)
        resumed, injected = values.pop("resume_nodes", []), values.pop("inject_jobs", [])
        if not isinstance(resumed, list) or not isinstance(injected, list):
            raise ValueError("resume_nodes and inject_jobs are lists")
        with self._switching:
            self.settings = self.settings.changed(values)
        for cluster_name in resumed:
            with self._scheduler(cluster_name) as scheduler:
                scheduler.state.drained.clear()
        for fields in injected:
            self.inject_job(**{"cluster_name": fields.get("cluster", ""), **_without(fields, "cluster")})

    def inject_job(self, cluster_name: str, **fields: Any) -> int:
        """Puts a job into a cluster's queue by hand and returns its id (the leader's, of several).

        Fields are those of `slurm_jobs.Job`, and ``script`` (text), ``array`` (``0-9%2``) and ``components`` (a list
        of fields for a heterogeneous job). A job given as RUNNING runs at once, whatever is free; times are in
        seconds since the epoch. Raises ValueError for an unknown field.
        """
        with self._scheduler(cluster_name) as scheduler:
            return slurm_intake.inject(scheduler, fields).job_id

    def close(self) -> None:
        """Closes the database."""
        self._store.close()

    def _take_fault(self, method: str) -> Fault | None:
        with self._switching:
            fault = self.settings.fault
            if fault is None or fault.times == 0 or fault.method not in (None, method):
                return None
            if fault.times is not None:
                self.settings = replace(self.settings, fault=replace(fault, times=fault.times - 1))
            return fault

    @contextmanager
    def _scheduler(self, cluster_name: str) -> Iterator[Scheduler]:
        """A cluster's scheduler at the present time; the state is saved and events are handed on at the end."""
        now = self._clock()
        with self._store.cluster(cluster_name, now) as state:
            scheduler = Scheduler(state, self.settings)
            scheduler.advance(now)
            yield scheduler
        if self.on_event is not None:
            for event in scheduler.events:
                self.on_event(cluster_name, event)

    def _answer(
        self, cluster_name: str, resource: Mapping[str, Any], method: str, path: str, body: object | None
    ) -> Reply:
        found = _PATH.fullmatch(path)
        if found is None or found[2] not in self.settings.versions:
            return 404, self._no_url()
        segments = [unquote(segment) for segment in found[3].split("/") if segment]
        with self._scheduler(cluster_name) as scheduler:
            scheduler.change_cluster(resource)
            call = RestCall(scheduler, self._dialect(found[2]), method, body)
            reply = call.slurm(segments) if found[1] == "slurm" else call.slurmdb(segments)
        return (404, self._no_url()) if reply is None else reply

    def _dialect(self, version: str) -> Dialect:
        if version == "v0.0.38":
            return slurm_dialect_v38.DialectV38()
        return slurm_dialect_v40.DialectV40(version, self.settings.user)

    def _no_url(self) -> str:
        old = self.settings.versions == ("v0.0.38",)
        return slurm_dialect_v38.NO_URL if old else slurm_dialect_v40.NO_URL


def _without(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}
