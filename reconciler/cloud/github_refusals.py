"""GitHub's refusals as exceptions: which call, which status, GitHub's own words, and what to do."""

from __future__ import annotations

import json
from typing import Any

from reconciler.cloud.answers import Answer
from reconciler.cloud.text import one_line, snippet
from reconciler.errors import ApiError, AuthError, NotFoundError, PermissionDeniedError

_LOGIN_HINT = "in a workflow, give the step `env: GITHUB_TOKEN: ${{ github.token }}`"
_PULL_REQUESTS = "issues=write; pull_requests=write"  # a pull request's comments are an issue's: either is enough


def said(answer: Answer) -> str:
    """GitHub's own words: its message and the errors listed with it, or the beginning of whatever came."""
    body = _body(answer)
    if "message" not in body:
        return snippet(answer.body)
    listed = body.get("errors")
    errors = [_error(item) for item in listed] if isinstance(listed, list) else []
    return one_line("; ".join([str(body["message"]), *filter(None, errors)]), 500)


def is_rate_limit(answer: Answer) -> bool:
    """Whether it's only about how often we ask: 429, or a 403 that says so in a header or in words."""
    if answer.status == 429:
        return True
    if answer.status != 403:
        return False
    limited = answer.headers.get("x-ratelimit-remaining") == "0" or "retry-after" in answer.headers
    return limited or "rate limit" in said(answer).lower()


def refused(call: str, answer: Answer) -> ApiError | AuthError:
    """The exception for an answer that says no, once and for all."""
    summary = f"{call}: {answer.status}: {said(answer)}"
    match answer.status:
        case 401:
            return AuthError(summary, hint=f"the token has expired or isn't one; {_LOGIN_HINT}")
        case 403:
            return PermissionDeniedError(summary, status=403, hint=_permission_hint(answer))
        case 404:
            hint = "there is no such thing, or the token may not see it: is the repository right?"
            return NotFoundError(summary, status=404, hint=f"{hint} A token that may needs {_needed(answer)}")
        case 410:
            return ApiError(summary, status=410, hint="issues may be disabled in this repository's settings")
        case status if 300 <= status < 400:
            target = one_line(answer.headers.get("location", ""), 300) or "nowhere"
            return ApiError(
                f"{call}: {status}, a redirect to {target}; redirects aren't followed",
                status=status,
                hint="was the repository renamed? say --repository with its new name",
            )
    return ApiError(summary, status=answer.status)


def no_token() -> AuthError:
    """There is nothing to ask with."""
    return AuthError("GITHUB_TOKEN isn't set", hint=_LOGIN_HINT)


def _permission_hint(answer: Answer) -> str:
    return (
        f"the token needs {_needed(answer)}: grant it under `permissions:` of the job. "
        "The token of a fork's pull request, and Dependabot's, is read-only whatever is granted"
    )


def _needed(answer: Answer) -> str:
    """The permissions as a workflow writes them, from the header in which GitHub names them."""
    # "issues=write; pull_requests=write": each alternative is enough; within one, commas mean that all are needed.
    named = one_line(answer.headers.get("x-accepted-github-permissions", ""), 200) or _PULL_REQUESTS
    ways = [way.strip().replace("_", "-").replace("=", ": ") for way in named.split(";")]
    return "the permission " + " or ".join(f"`{way}`" for way in ways if way)


def _body(answer: Answer) -> dict[str, Any]:
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _error(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    return str(item.get("message") or " ".join(str(item[key]) for key in ("field", "code") if key in item))
