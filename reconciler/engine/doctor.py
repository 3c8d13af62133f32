"""What `doctor` looks at and what it finds, as values; and the looks that need no network: the machine, the files."""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from reconciler import __version__
from reconciler.errors import ReconcilerError
from reconciler.spec.files import DiskFiles, UnreadableError
from reconciler.spec.findings import Severity
from reconciler.spec.loader import Loaded
from reconciler.spec.yamlnodes import MAX_FILE_BYTES

_MODELINE = re.compile(r"^#\s*yaml-language-server:\s*\$schema=(\S+)", re.MULTILINE)
_HEAD = 4096  # bytes: whoever writes such a line writes it on top
_SECONDS = 10.0


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One look: `name` says at what, `subject` at which of several. `advice` is what to do, where there is something.

    Nothing in it is ever a secret.
    """

    name: str
    level: Level
    found: str
    advice: str = ""
    subject: str = ""

    @classmethod
    def failure(cls, name: str, error: ReconcilerError, *, subject: str = "") -> Check:
        """What didn't work, in the error's own words."""
        return cls(name, Level.FAIL, error.summary, error.hint, subject)


def check_machine() -> list[Check]:
    """The tool itself, and the programs that it runs."""
    return [
        Check("tool", Level.OK, f"reconciler {__version__} on Python {platform.python_version()}"),
        _program("bash", "the syntax of scripts isn't checked"),
        _program("git", "'plan --base' can't read the files of another revision"),
    ]


def check_files(loaded: Loaded) -> list[Check]:
    """What `validate` would say, in numbers; and whether the schemas that the files name for editors are current."""
    from reconciler.spec.script_checks import check_scripts

    counts = Counter(each.severity for each in {*loaded.findings, *check_scripts(loaded.readable)})
    level = Level.FAIL if counts[Severity.ERROR] else Level.WARN if counts[Severity.WARNING] else Level.OK
    said = ", ".join(f"{severity}s: {counts[severity]}" for severity in Severity)
    sources = {desired.source for desired in loaded.readable} | {each.source for each in loaded.refused}
    refused = f", refused: {len(loaded.refused)}" if loaded.refused else ""
    found = f"clusters: {len(loaded.clusters)}{refused}; {said}"
    advice = "" if level is Level.OK else "'reconciler validate' says what and where"
    if not loaded.clusters:
        advice = advice and f"{advice}; 'reconciler init' writes a first cluster file"
    return [Check("files", level, found, advice), *_schemas(sources)]


def _program(name: str, without: str) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, Level.WARN, f"not found: {without}", f"install {name}, or put it on the PATH")
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_SECONDS, check=True)  # noqa: S603 - no shell
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name, Level.WARN, f"{path} doesn't run ({type(error).__name__}): {without}", f"repair {name}")
    return Check(name, Level.OK, next(iter(done.stdout.splitlines()), path))


def _schemas(sources: Iterable[str]) -> Iterator[Check]:
    """A check for each schema that the files name; sources are relative to the working directory."""
    from reconciler.spec.schema import cluster_schema

    named: dict[Path, Path] = {}
    for source in map(Path, sorted(sources)):
        target = _named_schema(source)
        if target and "://" not in target:
            named.setdefault((source.parent / target).resolve(), source)
    for path, source in named.items():
        shown = _shown(path)
        advice = f"mkdir -p {_shown(path.parent)} && reconciler schema cluster >{shown}"
        try:
            is_current = json.loads(_files().read(str(path), MAX_FILE_BYTES)) == cluster_schema()
        except (UnreadableError, ValueError, RecursionError) as error:
            words = str(error) if isinstance(error, UnreadableError) else "it is no JSON"
            found = f"{source} names it for editors, and it can't be read: {words.lower()}"
            yield Check("schema", Level.WARN, found, advice, shown)
            continue
        found = "this version's" if is_current else "not this version's: editors may mark what is right"
        yield Check("schema", Level.OK if is_current else Level.WARN, found, "" if is_current else advice, shown)


def _named_schema(source: Path) -> str:
    try:
        head = _files().read(str(source), MAX_FILE_BYTES)[:_HEAD]
    except UnreadableError:  # `validate` tells
        return ""
    match = _MODELINE.search(head.decode("utf-8", "replace"))
    return match[1] if match else ""


def _files() -> DiskFiles:
    """Files name each other, and what they name may be a device, or never end."""
    return DiskFiles(Path.cwd())


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
