"""Application default credentials: real google-auth, against an identity service on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import google.auth
import pytest
from google.auth import credentials as google_credentials

from reconciler.cloud import adc
from reconciler.cloud.adc import ApplicationDefault
from reconciler.cloud.settings import Settings
from reconciler.cloud.transport import Transport
from reconciler.errors import AuthError, UnavailableError
from tests.unit.cloud.certificate import private_key_pem
from tests.unit.cloud.scripted import CLUSTER, TOKEN, Reply, Script, free_port

WALL = 1_800_000_000.0  # 2027-01-15 08:00:00 UTC
Store = Callable[..., None]


def token(number: int) -> Reply:
    """What the identity service grants."""
    return Reply(body={"access_token": f"{TOKEN}-{number}", "expires_in": 3600})


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No credentials of whoever runs the tests, and no metadata server."""
    for name in (
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_PROJECT",
        "GCLOUD_PROJECT",
        "HTTPS_PROXY",
        "HTTP_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Store:
    """Writes a credentials file and points the environment to it."""

    def write(content: dict[str, Any] | str) -> None:
        path = tmp_path / "credentials.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))

    return write


def service_account(token_uri: str, **more: str) -> dict[str, Any]:
    """A key file of a service account that exists nowhere."""
    return {
        "type": "service_account",
        "client_email": "deployer@acme-ml.iam.gserviceaccount.com",
        "private_key": private_key_pem(),
        "private_key_id": "1",
        "project_id": "acme-ml",
        "token_uri": f"{token_uri}/token",
        **more,
    }


def federated(url: str) -> dict[str, Any]:
    """Workload identity federation as a CI job has it: the subject token comes from the job's own service."""
    return {
        "type": "external_account",
        "audience": "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/ci/providers/ci",
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": f"{url}/sts",
        "credential_source": {
            "url": f"{url}/job-token",
            "format": {"type": "json", "subject_token_field_name": "value"},
        },
    }


def test_a_token_is_fetched_and_kept(script: Script, store: Store) -> None:
    """One token for many requests; the scope is asked for by the assertion."""
    store(service_account(script.url))
    script.answers(token(1))
    credentials = ApplicationDefault(Settings())
    assert credentials.universe == "googleapis.com"
    assert [credentials.headers()["Authorization"] for _ in range(3)] == [f"Bearer {TOKEN}-1"] * 3
    assert [request.path for request in script.requests] == ["/token"]


def test_401_fetches_another_one(script: Script, store: Store, connect: Callable[..., Transport]) -> None:
    """The service refuses a token that google-auth still believes in: it's replaced, and the request repeated."""
    store(service_account(script.url))
    script.answers(token(1), Reply(401, b"{}"), token(2), Reply(body={"name": "demo"}))
    transport = connect(script.url, credentials=ApplicationDefault(Settings()))
    assert transport.request("GET", CLUSTER, location="us-central1") == {"name": "demo"}
    sent = [request.headers["authorization"] for request in script.requests if request.path == CLUSTER]
    assert sent == [f"Bearer {TOKEN}-1", f"Bearer {TOKEN}-2"]


def test_many_threads_refresh_once(script: Script, store: Store) -> None:
    """All of them see the same 401."""
    store(service_account(script.url))
    script.answers(token(1), token(2), token(3))
    credentials = ApplicationDefault(Settings())
    rejected = credentials.headers()
    threads = [threading.Thread(target=credentials.refresh, args=(rejected,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert credentials.headers()["Authorization"] == f"Bearer {TOKEN}-2"
    assert len(script.requests) == 2


def test_no_credentials_anywhere() -> None:
    """The error tells people at a terminal and people with a pipeline what to do."""
    with pytest.raises(AuthError) as caught:
        ApplicationDefault(Settings())
    assert "gcloud auth application-default login" in caught.value.hint
    assert "id-token: write" in caught.value.hint


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "not json",
        "[]",
        '{"type": "service_account"}',
        '{"type": "service_account", "client_email": 1, "private_key": 2, "token_uri": 3}',
        '{"type": "new_kind"}',
    ],
)
def test_a_broken_credentials_file(store: Store, content: str) -> None:
    """No file is too broken for a sentence."""
    store(content)
    with pytest.raises(AuthError, match="credentials"):
        ApplicationDefault(Settings())


def test_a_missing_credentials_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A path that leads nowhere is told, since other credentials must not take its place."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "gone.json"))
    with pytest.raises(AuthError, match=r"gone\.json"):
        ApplicationDefault(Settings())


def test_a_refused_refresh(script: Script, store: Store) -> None:
    """A revoked key is told at once, in the identity service's words and without what was sent to it."""
    store(service_account(script.url))
    script.answers(Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}))
    with pytest.raises(AuthError, match=r"can't be refreshed: .*Invalid JWT Signature\.") as caught:
        ApplicationDefault(Settings()).headers()
    assert "gcloud auth application-default login" in caught.value.hint
    assert caught.value.__cause__ is None
    assert len(script.requests) == 1


@pytest.mark.parametrize(("offset", "words"), [(600, "10 minutes behind"), (-900, "15 minutes ahead of")])
def test_a_wrong_clock_is_told(script: Script, store: Store, offset: float, words: str) -> None:
    """A refused assertion together with a Date far from ours: it's the clock."""
    store(service_account(script.url))
    date = {"Date": formatdate(WALL + offset, usegmt=True)}
    script.answers(Reply(400, {"error": "invalid_grant", "error_description": "Invalid JWT: check iat"}, date))
    with pytest.raises(AuthError) as caught:
        ApplicationDefault(Settings(), wall=lambda: WALL).headers()
    assert words in caught.value.hint


def test_a_small_difference_is_no_reason(script: Script, store: Store) -> None:
    """Seconds don't matter."""
    store(service_account(script.url))
    date = {"Date": formatdate(WALL + 20, usegmt=True)}
    script.answers(Reply(400, {"error": "invalid_grant"}, date))
    with pytest.raises(AuthError) as caught:
        ApplicationDefault(Settings(), wall=lambda: WALL).headers()
    assert "clock" not in caught.value.hint


@pytest.mark.parametrize("project", ["acme-ml", ""])
def test_the_token_of_a_finished_job(
    script: Script, store: Store, monkeypatch: pytest.MonkeyPatch, project: str
) -> None:
    """A CI job's identity ends with the job: plain words, whether it shows at look-up or later."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", project)
    store(federated(script.url))
    script.answers(Reply(400, {"message": "job completed"}))
    with pytest.raises(AuthError, match=r"can.t be refreshed: .+job completed") as caught:
        ApplicationDefault(Settings()).headers()
    assert "authenticate again in this job" in caught.value.hint


def test_federated_credentials_work(script: Script, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job's token is exchanged for one of the service."""
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "acme-ml")
    store(federated(script.url))
    granted = {"access_token": TOKEN, "expires_in": 3600, "issued_token_type": "t", "token_type": "Bearer"}
    script.answers(Reply(body={"value": "job"}), Reply(body=granted))
    assert ApplicationDefault(Settings()).headers()["Authorization"] == f"Bearer {TOKEN}"
    assert "cloud-platform" in script.requests[1].body


def test_an_identity_service_that_is_away(store: Store) -> None:
    """It's no fault of the credentials: the transport may try again."""
    store(service_account(f"http://127.0.0.1:{free_port()}"))
    with pytest.raises(UnavailableError, match="identity service can't be reached"):
        ApplicationDefault(Settings()).headers()


def test_the_universe_is_that_of_the_credentials(store: Store) -> None:
    """Sovereign clouds: google-auth signs the token itself, and requests go to the universe's hosts."""
    store(service_account("http://127.0.0.1:9", universe_domain="universe.example"))
    credentials = ApplicationDefault(Settings(universe="universe.example"))
    assert credentials.universe == "universe.example"
    assert credentials.headers()["Authorization"].startswith("Bearer ")


def test_universes_that_contradict(store: Store) -> None:
    """Credentials of one universe never go to another, whatever the environment says."""
    store(service_account("http://127.0.0.1:9"))
    with pytest.raises(AuthError, match=r"of googleapis\.com, but the universe domain is set to universe\.example"):
        ApplicationDefault(Settings(universe="universe.example"))


class _Source(google_credentials.Credentials):
    """A person's credentials, already logged in."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # google-auth is typed in parts
        self.token = "source"

    def refresh(self, request: object) -> None:
        raise AssertionError("they are fresh")


def test_impersonation_always_asks_for_the_scope(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """The account is asked for by name with the cloud-platform scope, and its token is the one that is sent."""
    asked: list[tuple[str, Any]] = []
    fetch = adc._TimedRequest.__call__

    def to_the_script(self: adc._TimedRequest, url: str, **options: Any) -> object:
        asked.append((url, json.loads(options["body"])))
        return fetch(self, script.url, **options)

    monkeypatch.setattr(google.auth, "default", lambda **_: (_Source(), None))
    monkeypatch.setattr(adc._TimedRequest, "__call__", to_the_script)
    script.answers(Reply(body={"accessToken": TOKEN, "expireTime": "2099-01-01T00:00:00Z"}))
    account = "deployer@acme-ml.iam.gserviceaccount.com"
    headers = ApplicationDefault(Settings(impersonate_service_account=account)).headers()
    assert headers["Authorization"] == f"Bearer {TOKEN}"
    ((url, body),) = asked
    assert account in url
    assert body["scope"] == list(adc.SCOPES)


def test_the_identity_service_has_our_timeout(script: Script, store: Store) -> None:
    """google-auth would wait two minutes for it."""
    store(service_account(script.url))
    script.answers(Reply(body={"access_token": "x" * 1000}, fault="drip_head"))
    with pytest.raises(UnavailableError, match="identity service"):
        ApplicationDefault(Settings(request_timeout=0.01)).headers()
