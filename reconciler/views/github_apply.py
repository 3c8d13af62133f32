"""What an apply did, for the merged pull request's comment and the job summary; and its JSON report read back."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from reconciler.engine.results import ApplyReport, Result, Status
from reconciler.errors import InputError
from reconciler.spec.secrets import mask
from reconciler.views.github import About, commit_link, link, marker
from reconciler.views.markdown import COMMENT_LIMIT
from reconciler.views.markdown_escape import clip, code, prose
from reconciler.views.markdown_parts import Rows, size_of
from reconciler.views.outcome import apply_summary, duration
from reconciler.views.wording import short_name

_MESSAGE_LIMIT = 600
_GOOD = (Status.APPLIED, Status.NO_OP, Status.SKIPPED)


def read_apply(text: str) -> ApplyReport:
    """What `apply --format json` printed, also where it ended with an error instead. Raises InputError."""
    from pydantic import TypeAdapter, ValidationError

    try:
        document = json.loads(text)
        if isinstance(document, dict) and "results" not in document and "error" in document:
            document = {"results": [], "errors": [{"source": "", **_known(document["error"])}]}
        members = {key: document[key] for key in ("results", "errors", "started_at", "interrupted") if key in document}
        return TypeAdapter(ApplyReport).validate_python(members)
    except (ValueError, RecursionError, TypeError, KeyError, ValidationError):
        raise InputError("this is no report of apply", hint="make it with apply --format json") from None


def _known(error: Any) -> dict[str, str]:
    return {key: str(error[key]) for key in ("code", "message")}


def is_good(report: ApplyReport) -> bool:
    """Whether everything is as the files say, or left alone on purpose."""
    return not report.errors and not report.interrupted and all(each.status in _GOOD for each in report.results)


def apply_comment(report: ApplyReport, about: About) -> str:
    """The comment on a merged pull request, within GitHub's limit; it begins with its marker."""
    return f"{marker('apply', about.path, about.environment)}\n\n{apply_markdown(report, about)}"


def apply_markdown(report: ApplyReport, about: About, *, limit: int = COMMENT_LIMIT) -> str:
    """Every cluster's fate, the failed ones first, in at most `limit` bytes."""
    verdict = f"**{prose(apply_summary(report))}**"
    if not is_good(report):
        verdict = (
            f"> [!CAUTION]\n> {verdict}\n> The clusters are not all as the files say: fix it forward, or apply again."
        )
    facts = [f"Commit {commit_link(about.commit, about)}"] if about.commit else []
    facts += [link("run", about.run)] if about.run else []
    blocks = [f"## {prose(f'Apply of {about.name}')}", verdict, " · ".join(facts)]
    errors = [f"- {code(e.source or short_name(e.cluster))} {_say(e.message)} ({code(e.code)})" for e in report.errors]
    shown = sorted((each for each in report.results if each.status is not Status.NO_OP), key=_urgency)
    resume = [f"- {code(each)}" for each in report.resume]
    parts = [
        Rows("**Not planned:**\n", errors, "errors") if errors else None,
        Rows(
            "| Cluster | Action | Status | Time | Detail |\n|---|---|---|--:|---|",
            [*map(_row, shown)],
            "clusters",
            "| and {} more |",
        )
        if shown
        else None,
        Rows("**Not over yet; to go on:**\n", resume, "operations") if resume else None,
    ]
    room = limit - sum(size_of(block) + 2 for block in blocks) - 10
    for part in filter(None, parts):
        text = part.fit(room, Counter())
        room -= size_of(text) + 2
        blocks.append(text)
    return "\n\n".join(filter(None, blocks)) + "\n"


def error_markdown(report: ApplyReport, about: About) -> str:
    """What ended a command before it had a report."""
    told = "\n".join(f"> {_say(error.message)} ({code(error.code)})" for error in report.errors)
    return f"## {prose(f'{about.name}: failed')}\n\n> [!CAUTION]\n{told}\n"


def _urgency(result: Result) -> int:
    order = (Status.FAILED, Status.BLOCKED, Status.PENDING, Status.SKIPPED, Status.APPLIED, Status.NO_OP)
    return order.index(result.status)


def _row(result: Result) -> str:
    time = "" if result.seconds is None else duration(result.seconds)
    status = result.status.value if result.status in _GOOD else f"**{result.status}**"
    cells = (code(short_name(result.cluster)), result.action, status, time, _detail(result))
    return f"| {' | '.join(cells)} |"


def _detail(result: Result) -> str:
    if result.error:
        hint = f" ({_say(result.error.hint)})" if result.error.hint else ""
        return f"{_say(result.error.message)}{hint} {code(result.error.code)}"
    return _say(result.reason)


def _say(text: str) -> str:
    return prose(clip(mask(text), _MESSAGE_LIMIT))
