"""Cluster events: apply reports those that came after it began, status the recent ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.contract.bench import Bench, Outcome, result
from tests.contract.specs import pool

OLD = datetime(2026, 1, 1, tzinfo=UTC)


def event(moment: datetime, kind: str = "VM_PROLOG_ERROR", **fields: Any) -> dict[str, Any]:
    """An event as the service tells it."""
    return {"type": kind, "eventTime": moment.isoformat().replace("+00:00", "Z"), "instanceName": "cpu-0", **fields}


def soon() -> datetime:
    """A moment after whatever begins within the next seconds."""
    return datetime.now(UTC) + timedelta(minutes=1)


def events(bench: Bench, *listed: dict[str, Any]) -> None:
    """The events of the cluster."""
    bench.control.live(bench.name(), {"clusterEvents": list(listed)})


@pytest.fixture
def edited(bench: Bench) -> Bench:
    """A cluster `demo` that is there, with an edit to be applied."""
    path = bench.created("demo", bench.small())
    bench.edit(path, lambda spec: pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
    return bench


def test_apply_reports_new_events(edited: Bench) -> None:
    """Those newer than its start, newest first; older ones aren't of its making."""
    first, second = soon(), soon() + timedelta(seconds=5)
    events(edited, event(OLD, "VM_DELETION"), event(first, detail="it failed"), event(second, "VM_SLURM_DRAIN"))
    done = result(edited.apply().ok())
    assert done["reason"] == "new cluster events: cpu-0: VM_SLURM_DRAIN; cpu-0: VM_PROLOG_ERROR: it failed"


def test_apply_reports_them_in_words(edited: Bench) -> None:
    """The table for people says so."""
    events(edited, event(soon(), detail="it failed"))
    assert "cpu-0: VM_PROLOG_ERROR: it failed" in edited.run("apply", "--auto-approve").ok().out


def test_no_news_is_nothing(edited: Bench) -> None:
    """Without new events there is nothing to say."""
    events(edited, event(OLD))
    assert result(edited.apply().ok())["reason"] == ""


def test_a_failed_change_names_them(edited: Bench) -> None:
    """They may say why it failed."""
    events(edited, event(OLD, "VM_DELETION"), event(soon(), "VM_CREATION_ERROR", detail="quota"))
    edited.fault("operation_error", "patch", times=1, message="out of order")
    message = result(edited.apply().ended(1))["error"]["message"]
    assert "out of order" in message
    assert message.endswith("; new cluster events: cpu-0: VM_CREATION_ERROR: quota")


def test_a_failed_change_of_a_cluster_that_cant_be_read(edited: Bench) -> None:
    """What failed is said, without the events that nobody could see."""
    events(edited, event(soon()))
    edited.fault("status", "patch", times=1, code=403, status="PERMISSION_DENIED", message="not for you")
    edited.fault("status", "get", after=2, code=403, status="PERMISSION_DENIED", message="nor this")
    message = result(edited.apply().ended(1))["error"]["message"]
    assert "not for you" in message
    assert "events" not in message


def test_a_failed_delete_of_what_is_gone(bench: Bench) -> None:
    """No cluster, no events."""
    bench.write("demo", bench.small())
    bench.fault("status", "create", times=1, code=403, status="PERMISSION_DENIED", message="not for you")
    assert "events" not in result(bench.apply().ended(1))["error"]["message"]


@pytest.mark.parametrize("format_", ["text", "json"])
def test_status_shows_recent_events(edited: Bench, format_: str) -> None:
    """Newest first, whenever they were."""
    events(edited, event(OLD, "VM_DELETION"), event(soon(), detail="it failed"))
    shown: Outcome = edited.run("status", "demo", "--format", format_).ok()
    assert shown.out.index("VM_PROLOG_ERROR") < shown.out.index("VM_DELETION")
    assert "it failed" in shown.out
