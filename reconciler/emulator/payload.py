"""JSON over HTTP: bodies in, answers out."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from starlette.responses import Response

from reconciler.emulator.errors import ApiError

JSON_TYPE = "application/json; charset=UTF-8"


# The documentation's own payloads have commas after the last member (S2), and are taken as they are. A comma within a
# string is none: strings are matched first, and kept.
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])')


def parse_json(raw: bytes) -> Any:
    """A request's body, whatever its content type says (curl's default is a form). Raises ApiError."""
    if not raw.strip():
        return {}
    try:
        text = _TRAILING.sub(r"\1\2", raw.decode("utf-8"))
        value = json.loads(text, parse_constant=_no_constant)
        # A lone surrogate, as in "\\ud800", is no text and could not be stored.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ApiError("INVALID_ARGUMENT", f"Invalid JSON payload received. {error}") from error
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unexpected token {name}.")


def json_response(body: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(json.dumps(body, ensure_ascii=False), status, media_type=JSON_TYPE)
