#!/usr/bin/env python3
"""Write docs/plan-comment.png: a plan's comment on a pull request, in a browser, as GitHub shows it.

The plan is a real one: clusters.d is applied to the embedded emulator, somebody changes a cluster by hand, a branch
edits files, and `plan --base` and the comment's view do the rest. GitHub's own Markdown renderer makes the HTML.

Needs git, Debian's chromium, and for the diagrams a copy of mermaid (`npm install --prefix DIR mermaid`, then
`python docs/screenshot.py --mermaid DIR/node_modules/mermaid/dist/mermaid.min.js`).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import cmarkgfm
from cmarkgfm.cmark import Options

from reconciler.cli.app import run
from reconciler.emulator.control import Control
from reconciler.emulator.server import Emulator, EmulatorConfig
from reconciler.views.github import About, comment_text
from reconciler.views.plan_file import read_plan

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "plan-comment.png"
WIDTH = 1010
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--force-device-scale-factor=1.5", "--allow-file-access-from-files", "--virtual-time-budget=10000"),
    f"--window-size={WIDTH},800",
]
# The page says in its title how high it is, once the diagrams are drawn.
DRAW = "mermaid.initialize({startOnLoad: true})"
MEASURE = "onload = () => setTimeout(() => {document.title = document.documentElement.offsetHeight}, 5000)"
ALERTS = {"CAUTION": "#cf222e", "WARNING": "#9a6700", "NOTE": "#0969da"}
STYLE = """
body {font: 14px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; margin: 0; padding: 16px; background: #fff}
.comment {border: 1px solid #d1d9e0; border-radius: 6px; max-width: 960px; margin: 0 auto}
.head {background: #f6f8fa; border-bottom: 1px solid #d1d9e0; padding: 8px 16px; border-radius: 6px 6px 0 0}
.body {padding: 16px; overflow-wrap: break-word}
h2 {font-size: 1.5em; border-bottom: 1px solid #d1d9e0b3; padding-bottom: .3em; margin: 0 0 16px}
code, pre {font: 85% "Liberation Mono", monospace; background: #818b981f; border-radius: 6px}
code {padding: .2em .4em} pre {padding: 12px; overflow: auto; background: #f6f8fa}
pre code {padding: 0; background: none}
table {border-collapse: collapse; margin-bottom: 16px; display: block; overflow: auto}
th, td {border: 1px solid #d1d9e0; padding: 6px 13px}
tr:nth-child(2n) {background: #f6f8fa}
blockquote {margin: 0 0 16px; padding: 8px 16px; border-left: .25em solid #d1d9e0}
blockquote p {margin: 0 0 4px} blockquote ul {margin: 0; padding-left: 1.5em}
details {margin-bottom: 12px} summary {cursor: pointer} a {color: #0969da; text-decoration: none}
.plus {background: #dafbe1; display: block} .minus {background: #ffebe9; display: block} .hunk {color: #59636e}
.mermaid {background: #fff; border: 1px solid #d1d9e0}
"""


def main() -> None:
    """Make the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mermaid", type=Path, help="mermaid.min.js, to draw the diagrams")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "comment.html"
        page.write_text(html(comment(Path(folder) / "repository"), given.mermaid), encoding="utf-8")
        shoot(page, Path(folder) / "browser")


def comment(repository: Path) -> str:
    """The comment on a branch that edits this repository's clusters."""
    shutil.copytree(ROOT / "clusters.d", repository / "clusters.d")
    with Emulator(EmulatorConfig(lro_seconds=0)) as emulator:
        git(repository, "init", "-q", "-b", "main")
        base = commit(repository, "As it was")
        command(repository, "--endpoint", emulator.url, "apply", "--auto-approve")
        live = "projects/acme-ml/locations/us-central1/modelDevelopmentClusters/a4train"
        Control(emulator.url).live(live, {"labels": {"managed-by": "reconciler", "team": "foundation", "debug": "on"}})
        edit(repository)
        head = commit(repository, "More nodes, no CPU pool, a prolog")
        plan = repository / "plan.json"
        command(repository, "--endpoint", emulator.url, "plan", "--base", base, "--out", str(plan))
    url = "https://github.com/acme/clusters"
    about = About(
        "clusters.d", "prod", head, base, f"{url}/commit", f"{url}/actions/runs/1", f"{url}/actions/artifacts/1"
    )
    return comment_text(read_plan(plan.read_text()), about)


def edit(repository: Path) -> None:
    """What the branch does: more nodes, a pool less, a prolog with a secret, and a cluster to delete."""
    path = repository / "clusters.d" / "a4train.yaml"
    text = path.read_text().replace("{min_node_count: 2, max_node_count: 2}", "{min_node_count: 4, max_node_count: 4}")
    text = re.sub(r"    - id: cpu\n(?:      .*\n)+", "", text, count=1)
    text = re.sub(r"        - id: cpu\n(?:          .*\n)+", "", text, count=1)
    path.write_text(text)
    prolog = repository / "clusters.d" / "scripts" / "check-gpus.sh"
    prolog.write_text(prolog.read_text() + "export METRICS_TOKEN=made-up-for-the-picture\nlogger 'checked'\n")
    gone = repository / "clusters.d" / "research" / "flexh100.yaml"
    gone.write_text(re.sub(r"(?m)^lifecycle:$", "lifecycle:\n  state: absent", gone.read_text(), count=1))


def command(repository: Path, *arguments: str) -> None:
    """Run the tool in the repository."""
    said = io.StringIO()
    with contextlib.chdir(repository), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(arguments)
    if code:
        raise SystemExit(f"{arguments}: {code}\n{said.getvalue()}")


def commit(repository: Path, message: str) -> str:
    """Commit everything; the commit."""
    git(repository, "add", "-A")
    git(repository, "-c", "user.name=docs", "-c", "user.email=docs@example.com", "commit", "-q", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def git(repository: Path, *arguments: str) -> str:
    """Run git."""
    return started("git", "-C", str(repository), *arguments).strip()


def started(*arguments: str) -> str:
    """Run a program; what it printed."""
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return done.stdout


def html(markdown: str, mermaid: Path | None) -> str:
    """A page with the comment. What GitHub adds to its renderer's HTML is added here: alerts, colours of diffs."""
    body = cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE)
    for name, colour in ALERTS.items():
        title = f'<p style="color:{colour}"><b>{name.title()}</b></p>'
        body = re.sub(
            rf"<blockquote>\s*<p>\[!{name}\](?:<br />)?\s*",
            f'<blockquote style="border-color:{colour}">{title}<p>',
            body,
        )
    body = re.sub(r'<pre lang="diff"><code>(.*?)</code></pre>', _diff, body, flags=re.DOTALL)
    body = re.sub(
        r'<pre lang="mermaid"><code>(.*?)</code></pre>', r'<pre class="mermaid">\1</pre>', body, flags=re.DOTALL
    )
    # The most telling cluster is shown open, the others as GitHub shows them: folded.
    body = body.replace(
        "<details><summary><code>acme-ml/us-central1/a4train",
        "<details open><summary><code>acme-ml/us-central1/a4train",
    )
    script = ""
    if mermaid:
        script = f'<script src="{mermaid.resolve().as_uri()}"></script><script>{DRAW}</script>'
    head = '<div class="head"><b>github-actions</b> bot commented</div>'
    comment = f'<div class="comment">{head}<div class="body">{body}</div></div>'
    return f'<!doctype html><meta charset="utf-8"><style>{STYLE}</style>{comment}{script}<script>{MEASURE}</script>'


def _diff(found: re.Match[str]) -> str:
    kinds = {"+": "plus", "-": "minus"}
    lines = [
        f'<span class="{kinds[line[0]]}">{line}</span>'
        if line[:1] in kinds
        else f'<span class="hunk">{line}</span>\n'
        if line[:1] == "@"
        else f"{line}\n"
        for line in found[1].splitlines()
    ]
    return f"<pre><code>{''.join(lines)}</code></pre>"


def shoot(page: Path, profile: Path) -> None:
    """The whole page as a picture: once to learn its height, once to take it."""
    browser = [shutil.which("chromium") or "chromium", *FLAGS, f"--user-data-dir={profile}"]
    found = re.search(r"<title>(\d+)</title>", started(*browser, "--dump-dom", page.as_uri()))
    height = int(found[1]) + 20 if found else 3000
    started(*browser, f"--window-size={WIDTH},{height}", f"--screenshot={OUT}", page.as_uri())


if __name__ == "__main__":
    os.environ.setdefault("TERM", "dumb")
    main()
