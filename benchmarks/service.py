"""The emulator, in a thread of the process that measures: the service that plans and applies are measured against."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator, EmulatorConfig


@dataclass(frozen=True)
class Service:
    """A running emulator."""

    url: str

    def forget_requests(self) -> None:
        """Begin to count anew."""
        Control(self.url).clear_requests()

    def requests(self) -> int:
        """How many requests there were."""
        return len(Control(self.url).requests())


@contextmanager
def service(
    state: Path, *, seed: Path | None = None, latency: float = 0.0, lro_seconds: float = 0.0
) -> Iterator[Service]:
    """An emulator that keeps its clusters in the folder `state`. Times are in seconds."""
    seeds = (seed,) if seed else ()
    with Emulator(EmulatorConfig(state_dir=state, seeds=seeds, latency=latency, lro_seconds=lro_seconds)) as emulator:
        yield Service(emulator.url)
