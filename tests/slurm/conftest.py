"""A real Slurm for the tests in this folder, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import BASE, RealSlurm, why_not_here

from reconciler.emulator.slurm_socket import SlurmSocket


@pytest.fixture(scope="session")
def real_slurm() -> Iterator[RealSlurm]:
    """A single-node Slurm for the whole session; skipped where none can run."""
    reason = why_not_here()
    if reason is not None:
        pytest.skip(reason)
    with RealSlurm() as slurm:
        yield slurm


@pytest.fixture
def slurm(real_slurm: RealSlurm) -> SlurmSocket:
    """The socket of the real Slurm, with an empty queue and the partitions cpu and debug."""
    real_slurm.cancel_all()
    real_slurm.resume_node()
    socket = SlurmSocket(real_slurm.socket_path, real_slurm.config_dir)
    socket.apply_configuration(BASE)
    return socket
