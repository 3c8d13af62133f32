"""What becomes of each cluster on the way to a plan: compared, guarded, waited for, put off, or an error of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from reconciler.cloud.slurm_job import SlurmJob
from reconciler.engine.assess import Assessor
from reconciler.engine.planning import Planning, UntilIdle, make_plan
from reconciler.errors import PendingError, UnavailableError
from reconciler.plan.model import Action, ClusterPlan, Plan, PlanError
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from tests.unit.plan.cases import NAME, answer, at, desired, file_spec

NOW = datetime(2026, 12, 1, tzinfo=UTC)
DOUBT = PlanError(
    "clusters.d/demo.yaml", "rule", "the login pool must have as many nodes at most as at least", str(NAME)
)
BUSY = {**answer(), "clusterStatus": {"state": "UPDATING"}}


class Reads:
    """A service with one answer for all."""

    def __init__(self, shown: dict[str, Any] | None) -> None:
        self._shown = shown

    def get(self, _: ClusterName) -> dict[str, Any] | None:
        return self._shown

    def list(self, project: str, location: str) -> Iterator[dict[str, Any]]:
        raise AssertionError("few clusters are read one by one")


def wanted(edit: bool = False, **lifecycle: Any) -> Desired:
    """The cluster as its file wants it, with an edit that makes nodes anew."""
    spec = file_spec()
    if edit:
        at(spec, "node_pools[gpu]").update(zone="us-central1-b")
    return desired(spec, **lifecycle)


def plan(cluster: Desired, shown: dict[str, Any] | None = None, **options: Any) -> Plan:
    """The plan for one cluster, at a fixed time."""
    options.setdefault("assess", Assessor(NOW))
    return make_plan(Reads(answer() if shown is None else shown), [cluster], **options)


def test_a_plan() -> None:
    """With the time that it was made at, and what stands besides it in order."""
    other = ClusterPlan("projects/a/locations/b/modelDevelopmentClusters/c", "", Action.NO_OP)
    errors = [PlanError("b.yaml", "x", "y"), PlanError("a.yaml", "x", "y")]
    made = plan(wanted(edit=True), besides=[other], errors=errors)
    assert made.created_at == "2026-12-01T00:00:00Z"
    assert [each.cluster for each in made.clusters] == [other.cluster, str(NAME)]
    assert [error.source for error in made.errors] == ["a.yaml", "b.yaml"]
    assert (made.summary.update, made.summary.no_op) == (1, 1)


def test_what_is_disruptive_is_guarded() -> None:
    """And nothing else is."""
    job = SlurmJob(17, user="ann", partition="gpu", states=("RUNNING",))
    asked: list[ClusterName] = []

    def queue(name: ClusterName) -> Sequence[SlurmJob]:
        asked.append(name)
        return [job]

    assess = Assessor(NOW, queue=queue)
    assert plan(wanted(), assess=assess).clusters[0].jobs == ()
    assert asked == []
    assert [each.job_id for each in plan(wanted(edit=True), assess=assess).clusters[0].jobs] == [17]
    assert asked == [NAME]
    assert plan(wanted(edit=True)).clusters[0].jobs == ()  # nobody is there to be asked


def test_an_answer_that_cant_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of its own: it is no absent cluster, and takes no other down."""

    def fail(*_: object) -> ClusterPlan:
        raise TypeError("unhashable")

    monkeypatch.setattr(Assessor, "compare", fail)
    made = plan(wanted())
    (error,) = made.errors
    assert (error.code, error.cluster, made.clusters) == ("unreadable_answer", str(NAME), ())
    assert "TypeError: unhashable" in error.message


@pytest.mark.parametrize(("edit", "refused"), [(False, False), (True, True)])
def test_a_rule_that_the_live_cluster_breaks_too(edit: bool, refused: bool) -> None:
    """A file that says what is live is let through with a note; a change is the error that it would be."""
    made = plan(wanted(edit), doubtful={NAME: DOUBT})
    if refused:
        assert (made.clusters, made.errors) == ((), (DOUBT,))
    else:
        assert made.errors == ()
        assert [note.code for note in made.clusters[0].notes] == ["rule_waived"]
        assert DOUBT.message in made.clusters[0].notes[0].message


Then = Callable[[dict[str, Any] | None], object]
Failed = Callable[[PendingError], object]


def becomes(shown: dict[str, Any] | None) -> UntilIdle:
    """A wait that ends at once with this."""

    def until_idle(_name: ClusterName, state: str, then: Then, _failed: Failed) -> None:
        assert state == "UPDATING"
        then(shown)

    return until_idle


def gives_up(_name: ClusterName, state: str, _then: Then, failed: Failed) -> None:
    """A wait that ends without an end."""
    failed(PendingError(f"still {state}", operation="", hint="again"))


def test_a_busy_cluster_is_waited_for() -> None:
    """And planned as it is then; a wait that ends without it is its error."""
    made = plan(wanted(edit=True), BUSY, until_idle=becomes(answer()))
    assert "cluster_busy" not in [note.code for note in made.clusters[0].notes]
    assert made.clusters[0].action is Action.UPDATE
    made = plan(wanted(edit=True), BUSY, until_idle=gives_up)
    (error,) = made.errors
    assert (error.code, error.cluster, error.message) == ("pending", str(NAME), "still UPDATING")


def test_a_busy_cluster_comes_later() -> None:
    """The first part is without it; the rest waits for it, and knows its file's doubts."""
    planning = Planning(
        Reads(BUSY), [wanted(edit=True)], assess=Assessor(NOW), until_idle=becomes(answer()), doubtful={NAME: DOUBT}
    )
    first = planning.first(60)
    assert (first.clusters, first.errors) == ((), ())
    assert list(planning.open) == [str(NAME)]
    (later,) = planning.rest()
    assert later.errors == (DOUBT,)
    assert planning.open == {}


def test_one_that_hangs_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read, or a look at jobs, that doesn't end holds up no other cluster's plan."""
    far, queued = ClusterName(NAME.project, "far", "demo"), ClusterName(NAME.project, "near", "other")
    hangs = threading.Event()
    get = Reads.get

    def read(reads: Reads, name: ClusterName) -> dict[str, Any] | None:
        if name == far:
            hangs.wait(60)
        return get(reads, name)

    def queue(name: ClusterName) -> Sequence[SlurmJob]:
        if name == queued:
            hangs.wait(60)
        return []

    monkeypatch.setattr(Reads, "get", read)
    clusters = [replace(wanted(edit=True), name=name) for name in (NAME, far, queued)]
    planning = Planning(Reads(answer()), clusters, assess=Assessor(NOW, queue=queue))
    assert [each.cluster for each in planning.first(1).clusters] == [str(NAME)]
    assert set(planning.open) == {str(far), str(queued)}
    hangs.set()
    assert {each.cluster for part in planning.rest() for each in part.clusters} == {str(far), str(queued)}


def test_a_bug_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits for the plan gets it, and doesn't wait for ever."""

    def fail(*_: object) -> ClusterPlan:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Assessor, "guard", fail)
    planning = Planning(Reads(answer()), [wanted(edit=True)], assess=Assessor(NOW))
    with pytest.raises(RuntimeError, match="a bug"):
        planning.first(60)


def test_one_that_is_gone_meanwhile() -> None:
    """Deleted by another while it was waited for: nothing is left to delete, and it is noted that it was there."""
    (made,) = plan(wanted(state="absent", prevent_destroy=False), BUSY, until_idle=becomes(None)).clusters
    assert made.action is Action.NO_OP
    assert [note.code for note in made.notes] == ["gone_meanwhile"]


@pytest.mark.parametrize(("after", "action"), [(None, Action.NO_OP), (answer(), Action.DELETE)])
def test_one_that_is_gone_when_its_jobs_are_asked_for(
    after: dict[str, Any] | None, action: Action, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue that isn't there any more blocks no delete that is done; one that can't be reached does."""
    shown = iter([answer(), after])
    monkeypatch.setattr(Reads, "get", lambda *_: next(shown))

    def queue(_: ClusterName) -> Sequence[SlurmJob]:
        raise UnavailableError("404 NOT_FOUND")

    gone = wanted(state="absent", prevent_destroy=False)
    (made,) = plan(gone, assess=Assessor(NOW, queue=queue)).clusters
    assert made.action is action
    assert bool(made.blockers) == (action is Action.DELETE)


def test_a_busy_cluster_is_planned_as_it_is() -> None:
    """Where nobody waits, with a note."""
    assert "cluster_busy" in [note.code for note in plan(wanted(), BUSY).clusters[0].notes]


def test_a_cluster_that_cant_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own error, with its file."""

    def fail(*_: object) -> dict[str, Any] | None:
        raise UnavailableError("it hangs")

    monkeypatch.setattr(Reads, "get", fail)
    (error,) = plan(replace(wanted(), source="a.yaml")).errors
    assert (error.source, error.code) == ("a.yaml", "unavailable")
