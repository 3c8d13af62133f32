"""Generated clusters and edits, applied: what holds after every apply (contract section 5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.bench import Bench
from tests.property.spelling import respelled
from tests.property.strategies import edits, joined, parts, shapes

FUTURE = {"futureKnob": {"deep_key": "kept", "list": [1, {"a": "b"}]}}
MOVING = ("updateTime", "clusterStatus", "clusterEvents")


def _get(bench: Bench) -> dict[str, Any]:
    return {key: value for key, value in bench.get().items() if key not in MOVING}


def _at(resource: dict[str, Any], mask: str) -> Any:
    value: Any = resource
    for part in mask.split("."):
        head, *rest = part.split("_")
        value = (value or {}).get(head + "".join(word.title() for word in rest))
    return value


def _without(resource: dict[str, Any], masks: list[str]) -> Any:
    """The resource with what is masked taken out, and with it messages that hold nothing else."""
    out = dict(resource)
    for key in list(out):
        below = [mask.partition(".")[2] for mask in masks if _camel(mask.partition(".")[0]) == key]
        if "" in below or (below and not (rest := _without(out[key], below))):
            del out[key]
        elif below:
            out[key] = rest
    return out


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def _strangers(bench: Bench) -> None:
    """Fields that nobody knows yet, and labels of the service, wherever they can be."""
    pools = {pool["id"]: FUTURE for pool in bench.live()["nodePools"]}
    slurm = {"partitions": {each["id"]: FUTURE for each in bench.live()["orchestratorSpec"]["slurmSpec"]["partitions"]}}
    live = {
        "nodePools": pools,
        "orchestratorSpec": {"slurmSpec": slurm | FUTURE},
        "labels": {"goog-x": "kept"},
        **FUTURE,
    }
    bench.control.live(bench.name(), live)


@given(data=st.data())
@settings(max_examples=40)
def test_an_edit_changes_what_it_masks_and_nothing_else(new_bench: Callable[[], Bench], data: st.DataObject) -> None:
    """Create, edit, apply: the plan is empty then, a second apply sends nothing, only masked fields have changed."""
    bench = new_bench()
    shape = data.draw(shapes(bench.project))
    first = data.draw(parts(shape))
    second = data.draw(edits(shape, first))
    bench.write("demo", data.draw(respelled(joined(first, shape))))
    bench.apply().ok()
    _strangers(bench)
    bench.settled()
    before = _get(bench)

    bench.write("demo", data.draw(respelled(joined(second, shape))))
    plan = bench.plan()
    bench.control.clear_requests()
    bench.apply().ok()
    sent = bench.requests("patch")
    after = _get(bench)
    assert [each["body"] for each in sent] == ([plan["request"]["body"]] if plan["request"] else [])
    masks = sent[0]["query"]["updateMask"].split(",") if sent else []
    assert masks == sorted({change["mask"] for change in plan["changes"]})
    assert [mask for mask in masks if _at(before, mask) == _at(after, mask)] == []
    assert _without(after, masks) == _without(before, masks)
    assert after["labels"]["goog-x"] == "kept"
    assert {key: after.get(key) for key in FUTURE} == FUTURE
    assert all(pool["futureKnob"] == FUTURE["futureKnob"] for pool in after["nodePools"])
    bench.settled()
