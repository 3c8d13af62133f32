"""A base of which not everything is known: what it may hide."""

from __future__ import annotations

import pytest

from reconciler.plan.base import Base
from tests.unit.plan.cases import NAME, desired, file_spec

FOUND = {NAME: desired(file_spec())}
BASES: list[tuple[str, Base, bool]] = [
    ("the base has the cluster", Base(FOUND), False),
    ("a base with blind spots has the cluster all the same", Base(FOUND, blind=True), False),
    ("all files were read, and none is this cluster's", Base({}), False),
    ("nobody knows which clusters a file there names", Base({}, blind=True), True),
    ("its own file there can't be used", Base({}, frozenset({NAME})), True),
    ("another cluster's file there can't be used", Base({}, frozenset({NAME._replace(cluster_id="other")})), False),
]


@pytest.mark.parametrize(("reason", "base", "hides"), BASES, ids=[case[0] for case in BASES])
def test_hides(reason: str, base: Base, hides: bool) -> None:
    """Only what may say something of this cluster and can't be read takes its protection to be there."""
    assert base.hides(NAME) is hides, reason


def test_a_project_by_number_there_and_by_id_here() -> None:
    """It may be the same project, so what the base says of the cluster holds; two ids or two numbers are two projects."""
    by_number = NAME._replace(project="123456789012")
    assert Base({by_number: desired(file_spec())}).find(NAME) is not None
    assert Base(FOUND).find(by_number) is not None
    assert Base(FOUND).find(NAME._replace(project="other-proj")) is None
    assert Base(FOUND).find(by_number._replace(location="us-east1")) is None
