"""Symbolic links of a git tree: which files they lead to, as if the tree were on disk."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

# Links multiply what is below them: a handful of them, crosswise, are more paths than fit into any memory.
LIMIT = 100_000
_HOPS, _LENGTH = 40, 4096  # as Linux counts them


def linked(files: Iterable[str], links: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The paths that exist by links alone, each with the file that it leads to.

    `files` and the keys of `links` are paths from the root, the values are what the links hold. A link back to a folder
    that it's already in, or that was come through by links, is left out: all of it has been seen. Raises OverflowError
    with a sentence beyond LIMIT.
    """
    return _Tree(files, links).walk() if links else iter(())


class _Tree:
    def __init__(self, files: Iterable[str], links: Mapping[str, str]) -> None:
        self._links = links
        self._files = frozenset(files)
        self._paths = sorted({*self._files, *links})

    def walk(self) -> Iterator[tuple[str, str]]:
        steps = 0
        # Each a path, the link that stands there, and the folders that have been entered on the way.
        left: list[tuple[str, str, tuple[str, ...]]] = [(link, link, ()) for link in self._links]
        while left:
            path, link, entered = left.pop()
            target = self._real(link)
            if target in self._files:
                yield path, target
            elif target is not None:
                entered = (*entered, posixpath.dirname(link))
                if any(_within(folder, target) for folder in entered):
                    continue
                for name in self._below(target):
                    steps += 1
                    if steps > LIMIT:
                        raise OverflowError(f"symbolic links lead to more than {LIMIT:,} files")
                    if name in self._links:
                        left.append((path + name[len(target) :], name, entered))
                    else:
                        yield path + name[len(target) :], name

    def _below(self, folder: str) -> Iterator[str]:
        """Files and links in a folder and below: they stand together in sorted order."""
        for at in range(bisect_left(self._paths, f"{folder}/"), len(self._paths)):
            if not self._paths[at].startswith(f"{folder}/"):
                return
            yield self._paths[at]

    def _real(self, path: str) -> str | None:
        """Where a path leads, part by part; None for a way out of the tree or in circles."""
        done, hops = "", 0
        parts = path.split("/")[::-1]
        while parts:
            part = parts.pop()
            if part == ".." and not done:
                return None
            if part == "..":
                done = posixpath.dirname(done)
            elif part not in ("", "."):
                done = posixpath.join(done, part)
                target = self._links.get(done)
                if target is not None:
                    hops += 1
                    if hops > _HOPS or len(target) > _LENGTH or target.startswith("/"):
                        return None
                    done = posixpath.dirname(done)
                    parts += target.split("/")[::-1]
        return done


def _within(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")
