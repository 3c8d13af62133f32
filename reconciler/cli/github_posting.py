"""One post to GitHub: done and said, or its text kept in the job summary with the reason why not."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reconciler.cli.options import Global, ReportFormat
from reconciler.cli.output import say, show
from reconciler.errors import ApiError, AuthError, InputError, ReconcilerError, UnavailableError, UsageError

if TYPE_CHECKING:
    from reconciler.cloud.github import Repository
    from reconciler.cloud.github_run import GitHubRun
    from reconciler.cloud.github_threads import Outcome


@dataclass(frozen=True, slots=True)
class Posting:
    """Where and how to post. `fail`: whether a failed post is exit code 1."""

    context: typer.Context
    run: GitHubRun
    repository: str
    fail: bool
    output: ReportFormat

    def carry_out(self, post: Callable[[Repository], Outcome], fallback: Callable[[int], str]) -> None:
        """Post, and say what came of it. Where nothing comes of it, the text goes to the job summary.

        `fallback` makes the text, in at most so many bytes. Raises UsageError and InputError for what no other day
        would mend either: a repository, a number, a URL that is none.
        """
        try:
            outcome = self._posted(post)
        except (UsageError, InputError) as error:
            self._keep(error, fallback)
            raise
        except (ApiError, AuthError, UnavailableError) as error:
            self._warn(f"nothing was posted: {error}")
            self._tell({"outcome": "failed", "url": "", "error": {"code": error.code, "message": error.summary}})
            self._keep(error, fallback)
            raise typer.Exit(int(self.fail)) from None
        if outcome.warning:
            self._warn(outcome.warning)
        self._tell({"outcome": outcome.kept.value, "url": outcome.url, "error": None})

    def _posted(self, post: Callable[[Repository], Outcome]) -> Outcome:
        from reconciler.cloud.github import Repository
        from reconciler.cloud.github_api import GitHub
        from reconciler.cloud.github_settings import GitHubSettings, check_repository

        given: Global = self.context.obj
        name = check_repository(self.repository or self.run.repository)
        github = GitHub(GitHubSettings.from_environ(os.environ), on_retry=say, debug=say if given.verbose else None)
        try:
            return post(Repository(github, name))
        finally:
            github.close()

    def _tell(self, result: dict[str, Any]) -> None:
        if self.output is ReportFormat.JSON:
            show(json.dumps(result, ensure_ascii=False, indent=2))
        else:
            show(" ".join(filter(None, (result["outcome"], result["url"]))))

    def _keep(self, error: ReconcilerError, fallback: Callable[[int], str]) -> None:
        """Keep what couldn't be posted, with the reason why it couldn't."""
        from reconciler.views.github import SUMMARY_LIMIT, not_posted_text
        from reconciler.views.markdown import COMMENT_LIMIT

        if not self.run.summary:
            return
        reason = not_posted_text(error.summary, error.hint)
        room = min(COMMENT_LIMIT, SUMMARY_LIMIT - size(self.run.summary) - len(reason.encode()) - 10)
        append(self.run.summary, f"{reason}\n\n{fallback(room)}")

    def _warn(self, text: str) -> None:
        """On standard error, which a runner reads for annotations too."""
        from reconciler.views.findings import annotation
        from reconciler.views.safe import safe

        say(annotation("warning", text, title="reconciler") if self.run.on_actions else f"warning: {safe(text)}")


def size(file: Path | None) -> int:
    """Bytes that are in a file already."""
    return file.stat().st_size if file and file.exists() else 0


def append(file: Path, text: str) -> None:
    """Add a paragraph at the end of the job summary, unless that makes it too large: GitHub would show nothing of it.

    Raises OSError.
    """
    from reconciler.views.github import SUMMARY_LIMIT

    paragraph = f"{text.rstrip()}\n\n".encode()
    if size(file) + len(paragraph) > SUMMARY_LIMIT:
        say("warning: the job summary is full: not all of this is there")
        return
    with file.open("ab") as stream:
        stream.write(paragraph)
