"""What is wrong with scripts' texts: `bash -n`, line ends, first lines. Each remark is told as a line of a file.

This runs a program for each different text, so commands that change clusters ask for the scripts of those alone.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

from reconciler.spec.findings import Finding, Severity
from reconciler.spec.model import Desired
from reconciler.spec.places import Place, finding
from reconciler.spec.script_places import line_of, place_in
from reconciler.spec.scripts import ScriptText, scripts_of

_PARALLEL = 4
_SECONDS = 20.0
_BASH_SAYS = re.compile(r".*?: line (\d+): (.+)")
_FOR_BASH = re.compile(r"#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(?:\S*/)?(?:ba|da)?sh(?:\s|\Z)")


class Remark(NamedTuple):
    """One thing about a text, at a line of it."""

    line: int
    rule: str
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR


def check_scripts(clusters: Iterable[Desired], *, bash: str = "bash", seconds: float = _SECONDS) -> tuple[Finding, ...]:
    """What is wrong with the scripts of these clusters, sorted by place. Equal texts are checked once.

    `bash` is the program that is asked, for `seconds` at most for each text. Without it syntax isn't checked, which is
    a warning.
    """
    used = [(desired, text) for desired in clusters for _, _, text in scripts_of(desired.spec) if text]
    remarks = {str(text): list(_on_text(text)) for _, text in used}
    findings: set[Finding] = set()
    try:
        for text, syntax in _on_syntax([text for text in remarks if _is_for_bash(text)], bash, seconds).items():
            remarks[text] += syntax
    except OSError as error:
        message = f"the syntax of scripts is not checked: {bash}: {(error.strerror or str(error)).lower()}"
        findings.add(finding(Place(used[0][0].source), "script-unchecked", message, "install bash", Severity.WARNING))
    findings.update(_finding(desired, text, remark) for desired, text in used for remark in remarks[str(text)])
    return tuple(sorted(findings, key=lambda each: (each.file, each.line, each.rule, each.message)))


def _on_text(text: str) -> Iterator[Remark]:
    if "\0" in text:
        hint = "name the file that holds the script's text"
        yield Remark(
            line_of(text, text.index("\0")),
            "script-binary",
            "this is a program or data, not a script: it has NUL bytes",
            hint,
        )
    if "\r" in text:
        hint = "save it with LF line ends, or jobs fail with a bad interpreter"
        yield Remark(
            line_of(text, text.index("\r")), "script-line-ends", "this line ends in CR LF, as Windows writes it", hint
        )
    if text.startswith("\ufeff"):
        hint = "save it as UTF-8 without one"
        yield Remark(1, "script-first-line", "a byte order mark hides the first line from the system", hint)
    elif not text.startswith("#!"):
        message = "the first line doesn't say what runs the script"
        yield Remark(1, "script-first-line", message, "begin with #!/bin/bash", Severity.WARNING)


def _is_for_bash(text: str) -> bool:
    """Whether bash would read the text as it is: a startup script may be for another interpreter."""
    return (not text.startswith("#!") or bool(_FOR_BASH.match(text))) and not ("\0" in text or "\r" in text)


def _on_syntax(texts: list[str], bash: str, seconds: float) -> dict[str, list[Remark]]:
    """What bash says of each text. Raises OSError where it can't be run."""
    if len(texts) <= _PARALLEL:  # one cluster's, which may be known: threads cost more than what they save
        return {text: list(_syntax(text, bash, seconds)) for text in texts}
    with ThreadPoolExecutor(_PARALLEL) as pool:
        found = pool.map(lambda text: _syntax(text, bash, seconds), texts)
        return {text: list(remarks) for text, remarks in zip(texts, found, strict=True)}


@lru_cache(maxsize=256)  # clusters share scripts, and apply asks about those of each one once more
def _syntax(text: str, bash: str, seconds: float) -> tuple[Remark, ...]:
    return tuple(_ask_bash(text, bash, seconds))


def _ask_bash(text: str, bash: str, seconds: float) -> Iterator[Remark]:
    # Read from a file bash tells lines, from plain standard input it doesn't. The bare environment keeps BASH_ENV out,
    # which would be run, and makes the words of messages known.
    command = [bash, "-n", "/dev/stdin"]
    environment = {"LC_ALL": "C", "PATH": os.defpath}
    try:
        done = subprocess.run(  # noqa: S603 - the script is data on standard input; bash -n runs none of it
            command, input=text.encode(), capture_output=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        message = f"bash -n took more than {seconds:g} seconds over it"
        yield Remark(1, "script-syntax", message, "look for an endless construct", Severity.WARNING)
        return
    said = done.stderr.decode(errors="replace").splitlines()
    heard = [match for line in said if (match := _BASH_SAYS.fullmatch(line))]
    warnings = [match for match in heard if match[2].startswith("warning: ")]
    for match in warnings:
        message = match[2].removeprefix("warning: ")
        yield Remark(int(match[1]), "script-syntax", message, severity=Severity.WARNING)
    if done.returncode:
        # The first message is the fault; what follows repeats the line that it is in.
        fault = next((match for match in heard if match not in warnings), None)
        line, message = (int(fault[1]), fault[2]) if fault else (1, f"bash -n ended with {done.returncode}")
        yield Remark(line, "script-syntax", message)


def _finding(desired: Desired, text: str, remark: Remark) -> Finding:
    # Bash tells the end of a text as the line after its last.
    line = min(remark.line, line_of(text, len(text.removesuffix("\n"))))
    message = remark.message
    place = place_in(text, line)
    if place is None:
        place = Place(text.file, text.line) if isinstance(text, ScriptText) else Place(desired.source)
        message += f" (line {line} of the script)"
    return finding(place, remark.rule, message, remark.hint, remark.severity)
