"""Rules on what scripts say: secrets, and what a prolog or epilog had better not do.

Their form (syntax, line ends, first lines) is seen to in `script_checks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from reconciler.spec import secrets
from reconciler.spec.findings import Path, Severity
from reconciler.spec.rules.rule import SLURM, Hit, Subject, rule
from reconciler.spec.script_places import line_of, place_in
from reconciler.spec.secret_patterns import PATH
from reconciler.spec.values import describe

_JOB_SCRIPTS = ("prolog_bash_scripts", "epilog_bash_scripts")
# Lines that aren't comments, up to the word.
_BEFORE = r"(?m)^(?![ \t]*#).*?"
_SLURM_COMMAND = re.compile(
    _BEFORE + r"(?<![\w.-])(sacct|sacctmgr|salloc|sbatch|scancel|scontrol|sinfo|sprio|squeue|srun|sstat)(?![\w./=-])"
)
_KILL_BY_USER = re.compile(
    _BEFORE + r"(?<![\w.-])((?:pkill|killall)\s[^\n;|&]*?(?:-[uU]|--e?uid|--user)\b|loginctl\s+(?:terminate|kill)-user)"
)


_TEXT = "read it from Secret Manager at run time: who may see the cluster can read its scripts"
_FILE = "see that the file gets there from Secret Manager, and not by an image or a bucket that others read"


def _scripts(subject: Subject) -> Iterator[tuple[Path, str]]:
    for path, pool in subject.pools:
        if text := pool.get("startup_script"):
            yield (*path, "startup_script"), text
    yield from _job_scripts(subject)


def _job_scripts(subject: Subject) -> Iterator[tuple[Path, str]]:
    for field in _JOB_SCRIPTS:
        for index, text in enumerate(subject.slurm.get(field, ())):
            yield (*SLURM, field, index), text


@lru_cache(maxsize=64)  # many clusters share a script
def _matches(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str], ...]:
    return tuple(pattern.finditer(text))


def _hit(path: Path, text: str, position: int, said: str, hint: str) -> Hit:
    """What is said of a position in a script: there, if that place can be told, else with the line in words."""
    line = line_of(text, position)
    place = place_in(text, line, position)
    return Hit(path, f"{'this line' if place else f'line {line} of the script'} {said}", hint, place)


@rule("secret-in-script", "A script holds what looks like a secret.", source="practice", severity=Severity.WARNING)
def secret_in_script(subject: Subject) -> Iterator[Hit]:
    for path, text in _scripts(subject):
        for span in secrets.find(text):
            advice = _FILE if span.kind == PATH else _TEXT
            yield _hit(path, text, span.start, f"holds what looks like {span.kind}", advice)


@rule(
    "slurm-command-in-script",
    "A prolog or epilog calls no Slurm commands: they wait on the controller that waits on the script.",
    source="Slurm",
    severity=Severity.WARNING,
)
def slurm_command_in_script(subject: Subject) -> Iterator[Hit]:
    for path, text in _job_scripts(subject):
        for match in _matches(_SLURM_COMMAND, text):
            yield _hit(
                path,
                text,
                match.start(1),
                f"calls {describe(match[1])}",
                "use the SLURM_* variables instead: under load such calls hang nodes",
            )


@rule(
    "kill-by-user",
    "A prolog or epilog kills no processes by user: the user's other jobs on the node go too.",
    source="Slurm",
    severity=Severity.WARNING,
)
def kill_by_user(subject: Subject) -> Iterator[Hit]:
    for path, text in _job_scripts(subject):
        for match in _matches(_KILL_BY_USER, text):
            yield _hit(
                path,
                text,
                match.start(1),
                f"kills by user: {describe(match[1])}",
                "that ends the user's other jobs on the node too",
            )
