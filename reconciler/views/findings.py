"""What `validate` found: for a terminal, and as annotations of a GitHub Actions run."""

from __future__ import annotations

from collections.abc import Sequence

from reconciler.spec.findings import Finding, Severity
from reconciler.views.safe import safe
from reconciler.views.terminal import painter
from reconciler.views.wording import plural

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


def findings_text(findings: Sequence[Finding], *, colour: bool = False) -> str:
    """A line per finding, `file:line:column: severity: message (hint) [rule]`, and how many there are."""
    paint = painter(colour=colour)
    lines = []
    for finding in findings:
        label = f": {finding.severity}: "
        place, _, rest = safe(str(finding)).partition(label)
        lines.append(place + label.replace(finding.severity, paint(_STYLES[finding.severity], finding.severity)) + rest)
    return "\n".join([*lines, summary(findings)]) + "\n"


def findings_github(findings: Sequence[Finding]) -> str:
    """A workflow command per finding, which GitHub shows beside the line of the file, and how many there are."""
    return "\n".join([*map(_annotation, findings), summary(findings)]) + "\n"


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning in 2 files`, or that nothing was found."""
    if not findings:
        return "Nothing found."
    counts = (plural(sum(finding.severity is severity for finding in findings), severity) for severity in Severity)
    return f"{', '.join(counts)} in {plural(len({finding.file for finding in findings}), 'file')}"


def annotation(severity: str, message: str, **properties: str | int) -> str:
    """A workflow command that GitHub shows as an annotation; properties are file, line, col and title."""
    told = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value)
    return f"::{severity} {told}::{_data(message)}"


def _annotation(finding: Finding) -> str:
    message = f"{finding.message} ({finding.hint})" if finding.hint else finding.message
    line, column = finding.line or 1, finding.column or 1
    return annotation(finding.severity, message, file=finding.file, line=line, col=column, title=finding.rule)


def _data(text: str) -> str:
    """As GitHub's toolkit escapes a command's text; its line breaks are shown, and nothing else gets to the log raw."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "%0A".join(safe(line).replace("%", "%25") for line in lines)


def _property(text: str) -> str:
    return safe(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
