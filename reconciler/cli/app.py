"""The command line: commands are registered here, errors become messages and exit codes here, and nowhere else.

Exit codes (contract section 2): 0 done; 1 an error; 2 differences; 64 usage; 130 Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from typer.exceptions import TyperException

from reconciler.cli import apply, clusters, drift, emulator, github, graph, jobs, operations, plan, schema, validate
from reconciler.cli.options import Endpoint, Global
from reconciler.errors import InterruptedRun, ReconcilerError, UsageError

EXIT_ERROR, EXIT_USAGE, EXIT_INTERRUPTED = 1, 64, 130

app = typer.Typer(
    name="reconciler",
    help="Keep training clusters as their files in git say: plan, apply, drift.",
    rich_markup_mode=None,  # rich costs more than all the rest of --help
    pretty_exceptions_enable=False,  # tracebacks with locals could show tokens
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (validate, plan, apply, drift, clusters, operations, jobs, emulator, schema, graph, github):
    group.register(app)


def _version(wanted: bool) -> None:  # noqa: FBT001 - a typer callback is called so
    if wanted:
        from reconciler import __version__

        typer.echo(f"reconciler {__version__}")
        raise typer.Exit


Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say each request on standard error.")]
Version = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
]


@app.callback()
def root(
    context: typer.Context,
    endpoint: Endpoint = None,
    verbose: Verbose = False,
    version: Version = False,  # noqa: ARG001 - handled by its callback
) -> None:
    context.obj = Global(endpoint=endpoint, verbose=verbose)


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code. Every failure is said in one place, in the asked format."""
    # An option with an optional value: the parser knows none, so a bare one gets its value here.
    arguments = [f"--slurm={validate.ANY_SLURMCTLD}" if each == "--slurm" else each for each in arguments]
    try:
        with _ctrl_c():
            return int(app(arguments, standalone_mode=False, prog_name="reconciler") or 0)
    except TyperException as error:
        # The library gives usage errors 2, which must never read as "differences".
        code = EXIT_USAGE if getattr(error, "exit_code", 1) == 2 else EXIT_ERROR
        return _fail(arguments, UsageError(error.format_message(), hint=_help_hint(error)), code)
    except UsageError as error:
        return _fail(arguments, error, EXIT_USAGE)
    except (InterruptedRun, _CtrlC, typer.Abort) as error:
        known = error if isinstance(error, InterruptedRun) else InterruptedRun("interrupted")
        return _fail(arguments, known, EXIT_INTERRUPTED)
    except ReconcilerError as error:
        return _fail(arguments, error, EXIT_ERROR)
    except BrokenPipeError:
        # The reader of our output has left (`| head`): nobody is there to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(arguments, ReconcilerError(f"{place}{error.strerror or error}"), EXIT_ERROR)
    except Exception as error:  # noqa: BLE001 - the last door: people never see a traceback, nor what it might show
        return _fail(arguments, _bug(error), EXIT_ERROR)


def _bug(error: Exception) -> ReconcilerError:
    """A fault of ours, said so that it can be reported: where it happened, and nothing of what was being handled."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "reconciler" in frame.filename] or list(frames)
    where = " < ".join(f"{Path(frame.filename).stem}.{frame.name}:{frame.lineno}" for frame in reversed(ours[-4:]))
    hint = "this is a fault of the tool; report that line"
    return ReconcilerError(f"internal error: {type(error).__name__} in {where}", hint=hint, code="internal")


class _CtrlC(BaseException):
    """A KeyboardInterrupt that typer lets pass: of one it makes a bare exit code, with nothing said."""


@contextmanager
def _ctrl_c() -> Iterator[None]:
    def handle(_signal: int, _frame: FrameType | None) -> None:
        raise _CtrlC

    before = signal.getsignal(signal.SIGINT)
    if before not in (signal.default_int_handler, signal.SIG_DFL):  # ignored, or somebody else's
        yield
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _help_hint(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"see '{context.command_path} --help'" if context else "see 'reconciler --help'"


def _fail(arguments: Sequence[str], error: ReconcilerError, code: int) -> int:
    from reconciler.views.json import error_json
    from reconciler.views.safe import safe

    if _wants_json(arguments):
        typer.echo(error_json(error), nl=False)
    hint = f"\n  {safe(error.hint)}" if error.hint else ""
    typer.echo(f"error: {safe(error.summary)}{hint}", err=True)
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether --format json was asked for; also when the arguments couldn't be parsed."""
    return any(
        one == "--format=json" or (one == "--format" and two == "json") for one, two in pairwise([*arguments, ""])
    )
