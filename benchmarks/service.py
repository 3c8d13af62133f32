"""The emulator as a process of its own: the service that plans and applies are measured against."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import TOOL, FailedError
from reconciler.emulator.control import Control


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
    options = ["--state-dir", str(state), "--latency", str(latency), "--lro-seconds", str(lro_seconds)]
    options += ["--seed", str(seed)] if seed else []
    process = subprocess.Popen(
        [*TOOL, "emulator", *options], stdout=subprocess.PIPE, text=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        if not said.startswith("listening on "):
            raise FailedError("the emulator didn't start")
        yield Service(said.removeprefix("listening on ").strip())
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
