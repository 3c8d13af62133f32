"""A built-in Slurm under a clock that tests turn by hand."""

from __future__ import annotations

import pytest
from slurm_cluster import Clock, Cluster, resource

from reconciler.emulator.slurm import BuiltinSlurm


@pytest.fixture
def clock() -> Clock:
    """A clock that only moves when told to."""
    return Clock()


@pytest.fixture
def cluster(clock: Clock) -> Cluster:
    """A cluster with an in-memory Slurm and every known API version."""
    slurm = BuiltinSlurm(clock=clock, sleep=clock.sleep)
    slurm.configure({"versions": ["v0.0.38", "v0.0.39", "v0.0.40", "v0.0.41", "v0.0.42", "v0.0.43", "v0.0.44"]})
    return Cluster(slurm, resource())
