"""Cluster files at a git revision, read without touching the working tree."""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from reconciler.engine.links import linked
from reconciler.errors import InputError

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HINT = "name a commit or branch that this clone has; in CI, check out with fetch-depth: 0"


class RevisionFiles(Mapping[str, bytes]):
    """The files of a revision by their path from the repository's root, each read when it is asked for.

    A context manager: it keeps one `git cat-file` running. Raises InputError where git can't give what is asked.
    """

    def __init__(self, revision: str, cwd: Path) -> None:
        self._cwd = cwd
        self._reader: subprocess.Popen[bytes] | None = None
        # Resolved once, so that a branch that moves meanwhile can't mix two revisions; never read as an option.
        self.commit = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        ).strip()
        if not _COMMIT.fullmatch(self.commit):  # `^HEAD` means all that HEAD doesn't reach, and git takes it
            raise InputError(f"{revision!r} names no commit", hint=_HINT)
        self.prefix = self._git("rev-parse", "--show-prefix").strip()
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", self.commit)
        entries = dict(map(_entry, filter(None, listed.split("\0"))))
        self._blobs = {path: blob for path, (mode, blob) in entries.items() if mode.startswith("100")}
        # What another repository holds isn't here to be read.
        self.submodules = [path for path, (mode, _) in entries.items() if mode == "160000"]
        links = {path: self._text(blob) for path, (mode, blob) in entries.items() if mode == "120000"}
        try:
            self._blobs |= {path: self._blobs[there] for path, there in linked(self._blobs, links)}
        except OverflowError as error:
            self.__exit__()
            raise InputError(f"the files at {revision} can't be used: {error}") from None

    def _text(self, blob: str) -> str:
        return self._content(blob, blob).decode(errors="surrogateescape")

    def __enter__(self) -> RevisionFiles:
        return self

    def __exit__(self, *_: object) -> None:
        if self._reader is not None:
            for stream in (self._reader.stdin, self._reader.stdout):
                if stream is not None:
                    stream.close()
            self._reader.wait()

    def has(self, path: str) -> bool:
        """Whether a file or folder was there; `path` is relative to the working directory."""
        inside = posixpath.normpath(posixpath.join(self.prefix, path))
        return inside in self._blobs or any(name.startswith(f"{inside}/") for name in self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __getitem__(self, path: str) -> bytes:
        return self._content(self._blobs[path], path)

    def _content(self, blob: str, path: str) -> bytes:
        to, back = self._pipes()
        to.write(f"{blob}\n".encode())
        to.flush()
        head = back.readline().split()
        if len(head) != 3:
            raise InputError(f"git can't read {path} at {self.commit}")
        content = back.read(int(head[2]) + 1)
        return content[:-1]

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._reader is None:
            self._reader = subprocess.Popen(
                ["git", "cat-file", "--batch"],  # noqa: S607 - the git of the user's PATH is meant
                cwd=self._cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        to, back = self._reader.stdin, self._reader.stdout
        if to is None or back is None:
            raise InputError("git cat-file has no pipes")
        return to, back

    def _git(self, *arguments: str) -> str:
        command = ["git", "-c", "core.quotepath=off", *arguments]
        try:
            done = subprocess.run(  # noqa: S603 - no shell
                command, cwd=self._cwd, capture_output=True, text=True, errors="surrogateescape", check=False
            )
        except OSError as error:
            raise InputError(f"git can't be run: {error.strerror}", hint="--base needs git") from None
        if done.returncode:
            said = done.stderr.strip() or "no such revision"
            raise InputError(f"git {' '.join(arguments[:1])}: {said}", hint=_HINT)
        return done.stdout


def _entry(line: str) -> tuple[str, tuple[str, str]]:
    head, _, path = line.partition("\t")
    mode, _kind, blob = head.split()
    return path, (mode, blob)


def default_branch(folder: Path) -> str:
    """The branch that merges go to, as the clone knows it: its origin's, or one that it has; `main` where none is."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603 - no shell
        except OSError:
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    if named := git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"):
        return named.removeprefix("origin/")
    branches = git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes/origin").split()
    known = {branch.removeprefix("origin/") for branch in branches}
    current = git("symbolic-ref", "--quiet", "--short", "HEAD")  # also of a repository without a commit yet
    return next((name for name in ("main", "master") if name in known), current or "main")
