"""`make faults`: every fault, kill, run and input, in full size, and what came of them as a table.

Further arguments are pytest's.
"""

from __future__ import annotations

import os
import sys

import pytest

from tests.faults.scale import FULL, VARIABLE
from tests.faults.table import Table

if __name__ == "__main__":
    os.environ[VARIABLE] = FULL
    sys.exit(pytest.main(["tests/faults", "-n", "auto", *sys.argv[1:]], plugins=[Table()]))
