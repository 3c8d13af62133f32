"""What the tool says on GitHub: the comment on a pull request, the drift issue, the job summary.

A text begins with its marker, by which it is found again: an HTML comment, which readers don't see. Scripts and names
in the text can't hold one (`markdown_escape`), and the marker's own values are percent-encoded.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import quote

from reconciler.engine.results import Drift
from reconciler.plan.fingerprint import fingerprint
from reconciler.plan.model import Action, Plan
from reconciler.spec.secrets import mask
from reconciler.views.json import plan_document
from reconciler.views.markdown import COMMENT_LIMIT, drift_markdown, plan_markdown
from reconciler.views.markdown_escape import clip, code, prose
from reconciler.views.safe import safe
from reconciler.views.wording import drift_summary

SUMMARY_LIMIT = 2**20  # bytes of one step's job summary, above which GitHub shows nothing of it
TITLE_LIMIT = 200
_SHORT = 10  # digits of a commit that tell it from all others
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_COMMIT_LINE = re.compile(r"<!-- reconciler:commit (\S+) -->")
# Of what an environment or a path may be called; the rest is encoded, so that no value can end the comment.
_MARKER_SAFE = "/._"
_REASON_LIMIT = 600
# In place of a content line, in an issue whose drift is gone: one that is closed without it was closed by a person.
SETTLED = "<!-- reconciler:content none -->"


@dataclass(frozen=True, slots=True)
class About:
    """What a text is about and where more can be seen; what isn't known is empty.

    path, environment: tell one comment of a pull request from another. commit: the one whose files were planned.
    base: the one they are compared with. commits: the URL before a commit. run, artifact: URLs.
    """

    path: str
    environment: str = ""
    commit: str = ""
    base: str = ""
    commits: str = ""
    run: str = ""
    artifact: str = ""

    @property
    def name(self) -> str:
        """For titles: `clusters.d (prod)`."""
        return f"{self.path} ({self.environment})" if self.environment else self.path

    @property
    def full_text(self) -> str:
        """Markdown that says where everything can be read."""
        places = [link("job summary", self.run)] if self.run else []
        places += [link("artifact", self.artifact)] if self.artifact else []
        return f"the {' and the '.join(places)}" if places else "the plan file"


def folder(path: str) -> str:
    """A path as it is called everywhere, however it was given: `./clusters.d/` is `clusters.d`."""
    return posixpath.normpath(path)


def marker(kind: str, path: str, environment: str) -> str:
    """The first line of a text. `kind` says which text it is."""
    shown, where = _percent(folder(path), _MARKER_SAFE), _percent(environment or "default", _MARKER_SAFE)
    return f"<!-- reconciler:{kind} path={shown} environment={where} -->"


def comment_text(plan: Plan, about: About, *, newer: str = "", limit: int = COMMENT_LIMIT) -> str:
    """The comment on a pull request, within GitHub's limit. `newer`: the commit that the pull request has moved to."""
    preface = f"{marker('plan', about.path, about.environment)}\n{_commit_line(about.commit)}"
    facts = [_plan_facts(plan, about)]
    if newer:
        moved = f"The pull request has moved on to {commit_link(newer, about)}: this plan is outdated."
        facts.insert(0, _outdated(moved))
    return plan_markdown(
        plan,
        limit=limit,
        title=f"Plan for {about.name}",
        preface=preface,
        facts="\n\n".join(facts),
        full_text=about.full_text,
    )


def failed_text(about: About, reason: str = "") -> str:
    """The comment in place of an older plan, when no plan could be made for the newest commit."""
    commit = commit_link(about.commit, about) or "the newest commit"
    told = f"No plan could be made for {commit}; earlier ones are outdated."
    if reason:
        told += f" {prose(clip(mask(reason), _REASON_LIMIT)).rstrip('.')}."
    return "\n".join(
        [
            marker("plan", about.path, about.environment),
            _commit_line(about.commit),
            "",
            f"## {prose(f'Plan for {about.name}')}",
            "",
            _outdated(f"{told} {link('See the run', about.run)}." if about.run else told),
            "",
        ]
    )


def summary_text(plan: Plan, about: About, *, room: int = SUMMARY_LIMIT) -> str:
    """The plan for the job summary, in at most `room` bytes."""
    facts = _plan_facts(plan, about)
    where = f"the {link('artifact', about.artifact)}" if about.artifact else "the plan file"
    return plan_markdown(plan, limit=room, title=f"Plan for {about.name}", facts=facts, full_text=where)


def drift_summary_text(drift: Drift, about: About, *, room: int = SUMMARY_LIMIT) -> str:
    """The drift report for the job summary, in at most `room` bytes."""
    facts = _drift_facts(drift, about)
    return drift_markdown(drift, limit=room, title=f"Drift in {about.name}", facts=facts, full_text="the report's file")


def is_quiet(plan: Plan) -> bool:
    """Whether a plan says nothing that a pull request needs a comment for."""
    told = {note.code for cluster in plan.clusters for note in cluster.notes}
    return not (plan.has_changes or plan.is_blocked or plan.errors or "file_removed" in told)


def same_commit(one: str, other: str) -> bool:
    """Whether two ids are one commit's; either may be shortened, as git does."""
    one, other = one.lower(), other.lower()
    if not (_COMMIT.fullmatch(one) and _COMMIT.fullmatch(other)):
        return one == other
    return one.startswith(other) or other.startswith(one)


def commit_of(body: str) -> str:
    """The commit that a comment of ours was made for; empty where it doesn't say."""
    second = body.split("\n", 2)[1:2]
    found = _COMMIT_LINE.match(second[0]) if second else None
    return found[1] if found else ""


def plan_fingerprint(plan: Plan) -> str:
    """Of all that a plan says but the time: two plans with the same one are the same plan."""
    document = plan_document(plan)
    return fingerprint({key: value for key, value in document.items() if key != "created_at"})


def issue_title(about: About) -> str:
    """In plain text."""
    return safe(f"Drift in {about.name}")[:TITLE_LIMIT]


def issue_body(drift: Drift, about: About, *, unapplied: str = "", limit: int = COMMENT_LIMIT) -> str:
    """The drift issue, within GitHub's limit. `unapplied`: Markdown that says that an apply is missing."""
    lines = [marker("drift", about.path, about.environment), content_line(drift)]
    facts = [_drift_facts(drift, about)]
    facts += [_outdated(unapplied)] if unapplied else []
    return drift_markdown(
        drift,
        limit=limit,
        title="Live clusters differ from their files",
        preface="\n".join(lines),
        facts="\n\n".join(facts),
        full_text=about.full_text,
    )


def content_line(drift: Drift) -> str:
    """A line of the issue that changes when, and only when, the drift has changed."""
    clusters = plan_document(drift.plan)["clusters"]
    drifted = [
        (each["cluster"], each["action"], each["changes"]) for each in clusters if each["action"] is not Action.NO_OP
    ]
    return f"<!-- reconciler:content {fingerprint(drifted, list(drift.unmanaged))} -->"


def issue_news(drift: Drift, about: About, what: str) -> str:
    """A short comment on the issue: `what` has happened, the totals and the run."""
    told = f"{prose(what)}: {prose(drift_summary(drift))}, as of {_time(drift.plan.created_at)}"
    return f"{told} ({link('run', about.run)})." if about.run else f"{told}."


def unapplied_text(about: About, last: str, failed_run: str) -> str:
    """That the newest apply failed; `last` is the commit of the last one that didn't, if there was one."""
    since = f"since {commit_link(last, about)}" if last else "yet"
    return f"{link('The newest apply failed', failed_run)}: the files haven't been applied {since}."


def not_posted_text(reason: str, hint: str) -> str:
    """For the job summary, in front of what couldn't be posted."""
    return _outdated(f"This couldn't be posted: {prose(reason)}" + (f". {prose(hint)}" if hint else ""))


def link(text: str, url: str) -> str:
    """A Markdown link; the text alone where the URL is none that a page may lead to."""
    if not url.startswith(("https://", "http://")):
        return text
    return f"[{text}]({_percent(url, ':/?#@!$&*+,;=%~._-')})"


def commit_link(commit: str, about: About) -> str:
    """A commit's first digits, linked to its page; what is no commit's id is shown as it is."""
    if not _COMMIT.fullmatch(commit):
        return code(commit)
    return link(code(commit[:_SHORT]), f"{about.commits}/{commit}" if about.commits else "")


def _plan_facts(plan: Plan, about: About) -> str:
    short = plan_fingerprint(plan)[: len("sha256:") + 12]
    return _facts(about, plan.created_at, f"plan {code(short)}")


def _drift_facts(drift: Drift, about: About) -> str:
    return _facts(about, drift.plan.created_at)


def _facts(about: About, read_at: str, *more: str) -> str:
    """The line below the summary: which commits, when live was read, where more is."""
    files = [f"Commit {commit_link(about.commit, about)}"] if about.commit else []
    files += [f"on {commit_link(about.base, about)}"] if about.commit and about.base else []
    facts = [" ".join(files), f"live read {_time(read_at)}", *more]
    facts += [link("run", about.run)] if about.run else []
    facts += [link("artifact", about.artifact)] if about.artifact else []
    return " · ".join(filter(None, facts))


def _commit_line(commit: str) -> str:
    return f"<!-- reconciler:commit {_percent(commit, '') or '-'} -->"


def _percent(text: str, unchanged: str) -> str:
    """Percent-encoded, also where the command line or the environment held bytes that are no text."""
    return quote(text, safe=unchanged, errors="surrogatepass")


def _time(timestamp: str) -> str:
    """`2026-11-01 12:00:00 UTC`."""
    return prose(timestamp.replace("T", " ").replace("Z", " UTC"))


def _outdated(text: str) -> str:
    return f"> [!WARNING]\n> {text}"
