"""The tables of `secrets`: secrets by their looks, by their place, by their name, and the files that hold some."""

from __future__ import annotations

from reconciler.spec.secret_commands import IN_COMMANDS, IN_CONTEXT
from reconciler.spec.secret_looks import BY_LOOKS
from reconciler.spec.secret_names import BY_NAME
from reconciler.spec.secret_shapes import Pattern

PATH = "the path of a secret"  # a kind: only a name, worth a warning and no mask

SECRETS: tuple[Pattern, ...] = (*BY_LOOKS, *IN_CONTEXT, *IN_COMMANDS, *BY_NAME)


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
