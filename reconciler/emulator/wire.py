"""What happens on the wire itself: resets, truncated and dripping answers.

uvicorn gives an application no hold on its connection, so `WireProtocol` passes the transport along in the scope.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

TRANSPORT = "emulator.transport"
_RST_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER on, for zero seconds


class WireProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 protocol, with the connection's transport in each request's scope."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        inner = cast(ASGIApp, self.app)

        async def with_transport(scope: Scope, receive: Receive, send: Send) -> None:
            scope[TRANSPORT] = self.transport
            await inner(scope, receive, send)

        self.app = cast(Any, with_transport)


@dataclass(frozen=True)
class Answer:
    """A complete HTTP answer."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @classmethod
    def make(cls, status: int, body: bytes, content_type: str, headers: dict[str, str] | None = None) -> Answer:
        """An answer with a content type, a content length and further headers."""
        pairs = {"content-type": content_type, "content-length": str(len(body)), **(headers or {})}
        return cls(status, [(name.lower().encode(), value.encode()) for name, value in pairs.items()], body)


async def read_body(receive: Receive) -> bytes | None:
    """The whole body of a request; None when the client has gone before its end, and half a request must do nothing."""
    parts = []
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def run(app: ASGIApp, scope: Scope, body: bytes) -> Answer:
    """Lets an application answer a request whose body has been read, and returns the answer unsent."""
    status = 500
    headers: list[tuple[bytes, bytes]] = []
    parts: list[bytes] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status, headers
        if message["type"] == "http.response.start":
            status, headers = message["status"], list(message["headers"])
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    return Answer(status, headers, b"".join(parts))


async def send_answer(answer: Answer, send: Send) -> None:
    """Sends an answer as it should be sent."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})


async def send_start(answer: Answer, send: Send) -> None:
    """Sends status and headers alone."""
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})


async def send_part(part: bytes, send: Send, *, more: bool) -> None:
    """Sends a part of a body."""
    await send({"type": "http.response.body", "body": part, "more_body": more})


async def reset(scope: Scope, receive: Receive) -> None:
    """Ends the connection with a TCP RST."""
    transport: asyncio.Transport = scope[TRANSPORT]
    connection: socket.socket = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST_ON_CLOSE)
    transport.abort()
    await _closed(receive)


async def truncate(answer: Answer, missing: int, scope: Scope, receive: Receive) -> None:
    """Announces the whole answer, sends all but its last `missing` bytes, and closes the connection."""
    transport: asyncio.Transport = scope[TRANSPORT]
    lines = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.headers]
    transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + answer.body[: max(0, len(answer.body) - missing)])
    transport.close()
    await _closed(receive)


async def _closed(receive: Receive) -> None:
    # uvicorn complains about an application that returns without an answer, unless the client is known to be gone.
    while (await receive())["type"] != "http.disconnect":
        pass
