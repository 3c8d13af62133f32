#!/usr/bin/env python3
"""Write what is generated from tables, models and options: pages in docs/, the schemas, the README's list of commands.

A test compares them with what this would write; `make generated` runs it after a change.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from reconciler.cli.output import write_file
from reconciler.plan.schema import plan_schema
from reconciler.spec.pages import fields_page, rules_page
from reconciler.spec.schema import cluster_schema

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[str, str]:
    """Path from the repository's root -> text."""
    return {
        "docs/rules.md": rules_page(),
        "docs/fields.md": fields_page(),
        "docs/commands.md": _commands_page(),
        "README.md": _readme(),
        "schemas/cluster.schema.json": _json(cluster_schema()),
        "schemas/plan.schema.json": _json(plan_schema()),
    }


def _help(*command: str) -> str:
    """`--help` as a person sees it on a terminal of a hundred columns."""
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "reconciler", *command, "--help"],
        capture_output=True, text=True, check=True, env=environment, cwd=ROOT,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def _names(text: str) -> list[str]:
    """The commands that a help text lists."""
    listed = text.partition("\nCommands:\n")[2]
    return [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")]


def _commands_page() -> str:
    blocks = ["# Commands", "What `--help` says of each. Written by `docs/generate.py`."]
    for name in _names(_help()):
        text = _help(name)
        blocks += [f"## {name}", f"```\n{text}\n```"]
        for below in _names(text):
            blocks += [f"### {name} {below}", f"```\n{_help(name, below)}\n```"]
    return "\n\n".join(blocks) + "\n"


def _readme() -> str:
    before, begin, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("<!-- help:begin")
    marker, _, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- help:end -->")
    return f"{before}{begin}{marker}-->\n```\n{_help()}\n```\n{end}{after}"


def _json(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        write_file(ROOT / path, text)
