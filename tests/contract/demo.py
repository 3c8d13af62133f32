"""The base cluster `demo` in the tests of the pain points: what its file wants, what differs, what is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.contract.bench import Bench

Edit = Callable[[dict[str, Any]], object]


def edit(bench: Bench, change: Edit) -> None:
    """Change the spec in the cluster's file."""
    bench.edit(bench.root / "clusters.d/demo.yaml", change)


def changes(bench: Bench) -> list[tuple[str, Any, Any]]:
    """Path, before and after of each change that is planned."""
    return [(each["path"], each["before"], each["after"]) for each in bench.plan()["changes"]]


def sent(bench: Bench) -> dict[str, Any]:
    """The body of the one PATCH of an apply that goes well."""
    bench.apply().ok()
    (request,) = bench.requests("patch")
    bench.settled()
    return dict(request["body"])
