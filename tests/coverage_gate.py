"""What `make unit` asks of coverage, by branches: the pure core whole, the package as a whole nearly so."""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path

import coverage

WANTED = {"plan": 99.0, "spec": 99.0, "": 90.0}  # per cent of lines and branches; "" is the whole package


def main() -> int:
    """Print the figures of each folder; 1 where one is below what is wanted."""
    data = coverage.Coverage()
    data.combine() if list(Path().glob(".coverage.*")) else None
    data.load()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        data.json_report(outfile=str(report), show_contexts=False)
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    covered: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, entry in files.items():
        folder = name.removeprefix("reconciler/").partition("/")[0] if name.count("/") > 1 else "(top)"
        figures = entry["summary"]
        for group in (folder, ""):
            covered[group] += figures["covered_lines"] + figures["covered_branches"]
            total[group] += figures["num_statements"] + figures["num_branches"]
    out = io.StringIO()
    failed = False
    for group in sorted(total):
        percent = 100 * covered[group] / total[group]
        wanted = WANTED.get(group, 0.0)
        failed |= percent < wanted
        out.write(
            f"{group or 'reconciler':<12}{percent:7.2f} %" + (f"  (at least {wanted:g})" if wanted else "") + "\n"
        )
    sys.stdout.write(out.getvalue())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
