"""Settings: what the environment says, and what is refused."""

from __future__ import annotations

import pytest

from reconciler.cloud.settings import Settings, seconds
from reconciler.errors import UsageError
from tests.unit.cloud.scripted import TOKEN


def test_every_setting_has_a_variable() -> None:
    """All settings can be given in the environment; each clock has a variable of its own."""
    found = Settings.from_environ(
        {
            "RECONCILER_ENDPOINT": "http://127.0.0.1:1",
            "RECONCILER_ACCESS_TOKEN": f" {TOKEN}\n",
            "RECONCILER_IMPERSONATE_SERVICE_ACCOUNT": "deployer@acme-ml.iam.gserviceaccount.com",
            "RECONCILER_REQUEST_TIMEOUT": "5",
            "RECONCILER_RETRY_BUDGET": "2m",
            "RECONCILER_QUEUE_BUDGET": "20s",
            "RECONCILER_OPERATION_TIMEOUT": "1h30m",
            "GOOGLE_CLOUD_UNIVERSE_DOMAIN": "universe.example",
        }
    )
    assert found == Settings(
        endpoint="http://127.0.0.1:1",
        universe="universe.example",
        impersonate_service_account="deployer@acme-ml.iam.gserviceaccount.com",
        access_token=TOKEN,
        request_timeout=5.0,
        retry_budget=120.0,
        queue_budget=20.0,
        operation_timeout=5400.0,
    )


def test_an_empty_variable_is_an_unset_one() -> None:
    """CI systems set variables to nothing where a secret is missing."""
    assert Settings.from_environ({"RECONCILER_ENDPOINT": "", "RECONCILER_RETRY_BUDGET": " "}) == Settings()


def test_the_token_is_not_in_repr() -> None:
    """Settings may be logged."""
    assert TOKEN not in repr(Settings(access_token=TOKEN))


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("RECONCILER_REQUEST_TIMEOUT", "soon", "RECONCILER_REQUEST_TIMEOUT: 'soon' is no length of time"),
        ("RECONCILER_REQUEST_TIMEOUT", "0", "more than zero"),
        ("RECONCILER_RETRY_BUDGET", "-1", "RECONCILER_RETRY_BUDGET"),
        ("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "evil.example/#", "no domain name"),
        ("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "localhost", "no domain name"),
    ],
)
def test_what_cannot_be_meant_is_refused(variable: str, value: str, says: str) -> None:
    """A wrong setting is a usage error that names it."""
    with pytest.raises(UsageError, match=says):
        Settings.from_environ({variable: value})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0])
def test_clocks_are_finite(value: float) -> None:
    """No clock may run for ever, or backwards."""
    with pytest.raises(UsageError, match="retry_budget"):
        Settings(retry_budget=value)


def test_a_token_that_would_break_a_header_is_refused_unseen() -> None:
    """A token with a line break would end up in an exception's text further down."""
    with pytest.raises(UsageError) as caught:
        Settings(access_token=f"{TOKEN}\r\nHost: evil.example")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("90", 90),
        ("90s", 90),
        ("0.5", 0.5),
        ("5m", 300),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1m30s", 90),
        (" 7s ", 7),
        ("0", 0),
    ],
)
def test_lengths_of_time(text: str, length: float) -> None:
    """Seconds, or hours, minutes and seconds."""
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["", "s", "m", "1d", "-5", "5 m", "1e3", "30m1h", "inf", "nan", "०"])
def test_what_is_no_length_of_time(text: str) -> None:
    """Anything else is refused in words."""
    with pytest.raises(ValueError, match="no length of time"):
        seconds(text)


@pytest.mark.parametrize("clock", ["REQUEST_TIMEOUT", "RETRY_BUDGET", "QUEUE_BUDGET", "OPERATION_TIMEOUT"])
@pytest.mark.parametrize("text", ["99999999999h", "9" * 400, "1001h", "21d", "1e9"])
def test_a_clock_that_nobody_means(clock: str, text: str) -> None:
    """What no socket can wait for is refused by the variable's name; so are units that there are none of."""
    with pytest.raises(UsageError, match=f"RECONCILER_{clock}"):
        Settings.from_environ({f"RECONCILER_{clock}": text})
