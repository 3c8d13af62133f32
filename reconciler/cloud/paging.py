"""Lists, page by page. A page may be shorter than asked, even empty, while more follow (S2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.cloud.answers import kind_of
from reconciler.cloud.transport import Limits, Transport
from reconciler.errors import UnavailableError

# The documents give no maximum; a service that has one answers shorter pages.
PAGE_SIZE = 500
_MAX_EMPTY_PAGES = 1000
# A million entries, or a hundred thousand where the service makes shorter pages.
_MAX_PAGES = 2000


def pages(
    transport: Transport,
    path: str,
    *,
    location: str,
    keys: tuple[str, ...],
    query: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Iterator[list[dict[str, Any]]]:
    """The pages of a list, the entries under the first of `keys` that an answer holds.

    Raises what `Transport.request` raises; UnavailableError for answers that aren't pages of a list.
    """
    seen = {""}
    token = ""
    empty = 0
    for _ in range(_MAX_PAGES):
        asked = {"pageSize": str(PAGE_SIZE), **(query or {}), **({"pageToken": token} if token else {})}
        answer = transport.request("GET", path, location=location, query=asked, limits=limits)
        entries = _entries(path, answer, keys)
        yield entries
        token = answer.get("nextPageToken") or ""
        if not token:
            return
        empty = 0 if entries else empty + 1
        if not isinstance(token, str) or token in seen or empty > _MAX_EMPTY_PAGES:
            raise UnavailableError(f"GET {path}: the list never ends: its page token comes again, or isn't one")
        seen.add(token)
    raise UnavailableError(f"GET {path}: the list doesn't end: there is a page after {_MAX_PAGES:,} of them")


def _entries(path: str, answer: dict[str, Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    value: object = next((answer[key] for key in keys if answer.get(key) is not None), [])
    if not isinstance(value, list):
        raise UnavailableError(f"GET {path}: answered {kind_of(value)} where a list was expected")
    for entry in value:
        if not isinstance(entry, dict):
            raise UnavailableError(f"GET {path}: answered a list with {kind_of(entry)} where an object was expected")
    return value
