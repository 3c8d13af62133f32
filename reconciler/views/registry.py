"""Which view a `--format` means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from reconciler.engine.results import ApplyReport, Drift
from reconciler.errors import UsageError
from reconciler.plan.model import Plan
from reconciler.spec.findings import Finding
from reconciler.views.findings import findings_github, findings_text
from reconciler.views.json import apply_json, drift_json, findings_json, plan_json
from reconciler.views.markdown import COMMENT_LIMIT, drift_markdown, plan_markdown
from reconciler.views.outcome import apply_text
from reconciler.views.text import drift_text, plan_text

T = TypeVar("T")


def for_plan(name: str, *, colour: bool = False, verbose: bool = False, full: bool = False) -> Callable[[Plan], str]:
    """The plan's view of that name. `full` lifts Markdown's limit. Raises UsageError for an unknown name."""
    return _choose(
        name,
        text=partial(plan_text, colour=colour, verbose=verbose),
        markdown=partial(plan_markdown, limit=None if full else COMMENT_LIMIT),
        json=plan_json,
    )


def for_drift(name: str, *, colour: bool = False, verbose: bool = False, full: bool = False) -> Callable[[Drift], str]:
    """The drift report's view of that name. Raises UsageError."""
    return _choose(
        name,
        text=partial(drift_text, colour=colour, verbose=verbose),
        markdown=partial(drift_markdown, limit=None if full else COMMENT_LIMIT),
        json=drift_json,
    )


def for_apply(name: str, *, colour: bool = False, verbose: bool = False) -> Callable[[ApplyReport], str]:
    """The apply report's view of that name. Raises UsageError."""
    return _choose(name, text=partial(apply_text, colour=colour, verbose=verbose), json=apply_json)


def for_findings(name: str, *, colour: bool = False) -> Callable[[Sequence[Finding]], str]:
    """The findings' view of that name. Raises UsageError."""
    return _choose(name, text=partial(findings_text, colour=colour), json=findings_json, github=findings_github)


def _choose(name: str, **views: Callable[[T], str]) -> Callable[[T], str]:
    if name not in views:
        raise UsageError(f'unknown format "{name}"', hint=f"one of {', '.join(views)}")
    return views[name]
