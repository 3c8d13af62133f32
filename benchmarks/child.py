"""Runs a command and says what it took, as JSON on its last line of standard error.

A process of its own, and one that imports little: Linux counts a child's peak memory from what its parent had.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main(command: list[str]) -> None:
    """Run, wait, report wall and CPU in seconds, peak memory in MiB and the exit code."""
    begin = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    took = {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "memory": usage.ru_maxrss / 1024,
        "code": os.waitstatus_to_exitcode(status),
    }
    sys.stderr.write(f"\n{json.dumps(took)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
