"""What apply did: every cluster's fate, and how to take up again what still runs."""

from __future__ import annotations

from reconciler.engine.results import ApplyReport, Result, Status
from reconciler.views.safe import safe
from reconciler.views.table import table
from reconciler.views.terminal import painter
from reconciler.views.wording import short_name

_STYLES = {
    Status.APPLIED: "green",
    Status.NO_OP: "dim",
    Status.BLOCKED: "bold red",
    Status.FAILED: "bold red",
    Status.PENDING: "yellow",
    Status.SKIPPED: "yellow",
}
_WORDS = {Status.NO_OP: "unchanged"}


def apply_text(report: ApplyReport, *, colour: bool = False, verbose: bool = False) -> str:
    """A table of the fates, unchanged clusters only with `verbose`; errors; what still runs; how many of each."""
    paint = painter(colour=colour)
    shown = [result for result in report.results if verbose or result.status is not Status.NO_OP]
    blocks = []
    if shown:
        head, *lines = table(("CLUSTER", "ACTION", "STATUS", "TIME", "DETAIL"), [_row(result) for result in shown])
        styled = [paint(_STYLES[result.status], line) for line, result in zip(lines, shown, strict=True)]
        blocks.append([head, *styled])
    blocks.append([_error(paint("bold red", "error:"), e.source, e.cluster, e.message) for e in report.errors])
    resume = [f"    {safe(each)}" for each in report.resume]
    blocks.append(["Not over yet; to go on:", *resume] if resume else [])
    blocks.append([paint("bold", apply_summary(report))])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def apply_summary(report: ApplyReport) -> str:
    """`Apply: 2 applied, 1 failed, 4 unchanged`; fates that nobody met aren't named."""
    counts = [f"{count} {_WORDS.get(status, status)}" for status, count in report.counts.items() if count]
    counts += [f"{len(report.errors)} not planned"] if report.errors else []
    stopped = "Apply, interrupted" if report.interrupted else "Apply"
    return f"{stopped}: {', '.join(counts) or 'no clusters'}"


def duration(seconds: float) -> str:
    """`45s`, `3m20s`, `1h02m`."""
    minutes, rest = divmod(int(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02}m"
    return f"{minutes}m{rest:02}s" if minutes else f"{rest}s"


def _row(result: Result) -> tuple[str, ...]:
    time = "" if result.seconds is None else duration(result.seconds)
    return short_name(result.cluster), result.action, _WORDS.get(result.status, result.status), time, _detail(result)


def _detail(result: Result) -> str:
    if result.error is None:
        return result.reason
    told = result.error.hint and result.status is not Status.PENDING  # what is pending has its hint below the table
    hint = f" ({result.error.hint})" if told else ""
    return f"{result.error.message}{hint} [{result.error.code}]"


def _error(label: str, source: str, cluster: str, message: str) -> str:
    place = ": ".join(safe(part) for part in (source, short_name(cluster)) if part)
    return f"{label} {place}: {safe(message)}"
