"""Where requests go, and which hosts may see credentials."""

from __future__ import annotations

import pytest

from reconciler.cloud.endpoint import Endpoint
from reconciler.errors import UsageError


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080",
        "http://127.9.9.9",
        "http://localhost:80/",
        "http://LOCALHOST:80/",
        "http://[::1]:8080",
        "https://127.0.0.1:8443",
    ],
)
def test_loopback(url: str) -> None:
    """Requests to this machine need no credentials."""
    assert Endpoint.parse(url).is_loopback


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "http://10.0.0.1:8080",
        "http://0.0.0.0:8080",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://us-central1-aiplatform.googleapis.com",
        "http://[::ffff:10.0.0.1]",
        "http://2130706433",
    ],
)
def test_plain_http_to_another_machine_is_refused(url: str) -> None:
    """Credentials never go over plain http, and nor does anything else."""
    with pytest.raises(UsageError, match="plain http"):
        Endpoint.parse(url)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8080",
        "ftp://127.0.0.1",
        "http://user:pass@127.0.0.1",
        "http://127.0.0.1@evil.example",
        "http://evil.example\\@127.0.0.1",
        "http://127.0.0.1#@evil.example",
        "http://127.0.0.1?x=y",
        "http://127.0.0.1:port",
        "http://127.0.0.1/a/../b",
        "http://127.0.0.1 evil.example",
        "https://",
        "https://googleapıs.com",
        "emulator",
    ],
)
def test_what_two_parsers_could_read_in_two_ways_is_refused(url: str) -> None:
    """Only plain base URLs pass."""
    with pytest.raises(UsageError, match="no base URL"):
        Endpoint.parse(url)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:{}@host.example", "https://…host.example"),
        ("https://{}@host.example/path", "https://…host.example/path"),
        ("http://user:{}@127.0.0.1:8080", "http://…127.0.0.1:8080"),
        ("https://user:a/{}@host.example", "https://…host.example"),
        ("https://user:a@{}@host.example", "https://…host.example"),
        ("https://user:{}\n@host.example", "https://…host.example"),
        ("user:{}@host.example", "…host.example"),
        ("user:a/{}@host.example", "…host.example"),
        ("ftp://user:{}@host.example", "…host.example"),
        ("https://host.example/?key={}", "https://host.example/?…"),
        ("https://host.example/?key={}&at=@x?y={}", "https://…x?…"),
    ],
)
def test_secrets_in_an_endpoint_are_not_shown(url: str, shown: str) -> None:
    """A password or key that somebody put there goes into no message, however odd it or the rest is (contract 5.5)."""
    secret = "hunter" + "2" * 4
    with pytest.raises(UsageError) as caught:
        Endpoint.parse(url.replace("{}", secret))
    assert secret not in str(caught.value)
    assert f"'{shown}'" in str(caught.value)


def test_the_service_has_a_host_for_each_location() -> None:
    """Without an endpoint the location and the universe make the host."""
    endpoint = Endpoint.parse(None)
    assert endpoint.url("us-central1", "googleapis.com") == "https://us-central1-aiplatform.googleapis.com"
    assert endpoint.url("europe-west4", "universe.example") == "https://europe-west4-aiplatform.universe.example"


def test_an_endpoint_serves_all_locations() -> None:
    """An explicit endpoint stands for every location, a path in it included."""
    assert Endpoint.parse("http://127.0.0.1:8080/").url("us-central1", "googleapis.com") == "http://127.0.0.1:8080"
    assert Endpoint.parse("http://127.0.0.1/api/").url("us-east1", "googleapis.com") == "http://127.0.0.1/api"


@pytest.mark.parametrize("location", ["", "evil.example/#", "US", "us_central1", "a@b", "-x", "us-central1\n"])
def test_a_location_cannot_move_the_host(location: str) -> None:
    """The location comes from a file, and becomes a part of the host that gets the token."""
    with pytest.raises(UsageError, match="no location"):
        Endpoint.parse(None).url(location, "googleapis.com")


@pytest.mark.parametrize("host", ["googleapis.com", "us-central1-aiplatform.googleapis.com", "x.p.googleapis.com"])
def test_hosts_of_the_universe_may_see_credentials(host: str) -> None:
    """An explicit endpoint inside the credentials' universe is used."""
    Endpoint.parse(f"https://{host}").require_within("googleapis.com")
    assert Endpoint.parse(f"https://{host}").url("us-central1", "googleapis.com") == f"https://{host}"


@pytest.mark.parametrize("host", ["example.com", "evilgoogleapis.com", "googleapis.com.evil.example", "10.1.2.3"])
def test_other_hosts_may_not(host: str) -> None:
    """https alone doesn't make a host one of the service's."""
    with pytest.raises(UsageError, match="outside the credentials' universe"):
        Endpoint.parse(f"https://{host}").require_within("googleapis.com")
