"""`python -m reconciler`, and the console script."""

from __future__ import annotations

import sys

from reconciler.cli.app import run


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
