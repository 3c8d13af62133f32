"""Which view a `--format` means. A view is imported when it is chosen, since most runs need one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from reconciler.errors import UsageError

if TYPE_CHECKING:
    from reconciler.engine.results import ApplyReport, Drift
    from reconciler.plan.model import Plan
    from reconciler.spec.findings import Finding


def for_plan(name: str, *, colour: bool = False, verbose: bool = False, full: bool = False) -> Callable[[Plan], str]:
    """The plan's view of that name. `full` lifts Markdown's limit. Raises UsageError for an unknown name."""
    match name:
        case "text":
            from reconciler.views.text import plan_text

            return partial(plan_text, colour=colour, verbose=verbose)
        case "markdown":
            from reconciler.views.markdown import COMMENT_LIMIT, plan_markdown

            return partial(plan_markdown, limit=None if full else COMMENT_LIMIT)
        case "json":
            from reconciler.views.json import plan_json

            return plan_json
    raise _unknown(name, "text", "markdown", "json")


def for_drift(name: str, *, colour: bool = False, verbose: bool = False, full: bool = False) -> Callable[[Drift], str]:
    """The drift report's view of that name. Raises UsageError."""
    match name:
        case "text":
            from reconciler.views.text import drift_text

            return partial(drift_text, colour=colour, verbose=verbose)
        case "markdown":
            from reconciler.views.markdown import COMMENT_LIMIT, drift_markdown

            return partial(drift_markdown, limit=None if full else COMMENT_LIMIT)
        case "json":
            from reconciler.views.json import drift_json

            return drift_json
    raise _unknown(name, "text", "markdown", "json")


def for_apply(name: str, *, colour: bool = False, verbose: bool = False) -> Callable[[ApplyReport], str]:
    """The apply report's view of that name. Raises UsageError."""
    match name:
        case "text":
            from reconciler.views.outcome import apply_text

            return partial(apply_text, colour=colour, verbose=verbose)
        case "json":
            from reconciler.views.json import apply_json

            return apply_json
    raise _unknown(name, "text", "json")


def for_findings(name: str, *, colour: bool = False) -> Callable[[Sequence[Finding]], str]:
    """The findings' view of that name. Raises UsageError."""
    match name:
        case "text":
            from reconciler.views.findings import findings_text

            return partial(findings_text, colour=colour)
        case "json":
            from reconciler.views.json import findings_json

            return findings_json
        case "github":
            from reconciler.views.findings import findings_github

            return findings_github
    raise _unknown(name, "text", "json", "github")


def _unknown(name: str, *known: str) -> UsageError:
    return UsageError(f'unknown format "{name}"', hint=f"one of {', '.join(known)}")
