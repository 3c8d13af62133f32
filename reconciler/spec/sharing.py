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

    def of(self, value: dict[str, Any] | list[Any]) -> Any:
        """A mapping or list that equals this one: itself, now with shared parts, or the one that was first."""
        if isinstance(value, dict):
            for name, item in value.items():
                value[name] = self._item(item)
            names, items = list(value), list(value.values())
        else:
            value[:] = [self._item(item) for item in value]
            names, items = [], value
        mark = (type(value), *names, *[each if type(each) in _AS_THEY_ARE else _identity(each) for each in items])
        return self._parts.setdefault(mark, value)

    def _item(self, item: Any) -> Any:
        if type(item) is str:
            return self._texts.setdefault(item, item)
        return self.of(item) if type(item) in _CONTAINERS else item


def _identity(item: Any) -> Any:
    """The same for items that may stand for each other. True is no 1, and scripts are told apart by where they are."""
    return (type(item), item) if type(item) in _PLAIN else id(item)


_CONTAINERS = frozenset({dict, list})
_AS_THEY_ARE = frozenset({str, int})
_PLAIN = frozenset({bool, float, type(None)})
