"""One exchange: connections, sizes and encodings."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reconciler.cloud import answers
from reconciler.cloud import wire as wires
from reconciler.cloud.answers import WireError, json_object
from reconciler.cloud.transport import Transport
from reconciler.cloud.wire import Wire
from reconciler.errors import AmbiguousError, UnavailableError
from tests.unit.cloud.certificate import write_certificate
from tests.unit.cloud.scripted import CLUSTER, Reply, Script

Connect = Callable[..., Transport]


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Takes a thousand bytes at most."""
    small = Wire("test", is_loopback=True, answer_limit=1000)
    yield small
    small.close()


def fetch(wire: Wire, url: str) -> bytes:
    """The body of an answer."""
    return wire.send("GET", url, headers={}, body=None, timeout=5.0).body


def test_connections_are_kept(script: Script, connect: Connect) -> None:
    """Requests one after the other share a connection."""
    transport = connect(script.url)
    for _ in range(5):
        transport.request("GET", CLUSTER, location="us-central1")
    assert len({request.peer for request in script.requests}) == 1


def test_threads_share_the_connections(script: Script, connect: Connect) -> None:
    """As many connections as requests at a time, not as threads that ever were."""
    transport = connect(script.url)
    for _ in range(4):
        together = threading.Barrier(3)

        def ask(together: threading.Barrier = together) -> None:
            together.wait()
            transport.request("GET", CLUSTER, location="us-central1")

        with ThreadPoolExecutor(3) as pool:
            for future in [pool.submit(ask) for _ in range(3)]:
                future.result()
    assert len({request.peer for request in script.requests}) <= 3
    assert len(script.requests) == 12


def test_an_answer_up_to_the_limit_is_read(script: Script, wire: Wire) -> None:
    """The cap is exact."""
    script.answers(Reply(body=b"x" * 1000))
    assert fetch(wire, script.url) == b"x" * 1000


@pytest.mark.parametrize("body", [b"x" * 1001, b"x" * 5_000_000])
def test_a_larger_answer_is_not(script: Script, wire: Wire, body: bytes) -> None:
    """More is an error that no repetition mends."""
    script.answers(Reply(body=body))
    with pytest.raises(WireError, match="larger than") as caught:
        fetch(wire, script.url)
    assert caught.value.permanent
    assert caught.value.sent


def test_the_limit_is_for_what_comes_out_of_compression(script: Script, wire: Wire) -> None:
    """A small answer can't swell beyond the cap."""
    script.answers(Reply(body=gzip.compress(b"x" * 50_000_000), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(WireError, match="larger than"):
        fetch(wire, script.url)


def test_compressed_answers_are_read(script: Script, connect: Connect) -> None:
    """gzip is asked for, and understood."""
    script.answers(Reply(body=gzip.compress(b'{"name": "demo"}'), headers={"Content-Encoding": "gzip"}))
    assert connect(script.url).request("GET", CLUSTER, location="us-central1") == {"name": "demo"}


def test_cookies_are_not_kept(script: Script, wire: Wire) -> None:
    """Nothing that an answer sets comes back with the next request."""
    script.answers(Reply(headers={"Set-Cookie": "a=b; Path=/"}))
    fetch(wire, script.url)
    fetch(wire, script.url)
    assert "cookie" not in script.requests[1].headers


def test_a_header_that_cannot_be_sent(script: Script, wire: Wire) -> None:
    """An impossible request is told from one that was sent, and isn't repeated."""
    with pytest.raises(WireError, match="can't be made") as caught:
        wire.send("GET", script.url, headers={"X-Bad": "a\nb"}, body=None, timeout=5.0)
    assert caught.value.permanent
    assert not caught.value.sent
    assert not script.requests


@pytest.fixture
def tls_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Speaks TLS, with a certificate that the environment says to trust."""
    certificate = write_certificate(tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Script(port=None) as running:
        running.listen(0, tls=context)
        yield running


def test_tls(tls_script: Script) -> None:
    """A certificate of the bundle that the environment names is trusted, and the connection is kept."""
    wire = Wire("test", is_loopback=False)
    tls_script.answers(Reply(body=b"x" * 300_000))
    assert fetch(wire, tls_script.url) == fetch(wire, tls_script.url) == b"x" * 300_000
    assert len({request.peer for request in tls_script.requests}) == 1
    wire.close()


@pytest.mark.parametrize("fault", ["drip_head", "drip_body"])
def test_a_dripping_answer_is_cut_off_under_tls_too(tls_script: Script, fault: str) -> None:
    """The deadline holds whatever lies between us and the bytes."""
    wire = Wire("test", is_loopback=False)
    tls_script.answers(Reply(body=b"x" * 5000, fault=fault))
    with pytest.raises(WireError, match=r"in time|timed out"):
        wire.send("GET", tls_script.url, headers={}, body=None, timeout=0.3)
    wire.close()


def test_an_unreadable_certificate_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    """REQUESTS_CA_BUNDLE counts for hosts elsewhere; a wrong one is told at once."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere/bundle.pem")
    wire = Wire("test", is_loopback=False)
    with pytest.raises(WireError, match=r"can't be made: .+/nowhere/bundle\.pem") as caught:
        fetch(wire, "https://us-central1-aiplatform.googleapis.com/v1/x")
    assert caught.value.permanent


MANY = {
    "objects": b'{"x":[' + b"{}," * 6_000_000 + b"1]}",
    "lists": b'{"x":[' + b"[]," * 6_000_000 + b"1]}",
    "numbers": b'{"x":[' + b"1," * 6_000_000 + b"1]}",
    "nested": b'{"x":[' + b'[{"":[{}]}],' * 2_000_000 + b"1]}",
}


@pytest.mark.parametrize("body", MANY.values(), ids=MANY)
def test_small_answers_of_many_values(script: Script, connect: Connect, body: bytes) -> None:
    """A few KB may hold millions of values, each a hundred bytes once it is read: refused unread, and asked once."""
    script.answers(Reply(body=gzip.compress(body, 1), headers={"Content-Encoding": "gzip"}))
    with pytest.raises(UnavailableError, match="more than 5,000,000 values"):
        connect(script.url).request("GET", CLUSTER, location="us-central1")
    with pytest.raises(AmbiguousError, match="more than 5,000,000 values"):
        connect(script.url).request("PATCH", CLUSTER, location="us-central1")
    assert len(script.requests) == 2


def test_what_the_limits_let_through_fits_in_memory() -> None:
    """The most that so many values can take, as Python counts it."""
    body = b'{"x":[' + b'{"":1},' * 2_400_000 + b"1]}"
    assert len(body) < wires.ANSWER_LIMIT
    tracemalloc.start()
    try:
        json_object(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**30


def test_a_page_of_a_thousand_large_clusters_is_read() -> None:
    """Fifty pools, two hundred nodes and some long scripts each are no bomb."""
    pool = {"id": "pool", "zone": "us-central1-a", "startupScript": "echo a, b, c\n" * 20}
    node = {"instanceName": "demo-cpu-17", "nodePoolId": "cpu", "nodeState": "RUNNING", "nodePoolType": "WORKER"}
    cluster = {"name": CLUSTER, "nodePools": [pool] * 50, "clusterStatus": {"nodesStatus": [node] * 200}}
    body = json.dumps({"clusters": [cluster] * 1000}).encode()
    assert len(body) < wires.ANSWER_LIMIT
    assert len(json_object(body)["clusters"]) == 1000


def _no_memory(*_: object, **__: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("place", ["json.loads", "requests.Response.iter_content"])
def test_too_little_memory_is_told(
    script: Script, connect: Connect, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever memory there is, an answer that doesn't fit is an error of that answer."""
    monkeypatch.setattr(
        answers.json if place == "json.loads" else wires.requests.Response, place.split(".")[-1], _no_memory
    )
    with pytest.raises(UnavailableError, match="there isn't enough memory for the answer"):
        connect(script.url).request("GET", CLUSTER, location="us-central1")
    assert len(script.requests) == 1
