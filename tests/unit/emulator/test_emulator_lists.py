"""Lists: pages, tokens and their quirks, and many clusters at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from emulator_client import LOCATION, Client, violations

from reconciler.emulator.server import Emulator, EmulatorConfig

KEY = "modelDevelopmentClusters"


def pages(client: Client, **params: Any) -> list[dict[str, Any]]:
    """All pages of a list."""
    found = [client.session.get(client.base, params=params).json()]
    while token := found[-1].get("nextPageToken"):
        found.append(client.session.get(client.base, params={**params, "pageToken": token}).json())
    return found


def ids(page: dict[str, Any], key: str = KEY) -> list[str]:
    """The cluster ids of a page."""
    return [item["name"].rsplit("/", 1)[1] for item in page.get(key, [])]


@pytest.fixture
def seven(client: Client) -> Client:
    """A project with seven clusters."""
    for number in range(7):
        client.control.put(client.name(f"c{number}"), {"displayName": f"n{number}"})
    return client


def test_an_empty_list_is_an_empty_object(client: Client) -> None:
    """Defaults are left out, here too."""
    assert client.session.get(client.base).json() == {}


def test_pages_hold_what_was_asked_for(seven: Client) -> None:
    """Every cluster once, in order; the last page has no token."""
    found = pages(seven, pageSize=3)
    assert [ids(page) for page in found] == [["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"]]
    assert len(pages(seven, pageSize=7)) == 1


def test_other_projects_and_locations_are_apart(seven: Client) -> None:
    """A list shows its own parent only."""
    seven.control.put(f"{seven.project}/europe-west4/far", {})
    assert ids(pages(seven)[0]) == [f"c{number}" for number in range(7)]


@pytest.mark.parametrize("query", ["pageSize=-1", "pageSize=many", "pageToken=x", "pageToken=WzEsMl0"])
def test_bad_page_parameters_are_refused(seven: Client, query: str) -> None:
    """INVALID_ARGUMENT names the parameter."""
    (field,) = violations(seven.session.get(f"{seven.base}?{query}"))
    assert field in ("page_size", "page_token")


def test_a_token_of_another_list_is_refused(seven: Client) -> None:
    """Tokens belong to the list that made them."""
    token = seven.session.get(seven.base, params={"pageSize": 1}).json()["nextPageToken"]
    other = seven.base.replace(LOCATION, "europe-west4")
    assert "page_token" in violations(seven.session.get(other, params={"pageToken": token}))


def test_pages_can_be_shorter_than_asked_and_empty(seven: Client) -> None:
    """A token may come with a short page, or with none at all (S2)."""
    seven.control.quirks(page_cap=3, empty_pages=1)
    found = pages(seven, pageSize=5)
    assert [len(ids(page)) for page in found] == [0, 3, 0, 3, 0, 1]


def test_the_list_can_have_its_other_name(seven: Client) -> None:
    """S2 speaks of a clusters array."""
    seven.control.quirks(list_key="clusters")
    (page,) = pages(seven)
    assert len(ids(page, "clusters")) == 7
    assert KEY not in page


def test_a_list_never_shows_a_stale_cluster(seven: Client) -> None:
    """Texts are kept for speed; a write, a quirk and an operation renew them."""
    first = pages(seven)[0]
    seven.control.live(seven.name("c0"), {"displayName": "other"})
    assert pages(seven)[0][KEY][0]["displayName"] == "other"
    seven.patch("labels", {"labels": {"a": "b"}}, "c1")
    assert pages(seven)[0][KEY][1]["clusterStatus"]["state"] == "UPDATING"
    seven.finish()
    assert pages(seven)[0][KEY][1]["labels"] == {"a": "b"}
    assert pages(seven)[0][KEY][2:] == first[KEY][2:]


def test_the_largest_page_is_a_thousand(tmp_path: Path) -> None:
    """More is cut, none is fifty."""
    parent = f"projects/acme-ml/locations/{LOCATION}/modelDevelopmentClusters"
    seed = tmp_path / "seed.json"
    seed.write_text(json.dumps([{"name": f"{parent}/c{number:04}"} for number in range(1001)]), encoding="utf-8")
    with Emulator(EmulatorConfig(seeds=(seed,))) as emulator, requests.Session() as session:
        client = Client(emulator.url, session, "acme-ml")
        assert [len(ids(page)) for page in pages(client, pageSize=5000)] == [1000, 1]
        assert len(ids(session.get(client.base).json())) == 50


def test_a_hundred_creates_at_once(client: Client, base: dict[str, Any]) -> None:
    """Each is accepted once; the same id a second time isn't."""
    wanted = [f"c{number}" for number in range(50)] * 2
    with ThreadPoolExecutor(20) as pool:
        codes = list(pool.map(lambda cluster: client.create(cluster, base).status_code, wanted))
    assert sorted(codes) == [200] * 50 + [409] * 50
    client.finish()
    states = {item["clusterStatus"]["state"] for page in pages(client) for item in page[KEY]}
    assert states == {"RUNNING"}
