"""Real parts for the tests of the cloud layer: a server that answers by script, and a clock that sleep moves."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

CLUSTERS = "/v1beta1/projects/p/locations/us-central1/modelDevelopmentClusters"
CLUSTER = f"{CLUSTERS}/demo"
TOKEN = "made-up-for-this-test"


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `body` other than bytes is sent as JSON. `fault`: reset, truncate, drip_body, drip_head, raw."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    fault: str = ""

    @property
    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Request:
    """One request as it arrived. `peer` tells connections apart."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    peer: int


def refusal(status: int, reason: str, message: str = "no", **more: Any) -> Reply:
    """An error answer in the API's own format."""
    return Reply(status, {"error": {"code": status, "status": reason, "message": message, **more}})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def _handle(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query)),
            headers,
            json.loads(raw) if raw[:1] in (b"{", b"[") else raw.decode(),
            self.client_address[1],
        )
        self._send(self.server.script.next(request))

    def _send(self, reply: Reply) -> None:
        content = reply.content
        if reply.fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        if reply.fault == "raw":  # the body is all that is sent
            self.close_connection = True
            self.wfile.write(content)
            return
        if reply.fault == "drip_head":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            self._drip(b"X-Slow: " + b"x" * 1000)
            return
        self.send_response_only(reply.status)  # without a Date of its own
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) + (10 if reply.fault == "truncate" else 0)))
        self.end_headers()
        if reply.fault == "drip_body":
            self._drip(content)
            return
        self.wfile.write(content)
        if reply.fault == "truncate":
            self.close_connection = True

    def _drip(self, content: bytes) -> None:
        self.close_connection = True
        for byte in content:
            try:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
            except OSError:
                return
            if self.server.script.stopped.wait(0.05):
                return

    do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = _handle

    def log_message(self, *args: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    script: Script

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away in the middle are part of the tests."""


class Script:
    """A server on loopback: each request takes the next reply, the last one is repeated."""

    def __init__(self, port: int | None = 0) -> None:
        """`port`: None doesn't listen yet."""
        self.requests: list[Request] = []
        self.stopped = threading.Event()
        self.url = ""
        self._port = port
        self._replies: list[Reply] = [Reply()]
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        if self._port is not None:
            self.listen(self._port)
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def listen(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Begin to answer, if it doesn't yet."""
        if self._server:
            return
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.script = self
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def answers(self, *replies: Reply) -> None:
        """What comes next."""
        self._replies = list(replies)

    def next(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]


class FakeTime:
    """A clock that only sleep moves, for any number of threads."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.naps: list[float] = []
        self._lock = threading.Lock()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.now += seconds
            self.naps.append(seconds)
        time.sleep(0)  # other threads get their turn


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
