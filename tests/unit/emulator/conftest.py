"""A running emulator for the tests of this folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from emulator_client import LRO_SECONDS, Client, base_resource

from reconciler.emulator.server import Emulator, EmulatorConfig

_numbers = itertools.count()


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    """One emulator for all tests of a module; each test has a project of its own."""
    with Emulator(EmulatorConfig(lro_seconds=LRO_SECONDS)) as running:
        yield running


@pytest.fixture
def client(emulator: Emulator) -> Iterator[Client]:
    """A client with a project of its own; faults, quirks and the request log are cleared afterwards."""
    with requests.Session() as session:
        client = Client(emulator.url, session, f"project-{next(_numbers)}")
        yield client
    client.control.clear_faults()
    client.control.reset_quirks()
    client.control.clear_requests()


@pytest.fixture
def base() -> dict[str, Any]:
    """A fresh copy of a cluster that the service accepts."""
    return base_resource()
