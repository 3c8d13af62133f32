"""Faults on the wire, seen through a raw socket or a real HTTP client."""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import requests
from emulator_client import Client, violations

from reconciler.emulator.control import Control, ControlError
from reconciler.emulator.server import Emulator, EmulatorConfig


def raw(client: Client, method: str = "GET", path: str = "/demo", body: bytes = b"") -> bytes:
    """Sends one request by hand; everything that comes back until the connection ends. Raises ConnectionResetError."""
    host, port = client.url.removeprefix("http://").split(":")
    head = f"{method} {client.base.removeprefix(client.url)}{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def split(answer: bytes) -> tuple[bytes, dict[bytes, bytes], bytes]:
    """Status line, headers and body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    pairs = [line.split(b": ", 1) for line in lines]
    return status, {name.lower(): value for name, value in pairs}, body


def strike(client: Client, kind: str, *, call: str = "get", times: int | None = 1, **options: Any) -> None:
    """One fault for the next call of a kind."""
    client.control.faults([{"match": {"kind": call}, "fault": {"kind": kind, **options}, "times": times}])


def test_a_status_carries_googles_error_body(client: Client) -> None:
    """Any code, with message, details and headers such as Retry-After."""
    client.running()
    strike(client, "status", code=429, message="Slow down.", details=[{"@type": "x"}], headers={"Retry-After": "2"})
    answer = client.get()
    assert answer.headers["Retry-After"] == "2"
    assert answer.json()["error"] == {
        "code": 429,
        "message": "Slow down.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "x"}],
    }
    assert client.get().status_code == 200


def test_a_status_can_have_any_body_and_an_effect(client: Client) -> None:
    """A 503 after the write was done, with a body of its own."""
    strike(client, "status", call="create", code=503, body="upstream gone", effect=True)
    answer = client.create()
    assert (answer.status_code, answer.text) == (503, "upstream gone")
    assert client.get().status_code == 200


@pytest.mark.parametrize(("effect", "expected"), [(False, 404), (True, 200)])
def test_a_reset_before_or_after_the_effect(client: Client, *, effect: bool, expected: int) -> None:
    """The connection ends with a RST, without a byte; the write is done or isn't."""
    strike(client, "reset", call="create", effect=effect)
    with pytest.raises(ConnectionResetError):
        raw(client, "POST", "?model_development_cluster_id=demo", b'{"display_name": "x"}')
    assert client.get().status_code == expected
    assert client.control.requests("create")[0]["status"] is None


def test_a_truncated_answer_ends_too_early(client: Client) -> None:
    """Content-Length promises more than comes."""
    client.running()
    strike(client, "truncate", missing=7)
    status, headers, body = split(raw(client))
    assert status == b"HTTP/1.1 200 OK"
    assert int(headers[b"content-length"]) == len(body) + 7
    strike(client, "truncate")
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        client.get()


def test_html_in_place_of_json(client: Client) -> None:
    """200 or any other status, with an HTML page."""
    for code in (200, 502):
        strike(client, "html", code=code)
        answer = client.get()
        assert answer.status_code == code
        assert answer.headers["Content-Type"].startswith("text/html")
        assert answer.text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [("empty", {}, ""), ("wrong_type", {}, "[]"), ("wrong_type", {"body": "text"}, '"text"')],
)
def test_answers_that_are_no_object(client: Client, kind: str, options: dict[str, Any], text: str) -> None:
    """200 with nothing, with a list, with a string."""
    strike(client, kind, **options)
    answer = client.get()
    assert (answer.status_code, answer.text) == (200, text)


def test_a_redirect(client: Client) -> None:
    """302 to wherever the fault says."""
    strike(client, "redirect", location="http://127.0.0.1:1/elsewhere")
    answer = client.session.get(f"{client.base}/demo", allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (302, "http://127.0.0.1:1/elsewhere")


def test_a_hanging_answer_outlasts_a_read_timeout(client: Client) -> None:
    """The client gives up; other requests are answered meanwhile."""
    strike(client, "hang", seconds=30)
    with pytest.raises(requests.exceptions.ReadTimeout):
        client.session.get(f"{client.base}/demo", timeout=0.2)
    assert client.get().status_code == 404


def test_a_dripping_answer_arrives_in_pieces(client: Client) -> None:
    """Each piece comes by itself, and the whole is right."""
    client.running()
    expected = client.get().json()
    strike(client, "slow_drip", chunk=200, seconds=0.02)
    host, port = client.url.removeprefix("http://").split(":")
    pieces = 0
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        path = client.base.removeprefix(client.url)
        connection.sendall(f"GET {path}/demo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        while connection.recv(65536):
            pieces += 1
    assert pieces > 3
    strike(client, "slow_drip", chunk=200, seconds=0)
    assert client.get().json() == expected


def test_after_and_times_count_matches(client: Client) -> None:
    """Skip some, hit some, then leave the rest alone; null times hits for ever."""
    match = {"kind": "get", "method": "GET", "cluster": "de*"}
    rule = {"match": match, "fault": {"kind": "status", "code": 500}, "after": 1, "times": 2}
    client.control.faults([rule])
    client.get("other")
    assert [client.get().status_code for _ in range(5)] == [404, 500, 500, 404, 404]
    assert [(item["matched"], item["hit"]) for item in client.control.fault_rules()] == [(5, 2)]
    strike(client, "status", code=503, times=None)
    assert {client.get().status_code for _ in range(3)} == {503}
    client.control.clear_faults()
    assert client.get().status_code == 404


@pytest.mark.parametrize(
    ("call", "do"),
    [
        ("list", lambda client: client.session.get(client.base)),
        ("get", lambda client: client.get()),
        ("create", lambda client: client.create("other")),
        ("patch", lambda client: client.patch("labels", {})),
        ("delete", lambda client: client.delete()),
        ("poll", lambda client: client.poll(client.create("more").json()["name"])),
        ("operations_list", lambda client: client.session.get(client.base.rsplit("/", 1)[0] + "/operations")),
        ("slurm", lambda client: client.session.post(f"{client.base}/demo:callSlurmRestApi", json={})),
        ("unknown", lambda client: client.session.get(client.url + "/nowhere")),
    ],
)
def test_every_kind_of_call_can_be_hit(client: Client, call: str, do: Callable[[Client], requests.Response]) -> None:
    """The rule hits its kind, and the log says so."""
    client.running()
    strike(client, "status", code=418, call=call)
    assert do(client).status_code == 418
    (entry,) = [item for item in client.control.requests() if item["status"] == 418]
    assert (entry["kind"], entry["fault"]) == (call, "status")


def test_a_poll_can_be_matched_by_its_cluster(client: Client) -> None:
    """An operation belongs to a cluster, though its name doesn't show it."""
    one, two = client.create("one"), client.create("two")
    client.control.faults([{"match": {"kind": "poll", "cluster": "two"}, "fault": {"kind": "status", "code": 503}}])
    assert (client.poll(one).status_code, client.poll(two).status_code) == (200, 503)


@pytest.mark.parametrize(
    "rule",
    [
        3,
        {},
        {"fault": {"kind": "explode"}},
        {"fault": {"kind": "status"}},
        {"fault": {"kind": "reset", "seconds": 1}},
        {"match": {"url": "x"}, "fault": {"kind": "reset"}},
        {"fault": {"kind": "reset"}, "time": 1},
        {"fault": {"kind": "reset"}, "times": "1"},
        {"fault": {"kind": "hang", "seconds": "1"}},
    ],
)
def test_a_rule_with_a_typo_is_refused(client: Client, rule: Any) -> None:
    """A test must not pass because its fault was never understood."""
    with pytest.raises(ControlError, match="400"):
        client.control.faults([rule])
    assert client.control.fault_rules() == []


def test_a_stop_cuts_off_what_hangs() -> None:
    """Leaving the context ends hanging and dripping requests at once, and warns of nothing."""
    failures: list[type[BaseException]] = []

    def ask(url: str) -> None:
        try:
            requests.get(f"{url}/v1beta1/projects/p/locations/l/modelDevelopmentClusters", timeout=60)
        except requests.exceptions.RequestException as error:
            failures.append(type(error))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Emulator(EmulatorConfig()) as emulator:
            control = Control(emulator.url)
            control.faults([{"fault": {"kind": "hang", "seconds": 600}, "times": 1}])
            control.faults([{"fault": {"kind": "slow_drip", "seconds": 600}}])
            threads = [threading.Thread(target=ask, args=(emulator.url,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            while len(control.requests()) < 2:
                pass
        for thread in threads:
            thread.join()
    assert len(failures) == 2


def test_latency_lets_requests_overlap() -> None:
    """Every API answer is late, but none waits for another; the control endpoint is prompt."""
    with Emulator(EmulatorConfig(latency=0.3)) as emulator:
        control = Control(emulator.url)
        barrier = threading.Barrier(8)
        arrived: list[int] = []

        def ask() -> None:
            barrier.wait()
            answer = requests.get(f"{emulator.url}/v1beta1/projects/p/locations/l/modelDevelopmentClusters", timeout=60)
            arrived.append(answer.status_code)

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        # All eight are taken in before the first one is answered.
        while len(entries := control.requests()) < 8:
            assert not any(entry["status"] for entry in entries)
        for thread in threads:
            thread.join()
    assert arrived == [200] * 8


def test_a_fault_does_not_touch_validation(client: Client, base: dict[str, Any]) -> None:
    """A write that is refused anyway is refused as ever under an operation fault."""
    strike(client, "operation_error", call="create")
    assert violations(client.create(body={**base, "labels": {"A": "b"}}))
