"""Secrets that are known by where they stand: arguments of commands, what is piped into them, headers."""

from __future__ import annotations

from reconciler.spec.secret_shapes import AFTER_NAME, ARGUMENT, ON, Check, Pattern, looks
from reconciler.spec.secret_values import is_literal, is_mixed, some_cookie, some_line, some_login


def _command(words: tuple[str, ...], regex: str, check: Check = is_literal, *, whole: bool = False) -> Pattern:
    return Pattern("a password", words, regex, check, whole)


_LOGIN = r"\b(?:docker|podman|skopeo|oras|registry) login\b"
_FAR = r"[^\n|;]{0,400}"  # further on in a line's command
# What reads a secret from its standard input, and how to see that it does.
_READERS = (
    rf"(?:\bpasswd\b{_FAR}--stdin|--password-stdin|--pass(?:phrase|word)-f(?:d|ile)[ =]?(?:0|-|/dev/stdin)(?=\s|$)"
    rf"|\bsudo(?:[ \t]+-\w+(?:[ \t]+\w+)?){{0,4}}[ \t]+(?:-\w*S|--stdin)(?=\s)|\bkinit\b"
    r"|(?<=\|)[ \t]*(?:sudo[ \t]+)?passwd(?=\s)"
    rf"|\bcryptsetup\b{_FAR}(?:--key-file[ =]?|\s)-(?=\s|$)|\bsmbpasswd\b{_FAR}\s-\w*s|\bhtpasswd\b{_FAR}\s-\w*i"
    rf"|\bauth[ \t]+login\b{_FAR}--with-token|\bvault[ \t]+login[ \t]+-(?=\s|$)|-pass(?:in|out)?[ \t]+stdin"
    rf"|\bsecrets[ \t]+(?:create|versions[ \t]+add)\b{_FAR}--data-file[ =]-)"
)
_READER_WORDS = (
    "stdin",
    "| passwd",
    "sudo",
    "-fd",
    "-file",
    "smbpasswd",
    "htpasswd",
    "kinit",
    "with-token",
    "vault",
    "cryptsetup",
)
_FORMAT = r"""(?:[ \t]+["']?%s(?:\\n)?["']?)?"""
_SAID = rf"\b(?:echo|printf)(?:[ \t]+-\w+)*{_FORMAT}[ \t]+{ARGUMENT}{_FAR}\|{_FAR}?"
# Up to the end of a here-document, whose first line this begins in.
_HERE = (
    r"""[^\n]{0,400}<<-?[ \t]*\\?["']?(?P<end>\w+)["']?[^\n]*\n"""
    r"(?P<body>(?:(?![ \t]*(?P=end)[ \t]*$)[^\n]*\n){1,200})"
)

IN_COMMANDS: tuple[Pattern, ...] = (
    _command(("curl",), rf"""\bcurl\b{ON}(?:-u|--(?:proxy-)?user)[ =]?["']?{AFTER_NAME}"""),
    _command(("mysql", "mariadb"), rf"\b(?:mysql|mariadb)[\w-]*{ON}-p{ARGUMENT}"),
    _command(("sshpass",), rf"\bsshpass[ \t]+-p[ \t]*{ARGUMENT}"),
    _command(("redis-cli",), rf"\bredis-cli\b{ON}-a[ \t]+{ARGUMENT}"),
    _command(("mongo",), rf"\bmongo\w*{ON}-p[ \t]+{ARGUMENT}"),
    _command((" login",), rf"{_LOGIN}{ON}-p[ \t]+{ARGUMENT}"),
    _command(("wandb",), rf"\bwandb[ \t]+login\b{ON}([0-9A-Za-z_-]{{20,}})(?![\w/.:-])", is_mixed),
    _command(("useradd", "usermod"), rf"\buser(?:add|mod)\b{ON}-p[ \t]+{ARGUMENT}"),
    _command(("ldap",), rf"\bldap(?:search|add|modify|delete|passwd|whoami)\b{ON}-w[ \t]+{ARGUMENT}"),
    _command(("ssh-keygen",), rf"\bssh-keygen\b{ON}-[NP][ \t]*{ARGUMENT}"),
    _command(("openssl",), rf"\bopenssl\b{ON}-[kK][ \t]+(?!-){ARGUMENT}"),
    _command(
        ("openssl",), rf"\bopenssl[ \t]+passwd(?:[ \t]+(?>-salt[ \t]+\S+|-[a-z0-9]+)){{0,4}}+[ \t]+(?!-){ARGUMENT}"
    ),
    _command(("pass:",), rf"(?<![\w-])--?pass(?:in|out|phrase)?[ =]\"?pass:{ARGUMENT}"),
    _command(("pass:",), r"(?<![\w-])--?pass(?:in|out)?[ =]'pass:([^'\n]+)'"),
    _command(("ipmitool", "zip"), rf"\b(?:ipmitool|(?:un)?zip)\b{ON}-P[ \t]*{ARGUMENT}"),
    _command(("lftp",), rf"""\blftp\b{ON}-u[ \t]*["']?[^\s,"']+,([^\s"'`]+)"""),
    _command(
        ("smb", "cifs", "rpcclient", "net "),
        rf"""\b(?:smb\w+|mount\.cifs|rpcclient|net)\b{ON}(?:-U|--user=?)[ \t]*["']?[^\s%"']+%([^\s"'`]+)""",
    ),
    _command(
        ("mc ",), rf"\bmc\b{ON}(?:alias[ \t]+set|config[ \t]+host[ \t]+add)(?:[ \t]+\S+){{3}}[ \t]+(?!-){ARGUMENT}"
    ),
    _command(("rclone",), rf"\brclone[ \t]+obscure[ \t]+(?!-){ARGUMENT}"),
    _command(("rclone",), rf"\brclone[ \t]+config\b{ON}pass[ \t]+{ARGUMENT}"),
    _command(("chpasswd",), rf"""{AFTER_NAME}["']?\s*\|\s*(?:sudo\s+)?chpasswd"""),
    _command(("chpasswd",), rf"""chpasswd[^\n]*<<<\s*["']?{AFTER_NAME}"""),
    _command(("chpasswd",), rf"(?m)\bchpasswd\b{_HERE}", some_login, whole=True),
    _command(_READER_WORDS, rf"(?m){_SAID}{_READERS}"),
    _command(_READER_WORDS, rf"(?m){_READERS}{_FAR}?<<<[ \t]*{ARGUMENT}"),
    _command(("--password-stdin", "passwd"), rf"(?m){_READERS}{_HERE}", some_line, whole=True),
    _command(("machine",), r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'`]+)"),
)

_HEADER = r"""(?i)\bauthorization\\*["']?\s*[:=]\s*\\*["']?"""
_CREDENTIAL = r"([0-9a-z+/=_.~:-]{6,})"
_COOKIES = r"""([^\s"'=]{1,200}=[^\n"'\\]{3,4096})"""

IN_CONTEXT: tuple[Pattern, ...] = (
    looks("an authorization header", "authorization", rf"{_HEADER}(?:bearer|basic|token|apikey)\s+{_CREDENTIAL}"),
    looks("an authorization header", "authorization", _HEADER + _CREDENTIAL, is_mixed),
    Pattern(
        "a secret header",
        ("key", "token", "secret", "password"),
        (
            r"(?i)(?<![\w-])(?:x(?:-[a-z]+){0,3}-(?:api-?key|token|key|secret|password)|(?:private|job|deploy)-token|"
            r"api-?key|ocp-apim-subscription-key)\\*[\"']?:[ \t]*\\*[\"']?([^\s\"'`<>{}()\\]{6,})"
        ),
        is_literal,
    ),
    looks(
        "a cookie",
        "cookie",
        r"""(?i)\bcookie\\*["']?[ \t]*[:=][ \t]*\\*["']?([^\s"'=]{1,200}=[^\n"'\\]{3,4096})""",
        some_cookie,
    ),
    looks(
        "a cookie",
        "curl",
        rf"""\bcurl\b{ON}(?:-b|--cookie)[ \t]*["']?([^\s"'=]{{1,200}}=[^\n"'\\]{{3,4096}})""",
        some_cookie,
    ),
    looks("an Azure key", "sharedaccess", r"(?i)SharedAccess(?:Key|Signature)=([^\s;\"'$]{8,})"),
    looks(
        "a Docker login",
        "auth",
        r"""\\*["']auth\\*["']\s*:\s*\\*["']([0-9A-Za-z+/=_-]{8,})""",
        is_literal,
    ),
)
