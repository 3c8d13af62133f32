"""The service's refusals as exceptions: which call, which status, the service's own words, and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from reconciler.cloud.answers import Answer
from reconciler.cloud.text import one_line, snippet
from reconciler.errors import ApiError, AuthError, ConflictError, NotFoundError, PermissionDeniedError

_REQUEST_ID_HEADERS = ("x-goog-request-id", "x-request-id", "x-cloud-trace-context")
_VERBS = {"POST": "create", "PATCH": "update", "DELETE": "delete"}
_CLUSTERS = re.compile(r"/modelDevelopmentClusters(?P<one>/[^/:?]+)?(?P<custom>:\w+)?(\?|$)")
_LOGIN_HINT = (
    "the token has expired, was revoked, or isn't a token: log in again (gcloud auth application-default login), "
    "run CI's authentication step again, or renew RECONCILER_ACCESS_TOKEN"
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer, read. `reason` is empty where the answer isn't one of the API (`{"error": {…}}`, S1)."""

    status: int
    reason: str
    message: str
    fields: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    permission: str = ""
    request_id: str = ""

    def __str__(self) -> str:
        head = f"{self.status} {self.reason}".rstrip()
        details = "".join(f"; {violation}" for violation in self.violations if violation not in self.message)
        return f"{head}: {self.message}{details}" + (f" [request id {self.request_id}]" if self.request_id else "")


def read(answer: Answer) -> Refusal:
    """Read an answer other than 2xx, whatever is in it."""
    headers = (answer.headers.get(name) for name in _REQUEST_ID_HEADERS)
    request_id = one_line(next(filter(None, headers), ""), 100)
    try:
        body = json.loads(answer.body)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, list) and body:  # some Google front ends wrap the error in a list
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return Refusal(answer.status, "", snippet(answer.body), request_id=request_id)
    details = error.get("details")
    found = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    return Refusal(
        answer.status,
        one_line(str(error.get("status") or "UNKNOWN"), 60),
        one_line(str(error.get("message") or "no message")),
        fields=tuple(one_line(str(item["field"]), 200) for item in _violations(found) if item.get("field")),
        violations=tuple(_sentence(item) for item in _violations(found)),
        permission=next(filter(None, map(_permission, found)), ""),
        request_id=request_id
        or next((one_line(str(item["requestId"]), 100) for item in found if "requestId" in item), ""),
    )


def refused(method: str, url: str, answer: Answer) -> ApiError | AuthError:
    """The exception for an answer that says no, once and for all."""
    refusal = read(answer)
    summary = f"{method} {url}: {refusal}"
    status, reason = refusal.status, refusal.reason
    if 300 <= status < 400:
        target = one_line(answer.headers.get("location", ""), 300) or "nowhere"
        return ApiError(
            f"{method} {url}: {status}, a redirect to {target}; redirects aren't followed",
            status=status,
            hint="is the endpoint right, and is a proxy or a login page in between?",
        )
    if status == 401:
        return AuthError(summary, hint=_LOGIN_HINT)
    if not reason:
        # Something else than the API answered. A 404 of it says nothing about a cluster.
        return ApiError(summary, status=status, hint="the answer isn't the API's own: is the endpoint right?")
    if status == 404:
        return NotFoundError(summary, status=status, reason=reason)
    if status == 403:
        return PermissionDeniedError(summary, status=status, reason=reason, hint=_permission_hint(method, url, refusal))
    # An etag mismatch comes as 409 ABORTED or 412, and from some services as a 400 that tells it in words only.
    if status in (409, 412) or (status == 400 and ("etag" in refusal.fields or "etag" in refusal.message.lower())):
        return ConflictError(summary, status=status, reason=reason)
    return ApiError(summary, status=status, reason=reason)


def permission(method: str, url: str) -> str:
    """The IAM permission that a call needs (S1, V); empty where the documents don't tell."""
    match = _CLUSTERS.search(url)
    if not match:
        return ""
    verb = "run" if match["custom"] else _VERBS.get(method) or ("get" if match["one"] else "list")
    return f"aiplatform.modelDevelopmentClusters.{verb}"


def _permission_hint(method: str, url: str, refusal: Refusal) -> str:
    if refusal.permission:
        return f"the caller needs the permission {refusal.permission}"
    needed = permission(method, url)
    return f"this call needs the permission {needed}, and the API enabled in the project" if needed else ""


def _violations(details: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """BadRequest's field violations, and the violations of PreconditionFailure and QuotaFailure."""
    for item in details:
        for key in ("fieldViolations", "violations"):
            listed = item.get(key)
            yield from (entry for entry in listed if isinstance(entry, dict)) if isinstance(listed, list) else ()


def _sentence(violation: dict[str, Any]) -> str:
    place = violation.get("field") or violation.get("subject") or violation.get("type") or ""
    return one_line(f"{place}: {violation.get('description') or 'refused'}".removeprefix(": "), 500)


def _permission(detail: dict[str, Any]) -> str:
    """ErrorInfo names the permission that was missing."""
    metadata = detail.get("metadata")
    name = metadata.get("permission") if isinstance(metadata, dict) else None
    return one_line(name, 100) if isinstance(name, str) else ""
