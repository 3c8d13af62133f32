"""Where this tool came from: the repository and commit that a user's workflows and hooks take it from as well."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution

from reconciler.errors import UsageError

_GIVEN = re.compile(r"(?:(https?://[\w.:-]+)/)?([\w.-]+/[\w.-]+?)(?:\.git)?@([\w.][\w./-]*)", re.ASCII)
# As pip notes it (PEP 610), of any way to clone; who logged in there is left out.
_CLONED = re.compile(r"(?:https?|ssh|git)://(?:[^/@]*@)?([\w.-]+(?::\d+)?)/([\w.-]+/[\w.-]+?)(?:\.git)?/?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Origin:
    """`url` is what git clones, `repository` OWNER/NAME on that host, `revision` a commit or, if so given, a tag."""

    url: str
    repository: str
    revision: str


def given(text: str) -> Origin:
    """OWNER/NAME@REVISION, or the same as a URL. Raises UsageError."""
    match = _GIVEN.fullmatch(text.strip())
    if not match:
        raise UsageError(
            f"--source: {text!r} is no OWNER/NAME@REVISION", hint="the revision is best a commit's whole hash"
        )
    host, repository, revision = match.groups()
    return Origin(f"{host or 'https://github.com'}/{repository}", repository, revision)


def installed() -> Origin | None:
    """What pip noted when it installed the tool from a git repository; None if it came another way."""
    try:
        return noted(distribution("reconciler").read_text("direct_url.json") or "")
    except PackageNotFoundError:  # run from a source tree
        return None


def noted(direct_url: str) -> Origin | None:
    """The origin in a `direct_url.json` (PEP 610); None where it tells of no git repository."""
    try:
        document = json.loads(direct_url)
        match = _CLONED.fullmatch(document["url"])
        commit = document["vcs_info"]["commit_id"]
    except (ValueError, KeyError, TypeError):
        return None
    if not match or not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40,64}", commit):
        return None
    return Origin(f"https://{match[1]}/{match[2]}", match[2], commit)
