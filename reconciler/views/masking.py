"""Secrets in scripts and other values, masked for texts that many people read: comments, issues, job summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from reconciler.plan.model import Change
from reconciler.spec.secrets import find

_BOTH, _BEFORE, _AFTER = "[masked]", "[masked before]", "[masked after]"


def masked(change: Change) -> Change:
    """The change without what looks like a secret; where a secret differs, its marker says on which side it stood."""
    old, new = set(_secrets(change.before)), set(_secrets(change.after))
    if not old and not new:
        return change
    return replace(change, before=_mask(change.before, new, _BEFORE), after=_mask(change.after, old, _AFTER))


def _secrets(value: Any) -> Iterator[str]:
    for text in _strings(value):
        yield from (text[span.start : span.end] for span in find(text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _mask(value: Any, other_side: Collection[str], marker: str) -> Any:
    match value:
        case str():
            return _mask_text(value, other_side, marker)
        case list():
            return [_mask(item, other_side, marker) for item in value]
        case dict():
            return {key: _mask(item, other_side, marker) for key, item in value.items()}
    return value


def _mask_text(text: str, other_side: Collection[str], marker: str) -> str:
    for span in reversed(find(text)):
        secret = text[span.start : span.end]
        text = f"{text[: span.start]}{_BOTH if secret in other_side else marker}{text[span.end :]}"
    return text
