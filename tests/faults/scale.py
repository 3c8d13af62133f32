"""How much is tried: a sample with all other tests, everything with `make faults`."""

from __future__ import annotations

import os

VARIABLE = "FAULTS"
FULL = "full"


def scaled(sample: int, full: int) -> int:
    """How many of something to try."""
    return full if os.environ.get(VARIABLE) == FULL else sample
