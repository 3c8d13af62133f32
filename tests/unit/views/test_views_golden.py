"""Whole texts, as people see them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import view_samples as samples

from reconciler.spec.findings import Finding, Severity
from reconciler.views import inventory, json, markdown, outcome, text
from reconciler.views.findings import findings_github, findings_text

FINDINGS = [
    Finding("clusters.d/a.yaml", 3, 5, "unknown-field", Severity.ERROR, "unknown field nodePool", "did you mean …?"),
    Finding("clusters.d/a.yaml", 9, 1, "display-name", Severity.WARNING, "display_name is long"),
    Finding("clusters.d/b,c.yaml", 0, 0, "syntax", Severity.ERROR, "100% wrong:\nsecond line"),
]
OPERATIONS = [
    {"name": "operations/1", "metadata": {"genericMetadata": {"createTime": "t1", "updateTime": "t2"}}},
    {"name": "operations/2", "done": True, "metadata": {"progressMessage": "ready"}},
    {"name": "operations/3", "done": True, "error": {"code": 8, "message": "no capacity"}},
]
VIEWS: dict[str, Callable[[], str]] = {
    "plan.txt": lambda: text.plan_text(samples.one_of_each()),
    "plan-verbose.txt": lambda: text.plan_text(samples.one_of_each(), verbose=True),
    "plan-colour.txt": lambda: text.plan_text(samples.one_of_each(), colour=True),
    "plan-origins.txt": lambda: text.plan_text(samples.with_origins()),
    "plan-empty.txt": lambda: text.plan_text(samples.plan_of()),
    "plan.md": lambda: markdown.plan_markdown(samples.one_of_each()),
    "plan-origins.md": lambda: markdown.plan_markdown(samples.with_origins(), preface="<!-- mark -->\nFor `abc`."),
    "plan-empty.md": lambda: markdown.plan_markdown(samples.plan_of()),
    "plan-short.md": lambda: markdown.plan_markdown(samples.one_of_each(), limit=5_000),
    "plan.json": lambda: json.plan_json(samples.one_of_each()),
    "plan-origins.json": lambda: json.plan_json(samples.with_origins()),
    "drift.txt": lambda: text.drift_text(samples.drift()),
    "drift.md": lambda: markdown.drift_markdown(samples.drift()),
    "drift.json": lambda: json.drift_json(samples.drift()),
    "apply.txt": lambda: outcome.apply_text(samples.report()),
    "apply-verbose.txt": lambda: outcome.apply_text(samples.report(), verbose=True),
    "apply.json": lambda: json.apply_json(samples.report()),
    "findings.txt": lambda: findings_text(FINDINGS),
    "findings-github.txt": lambda: findings_github(FINDINGS),
    "findings.json": lambda: json.findings_json(FINDINGS),
    "clusters.txt": lambda: inventory.clusters_text([samples.live_cluster(), {"name": "odd"}]),
    "status.txt": lambda: inventory.status_text(samples.live_cluster(), events=1),
    "status.json": lambda: json.status_json(samples.live_cluster()),
    "get.yaml": lambda: inventory.resource_text(samples.live_cluster()),
    "operations.txt": lambda: inventory.operations_text(OPERATIONS),
}


@pytest.mark.parametrize("file", VIEWS)
def test_view_is_as_the_golden_file_has_it(file: str, golden: Callable[[str, str], None]) -> None:
    """Each view gives the text that was looked at and found good."""
    golden(file, VIEWS[file]())


@pytest.mark.parametrize("file", VIEWS)
def test_view_ends_in_one_newline(file: str) -> None:
    """The command line writes a view as it is, so each ends its last line and adds no empty one."""
    shown = VIEWS[file]()
    assert shown.endswith("\n")
    assert not shown.endswith("\n\n")


@pytest.mark.parametrize("file", VIEWS)
def test_view_is_the_same_each_time(file: str) -> None:
    """Equal values give equal texts, so that reports can be compared."""
    assert VIEWS[file]() == VIEWS[file]()
