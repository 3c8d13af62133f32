"""What looks like a secret. The samples are put together here, so that no scanner takes this file for a leak."""

from __future__ import annotations

import pytest

from reconciler.spec import secrets

ALNUM = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5"
KEY = "PRIVATE KEY"
CRYPTED = "$6$" + "saltsalt$" + ALNUM + ALNUM
WORD = "S3cr3t" + "Pw9"
HEX = "0123456789abcdef" * 2 + "01234567"

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
    ("a SendGrid key", ".".join(["SG", ALNUM[:22], ALNUM + "_012345"])),
    ("a Databricks token", "dapi" + "0123456789abcdef" * 2),
    ("a DigitalOcean token", "dop_v1_" + "0123456789abcdef" * 4),
    ("a password's hash", CRYPTED),
    ("a password's hash", "$5$rounds=5000$" + "salt$" + ALNUM + "ABCDEFG"),
    ("a password's hash", "$1$abcdefgh$" + ALNUM[:22]),
    ("a password's hash", "$2b$12$" + ALNUM + ALNUM[:17]),
    ("a password's hash", "$y$j9T$" + ALNUM[:22] + "$" + ALNUM),
    ("a password's hash", "$argon2id$v=19$m=65536,t=3,p=4$" + ALNUM),
    ("a password's hash", "{SSHA}" + ALNUM[:32]),
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


PUT_TOGETHER = [
    (f"MYSQL_ROOT_PASSWORD='{WORD}`x'", "MYSQL_ROOT_PASSWORD='[masked]'"),
    (f"PASSWORD='${WORD}'", "PASSWORD='[masked]'"),
    (f"PASSWORD='{WORD}\\'", "PASSWORD='[masked]'"),
    (f"PASSWORD=$'{WORD}'", "PASSWORD=$'[masked]'"),
    (f"mysql -p'{WORD}$x'", "mysql -p'[masked]'"),
    (f"curl -u 'bob:{WORD}$x'", "curl -u 'bob:[masked]'"),
    (f"PASSWORD=${{PASSWORD:-{WORD}}}", "PASSWORD=[masked]"),
    (f': "${{DB_PASSWORD:={WORD}}}"', ': "${DB_PASSWORD:=[masked]}"'),
    (f"PASSWORD=${{A:-${{B:-{WORD}}}}}", "PASSWORD=[masked]"),
    ("MY_PW=${1:-hunter22}", "MY_PW=[masked]"),
    ("PASSWORD=S3cr3t$(hostname)", "PASSWORD=[masked]"),
    ("PASSWORD=hunter$(hostname)", "PASSWORD=[masked]"),
    (f'PASSWORD="$(hostname){WORD}"', 'PASSWORD="[masked]"'),
    (f"PASSWORD=`hostname`{WORD}", "PASSWORD=[masked]"),
    ("TOKEN=abc123def$USER", "TOKEN=[masked]"),
    (f"PASSWORD=/{WORD}", "PASSWORD=[masked]"),
    ("PASSWORD=/hunter22", "PASSWORD=[masked]"),
    ("AWS_SECRET_ACCESS_KEY=/abc123def/ghi456+jkl", "AWS_SECRET_ACCESS_KEY=[masked]"),
    *((f"PASSWORD='{a}{WORD}{b}'", "PASSWORD='[masked]'") for a, b in ("{}", "[]", "<>", "@@", "%%")),
    ("API_KEY=live-example.com-0123456789abcdef", "API_KEY=[masked]"),
    (f"API_KEY=dummy-{WORD}", "API_KEY=[masked]"),
    (f"PASSWORD=$(x --password {WORD})", "PASSWORD=$(x --password [masked])"),
    *((f"{name}=hunter22", f"{name}=[masked]") for name in ("ROOT_PW", "PW", "rootpw", "LDAP_PWD", "dbpwd")),
    ("PASSWORD2=hunter22", "PASSWORD2=[masked]"),
]


@pytest.mark.parametrize(("text", "masked"), PUT_TOGETHER, ids=[case[0] for case in PUT_TOGETHER])
def test_what_only_looks_like_a_reference(text: str, masked: str) -> None:
    """Signs between single quotes, defaults, a literal beside a variable, brackets, a single slash: secrets still."""
    assert secrets.mask(text) == masked


GIVEN_TO_COMMANDS = [
    f"echo 'root:[{CRYPTED}]' | chpasswd -e",
    f"useradd -p '[{CRYPTED}]' bob",
    f"usermod --password '[{CRYPTED}]' bob",
    f"ROOT_PASSWD_HASH='[{CRYPTED}]'",
    f'usermod -p "[{CRYPTED.replace("$", chr(92) + "$")}]" bob',
    f"aws configure set aws_secret_access_key [{ALNUM[:20]}/{ALNUM}EXAMPLEKEY]",
    f"git config --global x.token [{WORD}]",
    f"rclone config create r s3 provider AWS secret_access_key [{WORD}]",
    f"rclone config create x sftp host h pass [{WORD}]",
    f"rclone obscure [{WORD}]",
    f"mc alias set m https://minio.x.org:9000 bob [{WORD}]",
    f"wandb login --relogin [{HEX}]",
    f"printf '[{WORD}]' | passwd --stdin root",
    f"printf '%s\\n' [{WORD}] | passwd --stdin root",
    f"echo -e '[{WORD}\\n{WORD}]' | passwd bob",
    f'read -r PASSWORD <<< "[{WORD}]"',
    f"read -r PASSWORD <<< [{WORD}]",
    f"echo [{WORD}] | docker login -u x --password-stdin r",
    f"docker login --password-stdin <<< [{WORD}]",
    f"docker login --password-stdin r <<EOF\n[{WORD}\n]EOF\n",
    f"chpasswd <<'EOF'\n[bob:$x\nroot:{WORD}\n]EOF\n",
    f'echo "$USER:[{WORD}]" | chpasswd',
    f"echo [{WORD}] | sudo -S id",
    f'bash -c "echo [{WORD}] | sudo -u root -S id"',
    f'echo "[{WORD}]" | gpg --batch --passphrase-fd 0 x',
    f"echo '[{WORD}]' | cryptsetup luksOpen /dev/x y -",
    f"printf '%s' '[{WORD}]' | gcloud secrets create x --data-file=-",
    f"smbclient -U u%[{WORD}] //h/s",
    f"smbclient //h/s -U 'u%[{WORD}]'",
    f"ssh-keygen -t rsa -N '[{WORD}]' -f x",
    f"openssl enc -aes-256-cbc -k [{WORD}]",
    f"openssl enc -aes-256-cbc -pass [pass:{WORD}]",
    f"openssl rsa -passin 'pass:[{WORD}$x]'",
    f"openssl passwd -6 -salt xyz [{WORD}]",
    f"curl -H 'Cookie: [session={HEX}]'",
    f"curl -b '[session={HEX}]' https://x",
    f"setenv DB_PASSWORD [{WORD}]",
    f"lftp -u bob,[{WORD}] h",
    f"zip -P [{WORD}] a b",
    f"ipmitool -U a -P [{WORD}] x",
    f"id $(mysql --password=[{WORD}])",
]


@pytest.mark.parametrize("text", GIVEN_TO_COMMANDS)
def test_what_commands_are_given(text: str) -> None:
    """As an argument, on standard input, in a header: what stands in brackets here is masked, and nothing else."""
    before, _, rest = text.partition("[")
    secret, _, after = rest.rpartition("]")
    assert secrets.mask(before + secret + after) == f"{before}[masked]{after}"


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
    [
        "AccountingStoragePass",
        "JobCompPass",
        "job_comp_pass",
        "jobcomppass",
        "db-password",
        "API_KEY",
        "Secrets",
        "ROOT_PW",
        "ldapPwd",
        "pw",
    ],
)
def test_a_name_that_says_secret(name: str) -> None:
    """Whatever is called so is masked whole, unless it says where the secret is to be found, or nothing."""
    assert secrets.mask("hunter", name) == "[masked]"
    for harmless in ("", "/run/munge/munge.socket.2", "$PASS", "none"):
        assert secrets.values(harmless, name) == ()


@pytest.mark.parametrize(
    "name", ["", "JobCompPassScript", "Compass", "BypassTokenless", "TokenLifespan", "KeepAliveTime", "npw", "PwdDir"]
)
def test_a_name_that_doesnt(name: str) -> None:
    """What stands there is looked at as any text is."""
    assert secrets.mask("hunter", name) == "hunter"
    assert secrets.mask("password=hunter22", name) == "password=[masked]"


def test_letters_that_grow_when_they_are_lowered() -> None:
    """Places stay right behind letters that have more characters in lower case."""
    assert secrets.mask("\u0130\u0130 PASSWORD=hunter22") == "\u0130\u0130 PASSWORD=[masked]"


# Lines as they stand in prologs, epilogs, startup scripts and what configures machines.
ORDINARY = r"""
mkdir -p /var/spool/slurm/x1y2z3a
mkdir -p "$HOME/.cache/a1b2c3d4"
ssh -p 2222 host
ssh -i "$HOME/key" -p $PORT user@host
cp -p /a/b /c/d
cp -pr /a/b1c2d3/x /c/d
install -d -m 0700 -o slurm -g slurm /var/spool/slurmd
scp -P 2222 a1b2c3d4 host:/x
rsync -a --password-file=/root/rsync.secret src dst
rsync -a --password-file /root/rsync.secret src dst
borg create --passphrase-file /root/x
PWD=/root/a1b2c3d4
OLDPWD=/x/y1z2w3a4
OLD_PWD=$PWD
SAVED_PWD="$(pwd)"
cd "$PWD/build"
echo "$PWD"
pwd=$(pwd)
pw=$(getent passwd "$SLURM_JOB_USER" | cut -d: -f6)
getent passwd "$USER" | cut -d: -f6
grep -q "^$SLURM_JOB_USER:" /etc/passwd
awk -F: '$3 >= 1000 {print $1}' /etc/passwd
passwd -l root
usermod -aG docker,video "$USER"
useradd -m -s /bin/bash -u 1001 bob
useradd --system --home-dir /var/lib/munge munge
echo "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  x.tar.gz" | sha256sum -c
SHA256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
git checkout 8f2c1d4e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d
COMMIT=8f2c1d4e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d
uuid=123e4567-e89b-12d3-a456-426614174000
mount UUID=123e4567-e89b-12d3-a456-426614174000 /data
docker pull nvcr.io/nvidia/pytorch@sha256:8f2c1d4e9b7a6c5d4e3f2a1b0c9d8e7f6a5b4c3d8f2c1d4e9b7a6c5d4e3f2a1b
docker run --rm -p 8080:80 -u 1000:1000 -v /a:/b image:1.2.3
docker login -u _json_key --password-stdin https://us-docker.pkg.dev < /run/key
gcloud auth print-access-token | docker login -u oauth2accesstoken --password-stdin https://us-docker.pkg.dev
gcloud secrets versions access latest --secret=wandb-key | wandb login
wandb login --host=https://wandb.acme-internal.com
wandb login "$WANDB_API_KEY"
aws configure set region us-east-1
aws configure set aws_secret_access_key "$AWS_SECRET_ACCESS_KEY"
aws configure set aws_access_key_id "$(gcloud secrets versions access latest --secret=aws-id)"
git config --global credential.helper store
# It is also possible to configure git to use gcloud as a credential helper
git config --global user.email bot@acme-ml.com
gcloud config set auth/access_token_file /run/token
gcloud config set project acme-ml
rclone config create gcs "google cloud storage" env_auth true
rclone copy gcs:bucket/data1v2x3 /scratch/data
mc alias set m "$URL" "$ACCESS" "$SECRET"
mc cp m/bucket/a1b2c3d4 /x
PASSWORD="${PASSWORD:-}"
PASSWORD=${PASSWORD:?not set}
: "${DB_PASSWORD:?must be set}"
: "${DB_PASSWORD:=$(gcloud secrets versions access latest --secret=db)}"
TOKEN=${TOKEN:-$(cat /run/token)}
TOKEN=${TOKEN:-/run/token}
echo "token: ${TOKEN:+set}"
echo "token is ${TOKEN:-unset}"
curl ${TOKEN:+-H "Authorization: Bearer $TOKEN"} https://x
TOKEN="$(curl -sf -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token)"
TOKEN=$(curl -s -X PUT "http://169.254.169.254/latest/api/token" -H "X-aws-ec2-metadata-token-ttl-seconds: 21600")
TOKEN=$(jq -r .access_token <<< "$ANSWER")
read -r PASSWORD < /run/secret
read -r TOKEN <<< "$(cat /run/secret)"
read -rsp "Password: " PASSWORD
read -r USER PW <<< "$LINE"
printf '%s' "$PASSWORD" | passwd --stdin root
echo "$PASSWORD" | sudo -S true
echo "root:$PASSWORD" | chpasswd
echo "$USER:$(openssl rand -base64 12)" | chpasswd
printf '%s:%s\n' "$U" "$PW" | chpasswd
echo done | tee -a /var/log/prolog.log
echo starting x1y2z3a4 | sudo tee /var/log/x
yes | ssh-keygen -q -t ed25519 -N '' -f /root/k
ssh-keygen -t rsa -b 4096 -N "" -f "$HOME/k"
openssl rand -hex 32
openssl req -x509 -newkey rsa:4096 -nodes -keyout /x/k -out /x/c -days 365
openssl enc -d -aes-256-cbc -pass env:PW -in x
openssl enc -d -aes-256-cbc -pass file:/run/pw -in x
openssl version && curl -k https://localhost:8443/healthz1a2b3c4
smbclient -U "$USER%$PW" //h/s
smbclient -A /root/smb.cred //h/s
mount -t cifs -o credentials=/root/.cifs //h/s /mnt
curl -b cookies.txt -c cookies.txt https://x
wget --header "Cookie: oraclelicense=accept-securebackup-cookie" https://x/y
curl -u "$USER:$PASS" https://x
curl -fsSL https://x.org/install.sh | bash -s -- --version v1.2.3
PASSWORD_FILE=/run/secrets/db_password
MIN_PASSWORD_LENGTH=12
PASS=1
PASS=$((PASS+1))
pass=0; fail=0
echo "PASS: $pass FAIL: $fail"
result=PASS
BYPASS=1a2b3c4d
tokens=128000 MAX_TOKENS=8192 TOKENS_PER_BATCH=524288
python train.py --tokenizer gpt2 --max-tokens 4096 --token-dir /data/tok1v2
export TOKENIZERS_PARALLELISM=false
export HF_TOKEN_PATH=/run/hf
export HF_TOKEN="$(< /run/hf)"
export SLURM_JWT=$(scontrol token lifespan=3600 | cut -d= -f2)
export NCCL_SOCKET_IFNAME=enp0s12 NCCL_IB_HCA=mlx5_0,mlx5_1
export CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7
export LD_LIBRARY_PATH=/usr/local/nvidia/lib64:$LD_LIBRARY_PATH
nvidia-smi --query-gpu=uuid,ecc.errors.uncorrected.volatile.total --format=csv,noheader
dcgmi diag -r 1 -j | jq -e '.["DCGM GPU Diagnostic"]'
scontrol show job "$SLURM_JOB_ID"
logger -t prolog "job $SLURM_JOB_ID on $(hostname -s)"
find /tmp -user "$SLURM_JOB_USER" -delete
[ -d "/scratch/$SLURM_JOB_ID" ] || mkdir -p "/scratch/$SLURM_JOB_ID"
chown "$SLURM_JOB_UID:$SLURM_JOB_GID" "/scratch/$SLURM_JOB_ID"
curl -H "Authorization: Bearer ${TOKEN}" https://x/v1beta1/y
curl -H "X-Vault-Token: $VAULT_TOKEN" "$VAULT_ADDR/v1/secret/data/a1b2c3"
export VAULT_TOKEN="$(vault login -token-only -method=gcp role=node)"
SECRET=projects/123/secrets/db/versions/1
SECRET="projects/$PROJECT/secrets/db-v1b2c3/versions/latest"
SECRET_NAME=db-password-v1b2c3
TOKEN_URL="https://x/v1beta1/token?x=$1"
API_KEY="$(gcloud secrets versions access latest --secret="api-key-1a2b3c4d")"
API_KEY=YOUR_API_KEY
API_KEY=<your-api-key>
API_KEY=example-key
API_KEY="{{ lookup('env', 'API_KEY') }}"
password: "{{ db_password }}"
password = input("Password: ")
f"password={self.password}"
f"token={token}&n={n1}"
"password": os.environ["DB_PASSWORD"],
password='$DB_PASSWORD'
echo "password='$pw'" > /run/my.cnf
echo "password='${PW}'" >> x
PASSWORD="$HOME/x1y2z3a/pw"
KEYFILE=$HOME/.config/a1b2c3/key
TOKEN="$DIR/abc1d2e3f"
TOKEN=kubeadm-$(openssl rand -hex 8)
TOKEN="$PROJECT-us-central1-a"
AUTH_TOKEN="Bearer $(gcloud auth print-access-token)"
PASSWORD="$(openssl rand -base64 24)"
PASSWORD=$(tr -dc A-Za-z0-9 </dev/urandom | head -c 24)
PASSWORD=$RANDOM$RANDOM
PW=$(< /run/pw)
echo $1$2 ${1}$2 $1$extension_of_file
sed -i 's/^PasswordAuthentication.*/PasswordAuthentication no/' /etc/ssh/sshd_config
sed -i "s/@TOKEN@/$TOKEN/" x.conf
sed -i 's/^#\?PermitRootLogin .*/PermitRootLogin prohibit-password/' /etc/ssh/sshd_config
echo 'AuthorizedKeysCommand /usr/bin/x' >> /etc/ssh/sshd_config
mysql -uroot -p"$PW" -e 'SELECT 1'
mysqladmin --defaults-file=/root/x.cnf ping
redis-cli -h 10.0.0.1 ping
unzip -q -P "$ZIP_PW" a.zip
zip -r a1b2c3d4.zip dir
ipmitool -I lanplus -H "$h" -U admin -f /run/pw chassis status
kubectl create secret generic db --from-file=password=/run/pw
kubectl create secret docker-registry x --docker-password="$(cat /run/key)"
helm upgrade x --set auth.existingSecret=db-v1b2c3
enroot import docker://nvcr.io#nvidia/pytorch:24.05-py3
srun --container-image=nvcr.io#nvidia/nemo:24.05 --mpi=pmix hostname
apt-key adv --keyserver hkp://x --recv-keys 9DC858229FC7DD38854AE2D88D81803C0EBFCD88
curl -fsSL https://download.docker.com/linux/ubuntu/gpg | gpg --dearmor -o /usr/share/keyrings/docker.gpg
gpg --batch --passphrase-file /run/pw -d x.gpg
sudo -u slurm -n true
echo 1 | sudo tee /proc/sys/vm/drop_caches
echo 3 > /proc/sys/vm/drop_caches
su - "$USER" -c 'echo $HOME'
keytool -list -storepass "$PW"
chage -M 90 bob
pam_tally2 --user bob --reset
echo "Enter password for $USER:"
if [[ $PASSWORD == "" ]]; then exit 1; fi
if [ "$TOKEN" = "null" ]; then exit 1; fi
case "$pass" in yes) ;; esac
python -c "import secrets; print(secrets.token_hex(16))"
auth_key_env=AUTH0KEY1
lustre_mount=10.1.2.3@tcp:/lustre1a2b
CREDENTIALS=/etc/gcp/sa1b2c3/cred
export GOOGLE_APPLICATION_CREDENTIALS=$HOME/.config/gcloud/application_default
CREDENTIAL_HELPER=gcr1a2b3c
openssl passwd -6 -salt abc "$PW"
openssl passwd -6 -salt abc -stdin
echo x | grep root /etc/passwd
curl -H "Cookie: theme=dark"
"""


@pytest.mark.parametrize("line", ORDINARY.strip("\n").split("\n"))
def test_ordinary_lines_raise_no_alarm(line: str) -> None:
    """Folders, options of other commands, checksums, ids, and secrets that come from where they should."""
    assert secrets.find(line) == ()


@pytest.mark.parametrize("unit", ["pass=", "pass=$(", "pass=$(a)", "pass='$x';", "${PASSWORD:-", "echo x|", "sudo -S "])
def test_a_script_that_is_one_long_line(unit: str) -> None:
    """However often something begins to look like a secret, the end is reached; there is a limit to what is tried."""
    text = unit * 500 + "\npassword=hunter22"
    assert secrets.mask(text).endswith("\npassword=[masked]")


@pytest.mark.parametrize(
    ("line", "quote"),
    [("", ""), ("a 'b", "'"), ("a 'b'", ""), ("a \"it's", '"'), ('a "\\"" \'', "'"), ("a \\' b", ""), ("'a\\", "'")],
)
def test_the_quote_that_is_open(line: str, quote: str) -> None:
    """As the shell reads them: a backslash takes the next sign out, but between single quotes."""
    assert secrets._quote(line) == quote
