"""Names by meaning: whose project a number is."""

from __future__ import annotations

import pytest

from reconciler.spec.names import ClusterName, project_aliases, resource

BY_ID = ClusterName("acme-ml", "us-central1", "demo")
BY_NUMBER = BY_ID._replace(project="123")

ALIASES: list[tuple[str, ClusterName, object, dict[str, str]]] = [
    ("the answer shows the number", BY_ID, str(BY_NUMBER), {"123": "acme-ml"}),
    ("the file has the number", BY_NUMBER, str(BY_ID), {"123": "acme-ml"}),
    ("both have the id", BY_ID, str(BY_ID), {}),
    ("both have the number", BY_NUMBER, str(BY_NUMBER), {}),
    ("another project's id is no number of this one", BY_ID, str(BY_ID._replace(project="other")), {}),
    ("a URL", BY_ID, f"https://us-central1-aiplatform.googleapis.com/v1beta1/{BY_NUMBER}", {"123": "acme-ml"}),
    ("no name", BY_ID, None, {}),
    ("a name that is none", BY_ID, "projects/123", {}),
    ("a name of another type", BY_ID, {"project": "123"}, {}),
]


@pytest.mark.parametrize(("reason", "name", "shown", "aliases"), ALIASES, ids=[case[0] for case in ALIASES])
def test_project_aliases(reason: str, name: ClusterName, shown: object, aliases: dict[str, str]) -> None:
    """A number stands for an id only where the cluster's own name shows that it is the same project (contract 1)."""
    assert project_aliases(name, shown) == aliases, reason


def test_resources_of_a_file_by_number_and_an_answer_by_id_are_equal() -> None:
    """Either side may have the number: both come out by id."""
    aliases = project_aliases(BY_NUMBER, str(BY_ID))
    names = ("projects/123/global/networks/a", "projects/acme-ml/global/networks/a")
    assert {resource(name, aliases) for name in names} == {"projects/acme-ml/global/networks/a"}
