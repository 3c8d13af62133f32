"""`make bench`: everything that is measured, as ratios to a floor in the same run; exits 1 where a target is missed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks import page
from benchmarks.cases import Cases, Row
from benchmarks.targets import targets

_WHAT = ("start-up", "validate", "plan", "apply", "creates")
_SIZES, _QUICK_SIZES = (1, 100, 1000, 10_000), (1, 100, 1000)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few minutes: no 10,000 clusters, fewer pairs")
    parser.add_argument("--only", nargs="+", choices=_WHAT, default=_WHAT, help="what to measure")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="fleet sizes")
    parser.add_argument("--latencies", nargs="+", type=float, metavar="MS", default=[0.0, 50.0], help="milliseconds")
    parser.add_argument("--pairs", type=int, metavar="N", help="how often each command is run, and its floor")
    parser.add_argument("--write", action="store_true", help="write docs/performance.md; a whole run always does")
    return parser.parse_args()


def main() -> int:
    """The exit code."""
    options = _options()
    sizes = options.sizes or (_QUICK_SIZES if options.quick else _SIZES)
    latencies = [milliseconds / 1000 for milliseconds in options.latencies]
    rows: list[Row] = []
    creates = None
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        cases = Cases(Path(scratch), options.pairs or (3 if options.quick else None), _say)
        if "start-up" in options.only:
            rows.append(cases.start_up())
        if "creates" in options.only:
            creates = cases.creates()
        if "validate" in options.only:
            rows += [cases.validate(size) for size in sizes]
        if {"plan", "apply"} & {*options.only}:
            for size in sizes:
                rows += cases.online(size, latencies, options.only)
    found = targets(rows, creates)
    text = page.results(rows, found)
    print(text)
    is_whole = not options.quick and not options.sizes and set(options.only) == set(_WHAT)
    if is_whole or options.write:
        page.write(rows, text)
    return 1 if any(each.figure is not None and not each.is_met for each in found) else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
