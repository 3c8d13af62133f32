"""What is generated is committed as it would be generated now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_generated_files_are_in_step() -> None:
    """`make generated` would change nothing: pages, schemas, and the README's list of commands."""
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stale = [path for path, text in module.generated().items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert not stale, "run `make generated`"


def test_links_of_the_documents_lead_somewhere() -> None:
    """Relative links in the Markdown files point to files that are there."""
    import re

    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken
