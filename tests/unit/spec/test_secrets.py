"""What looks like a secret. The samples are put together here, so that no scanner takes this file for a leak."""

from __future__ import annotations

import pytest

from reconciler.spec import secrets

ALNUM = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
KEY = "PRIVATE KEY"

SECRETS = [
    ("a private key", f"-----BEGIN RSA {KEY}-----\nMIIE\n-----END RSA {KEY}-----"),
    ("a private key", f"-----BEGIN {KEY}-----\nnever ends"),
    ("a private key", f"-----BEGIN PGP {KEY} BLOCK-----\nx\n-----END PGP {KEY} BLOCK-----"),
    ("a Google API key", "AIza" + ALNUM[:35]),
    ("a Google access token", "ya29." + ALNUM),
    ("an OAuth client secret", "GOCSPX-" + ALNUM[:28]),
    ("an AWS access key", "AKIA" + "ABCDEFGH12345678"),
    ("a GitHub token", "ghp_" + ALNUM),
    ("a GitHub token", "github_pat_" + ALNUM),
    ("a GitLab token", "glpat-" + ALNUM[:20]),
    ("a Slack token", "xoxb-" + "1234567890-abc"),
    ("a Hugging Face token", "hf_" + ALNUM[:34]),
    ("an API key", "sk-" + ALNUM),
    ("a signed token (JWT)", ".".join(["eyJ" + ALNUM[:20], ALNUM[:20], ALNUM[:20]])),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[kind for kind, _ in SECRETS])
def test_by_its_looks(kind: str, secret: str) -> None:
    """The whole of it is found, wherever it stands, and masked."""
    text = f"echo {secret}\n" if "never" not in secret else f"echo {secret}"
    assert [(span.kind, text[span.start : span.end].strip()) for span in secrets.find(text)] == [(kind, secret)]
    assert secrets.mask(text).strip() == "echo [masked]"


IN_CONTEXT = [
    ("curl -H 'Authorization: Bearer abcdef123456'", "curl -H 'Authorization: Bearer [masked]'"),
    ("git clone https://bob:hunter2@example.com/x", "git clone https://bob:[masked]@example.com/x"),
    ("export DB_PASSWORD='correct-horse'", "export DB_PASSWORD='[masked]'"),
    ('passphrase="two words"', 'passphrase="[masked]"'),
    ("mysql --password=hunter22 -e x", "mysql --password=[masked] -e x"),
    ('{"password": "hunter22", "a": 1}', '{"password": "[masked]", "a": 1}'),
    ("WANDB_API_KEY=abcdef0123456789;", "WANDB_API_KEY=[masked];"),
    ("AWS_SECRET_ACCESS_KEY=abc/def+ghi=jkl", "AWS_SECRET_ACCESS_KEY=[masked]"),
    ("client_secret: 'abcdef123'", "client_secret: '[masked]'"),
    ("TOKEN=abc123def && PASSWORD=123456", "TOKEN=[masked] && PASSWORD=[masked]"),
]


@pytest.mark.parametrize(("text", "masked"), IN_CONTEXT, ids=[case[0] for case in IN_CONTEXT])
def test_by_what_it_is_called(text: str, masked: str) -> None:
    """The value alone is the secret; what it is called stays."""
    assert secrets.mask(text) == masked


HARMLESS = [
    "TOKEN=$(gcloud secrets versions access latest --secret=my-token)",
    "PASSWORD=$DB_PASSWORD",
    'PASSWORD="${DB_PASSWORD}"',
    "PASSWORD=`cat file`",
    "gcloud secrets versions access latest --secret my-database-password",
    "TOKEN_FILE=/run/token",
    "TOKEN=/var/run/token",
    "MAX_TOKENS=1000000 TOKEN=1000000",
    "password=<your password>",
    "password=",
    "passwd: files systemd",
    "token = json.loads(text)",
    'curl -H "Authorization: Bearer $TOKEN"',
    "https://example.com:8080/a@b",
    'password="$(cat x) y"',
    "the password must be changed",
    "echo AIza",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_the_right_way_is_left_alone(text: str) -> None:
    """Variables, commands, files, placeholders and prose are no secrets."""
    assert secrets.find(text) == ()


def test_overlapping_finds_are_one() -> None:
    """A key file in JSON is one secret, from its first sign to its last."""
    text = f'{{"private_key": "-----BEGIN {KEY}-----abc-----END {KEY}-----", "x": 1}}'
    assert secrets.mask(text) == '{"private_key": "[masked]", "x": 1}'


def test_finds_that_overlap_in_part_are_joined() -> None:
    """Nothing of either is left."""
    text = "token=x1AIza" + ALNUM[:35]
    assert secrets.mask(text) == "token=[masked]"
