"""The request body: the full resource as it is wanted, fit for a replacement of whole lists and maps.

A list that is replaced whole loses whatever the payload leaves out, so the body carries over, from the live cluster,
what the file doesn't own: values the service filled in, fields this version doesn't know, `goog-` labels.
"""

from __future__ import annotations

from typing import Any

from reconciler.plan.canonical import UnknownKey
from reconciler.spec.fields import Kind, Many
from reconciler.spec.names import image_satisfies, resource
from reconciler.spec.reading import Typed
from reconciler.spec.tree import ROOT, Node


def body(desired: Typed, live: Typed, aliases: dict[str, str], *, replacing: bool = False) -> dict[str, Any]:
    """The body for `desired` over `live` ({} for a create). snake_case; carried-over fields keep the answer's spelling.

    With `replacing`, what the service filled in inside list items isn't carried over: a pool that is made anew with
    another machine type may not fit the old one's disk, image or provisioning model.
    """
    return _Body(aliases, replacing=replacing).message(desired, live, ROOT)


class _Body:
    def __init__(self, aliases: dict[str, str], *, replacing: bool) -> None:
        self._aliases = aliases
        self._replacing = replacing

    def message(self, desired: Typed, live: Typed, node: Node, *, in_list: bool = False) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, child in node.children.items():
            if child.row.output:
                continue
            if name in desired and not (child.row.filled and _says_nothing(desired[name])):
                value = self._value(desired[name], live.get(name), child, in_list=in_list)
            else:
                value = self._carried(live.get(name), child, in_list=in_list)
            if value is not None:
                out[name] = value
        own = {UnknownKey(key): key for key in desired if key not in node.children}
        out.update((key, desired[key]) for key in own.values())
        out.update(
            (key, value) for key, value in live.items() if key not in node.children and UnknownKey(key) not in own
        )
        return out

    def _value(self, desired: Any, live: Any, node: Node, *, in_list: bool) -> Any:
        if node.many is Many.KEYED:
            key = node.row.key
            there = {item.get(key): item for item in live or [] if isinstance(item, dict)} if _is_list(live) else {}
            return [self.message(item, there.get(item.get(key), {}), node, in_list=True) for item in desired]
        if node.many is Many.NO and node.kind is Kind.MESSAGE:
            return self.message(desired, live if isinstance(live, dict) else {}, node, in_list=in_list)
        if node.kind is Kind.LABELS:
            own = {key: value for key, value in desired.items() if not _is_services(key)}
            return own | _services_labels(live)
        if node.kind is Kind.IMAGE and isinstance(live, str) and self._satisfied(desired, live):
            # Naming the family again could move the pool to a newer image, and so recreate its nodes.
            return live
        return desired

    def _carried(self, live: Any, node: Node, *, in_list: bool) -> Any:
        """What stays although the file doesn't name it; None for nothing."""
        if not live:
            return None
        if node.kind is Kind.LABELS:
            return _services_labels(live) or None
        if node.row.filled and node.kind is not Kind.MESSAGE:
            return None if self._replacing and in_list else live
        if (
            node.kind is Kind.MESSAGE
            and node.many is Many.NO
            and isinstance(live, dict)
            and _is_services_own(live, node)
        ):
            return self.message({}, live, node, in_list=in_list) or None
        return None

    def _satisfied(self, desired: str, live: str) -> bool:
        return image_satisfies(resource(desired, self._aliases), resource(live, self._aliases))


def _says_nothing(value: Any) -> bool:
    """Whether a value means "absent": where the service fills the field, sending it would reset what is live."""
    return not value or (isinstance(value, str) and value.endswith("_UNSPECIFIED"))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_services(label: str) -> bool:
    return label.startswith("goog-")


def _services_labels(live: Any) -> dict[str, Any]:
    return {key: value for key, value in live.items() if _is_services(key)} if isinstance(live, dict) else {}


def _is_services_own(live: Typed, node: Node) -> bool:
    """Whether a message holds nothing that a file would have had to name: then its absence there removes nothing."""
    return all(not live.get(name) or child.row.filled or child.row.output for name, child in node.children.items())
