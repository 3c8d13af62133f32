"""Waiting for a cluster to be idle by looking at it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from reconciler.engine.settle import Pace, Waits, until_idle
from reconciler.errors import AuthError, PendingError, ReconcilerError, UnavailableError
from reconciler.spec.names import ClusterName

NAME = ClusterName("p", "us-central1", "demo")
Answer = dict[str, Any]


def state(word: str, **more: str) -> Answer:
    """An answer in this state."""
    return {"clusterStatus": {"state": word, **more}}


class Looks:
    """What each look shows, the last for ever; time passes by sleeping."""

    def __init__(self, *shown: Answer | None) -> None:
        self._shown = list(shown)
        self.slept: list[float] = []
        self.said: list[str] = []
        self.stops_after = 10_000

    def get(self, _: ClusterName) -> Answer | None:
        return self._shown.pop(0) if len(self._shown) > 1 else self._shown[0]

    def list(self, project: str, location: str) -> Iterator[Answer]:
        raise AssertionError("one cluster is looked at")

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        return len(self.slept) >= self.stops_after

    def wait(self, timeout: float = 7200) -> Answer | None:
        waits = Waits(self.sleep, lambda: sum(self.slept), lambda: 1.0, timeout)
        return until_idle(self, NAME, waits, self.said.append)


@pytest.mark.parametrize("word", ["RUNNING", "ERROR", "", "SOMETHING_NEW"])
def test_what_is_not_busy(word: str) -> None:
    """It is there at once; an unknown state is none to wait for."""
    looks = Looks(state(word))
    assert looks.wait() == state(word)
    assert looks.slept == []


@pytest.mark.parametrize("word", ["PROVISIONING", "UPDATING", "STOPPING"])
def test_what_is_busy(word: str) -> None:
    """It is looked at until it's over, and what it does is said."""
    looks = Looks(state(word, detail="nodes"), state(word), state("RUNNING"))
    assert looks.wait() == state("RUNNING")
    assert looks.said == [f"{word}: nodes", word]


def test_what_is_gone() -> None:
    """None, at once or after a while."""
    assert Looks(None).wait() is None
    assert Looks(state("STOPPING"), None).wait() is None


def test_not_for_ever() -> None:
    """After the timeout it is pending, and the service goes on."""
    looks = Looks(state("UPDATING"))
    with pytest.raises(PendingError, match="still UPDATING after 300 s; the service goes on") as caught:
        looks.wait(300)
    assert "run the same command again" in str(caught.value)
    assert 260 < sum(looks.slept) <= 300


def test_interrupted() -> None:
    """Ctrl-C ends the pause, and the wait."""
    looks = Looks(state("UPDATING"))
    looks.stops_after = 2
    with pytest.raises(PendingError, match="interrupted"):
        looks.wait()
    assert len(looks.slept) == 2


def fails(looks: Looks, error: ReconcilerError, monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
    """Let looks fail, after so many."""
    get, count = looks.get, iter(range(100))

    def fail(name: ClusterName) -> Answer | None:
        if next(count) >= after:
            raise error
        return get(name)

    monkeypatch.setattr(looks, "get", fail)


@pytest.mark.parametrize("error", [UnavailableError("it hangs"), AuthError("no credentials")])
def test_a_failed_look_is_no_state(error: ReconcilerError, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the caller's to judge."""
    looks = Looks(state("UPDATING"))
    fails(looks, error, monkeypatch, after=0)
    with pytest.raises(type(error)):
        looks.wait()


def test_credentials_that_end_in_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service goes on without them, so the wait is pending and nothing has failed."""
    looks = Looks(state("UPDATING"))
    fails(looks, AuthError("they have expired"), monkeypatch, after=2)
    with pytest.raises(PendingError, match="they have expired; the service goes on"):
        looks.wait()


def test_an_outage_in_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster was busy, so the end of the wait finds it pending and not failed; why nobody knows more is said."""
    looks = Looks(state("UPDATING"))
    fails(looks, UnavailableError("it is down"), monkeypatch, after=2)
    with pytest.raises(PendingError, match="still UPDATING after 300 s, and there is no answer any more: it is down"):
        looks.wait(300)
    assert sum(looks.slept) == pytest.approx(300)


def test_an_outage_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One look that fails is none: the next one counts."""
    looks = Looks(state("UPDATING"), state("RUNNING"))
    get, failing = looks.get, iter([False, True, True, False])

    def sometimes(name: ClusterName) -> Answer | None:
        if next(failing):
            raise UnavailableError("it is down")
        return get(name)

    monkeypatch.setattr(looks, "get", sometimes)
    assert looks.wait() == state("RUNNING")


def test_a_look_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It doesn't outlast the wait: what was seen is what is known."""
    looks = Looks(state("UPDATING"))
    get, hangs = looks.get, threading.Event()

    def hang(name: ClusterName) -> Answer | None:
        if looks.slept:
            hangs.wait(60)
        return get(name)

    monkeypatch.setattr(looks, "get", hang)
    with pytest.raises(PendingError, match="still UPDATING after 1 s, and there is no answer any more"):
        looks.wait(1)
    assert not hangs.is_set()
    hangs.set()


def test_a_wait_that_began_before() -> None:
    """What was waited for already counts."""
    looks = Looks(state("UPDATING"))
    waits = Waits(looks.sleep, lambda: sum(looks.slept), lambda: 1.0, 300)
    with pytest.raises(PendingError, match="still UPDATING after 300 s"):
        until_idle(looks, NAME, waits, looks.said.append, since=-250.0)
    assert sum(looks.slept) == pytest.approx(50)


def test_pace() -> None:
    """Pauses grow up to the longest one."""
    assert list(islice(Pace(1, 2, 5).pauses(), 5)) == [1, 2, 4, 5, 5]
