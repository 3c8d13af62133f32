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
    ("a Slack token", "xapp-" + "1-A0123456789"),
    ("an NVIDIA API key", "nvapi-" + ALNUM),
    ("a Docker token", "dckr_pat_" + ALNUM),
    ("an npm token", "npm_" + ALNUM),
    ("a PyPI token", "pypi-" + ALNUM + ALNUM),
    ("a Vault token", "hvs." + ALNUM),
    ("a Tailscale key", "tskey-" + ALNUM),
    ("a Stripe key", "sk_live_" + ALNUM),
    ("a private key", "AGE-SECRET-KEY-" + "1" + ALNUM.upper()),
    ("a private key", "LS0tLS1CRUdJTi" + ALNUM),
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
    ("export DB_PASS=hunter22", "export DB_PASS=[masked]"),
    ("MYSQL_PWD=hunter22 mysql", "MYSQL_PWD=[masked] mysql"),
    ("smtpPass=hunter22", "smtpPass=[masked]"),
    ('password = "hunter22"', 'password = "[masked]"'),
    ("password = hunter22", "password = [masked]"),
    ("  Password: hunter22\n", "  Password: [masked]\n"),
    ("token = 'abcdefgh'", "token = '[masked]'"),
    ("token: abc123  # mine", "token: [masked]  # mine"),
    ('os.environ["DB_PASSWORD"] = "hunter22"', 'os.environ["DB_PASSWORD"] = "[masked]"'),
    (r'echo "{\"password\": \"hunter22\"}"', r'echo "{\"password\": \"[masked]\"}"'),
    ("PASSWORD='pa$$w0rd'", "PASSWORD='[masked]'"),
    ("mysql --password hunter22 db", "mysql --password [masked] db"),
    ("wandb login --api-key abcdefg", "wandb login --api-key [masked]"),
    ("job --token=abcdef --client-secret abc123", "job --token=[masked] --client-secret [masked]"),
    (
        "create secret generic x --from-literal=password=hunter22",
        "create secret generic x --from-literal=password=[masked]",
    ),
    ("mysql -uroot -phunter22 db", "mysql -uroot -p[masked] db"),
    ("mysqldump -h x -p'two words' db", "mysqldump -h x -p'[masked]' db"),
    ("mariadb \\\n  -h x \\\n  -phunter22\n", "mariadb \\\n  -h x \\\n  -p[masked]\n"),
    ("sshpass -p hunter22 ssh x", "sshpass -p [masked] ssh x"),
    ("redis-cli -h x -a hunter22 ping", "redis-cli -h x -a [masked] ping"),
    ("docker login -u x -p hunter22 r", "docker login -u x -p [masked] r"),
    ("ldapsearch -x -w hunter22", "ldapsearch -x -w [masked]"),
    ("echo 'root:hunter22' | sudo chpasswd", "echo 'root:[masked]' | sudo chpasswd"),
    ("chpasswd <<<root:hunter22", "chpasswd <<<root:[masked]"),
    ("machine x login bob password hunter22", "machine x login bob password [masked]"),
    ("curl -fsS -u user:pw https://x", "curl -fsS -u user:[masked] https://x"),
    ('curl --user "user:p@ss w"', 'curl --user "user:[masked] w"'),
    ("curl -H 'X-Api-Key: abcdef12'", "curl -H 'X-Api-Key: [masked]'"),
    ("curl -H 'PRIVATE-TOKEN: abcdef12'", "curl -H 'PRIVATE-TOKEN: [masked]'"),
    ("curl -H 'Authorization: Basic abcdefgh=='", "curl -H 'Authorization: Basic [masked]'"),
    ("curl -H 'Authorization: abc123def'", "curl -H 'Authorization: [masked]'"),
    ('{"Authorization": "Bearer abcdef"}', '{"Authorization": "Bearer [masked]"}'),
    ("https://hooks.slack.com/" + "services/T0/B0/abcdefgh", "https://hooks.slack.com/services/[masked]"),
    ("https://discord.com/api/" + "webhooks/1/abcdefgh", "https://discord.com/api/webhooks/[masked]"),
    ("x.blob.example/c?sv=1&sig=abcdefghijklmnop%3D", "x.blob.example/c?sv=1&sig=[masked]"),
    ("AccountName=x;AccountKey=abcd1234+/==;Suffix=y", "AccountName=x;AccountKey=[masked];Suffix=y"),
    ("SharedAccessKey=abcd1234+/=", "SharedAccessKey=[masked]"),
    ("redis://:pw@host:6379/0", "redis://:[masked]@host:6379/0"),
    ("git clone https://abcdefghij0123456789@x", "git clone https://[masked]@x"),
    ('{"auths": {"x": {"auth": "dXNlcjpwdw=="}}}', '{"auths": {"x": {"auth": "[masked]"}}}'),
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
    "DB_PASS=",
    'DB_PASS=""',
    'DB_PASS="${DB_PASS:-}"',
    'password = ""',
    "password = getpass.getpass()",
    'token = os.environ["TOKEN"]',
    "token = token_of[0]",
    "connect(password=password, token=token)",
    'f"password={password}"',
    "password=CHANGEME",
    "password: your-password-here",
    'password="********" TOKEN=xxxxxxxx',
    "SECRET=my-database-password",
    'token: "{{ vault_token }}"',
    "PASSWORD='$FROM_OUTSIDE'",
    'read -sp "Password: " pw; echo "done"',
    'if [ -z "$PASSWORD" ]; then echo "no password"; fi',
    "# --password is required, use --token to log in",
    "docker login -u _json_key --password-stdin <key",
    "mount --password-file /run/x",
    "mysql -p db",
    'mysql -uroot -p"$PW" -P 3306',
    "mkdir -p /data; docker run -p 8080:80 -u 1000:1000 x",
    'curl -u "$USER:$PW" https://x',
    "curl -u user: https://x",
    "redis://host:6379/0 redis://:$PW@host",
    "X-aws-ec2-metadata-token-ttl-seconds: 21600",
    'curl -H "X-aws-ec2-metadata-token: $TOKEN"',
    'curl -H "Authorization: Bearer $(gcloud auth print-access-token)"',
    "authorization: required",
    'PASS=0; PASS=$((PASS+1)); echo "PASS: $n"; BYPASS=abcdef',
    "PWD=/root",
    "private_key = /etc/x.key",
    'tokens = 8192; tokenizer = "gpt2"',
    "scontrol token lifespan=3600",
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


FILES = [
    "~/.ssh/id_rsa",
    "$HOME/.ssh/id_ed25519",
    "/etc/munge/munge.key",
    "/etc/slurm/jwt_hs256.key",
    "/etc/ssl/private/server.pem",
    "tls.key",
    "/root/service-account.json",
    "sa-key.json",
    "credentials.json",
    "/root/.docker/config.json",
    "/root/.netrc",
    "x.keytab",
]


@pytest.mark.parametrize("path", FILES)
def test_the_path_of_a_secret(path: str) -> None:
    """It is warned of once, however often it is named, and needs no mask: it is only a name."""
    text = f"install -m 600 {path} /x\nchown slurm {path}\n"
    (span,) = secrets.find(text)
    assert (text[span.start : span.end], span.kind) == (path, "the path of a secret")
    assert text.index(path) == span.start
    assert secrets.mask(text) == text


@pytest.mark.parametrize(
    "path",
    ["id_rsa.pub", "/etc/ssl/certs/ca-bundle.pem", "https://x/y/key.pem", "package.json", "nvidia.key", "x.pemx"],
)
def test_files_for_everybody(path: str) -> None:
    """Public keys, certificates, what is downloaded: no warning."""
    assert secrets.find(f"cat {path}") == ()


@pytest.mark.parametrize(
    "name",
    ["AccountingStoragePass", "JobCompPass", "job_comp_pass", "jobcomppass", "db-password", "API_KEY", "Secrets"],
)
def test_a_name_that_says_secret(name: str) -> None:
    """Whatever is called so is masked whole, unless it says where the secret is to be found, or nothing."""
    assert secrets.mask("hunter", name) == "[masked]"
    for harmless in ("", "/run/munge/munge.socket.2", "$PASS", "none"):
        assert secrets.values(harmless, name) == ()


@pytest.mark.parametrize(
    "name", ["", "JobCompPassScript", "Compass", "BypassTokenless", "TokenLifespan", "KeepAliveTime"]
)
def test_a_name_that_doesnt(name: str) -> None:
    """What stands there is looked at as any text is."""
    assert secrets.mask("hunter", name) == "hunter"
    assert secrets.mask("password=hunter22", name) == "password=[masked]"


def test_letters_that_grow_when_they_are_lowered() -> None:
    """Places stay right behind letters that have more characters in lower case."""
    assert secrets.mask("\u0130\u0130 PASSWORD=hunter22") == "\u0130\u0130 PASSWORD=[masked]"
