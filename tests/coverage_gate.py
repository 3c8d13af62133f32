"""The coverage that `make unit` asks for: all of the pure core, and nearly all of the whole.

Reads what pytest-cov left in `.coverage` and prints a line for each package. Lines and branches count alike.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from coverage import Coverage

PACKAGE = "reconciler"
WANTED = {"reconciler/plan": 100.0, "reconciler/spec": 100.0, PACKAGE: 97.0}  # percent


def measured() -> dict[str, Counter[str]]:
    """Package -> how many lines and branches there are, and how many of them were run. Raises CoverageException."""
    coverage = Coverage()
    coverage.load()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(report))
        files: Mapping[str, Any] = json.loads(report.read_text(encoding="utf-8"))["files"]
    packages: dict[str, Counter[str]] = {}
    for name, found in files.items():
        summary = found["summary"]
        counts = Counter(
            all=summary["num_statements"] + summary["num_branches"],
            run=summary["covered_lines"] + summary["covered_branches"],
        )
        for package in _packages(name):
            packages.setdefault(package, Counter()).update(counts)
    return packages


def _packages(name: str) -> Iterable[str]:
    """The whole, and the package right below it that the file is in."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    below = parts[parts.index(PACKAGE) :]
    return (PACKAGE, "/".join(below[:2])) if len(below) > 2 else (PACKAGE,)


def main() -> int:
    """Print the figures; the exit code says whether they suffice."""
    failed = False
    packages = measured()
    for package in sorted({*packages, *WANTED}):
        counts = packages.get(package, Counter())
        wanted = WANTED.get(package)
        nothing = 100.0 if wanted is None else 0.0  # a package of data alone is fine, a core that wasn't measured isn't
        percent = 100 * counts["run"] / counts["all"] if counts["all"] else nothing
        short = wanted is not None and percent < wanted
        failed |= short
        asked = "" if wanted is None else f"  (wanted: {wanted:g})"
        missing = counts["all"] - counts["run"]
        print(f"{package:24} {percent:6.2f} %  {missing:5} missing{asked}{'  TOO LOW' if short else ''}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
