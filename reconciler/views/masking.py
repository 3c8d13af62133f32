"""Secrets in scripts and other values, masked for texts that many people read: comments, issues, job summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from reconciler.plan.model import Change
from reconciler.spec.secrets import values

_BOTH, _BEFORE, _AFTER = "[masked]", "[masked before]", "[masked after]"


def masked(change: Change) -> Change:
    """The change without what looks like a secret; where a secret differs, its marker says on which side it stood."""
    name = change.path.rpartition(".")[2]
    old, new = set(_secrets(change.before, name)), set(_secrets(change.after, name))
    if not old and not new:
        return change
    before, after = _mask(change.before, name, new, _BEFORE), _mask(change.after, name, old, _AFTER)
    return replace(change, before=before, after=after)


def _secrets(value: Any, name: str) -> Iterator[str]:
    match value:
        case str():
            yield from (value[span.start : span.end] for span in values(value, name))
        case list():
            for item in value:
                yield from _secrets(item, name)
        case dict():
            for key, item in value.items():
                yield from _secrets(item, key)


def _mask(value: Any, name: str, other_side: Collection[str], marker: str) -> Any:
    match value:
        case str():
            return _mask_text(value, name, other_side, marker)
        case list():
            return [_mask(item, name, other_side, marker) for item in value]
        case dict():
            return {key: _mask(item, key, other_side, marker) for key, item in value.items()}
    return value


def _mask_text(text: str, name: str, other_side: Collection[str], marker: str) -> str:
    for span in reversed(values(text, name)):
        secret = text[span.start : span.end]
        text = f"{text[: span.start]}{_BOTH if secret in other_side else marker}{text[span.end :]}"
    return text
