"""One HTTP exchange: bounded in time and size, never redirected, and clear about whether the request left.

`requests` takes part of its settings from the environment. Proxies and certificate bundles are wanted; a password from
`~/.netrc` in place of our header, and cookies, are not.
"""

from __future__ import annotations

import http.client
import io
import re
import socket
import time
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError, LocationParseError, NewConnectionError

from reconciler.cloud.answers import Answer, WireError, too_much
from reconciler.cloud.text import one_line

CONNECT_TIMEOUT = 10.0
# A page holds 500 clusters of some KiB to a hundred, with all their nodes and the scripts of their pools.
ANSWER_LIMIT = 64 * 2**20
_CHUNK = 2**16
# Whoever knows the secrets takes them out and shortens it, in this order: half a token would not be found.
_REASON_LIMIT = 2**16
_BAD_PROXY = "the request can't be made: the proxy's address in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY can't be used"
_CONNECTION = re.compile(r"\w+\(host='[^']*', port=\d+\): ")  # urllib3 begins messages with its own objects
# One pool for all threads: more than any useful parallelism, and connections are made only as they are needed.
_POOL_SIZE = 256


class _DeadlineReader(io.RawIOBase):
    """A socket's stream that must end in time. Timeouts of sockets start anew with each byte that drips in."""

    def __init__(self, stream: io.RawIOBase, sock: socket.socket, deadline: float) -> None:
        self._stream = stream
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        remaining = self._deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(remaining)
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _BoundedResponse(http.client.HTTPResponse):
    """Takes the socket's timeout as the time for the whole answer: status line, headers, chunks and all."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        timeout = sock.gettimeout()
        if timeout is not None:
            # Detached, not made anew: the stream keeps the socket open when its connection lets go of it.
            stream = self.fp.detach()
            self.fp = io.BufferedReader(_DeadlineReader(stream, sock, time.monotonic() + timeout))


class _Http(HTTPConnection):
    response_class = _BoundedResponse


class _Https(HTTPSConnection):
    response_class = _BoundedResponse


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
        return manager


class Wire:
    """Keep-alive connections for all threads. `is_loopback` keeps requests from going through a proxy."""

    def __init__(self, user_agent: str, *, is_loopback: bool, answer_limit: int = ANSWER_LIMIT) -> None:
        self._is_loopback = is_loopback
        self._answer_limit = answer_limit
        self._environment: dict[str, Any] = {}
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self._session.headers.update(
            {"User-Agent": user_agent, "Accept-Encoding": "gzip", "Accept": "application/json"}
        )
        adapter = _Adapter(pool_connections=64, pool_maxsize=_POOL_SIZE)
        self._session.mount("https://", adapter)
        self._session.mount("http://", adapter)

    def send(self, method: str, url: str, *, headers: Mapping[str, str], body: bytes | None, timeout: float) -> Answer:
        """One request and its whole answer. Raises WireError."""
        request = requests.Request(method, url, headers=dict(headers), data=body)
        try:
            prepared = self._session.prepare_request(request)
        except (OSError, ValueError) as error:
            raise _wire_error(error) from error
        try:
            response = self._session.send(
                prepared,
                stream=True,
                allow_redirects=False,
                timeout=(min(CONNECT_TIMEOUT, timeout), timeout),
                **self._from_environment(url),
            )
        except (requests.exceptions.InvalidURL, LocationParseError, TypeError):
            # Our own address has been read by now. Theirs may hold a password, so neither it nor the error is shown.
            raise WireError(_BAD_PROXY, sent=False, permanent=True) from None
        except (OSError, HTTPError, ValueError) as error:
            raise _wire_error(error) from error
        with response:
            received = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, received, self._read(response))

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def _read(self, response: requests.Response) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            for part in response.iter_content(_CHUNK):
                size += len(part)
                if size > self._answer_limit:
                    message = f"the answer is larger than {self._answer_limit // 2**20} MiB"
                    raise WireError(message, sent=True, permanent=True)
                parts.append(part)
            return b"".join(parts)
        except (OSError, HTTPError) as error:
            raise WireError(f"the answer broke off: {_reason(error)}", sent=True) from error
        except MemoryError:
            parts.clear()
            raise too_much() from None

    def _from_environment(self, url: str) -> dict[str, Any]:
        """Proxies and certificates for a host. Looked up once for each: requests would do it for every request."""
        if self._is_loopback:
            return {"proxies": {}, "verify": True}
        host = "/".join(url.split("/", 3)[:3])
        if host not in self._environment:
            with requests.Session() as session:
                self._environment[host] = session.merge_environment_settings(url, {}, None, None, None)
            self._environment[host].pop("stream")
        found: dict[str, Any] = self._environment[host]
        return found


def _wire_error(error: Exception) -> WireError:
    """What went wrong before an answer came."""
    words = _reason(error)
    if isinstance(error, ValueError) or not isinstance(error, (requests.RequestException, HTTPError)):
        return WireError(f"the request can't be made: {words}", sent=False, permanent=True)
    if "certificate verify failed" in words.lower():
        return WireError(f"the server's certificate isn't trusted: {words}", sent=False, permanent=True)
    if isinstance(error, requests.ConnectTimeout):
        return WireError("no connection in time", sent=False)
    if isinstance(error, requests.exceptions.ProxyError):
        return WireError(f"the proxy made no connection: {words}", sent=False)
    if isinstance(error, requests.Timeout):
        return WireError("no answer in time", sent=True)
    # Refused, or a name that isn't known: nothing has left this machine.
    sent = not isinstance(_root(error), NewConnectionError)
    return WireError(words if sent else f"no connection: {words}", sent=sent)


def _root(error: BaseException) -> BaseException:
    """The innermost exception that requests and urllib3 have wrapped."""
    while True:
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((part for part in error.args if isinstance(part, BaseException)), None)
        if inner is None:
            return error
        error = inner


def _reason(error: BaseException) -> str:
    """The innermost message, in one line: the outer ones are object addresses, and it may quote what was received."""
    root = _root(error)
    text = getattr(root, "strerror", None) or str(root) or type(root).__name__
    return one_line(_CONNECTION.sub("", text.rpartition(">: ")[2]), _REASON_LIMIT)
