"""What `doctor` found: a line for each check, or JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from reconciler.engine.doctor import Check, Level
from reconciler.views.json import dump
from reconciler.views.safe import safe
from reconciler.views.table import pad, width
from reconciler.views.terminal import painter

_STYLES = {Level.OK: "green", Level.WARN: "bold yellow", Level.FAIL: "bold red"}


def doctor_text(checks: Sequence[Check], *, colour: bool = False) -> str:
    """A line for each check, `level  name  subject: found -> advice`, and how many of each level there are."""
    paint = painter(colour=colour)
    cells = max((width(check.name) for check in checks), default=0)
    lines = [
        f"{paint(_STYLES[check.level], check.level)}{' ' * (4 - len(check.level))}  {pad(check.name, cells)}  "
        + safe(_sentence(check))
        for check in checks
    ]
    counts = Counter(check.level for check in checks)
    return "\n".join([*lines, ", ".join(f"{level}: {counts[level]}" for level in Level)]) + "\n"


def doctor_json(checks: Sequence[Check]) -> str:
    """`{"summary": {"ok": n, …}, "checks": [{"name", "level", "found", "advice", "subject"}]}`"""
    counts = Counter(check.level for check in checks)
    return dump(
        {"summary": {level.value: counts[level] for level in Level}, "checks": [asdict(check) for check in checks]}
    )


def _sentence(check: Check) -> str:
    subject = f"{check.subject}: " if check.subject else ""
    advice = f" -> {check.advice}" if check.advice else ""
    return f"{subject}{check.found}{advice}"
