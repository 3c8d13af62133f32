#!/usr/bin/env python3
"""Write what is generated from tables and models: docs/rules.md, docs/fields.md and the two JSON Schemas.

A test compares them with what this would write; run it after a change to the tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reconciler.plan.schema import plan_schema
from reconciler.spec.pages import fields_page, rules_page
from reconciler.spec.schema import cluster_schema

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[str, str]:
    """Path from the repository's root -> text."""
    return {
        "docs/rules.md": rules_page(),
        "docs/fields.md": fields_page(),
        "schemas/cluster.schema.json": _json(cluster_schema()),
        "schemas/plan.schema.json": _json(plan_schema()),
    }


def _json(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path, text in generated().items():
        (ROOT / path).write_text(text, encoding="utf-8")
