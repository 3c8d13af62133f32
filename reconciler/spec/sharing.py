"""Equal parts of many specs as one object each: what a fleet's clusters have in common takes memory once.

Specs are read-only once they are loaded, so nobody can tell.
"""

from __future__ import annotations

from typing import Any


class Sharing:
    """Remembers the parts it has seen; to be dropped when all specs are loaded."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._parts: dict[tuple[Any, ...], Any] = {}

    def of(self, value: Any) -> Any:
        """A value that equals this one: itself, now with shared parts, or the one that was first."""
        kind = type(value)
        if kind is str:
            return self._texts.setdefault(value, value)
        if kind is dict:
            for name, item in value.items():
                value[name] = self.of(item)
            return self._parts.setdefault((dict, *value, *map(_identity, value.values())), value)
        if kind is list:
            value[:] = map(self.of, value)
            return self._parts.setdefault((list, *map(_identity, value)), value)
        return value


def _identity(item: Any) -> Any:
    """The same for items that may stand for each other. True is no 1, and scripts are told apart by where they are."""
    kind = type(item)
    return item if kind is str or kind is int else (kind, item) if kind in _PLAIN else id(item)


_PLAIN = frozenset({bool, float, type(None)})
