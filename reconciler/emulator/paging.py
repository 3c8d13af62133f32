"""Page sizes and page tokens."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from reconciler.emulator.errors import invalid_field

DEFAULT_PAGE = 50
LARGEST_PAGE = 1000


def page_size(query: Mapping[str, str]) -> int:
    """The asked page size: 0 or none is the default, a larger one than allowed is cut (S2). Raises ApiError."""
    text = query.get("page_size", "0")
    try:
        size = int(text)
    except ValueError as error:
        raise invalid_field("page_size", f'Invalid value (TYPE_INT32), "{text}"') from error
    if size < 0:
        raise invalid_field("page_size", "must not be negative.")
    return min(size or DEFAULT_PAGE, LARGEST_PAGE)


def make_token(of: str, **position: Any) -> str:
    """An opaque token for a position in the list `of`."""
    return base64.urlsafe_b64encode(json.dumps([of, position]).encode()).decode().rstrip("=")


def read_token(of: str, token: str) -> dict[str, Any]:
    """The position in a token; empty for no token. Raises ApiError for one that wasn't made for this list."""
    if not token:
        return {}
    try:
        made_for, position = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (ValueError, TypeError) as error:
        raise invalid_field("page_token", "not a token of this service.") from error
    if made_for != of or not isinstance(position, dict):
        raise invalid_field("page_token", "a token of another list.")
    return position
