"""The tables of `secrets`: what secrets look like, what they are called, and the files that hold them.

Where a pattern has a group, the group is the secret, and what stands around it tells what it is. Each names words
without which it can't match: a script is searched for these, which is quick, and the pattern is tried on their lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from reconciler.spec.secret_values import is_literal, is_mixed, is_no_name, is_password, is_token

PATH = "the path of a secret"  # a kind: only a name, worth a warning and no mask


class Pattern(NamedTuple):
    """`words` are in lower case. `check` is asked about the group. `whole`: it is tried on the whole text.

    `regex` is a text, since most are never tried, and to compile them all takes longer than to plan a cluster.
    """

    kind: str
    words: tuple[str, ...]
    regex: str
    check: Callable[[str], bool] | None = None
    whole: bool = False


def _looks(kind: str, word: str, regex: str, check: Callable[[str], bool] | None = None) -> Pattern:
    return Pattern(kind, (word,), regex, check)


_BY_LOOKS = (
    Pattern(
        "a private key",
        ("private key",),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        whole=True,
    ),
    _looks("a private key", "ls0tls1crudjti", r"LS0tLS1CRUdJTi[0-9A-Za-z+/=]{20,}"),  # base64 of -----BEGIN
    _looks("a private key", "age-secret-key-", r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _looks("a Google API key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    _looks("a Google access token", "ya29.", r"\bya29\.[0-9A-Za-z_.-]{20,}"),
    _looks("an OAuth client secret", "gocspx-", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    _looks("an AWS access key", "ia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _looks("a GitHub token", "gh", r"\bgh[pousr]_[0-9A-Za-z]{36,}"),
    _looks("a GitHub token", "github_pat_", r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    _looks("a GitLab token", "glpat-", r"\bglpat-[0-9A-Za-z_-]{20,}"),
    _looks("a Slack token", "xox", r"\bxox[abeprs]-[0-9A-Za-z-]{10,}"),
    _looks("a Slack token", "xapp-", r"\bxapp-\d-[0-9A-Za-z-]{10,}"),
    _looks("a Hugging Face token", "hf_", r"\bhf_[0-9A-Za-z]{30,}"),
    _looks("an NVIDIA API key", "nvapi-", r"\bnvapi-[0-9A-Za-z_-]{20,}"),
    _looks("a Docker token", "dckr_pat_", r"\bdckr_pat_[0-9A-Za-z_-]{20,}"),
    _looks("an npm token", "npm_", r"\bnpm_[0-9A-Za-z]{30,}"),
    _looks("a PyPI token", "pypi-", r"\bpypi-[0-9A-Za-z_-]{40,}"),
    _looks("a Vault token", "hvs.", r"\bhvs\.[0-9A-Za-z_-]{20,}"),
    _looks("a Tailscale key", "tskey-", r"\btskey-[0-9A-Za-z-]{16,}"),
    _looks("a Stripe key", "k_live_", r"\b[rs]k_live_[0-9A-Za-z]{16,}"),
    _looks("an API key", "sk-", r"\bsk-[0-9A-Za-z_-]{32,}"),
    _looks("a signed token (JWT)", "eyj", r"\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
    _looks("a webhook's URL", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{8,})"),
    _looks("a webhook's URL", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/(\d+/[\w-]{8,})"),
    _looks("a webhook's URL", "webhook.office.com", r"webhook\.office\.com/(webhookb2/[\w@/-]{8,})"),
    _looks("a signed URL", "sig", r"(?i)[?&](?:sig|[a-z-]*signature)=([0-9a-z%+/=_-]{16,})"),
    _looks(
        "a password in a URL",
        "://",
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'$]{0,100}:(?!pass(?:word|wd)?@)([^\s/@\"'${}<>]{1,100})@",
    ),
    _looks("a token in a URL", "://", r"://([0-9A-Za-z_-]{20,100})@", is_mixed),
)

# A value as it is given: between quotes, which JSON inside of a script escapes, or as a word that is whole.
_QUOTED = r"""(?P<q>\\*["'])(?![\s;,)&|])(?P<quoted>(?:(?!(?P=q))(?:\\.|[^\n])){1,4096})(?P=q)"""
_WORD = r"""(?P<word>[^\s"'`$<>{}()\[\]|;&*\\/][^\s"'`<>{}()|;&\\]*)(?=["'\s;&|\\]|\Z)"""
_VALUE = f"(?:{_QUOTED}|{_WORD})"
_OWNERS = ("db", "user", "sql", "root", "admin", "smtp", "ldap", "bind", "proxy", "http", "storage", "comp")
_PASSWORDS = (
    r"(?:password|passwd|passphrase|passwort|passcode|(?<=[a-z0-9][_.-])pwd|"
    rf"(?:(?<![a-z])|{'|'.join(f'(?<={owner})' for owner in _OWNERS)})pass)"
)
_KEYS = (
    r"(?:token|api[_-]?key|access[_-]?key(?:[_-]id)?|"
    r"(?:secret|private|auth|encryption|signing|account|master)[_-]?(?:access[_-]?)?key|_auth|credentials?)"
)
_NAMES = (
    (
        "a password",
        ("pass", "pwd"),
        _PASSWORDS,
        is_password,
    ),
    (
        "a token or key",
        ("token", "key", "_auth", "credential"),
        _KEYS,
        is_token,
    ),
    (  # `--secret=NAME` names one
        "a token or key",
        ("secret",),
        r"(?:(?<=[a-z0-9][_-])|(?<=client)|(?<=shared)|(?<![a-z-]))secret",
        is_no_name,
    ),
)


def _called() -> Iterator[Pattern]:
    """`NAME=value`, `"name": "value"`, `name = 'value'`; `name: v4lue` on a line of its own; `--name value`."""
    for kind, words, name, check in _NAMES:
        given = rf"""(?i){name}(?:=|\\*["']?\]?[ \t]*(?:[:=]=?|=>)[ \t]*(?=\\*["'])){_VALUE}"""
        yield Pattern(kind, words, given, check)
        line = rf"(?im){name}[ \t]*[:=][ \t]*{_WORD}[ \t]*\r?(?:#.*)?$"
        yield Pattern(kind, words, line, _both(is_mixed, check))
        option = rf"(?i)(?<![\w-])--?(?:[a-z0-9]+[_-]){{0,4}}{name}[ \t]+(?!-){_VALUE}"
        yield Pattern(kind, words, option, check)


def _both(one: Callable[[str], bool], other: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda value: one(value) and other(value)


_ON = r"(?:[^\n;|]|\\\n){0,400}?[ \t\n]"  # further on in a command, which may have several lines
_AFTER_NAME = r"""[^\s:"'$]+:([^\s"'`]+)"""


def _command(words: tuple[str, ...], regex: str) -> Pattern:
    return Pattern("a password", words, regex, is_literal)


_IN_COMMANDS = (
    _command(("curl",), rf"""\bcurl\b{_ON}(?:-u|--(?:proxy-)?user)[ =]?["']?{_AFTER_NAME}"""),
    _command(("mysql", "mariadb"), rf"\b(?:mysql|mariadb)[\w-]*{_ON}-p{_VALUE}"),
    _command(("sshpass",), rf"\bsshpass[ \t]+-p[ \t]*{_VALUE}"),
    _command(("redis-cli",), rf"\bredis-cli\b{_ON}-a[ \t]+{_VALUE}"),
    _command(("mongo",), rf"\bmongo\w*{_ON}-p[ \t]+{_VALUE}"),
    _command((" login",), rf"\b(?:docker|podman|skopeo|oras|registry) login\b{_ON}-p[ \t]+{_VALUE}"),
    _command(("useradd", "usermod"), rf"\buser(?:add|mod)\b{_ON}-p[ \t]+{_VALUE}"),
    _command(("ldap",), rf"\bldap(?:search|add|modify|delete|passwd|whoami)\b{_ON}-w[ \t]+{_VALUE}"),
    _command(("chpasswd",), rf"""{_AFTER_NAME}["']?\s*\|\s*(?:sudo\s+)?chpasswd"""),
    _command(("chpasswd",), rf"""chpasswd[^\n]*<<<\s*["']?{_AFTER_NAME}"""),
    _command(("machine",), r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'`]+)"),
)

_HEADER = r"""(?i)\bauthorization\\*["']?\s*[:=]\s*\\*["']?"""
_CREDENTIAL = r"([0-9a-z+/=_.~:-]{6,})"
_IN_CONTEXT = (
    _looks("an authorization header", "authorization", rf"{_HEADER}(?:bearer|basic|token|apikey)\s+{_CREDENTIAL}"),
    _looks("an authorization header", "authorization", _HEADER + _CREDENTIAL, is_mixed),
    Pattern(
        "a secret header",
        ("key", "token", "secret", "password"),
        (
            r"(?i)(?<![\w-])(?:x(?:-[a-z]+){0,3}-(?:api-?key|token|key|secret|password)|(?:private|job|deploy)-token|"
            r"api-?key|ocp-apim-subscription-key)\\*[\"']?:[ \t]*\\*[\"']?([^\s\"'`<>{}()\\]{6,})"
        ),
        is_literal,
    ),
    _looks("an Azure key", "sharedaccess", r"(?i)SharedAccess(?:Key|Signature)=([^\s;\"'$]{8,})"),
    _looks(
        "a Docker login",
        "auth",
        r"""\\*["']auth\\*["']\s*:\s*\\*["']([0-9A-Za-z+/=_-]{8,})""",
        is_literal,
    ),
)

SECRETS: tuple[Pattern, ...] = (*_BY_LOOKS, *_IN_CONTEXT, *_IN_COMMANDS, *_called())


def _file(words: tuple[str, ...], name: str) -> Pattern:
    path = rf"(?<![\w.~/${{}}:-])((?:[\w.~${{}}-]*/)*{name})(?![\w/-]|\.\w)"  # not a URL's
    return Pattern(PATH, words, path)


FILES: tuple[Pattern, ...] = (
    _file(("id_",), r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?"),
    _file(("munge.key", "jwt"), r"(?:munge|jwt[\w-]*)\.key"),
    _file((".key",), r"[\w-]*(?:private|server|client|tls|ssl|host)[\w-]*\.key"),
    # Certificates, and those of authorities, are for everybody.
    _file((".pem",), r"(?![\w.-]*(?i:ca|cert|chain|bundle|root|pub|dhparam)[\w.-]*\.pem)[\w.-]+\.pem"),
    _file((".p12", ".pfx", ".jks", ".keytab", ".kdbx"), r"[\w.-]+\.(?:p12|pfx|jks|keytab|kdbx)"),
    _file(
        (".json",),
        r"[\w.-]*(?i:service[_-]?account|sa[_-]?key|key[_-]?file|gc(?:p|loud)[_-]?key|cred(?:ential)?s|client[_-]?secret)"
        r"[\w.-]*\.json",
    ),
    _file(("key.json", "config.json"), r"(?:[\w-]*key|\.docker/config)\.json"),
    _file((".netrc", ".pgpass", "credentials"), r"(?:\.netrc|\.pgpass|\.git-credentials|\.aws/credentials)"),
)
