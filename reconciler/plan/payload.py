"""The request body: the full resource as it is wanted, fit for a replacement of whole lists and maps.

A list that is replaced whole loses whatever the payload leaves out, so the body carries over, from the live cluster,
what the file doesn't own: values the service filled in, fields this version doesn't know, `goog-` labels.
"""

from __future__ import annotations

import re
from typing import Any

from reconciler.plan.canonical import UnknownKey
from reconciler.spec.fields import Kind, Many
from reconciler.spec.names import image_satisfies, resource
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node

_NUMBER = re.compile(r"-?[0-9]{1,10}")


def body(desired: Typed, live: Typed, aliases: dict[str, str], *, replacing: bool = False) -> dict[str, Any]:
    """The body for `desired` over `live` ({} for a create). snake_case; carried-over fields keep the answer's spelling.

    With `replacing`, what the service filled in is carried over only beside what it was filled in for: a pool of
    another machine type may not fit the old one's disk or image, and a new network not the old one's subnetwork.
    """
    return _Body(aliases, replacing=replacing).message(desired, live, ROOT, fits=True)


class _Body:
    """`fits`: whether what the service filled into a live message still goes with what is wanted there."""

    def __init__(self, aliases: dict[str, str], *, replacing: bool) -> None:
        self._aliases = aliases
        self._replacing = replacing

    def message(self, desired: Typed, live: Typed, node: Node, *, fits: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, child in node.children.items():
            if child.row.output:
                continue
            if name in desired and not (child.row.filled and _says_nothing(desired[name])):
                value = self._value(desired[name], live.get(name), child, fits=fits)
            else:
                value = self._carried(live.get(name), child, fits=fits)
            if value is not None:
                out[name] = _named(value) if child.kind is Kind.ENUM else value
        own = {UnknownKey(key): key for key in desired if key not in node.children}
        out.update((key, desired[key]) for key in own.values())
        out.update(
            (key, value) for key, value in live.items() if key not in node.children and UnknownKey(key) not in own
        )
        return out

    def _value(self, desired: Any, live: Any, node: Node, *, fits: bool) -> Any:
        if node.many is Many.KEYED:
            key = node.row.key
            there = {str(item.get(key)): item for item in live if isinstance(item, dict)} if _is_list(live) else {}
            return [self._item(item, there.get(str(item.get(key)), {}), node) for item in desired]
        if node.many is Many.NO and node.kind is Kind.MESSAGE:
            below = live if isinstance(live, dict) else {}
            return self.message(desired, below, node, fits=fits and not self._is_other(desired, below, node))
        if node.kind is Kind.LABELS:
            own = {key: value for key, value in desired.items() if not _is_services(key)}
            return own | _services_labels(live)
        if node.kind is Kind.IMAGE and isinstance(live, str) and not self._replacing and self._satisfied(desired, live):
            # Naming the family again could move the pool to a newer image, and so recreate its nodes.
            return live
        return desired

    def _item(self, desired: Typed, live: Typed, node: Node) -> dict[str, Any]:
        return self.message(desired, live, node, fits=not self._replacing or _machine(desired) == _machine(live))

    def _is_other(self, desired: Typed, live: Typed, node: Node) -> bool:
        """Whether, in a replace, a message that the service fills in is wanted for something else than it was."""
        return (
            self._replacing
            and node.row.filled
            and any(
                not _says_nothing(value)
                and resource(str(value), self._aliases) != resource(str(live.get(name)), self._aliases)
                for name, value in desired.items()
            )
        )

    def _carried(self, live: Any, node: Node, *, fits: bool) -> Any:
        """What stays although the file doesn't name it; None for nothing."""
        if not live:
            return None
        if node.kind is Kind.LABELS:
            return _services_labels(live) or None
        if node.kind is Kind.MESSAGE:
            return self.message({}, live, node, fits=fits) or None if isinstance(live, dict) else None
        return live if node.row.filled and fits else None

    def _satisfied(self, desired: str, live: str) -> bool:
        return image_satisfies(resource(desired, self._aliases), resource(live, self._aliases))


def _machine(pool: Typed) -> Any:
    """The machine type of a pool; of other items, whatever they have alike: nothing."""
    spec = pool.get("machine_spec")
    return spec.get("machine_type") if isinstance(spec, dict) else None


def _named(enum: Any) -> Any:
    """An enum's value as JSON has it: by name, or by number where the answer had no name for it."""
    if isinstance(enum, list):
        return [_named(each) for each in enum]
    return int(enum) if isinstance(enum, str) and _NUMBER.fullmatch(enum) else enum


def _says_nothing(value: Any) -> bool:
    """Whether a value means "absent": where the service fills the field, sending it would reset what is live."""
    return not value or (isinstance(value, str) and value.endswith("_UNSPECIFIED"))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_services(label: str) -> bool:
    return label.startswith("goog-")


def _services_labels(live: Any) -> dict[str, Any]:
    return {key: value for key, value in live.items() if _is_services(key)} if isinstance(live, dict) else {}
