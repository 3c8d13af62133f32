"""The command line: errors become messages and exit codes here, and nowhere else.

Exit codes (contract section 2): 0 done; 1 an error; 2 differences; 64 usage; 130 Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType

import typer
from typer.exceptions import TyperException

from reconciler.cli.commands import build
from reconciler.cli.output import say, show
from reconciler.errors import InterruptedRun, ReconcilerError, UsageError

EXIT_ERROR, EXIT_USAGE, EXIT_INTERRUPTED = 1, 64, 130


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code. Every failure is said in one place, in the asked format."""
    if "--slurm" in arguments:
        from reconciler.cli.validate import ANY_SLURMCTLD

        # An option with an optional value: the parser knows none, so a bare one gets its value here.
        arguments = [f"--slurm={ANY_SLURMCTLD}" if each == "--slurm" else each for each in arguments]
    try:
        with _signals():
            return int(build(arguments)(list(arguments), standalone_mode=False, prog_name="reconciler") or 0)
    except TyperException as error:
        # The library gives usage errors 2, which must never read as "differences".
        code = EXIT_USAGE if getattr(error, "exit_code", 1) == 2 else EXIT_ERROR
        return _fail(arguments, UsageError(error.format_message(), hint=_help_hint(error)), code)
    except UsageError as error:
        return _fail(arguments, error, EXIT_USAGE)
    except (InterruptedRun, _Stopped, typer.Abort) as error:
        known = error if isinstance(error, InterruptedRun) else InterruptedRun("interrupted")
        return _fail(arguments, known, EXIT_INTERRUPTED)
    except ReconcilerError as error:
        return _fail(arguments, error, EXIT_ERROR)
    except BrokenPipeError:
        return EXIT_ERROR  # the reader of our output has left (`| head`): nobody is there to be told
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(arguments, ReconcilerError(f"{place}{error.strerror or error}"), EXIT_ERROR)
    except MemoryError:
        hint = "ask for fewer clusters at a time: --cluster, --shard"
        return _fail(arguments, ReconcilerError("there isn't enough memory", hint=hint, code="memory"), EXIT_ERROR)
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


class _Stopped(BaseException):
    """A KeyboardInterrupt that typer lets pass: of one it makes a bare exit code, with nothing said."""


@contextmanager
def _signals() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end a command wherever it is; those that have more to say bring their own handlers."""

    def handle(_signal: int, _frame: FrameType | None) -> None:
        raise _Stopped

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    # One that is ignored, or somebody else's, is left alone.
    ours = [number for number, handler in before.items() if handler in (signal.default_int_handler, signal.SIG_DFL)]
    for number in ours:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])


def _help_hint(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"see '{context.command_path} --help'" if context else "see 'reconciler --help'"


def _fail(arguments: Sequence[str], error: ReconcilerError, code: int) -> int:
    from reconciler.views.json import error_json
    from reconciler.views.safe import safe

    if _wants_json(arguments):
        with suppress(OSError):  # what can't be shown there is said below
            show(error_json(error))
    hint = f"\n  {safe(error.hint)}" if error.hint else ""
    say(f"error: {safe(error.summary)}{hint}")
    return code


def _wants_json(arguments: Sequence[str]) -> bool:
    """Whether --format json was asked for; also when the arguments couldn't be parsed."""
    return any(
        one == "--format=json" or (one == "--format" and two == "json") for one, two in pairwise([*arguments, ""])
    )
