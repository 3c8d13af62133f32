"""Where the bytes of cluster files come from: the disk, or a mapping such as the files of a git revision.

Paths inside the loader are absolute, normal and posix; `absolute` makes them of what people typed and `shown` turns
them back. The loader asks no other questions of a file system than those of `Files`.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Protocol


class FileType(Enum):
    FILE = "file"
    FOLDER = "folder"
    OTHER = "device, pipe or socket"
    MISSING = "missing"


class UnreadableError(Exception):
    """Why a file or folder can't be read, in words that follow its name. It becomes a finding and goes no further."""


class Files(Protocol):
    """What the loader asks of files. Nothing raises but `read` and `entries`, and they UnreadableError alone."""

    def absolute(self, given: str) -> str: ...

    def shown(self, path: str) -> str:
        """The path as people know it: relative to the working directory, or as it was given."""
        ...

    def type(self, path: str) -> FileType:
        """What stands there, symbolic links followed."""
        ...

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        """Names in a folder, sorted, each with whether it is a folder itself."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The content of a regular file of at most `limit` bytes. Never waits, whatever stands there."""
        ...

    def real(self, path: str) -> str:
        """The path with symbolic links resolved."""
        ...

    def root(self, folder: str, top: str) -> str:
        """The repository that `folder` is in: how far defaults are looked for, and where scripts may come from.

        `top` is the folder that the user gave; it stands in where there is no repository.
        """
        ...


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it. Both are absolute and normal."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def too_large(limit: int) -> UnreadableError:
    return UnreadableError(f"larger than {limit // 1024:,} KiB")


class DiskFiles:
    """The file system, seen from the working directory `cwd`. `root` overrides the search for the repository."""

    def __init__(self, cwd: Path, root: Path | None = None) -> None:
        self._cwd = posixpath.normpath(cwd.absolute().as_posix())
        self._root = None if root is None else posixpath.normpath(posixpath.join(self._cwd, root.as_posix()))
        self._given: dict[str, str] = {}
        self._repositories: dict[str, str | None] = {}

    def absolute(self, given: str) -> str:
        path = posixpath.normpath(posixpath.join(self._cwd, given))
        if not within(path, self._cwd):
            self._given[path] = posixpath.normpath(given)
        return path

    def shown(self, path: str) -> str:
        if path.startswith(self._cwd + "/"):
            return path[len(self._cwd) + 1 :]
        for top, given in self._given.items():
            if within(path, top):
                return given + path[len(top) :]
        return posixpath.relpath(path, self._cwd)

    def type(self, path: str) -> FileType:
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - asked for every file, and making a Path takes longer
        except (OSError, ValueError):  # ValueError: a NUL in the path
            return FileType.MISSING
        if stat.S_ISREG(mode):
            return FileType.FILE
        return FileType.FOLDER if stat.S_ISDIR(mode) else FileType.OTHER

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        try:
            with os.scandir(folder) as found:
                return sorted((entry.name, _is_folder(entry)) for entry in found)
        except OSError as error:
            raise _unreadable(error) from error

    def read(self, path: str, limit: int) -> bytes:
        try:
            # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise UnreadableError("not a regular file")
            with os.fdopen(handle, "rb") as stream:
                data = stream.read(limit + 1)
        except OSError as error:
            raise _unreadable(error) from error
        if len(data) > limit:
            raise too_large(limit)
        return data

    def real(self, path: str) -> str:
        return posixpath.realpath(path)

    def root(self, folder: str, top: str) -> str:
        if self._root is not None and within(folder, self._root):
            return self._root
        if (repository := self._repository(folder)) is not None:
            return repository
        return self._cwd if within(folder, self._cwd) else top

    def _repository(self, folder: str) -> str | None:
        """The nearest folder from `folder` upwards that has a `.git`, which is a file in a git worktree."""
        passed: list[str] = []
        found: str | None = None
        while folder not in self._repositories:
            passed.append(folder)
            if posixpath.lexists(f"{folder}/.git"):
                found = folder
                break
            if (parent := posixpath.dirname(folder)) == folder:
                break
            folder = parent
        else:
            found = self._repositories[folder]
        self._repositories.update(dict.fromkeys(passed, found))
        return found


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads in circles
        return False


def _unreadable(error: OSError) -> UnreadableError:
    words = {FileNotFoundError: "no such file or folder", PermissionError: "reading it is not permitted"}
    return UnreadableError(words.get(type(error)) or (error.strerror or type(error).__name__).lower())


class MappingFiles:
    """Files by their posix path from the repository's root, seen from its folder `cwd`. There are no links in it.

    The mapping is asked for a file's content only when that is read, so it may be one that fetches.
    """

    _BASE = "/repository"  # an absolute path for the root, so that a way out of it shows as one

    def __init__(self, files: Mapping[str, bytes], cwd: str = "") -> None:
        self._cwd = posixpath.normpath(posixpath.join(self._BASE, cwd))
        self._files = files
        self._names = {posixpath.normpath(posixpath.join(self._BASE, name)): name for name in files}
        self._folders: dict[str, dict[str, bool]] = {self._BASE: {}}
        for path in self._names:
            self._enter(path)

    def _enter(self, path: str) -> None:
        is_folder = False
        while path != self._BASE:
            folder, _, name = path.rpartition("/")
            known = self._folders.setdefault(folder, {})
            if known.get(name) is is_folder:
                break
            known[name] = is_folder
            path, is_folder = folder, True

    def absolute(self, given: str) -> str:
        return posixpath.normpath(posixpath.join(self._cwd, given))

    def shown(self, path: str) -> str:
        return posixpath.relpath(path, self._cwd)

    def type(self, path: str) -> FileType:
        if path in self._names:
            return FileType.FILE
        return FileType.FOLDER if path in self._folders else FileType.MISSING

    def entries(self, folder: str) -> list[tuple[str, bool]]:
        return sorted(self._folders[folder].items())

    def read(self, path: str, limit: int) -> bytes:
        if path not in self._names:
            raise UnreadableError("not a regular file" if path in self._folders else "no such file or folder")
        data = self._files[self._names[path]]
        if len(data) > limit:
            raise too_large(limit)
        return data

    def real(self, path: str) -> str:
        return posixpath.normpath(path)

    def root(self, folder: str, top: str) -> str:  # noqa: ARG002 - the port's signature
        return self._BASE
