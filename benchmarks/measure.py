"""Commands as child processes: what they took, in pairs that take turns with the floor's."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_PATIENCE = 3600.0
TOOL = (str(Path(sys.executable).with_name("reconciler")),)
FLOOR = (sys.executable, str(_HERE / "floor.py"))


class FailedError(Exception):
    """A measured command didn't end as it should have."""


@dataclass(frozen=True)
class Usage:
    """What a command took: wall and CPU (user and system) in seconds, peak memory in MiB."""

    wall: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Pairs:
    """Measurements of a command, each with one of its floor's that was made right after it."""

    tool: tuple[Usage, ...]
    floor: tuple[Usage, ...]

    def median(self, what: str) -> float:
        """The command's `wall`, `cpu` or `memory`."""
        return float(statistics.median(getattr(usage, what) for usage in self.tool))

    def floor_median(self, what: str) -> float:
        """The floor's."""
        return float(statistics.median(getattr(usage, what) for usage in self.floor))

    def ratio(self, what: str) -> float:
        """The median over the pairs, so that what slows the whole machine down for a while weighs on neither side."""
        turns = zip(self.tool, self.floor, strict=True)
        return float(statistics.median(getattr(tool, what) / getattr(floor, what) for tool, floor in turns))


def run(command: Sequence[str], cwd: Path, url: str = "") -> Usage:
    """Run a command to its end, against the service at `url`. Raises FailedError unless it ends with 0."""
    # Without what would keep Python from writing its compiled modules, as an installation has them.
    foreign = ("RECONCILER_", "PYTHON")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    environment |= {"RECONCILER_ENDPOINT": url} if url else {}
    child = [sys.executable, "-S", str(_HERE / "child.py"), *command]
    done = subprocess.run(child, cwd=cwd, env=environment, capture_output=True, text=True, timeout=_PATIENCE)
    said, _, took = done.stderr.rstrip().rpartition("\n")
    usage = json.loads(took)
    if usage.pop("code"):
        raise FailedError(f"{' '.join(command)}:\n{done.stdout}\n{said}")
    return Usage(**usage)


def measure(tool: Callable[[], Usage], floor: Callable[[], Usage], count: int) -> Pairs:
    """Take turns, `count` times each, after one of each that isn't counted: it warms the caches of files and pages."""
    tool(), floor()
    taken = [(tool(), floor()) for _ in range(count)]
    return Pairs(tuple(pair[0] for pair in taken), tuple(pair[1] for pair in taken))
