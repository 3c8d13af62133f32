"""Secrets that are known by what they are called: `DB_PASSWORD=…`, `"api_key": "…"`, `--token …`."""

from __future__ import annotations

from collections.abc import Iterator

from reconciler.spec.secret_shapes import ARGUMENT, VALUE, WORD, Check, Pattern
from reconciler.spec.secret_values import is_mixed, is_no_name, is_password, is_token

_OWNERS = ("db", "user", "sql", "root", "admin", "smtp", "ldap", "bind", "proxy", "http", "storage", "comp")
_OWNED = "|".join(f"(?<={owner})" for owner in _OWNERS)
_PASSWORDS = (
    r"(?:(?:password|passwd)\d{0,2}|passphrase|passwort|passcode"
    rf"|(?:(?<=[a-z0-9][_.-])|{_OWNED})pwd"  # not PWD, the folder
    rf"|(?:(?<![a-z])|{_OWNED})pass|(?:(?<![a-z0-9])|{_OWNED})pw\d?)"
)
_KEYS = (
    r"(?:token|api[_-]?key|access[_-]?key(?:[_-]id)?|"
    r"(?:secret|private|auth|encryption|signing|account|master)[_-]?(?:access[_-]?)?key|_auth|credentials?)"
)
_NAMES = (
    ("a password", ("pass", "pw"), _PASSWORDS, is_password),
    ("a token or key", ("token", "key", "_auth", "credential"), _KEYS, is_token),
    (  # `--secret=NAME` names one
        "a token or key",
        ("secret",),
        r"(?:(?<=[a-z0-9][_-])|(?<=client)|(?<=shared)|(?<![a-z-]))secret",
        is_no_name,
    ),
)
_CONFIGURES = r"\b(?:git[ \t]+config|config(?:ure)?[ \t]+(?:set|create|update|add))\b"


def _called() -> Iterator[Pattern]:
    for kind, words, name, check in _NAMES:
        for regex in (
            # NAME=value, "name": "value", name = 'value'
            rf"""(?i){name}(?:=|\\*["']?\]?[ \t]*(?:[:=]=?|=>)[ \t]*(?=\\*["'])){VALUE}""",
            # ${NAME:-value}: what it is without
            rf"""(?i){name}:?[-=]["']?(?P<default>[^{{}}\s"'`]{{1,200}})["']?\}}""",
            # --name value, --name=value, and csh's setenv NAME value
            rf"(?i)(?:(?<![\w-])--?(?:[a-z0-9]+[_-]){{0,4}}|\bsetenv[ \t]+\w{{0,60}}){name}(?:[ \t]+|=)(?!-){ARGUMENT}",
            # read NAME <<< value
            rf"(?i)\bread\b[^\n;|<]{{0,120}}?{name}[ \t]*<<<[ \t]*{VALUE}",
            # aws configure set name value, rclone config create … name value, git config section.name value
            rf"(?i){_CONFIGURES}[^\n;|&]{{0,200}}?{name}[ \t]+(?!-){ARGUMENT}",
        ):
            yield Pattern(kind, words, regex, check)
        line = rf"(?im){name}[ \t]*[:=][ \t]*{WORD}[ \t]*\r?(?:#.*)?$"  # name: v4lue, on a line of its own
        yield Pattern(kind, words, line, _both(is_mixed, check))


def _both(one: Check, other: Check) -> Check:
    return lambda value: one(value) and other(value)


BY_NAME: tuple[Pattern, ...] = tuple(_called())
