"""What stands before the service: the request log, latency and faults."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from starlette.types import ASGIApp, Receive, Scope, Send

from reconciler.emulator import wire
from reconciler.emulator.errors import STATUS_OF_CODE, error_body
from reconciler.emulator.faults import SERVICE_FAULTS, Faults
from reconciler.emulator.payload import JSON_TYPE
from reconciler.emulator.routes import Call, recognise
from reconciler.emulator.wire import Answer

CONTROL = "/_emulator/"
FAULT = "emulator.fault"
_SECRET_HEADERS = {"authorization", "proxy-authorization", "cookie", "x-goog-api-key"}
_SECRET_PARAMETERS = {"access_token", "key"}
_HTML = "<!DOCTYPE html><html><head><title>Error</title></head><body><h1>That's an error.</h1></body></html>"


class RequestLog:
    """The last API requests, as they came in."""

    def __init__(self, capacity: int = 50_000) -> None:
        self.entries: deque[dict[str, Any]] = deque(maxlen=capacity)

    def add(self, scope: Scope, call: Call, cluster: str, body: bytes, fault: dict[str, Any]) -> dict[str, Any]:
        """Notes a request; its `status` is filled in when it is answered, and stays null when it never is."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        entry = {
            "time": time.time(),
            "method": scope["method"],
            "path": scope["path"],
            "query": {name: value for name, value in query if name not in _SECRET_PARAMETERS},
            "body": _readable(body),
            "status": None,
            "kind": call.kind,
            "cluster": cluster,
            "fault": fault.get("kind"),
            "headers": {name: value for name, value in headers.items() if name not in _SECRET_HEADERS},
        }
        self.entries.append(entry)
        return entry


def _readable(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return body.decode("utf-8", errors="replace")


class Front:
    """ASGI middleware around the API; control requests pass through untouched."""

    def __init__(
        self, app: ASGIApp, *, faults: Faults, log: RequestLog, latency: float, cluster_of: Callable[[Call], str]
    ) -> None:
        """`latency` is in seconds; `cluster_of` names the cluster that an operation belongs to."""
        self._app = app
        self._faults = faults
        self._log = log
        self._latency = latency
        self._cluster_of = cluster_of
        self.stopping = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request."""
        if scope["type"] != "http" or scope["path"].startswith(CONTROL):
            await self._app(scope, receive, send)
            return
        body = await wire.read_body(receive)
        if body is None:
            return
        call = recognise(scope["method"], scope["path"])
        cluster = self._cluster(call, scope)
        fault = self._faults.pick(method=scope["method"], kind=call.kind, cluster=cluster)
        entry = self._log.add(scope, call, cluster, body, fault)
        scope[FAULT] = fault if fault.get("kind") in SERVICE_FAULTS else {}
        wait = self._latency + (fault["seconds"] if fault.get("kind") == "hang" else 0)
        if await self._stopped_within(wait):
            await wire.reset(scope, receive)
            return
        answer = await self._answer(scope, body, fault)
        if fault.get("kind") != "reset":
            entry["status"] = answer.status
        await self._send(answer, fault, scope, receive, send)

    def _cluster(self, call: Call, scope: Scope) -> str:
        if call.kind == "create":
            query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
            return query.get("model_development_cluster_id") or query.get("modelDevelopmentClusterId") or ""
        return self._cluster_of(call) if call.operation else call.cluster

    async def _stopped_within(self, seconds: float) -> bool:
        """Waits; true when the server stops meanwhile, so that a long hang never delays the stop."""
        if seconds <= 0:
            return False
        try:
            await asyncio.wait_for(self.stopping.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _answer(self, scope: Scope, body: bytes, fault: dict[str, Any]) -> Answer:
        forged = forge(fault)
        if fault.get("effect", forged is None and fault.get("kind") != "reset"):
            answer = await wire.run(self._app, scope, body)
            return forged or answer
        return forged or Answer(0, [], b"")

    async def _send(self, answer: Answer, fault: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        match fault.get("kind"):
            case "reset":
                await wire.reset(scope, receive)
            case "truncate":
                await wire.truncate(answer, fault.get("missing", (len(answer.body) + 1) // 2), scope, receive)
            case "slow_drip":
                await self._drip(answer, fault, scope, receive, send)
            case _:
                await wire.send_answer(answer, send)

    async def _drip(self, answer: Answer, fault: dict[str, Any], scope: Scope, receive: Receive, send: Send) -> None:
        size = max(1, fault.get("chunk", 1))
        await wire.send_start(answer, send)
        for start in range(0, len(answer.body), size):
            await wire.send_part(answer.body[start : start + size], send, more=True)
            if await self._stopped_within(fault.get("seconds", 0.01)):
                await wire.reset(scope, receive)
                return
        await wire.send_part(b"", send, more=False)


def forge(fault: dict[str, Any]) -> Answer | None:
    """The answer that a fault puts in place of the service's; None when the service's own is sent."""
    code = fault.get("code", 200)
    match fault.get("kind"):
        case "status":
            status = fault.get("status", STATUS_OF_CODE.get(code, "UNKNOWN"))
            body = error_body(code, fault.get("message", f"Fault: {status}"), status, fault.get("details"))
            return Answer.make(code, _encode(fault.get("body", body)), JSON_TYPE, fault.get("headers"))
        case "html":
            return Answer.make(code, fault.get("body", _HTML).encode(), "text/html; charset=UTF-8")
        case "empty":
            return Answer.make(code, b"", JSON_TYPE)
        case "wrong_type":
            return Answer.make(200, json.dumps(fault.get("body", [])).encode(), JSON_TYPE)
        case "redirect":
            return Answer.make(fault.get("code", 302), b"", "text/html", {"location": fault["location"]})
        case _:
            return None


def _encode(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
