"""Golden files: what a view gives for the sample plans, read by people in reviews."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

GOLDEN = Path(__file__).parents[2] / "golden" / "views"
OPTION = "--update-golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes golden files anew, to be looked at in the diff."""
    parser.addoption(OPTION, action="store_true", default=False, help="write the golden files of the views anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(file, text)` fails where the text isn't the file's, and shows the difference."""
    update = request.config.getoption(OPTION, default=False)

    def check(file: str, text: str) -> None:
        path = GOLDEN / file
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        # Bytes, since reading as text would make every line end alike.
        assert text == path.read_bytes().decode(), f"{path.name} differs; if that is meant, run with {OPTION}"

    return check
