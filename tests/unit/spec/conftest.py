"""What several test modules of the spec need."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from reconciler.spec.slurm_parameters import Record


@pytest.fixture(scope="session")
def slurm_names() -> dict[Record, set[str]]:
    """All names of the data file, by record."""
    text = resources.files("reconciler.data").joinpath("slurm-parameters.json").read_text("utf-8")
    versions = json.loads(text).values()
    return {record: {name for version in versions for name in version[record]} for record in Record}
