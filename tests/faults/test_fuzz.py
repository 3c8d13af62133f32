"""Inputs that nobody would write, by the tens of thousands: findings and named errors come of them, and nothing else."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from reconciler.cloud.answers import Answer
from reconciler.cloud.clusters import Clusters
from reconciler.cloud.operations import Operations, status, target
from reconciler.cloud.settings import Settings
from reconciler.cloud.slurm import Slurm
from reconciler.cloud.slurm_job import JobId
from reconciler.cloud.transport import Limits, Transport
from reconciler.cloud.wire import Wire
from reconciler.engine.assess import Assessor
from reconciler.engine.drifting import find_drift
from reconciler.engine.importing import import_cluster
from reconciler.engine.planning import make_plan
from reconciler.errors import InputError, ReconcilerError
from reconciler.plan.build import plan_cluster
from reconciler.spec import rules
from reconciler.spec.loader import load_text
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.views import inventory, jobs, registry
from reconciler.views import json as json_view
from reconciler.views.diagram import plan_diagram
from reconciler.views.findings import findings_text
from reconciler.views.plan_file import read_drift, read_plan
from tests.contract.specs import base
from tests.faults.mutations import broken_bodies, broken_texts, broken_values
from tests.faults.scale import scaled

SHARD = 2500
_ROOT = Path(__file__).parents[1]
_SAMPLES = _ROOT / "unit" / "emulator_slurm" / "samples"
NAME = ClusterName("p", "us-central1", "demo")
FULL_NAME = "projects/p/locations/us-central1/modelDevelopmentClusters/demo"
OPERATION = "projects/1/locations/us-central1/operations/7"
_HEAD = {"project": "p", "location": "us-central1", "cluster_id": "demo"}


def _fuzzed(number: int, examples: int = SHARD) -> Callable[[Any], Any]:
    """Settings of one shard: the same inputs in every run."""
    limits = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: seed(number)(limits(test))


def _desired() -> Desired:
    (desired,) = load_text({"clusters.d/a.yaml": json.dumps({**_HEAD, "spec": base("p")}).encode()}).clusters
    return desired


def _printable(text: str) -> None:
    """No view may hand a terminal, or a CI log, anything that it obeys."""
    bare = text.replace("\n", "").replace("\t", "")
    assert bare.isprintable() or not any(ord(each) < 32 or 0x7F <= ord(each) < 0xA0 for each in bare), text
    assert "\u202e" not in text


# --- files


def _files() -> list[bytes]:
    found = [path for folder in ("specs", "../clusters.d") for path in sorted((_ROOT / folder).rglob("*"))]
    return [path.read_bytes() for path in found if path.suffix in (".yaml", ".json") and path.name != "exploding.yaml"]


@pytest.mark.parametrize("number", range(scaled(1, 20)))
def test_cluster_files(number: int, record_property: Any) -> None:
    """Of any text come clusters or findings with a place, and of the clusters plans."""
    tried = 0

    @_fuzzed(number)
    @given(broken_texts(_files()), broken_texts(_files()) | st.none())
    def try_one(text: bytes, defaults: bytes | None) -> None:
        nonlocal tried
        tried += 1
        files = {"clusters.d/a.yaml": text, "clusters.d/s/x.sh": b"#!/bin/bash\n"}
        if defaults is not None:
            files["clusters.d/_defaults.yaml"] = defaults
        loaded = load_text(files, checks=(rules.check,))
        for each in loaded.findings:
            assert each.file
            assert each.message
        assert loaded.clusters or loaded.findings or not text.strip() or loaded.refused
        _printable(findings_text(loaded.findings))
        for desired in loaded.clusters:
            plan_cluster(desired, None)

    try_one()
    record_property("count", ("fuzz: cluster files", {"inputs": tried}))


# --- answers


def _cluster() -> dict[str, Any]:
    """As the service answers it."""
    node = {"nodePoolId": "cpu", "nodeState": "RUNNING", "instanceName": "demo-cpu-0"}
    return {
        "name": FULL_NAME,
        "createTime": "2026-11-01T00:00:00Z",
        "clusterStatus": {"state": "RUNNING", "detail": "all is well", "nodesStatus": [node, {**node, "x": 1}]},
        "clusterEvents": [{"type": "VM_PROLOG_ERROR", "createTime": "2026-11-01T00:00:00Z", "detail": "exit 1"}],
        **plan_body(),
    }


def plan_body() -> dict[str, Any]:
    """What a create would send."""
    request = plan_cluster(_desired(), None).request
    assert request
    assert request.body
    return request.body


def _operation(**more: Any) -> dict[str, Any]:
    generic = {"createTime": "2026-11-01T00:00:00Z"}
    metadata = {"@type": "t", "genericMetadata": generic, "progressMessage": "Updating", "target": FULL_NAME}
    return {"name": OPERATION, "metadata": metadata, **more}


def _slurm() -> list[Any]:
    recorded = [json.loads(path.read_text()) for path in sorted(_SAMPLES.rglob("*.json"))]
    return [{"status": each["status"], "body": json.dumps(each["body"])} for each in recorded]


_REFUSAL = {
    "error": {
        "code": 400,
        "status": "INVALID_ARGUMENT",
        "message": "no",
        "details": [{"@type": "b", "fieldViolations": [{"field": "labels", "description": "bad"}], "requestId": "r"}],
    }
}
_ANSWERS: tuple[Any, ...] = (
    _cluster(),
    {"modelDevelopmentClusters": [_cluster(), _cluster()], "nextPageToken": ""},
    {"operations": [_operation(done=True, response=_cluster()), _operation()]},
    _operation(),
    _operation(done=True, response={"@type": "t", **_cluster()}),
    _operation(done=True, error={"code": 8, "message": "no capacity", "details": [{"detail": "x"}]}),
    _REFUSAL,
)
_STATUSES = st.sampled_from((200, 200, 200, 200, 204, 302, 400, 401, 403, 404, 409, 412, 429, 500, 503, 599))
_HEADERS = st.sampled_from(
    ({}, {"retry-after": "1"}, {"retry-after": "x"}, {"location": "\x1b[31m"}, {"x-request-id": "\x07"})
)


class _World:
    """The client over answers that are given to it."""

    def __init__(self) -> None:
        self.transport = Transport(
            Settings(endpoint="http://127.0.0.1:9", retry_budget=0), sleep=lambda _: None, clock=lambda: 0.0
        )
        self.clusters = Clusters(self.transport)
        self.operations = Operations(self.transport)
        self.desired = _desired()

    def read(self) -> Iterator[str]:
        """All that commands make of a cluster's answer."""
        plan = make_plan(self.clusters, [self.desired], assess=Assessor(datetime(2026, 11, 1, tzinfo=UTC)))
        for error in plan.errors:
            assert error.code != "internal"
        for format_ in ("text", "markdown"):
            yield registry.for_plan(format_)(plan).replace("\u200b", "")
        for cluster in plan.clusters:
            yield plan_diagram(cluster)
        assert read_plan(json_view.plan_json(plan)).clusters == plan.clusters
        answer = self.clusters.get(NAME)
        if answer is not None:
            yield inventory.status_text(answer)
            yield inventory.resource_text(answer)
            json.loads(json_view.status_json(answer))
            import_cluster(NAME, answer)

    def listed(self) -> Iterator[str]:
        """All that commands make of a list."""
        drift = find_drift(
            self.clusters, [self.desired], assess=Assessor(datetime(2026, 11, 1, tzinfo=UTC)), include_unmanaged=True
        )
        yield registry.for_drift("text")(drift)
        yield inventory.clusters_text(self.clusters.list("p", "us-central1"))
        yield inventory.operations_text(self.operations.list("p", "us-central1"))

    def polled(self) -> Iterator[str]:
        """What is made of an operation, and of the answer to a write."""
        operation = self.operations.get(OPERATION, Limits())
        yield repr(status(operation))
        yield repr(target(operation))
        yield inventory.operations_text([operation])
        yield str(self.clusters.patch(f"/v1beta1/{NAME}", {"updateMask": "labels"}, {})["name"]).replace("\x1b", "")

    def slurm(self) -> Iterator[str]:
        """What is made of Slurm's answers."""
        slurm = Slurm(self.transport)
        job = JobId(17)
        yield jobs.jobs_text(slurm.jobs(NAME).jobs)
        yield jobs.job_text(slurm.find(NAME, job).jobs)
        yield jobs.cancelled_text("17", slurm.cancel(NAME, job).jobs, "cancelling")
        slurm.partitions(NAME)


def _try_answers(monkeypatch: pytest.MonkeyPatch, number: int, corpus: tuple[Any, ...], what: tuple[str, ...]) -> int:
    world = _World()
    tried = 0

    @_fuzzed(number)
    @given(broken_bodies(corpus), _STATUSES, _HEADERS, st.sampled_from(what))
    def try_one(body: bytes, code: int, headers: dict[str, str], use: str) -> None:
        nonlocal tried
        tried += 1
        with monkeypatch.context() as patch:
            patch.setattr(Wire, "send", lambda *_, **__: Answer(code, headers, body))
            try:
                for text in getattr(world, use)():
                    _printable(text)
            except ReconcilerError as error:
                _printable(f"{error} [{error.code}]")

    try_one()
    return tried


@pytest.mark.parametrize("number", range(scaled(1, 16)))
def test_answers(number: int, monkeypatch: pytest.MonkeyPatch, record_property: Any) -> None:
    """Of any answer comes a plan, a view or an error with a name."""
    tried = _try_answers(monkeypatch, number, _ANSWERS, ("read", "listed", "polled"))
    record_property("count", ("fuzz: answers of the API", {"inputs": tried}))


@pytest.mark.parametrize("number", range(scaled(1, 6)))
def test_slurm_answers(number: int, monkeypatch: pytest.MonkeyPatch, record_property: Any) -> None:
    """So it is with Slurm's answers, of any version."""
    tried = _try_answers(monkeypatch, number, tuple(_slurm()), ("slurm",))
    record_property("count", ("fuzz: answers of Slurm", {"inputs": tried}))


@pytest.mark.parametrize("number", range(scaled(1, 4)))
def test_plan_files(number: int, record_property: Any) -> None:
    """A plan file is read whole or refused: what isn't understood is never applied."""
    tried = 0
    plan = make_plan(_Nothing(), [_desired()], assess=Assessor(datetime(2026, 11, 1, tzinfo=UTC)))
    document = json.loads(json_view.plan_json(plan))

    @_fuzzed(number)
    @given(broken_values([document, {**document, "unmanaged": []}]) | broken_bodies([document]))
    def try_one(value: Any) -> None:
        nonlocal tried
        tried += 1
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else json.dumps(value)
        for read in (read_plan, read_drift):
            with contextlib.suppress(InputError):
                read(text)

    try_one()
    record_property("count", ("fuzz: plan files", {"inputs": tried}))


class _Nothing:
    """A service without clusters."""

    def get(self, name: ClusterName) -> None:
        return None

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        return iter(())
