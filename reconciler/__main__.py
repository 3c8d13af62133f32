"""`python -m reconciler`, and the console script."""

from __future__ import annotations

import gc
import signal
import sys
from io import TextIOWrapper

# Containers made before the collector looks for cycles. Python's 700 has it go through a fleet's plans again and again,
# for a tenth of a second to whole seconds, and find next to nothing.
_UNCOLLECTED = 100_000


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(_UNCOLLECTED, *gc.get_threshold()[1:])
    # A Ctrl-C that comes before the command line can say anything ends it without a traceback of half an import.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names may hold characters that the locale doesn't know
    from reconciler.cli.app import run
    from reconciler.cli.output import open_streams

    open_streams()
    code = run(sys.argv[1:])
    gc.freeze()  # what is left goes with the process: to look for cycles in it on the way out takes long, too
    sys.exit(code)


if __name__ == "__main__":
    main()
