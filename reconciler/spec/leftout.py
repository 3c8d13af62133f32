"""What the reader left out of a document, and what therefore isn't to be said of the rest."""

from __future__ import annotations

from collections.abc import Iterable

from reconciler.spec.findings import Path
from reconciler.spec.tree import squash


class LeftOut:
    """The paths of values that couldn't be read, in either spelling."""

    def __init__(self, paths: Iterable[Path]) -> None:
        # Without one of its items a list counts differently, so nothing below it has its place.
        self._paths = {_plain(path[:-1] if path and isinstance(path[-1], int) else path) for path in paths}

    def touches(self, path: Path) -> bool:
        """Whether something was left out at the path, above it or below it."""
        plain = _plain(path)
        return any(plain[: len(each)] == each[: len(plain)] for each in self._paths)


def _plain(path: Path) -> Path:
    return tuple(squash(part) if isinstance(part, str) else part for part in path)
