"""Credentials as `doctor` tells them: which kind, whose, for how long; and never the token."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.cloud.auth import BareToken
from reconciler.cloud.settings import Settings
from reconciler.engine.doctor import Check, Level
from reconciler.engine.doctor_identity import Identity, check_identity
from tests.unit.cloud.certificate import private_key_pem
from tests.unit.cloud.scripted import TOKEN, Reply, Script

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
ACCOUNT = "deployer@acme-ml.iam.gserviceaccount.com"


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests, no metadata server, no proxy."""
    for name in [name for name in os.environ if name.upper().endswith("_PROXY") or name == "GCLOUD_PROJECT"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def script() -> Iterator[Script]:
    """The identity service."""
    with Script() as running:
        yield running


def identity(script: Script, **settings: str) -> Identity:
    return check_identity(Settings(retry_budget=0, **settings), token_info=f"{script.url}/tokeninfo")  # type: ignore[arg-type]  # texts alone


def stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: dict[str, Any]) -> None:
    """Application default credentials."""
    path = tmp_path / "credentials.json"
    path.write_text(json.dumps(content))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))


def key_file(script: Script, **more: str) -> dict[str, Any]:
    return {
        "type": "service_account",
        "client_email": ACCOUNT,
        "private_key": private_key_pem(),
        "private_key_id": "1",
        "token_uri": f"{script.url}/token",
        **more,
    }


GRANTED = Reply(body={"access_token": TOKEN, "expires_in": 3600})


def test_a_bare_token(script: Script) -> None:
    """Whose it is and for how long; the token goes out in the body alone, and is told to nobody."""
    script.answers(Reply(body={"email": "ada@example.com", "scope": f"openid {SCOPE}", "expires_in": "1800"}))
    found = identity(script, access_token=TOKEN)
    assert isinstance(found.credentials, BareToken)
    assert found.is_usable
    assert found.checks[0] == Check(
        "credentials",
        Level.OK,
        "a bare token, from RECONCILER_ACCESS_TOKEN, of ada@example.com, for 30 more minutes",
    )
    (request,) = script.requests
    assert (request.method, request.path, request.query) == ("POST", "/tokeninfo", {})
    assert request.body == f"access_token={TOKEN}"


@pytest.mark.parametrize(
    ("answer", "level", "words"),
    [
        (Reply(body={"sub": "1", "scope": SCOPE, "expires_in": "299"}), Level.WARN, "of 1, for 4 more minutes"),
        (Reply(body={"scope": SCOPE, "expires_in": "soon"}), Level.WARN, "of somebody unnamed, for 0 more"),
        (Reply(body={"scope": "openid", "expires_in": 3000}), Level.FAIL, f"without the scope {SCOPE}"),
        (Reply(400, {"error": "invalid_token"}), Level.WARN, "nothing to say"),
        (Reply(200, b"<html>"), Level.WARN, "nothing to say"),
        (Reply(fault="reset"), Level.WARN, "nothing to say"),
        (Reply(body={"email": TOKEN, "scope": SCOPE, "expires_in": 3000}), Level.OK, "of [secret]"),
    ],
)
def test_bare_tokens_that_will_not_do(script: Script, answer: Reply, level: Level, words: str) -> None:
    """About to expire, without the scope, unknown; and never shown, even if the answer shows it."""
    script.answers(answer)
    check = identity(script, access_token=TOKEN).checks[0]
    assert check.level is level
    assert words in check.found
    assert TOKEN not in str(check)


@pytest.mark.parametrize("elsewhere", [{"endpoint": "http://127.0.0.1:1"}, {"universe": "example.cloud"}])
def test_a_token_of_elsewhere_stays(script: Script, elsewhere: dict[str, str]) -> None:
    """A token for this machine or for another universe isn't handed to Google."""
    found = identity(script, access_token=TOKEN, **elsewhere)
    assert found.credentials
    assert script.requests == []


def test_a_service_account(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kind, account and file, after a token was really granted."""
    stored(monkeypatch, tmp_path, key_file(script))
    script.answers(GRANTED)
    found = identity(script)
    assert found.is_usable
    assert all(word in found.checks[0].found for word in ("service account", ACCOUNT, "credentials.json"))
    assert script.requests[0].path == "/token"
    assert TOKEN not in str(found.checks)


def test_a_person(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials of a person don't say whose: the identity service does."""
    content = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
    stored(monkeypatch, tmp_path, content)
    monkeypatch.setattr("google.oauth2.credentials._GOOGLE_OAUTH2_TOKEN_ENDPOINT", f"{script.url}/token")
    script.answers(GRANTED, Reply(body={"email": "ada@example.com"}))
    assert " of ada@example.com" in identity(script).checks[0].found
    script.answers(GRANTED, Reply(400))
    assert "which don't say whose" in identity(script).checks[0].found


def test_an_impersonated_account(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Both are told: who asks, and as whom."""
    stored(monkeypatch, tmp_path, key_file(script))
    monkeypatch.setattr(
        "google.auth.iam._IAM_ENDPOINT", script.url + "/v1/projects/-/serviceAccounts/{}:generateAccessToken"
    )
    script.answers(GRANTED, Reply(body={"accessToken": TOKEN, "expireTime": "2099-01-01T00:00:00Z"}))
    target = "applier@acme-ml.iam.gserviceaccount.com"
    found = identity(script, impersonate_service_account=target).checks[0]
    assert found.level is Level.OK
    assert f"of {ACCOUNT}" in found.found
    assert f"acting as {target}" in found.found


def test_credentials_that_are_refused(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What can't be refreshed is no credentials: the failure says so, and the universe is looked at all the same."""
    stored(monkeypatch, tmp_path, key_file(script))
    script.answers(Reply(400, {"error": "invalid_grant", "error_description": "account gone"}))
    found = identity(script)
    assert [check.level for check in found.checks] == [Level.FAIL, Level.OK]
    assert "account gone" in found.checks[0].found
    assert not found.is_usable


def test_another_universe(script: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials that may not go to the endpoint fail there, and nothing is sent to it."""
    stored(monkeypatch, tmp_path, key_file(script, universe_domain="example.cloud"))
    script.answers(GRANTED)
    found = identity(script, endpoint="https://us-central1-aiplatform.googleapis.com")
    assert [check.level for check in found.checks] == [Level.OK, Level.FAIL]
    assert found.universe == "example.cloud"
    assert not found.is_usable
