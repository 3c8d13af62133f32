"""Secrets that are known by their looks, whatever they are called: keys, tokens, hashes, URLs that hold them."""

from __future__ import annotations

from reconciler.spec.secret_shapes import Pattern, looks
from reconciler.spec.secret_values import is_mixed

_HASH = "a password's hash"
_CRYPT_TAGS = ("1", "2a", "2b", "2x", "2y", "5", "6", "7", "y", "gy", "apr1", "sha1", "argon2i", "argon2d", "argon2id")
_CRYPT = r"[./0-9A-Za-z]"
# As crypt(5) writes them; between double quotes each dollar has a backslash. `$1$2` alone is two parameters.
_CRYPTED = (
    rf"(?:\$(?:5|6)\$(?:rounds=\d+\$)?[^\s$:'\"\\]{{1,16}}\${_CRYPT}{{5,}}"
    rf"|\$(?:1|apr1)\$[^\s$:'\"\\]{{1,8}}\${_CRYPT}{{20,}}"
    rf"|\$2[abxy]\$\d\d\${_CRYPT}{{20,}}"
    rf"|\$(?:y|gy|7|sha1)\${_CRYPT}+\${_CRYPT}*\${_CRYPT}{{20,}}"
    r"|\$argon2(?:i|d|id)\$[0-9A-Za-z+/=,$]{20,})"
).replace(r"\$", r"\\?\$")

BY_LOOKS: tuple[Pattern, ...] = (
    Pattern(
        "a private key",
        ("private key",),
        r"(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        whole=True,
    ),
    looks("a private key", "ls0tls1crudjti", r"LS0tLS1CRUdJTi[0-9A-Za-z+/=]{20,}"),  # base64 of -----BEGIN
    looks("a private key", "age-secret-key-", r"\bAGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    Pattern(_HASH, tuple(form % tag for tag in _CRYPT_TAGS for form in ("$%s$", r"\$%s\$")), _CRYPTED),
    Pattern(_HASH, ("sha", "md5}", "{crypt}"), r"(?i)\{(?:s?sha(?:256|512)?|s?md5|crypt)\}[0-9a-z+/=$.]{16,}"),
    looks("a Google API key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])"),
    looks("a Google access token", "ya29.", r"\bya29\.[0-9A-Za-z_.-]{20,}"),
    looks("an OAuth client secret", "gocspx-", r"\bGOCSPX-[0-9A-Za-z_-]{20,}"),
    looks("an AWS access key", "ia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    looks("a GitHub token", "gh", r"\bgh[pousr]_[0-9A-Za-z]{36,}"),
    looks("a GitHub token", "github_pat_", r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    looks("a GitLab token", "glpat-", r"\bglpat-[0-9A-Za-z_-]{20,}"),
    looks("a Slack token", "xox", r"\bxox[abeprs]-[0-9A-Za-z-]{10,}"),
    looks("a Slack token", "xapp-", r"\bxapp-\d-[0-9A-Za-z-]{10,}"),
    looks("a Hugging Face token", "hf_", r"\bhf_[0-9A-Za-z]{30,}"),
    looks("an NVIDIA API key", "nvapi-", r"\bnvapi-[0-9A-Za-z_-]{20,}"),
    looks("a Docker token", "dckr_pat_", r"\bdckr_pat_[0-9A-Za-z_-]{20,}"),
    looks("an npm token", "npm_", r"\bnpm_[0-9A-Za-z]{30,}"),
    looks("a PyPI token", "pypi-", r"\bpypi-[0-9A-Za-z_-]{40,}"),
    looks("a Vault token", "hvs.", r"\bhvs\.[0-9A-Za-z_-]{20,}"),
    looks("a Tailscale key", "tskey-", r"\btskey-[0-9A-Za-z-]{16,}"),
    looks("a Stripe key", "k_live_", r"\b[rs]k_live_[0-9A-Za-z]{16,}"),
    looks("a SendGrid key", "sg.", r"\bSG\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}"),
    looks("a Databricks token", "dapi", r"\bdapi[0-9a-f]{32}\b"),
    looks("a DigitalOcean token", "_v1_", r"\bdo[oprt]_v1_[0-9a-f]{32,}"),
    looks("an API key", "sk-", r"\bsk-[0-9A-Za-z_-]{32,}"),
    looks("a signed token (JWT)", "eyj", r"\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}"),
    looks("a webhook's URL", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{8,})"),
    looks("a webhook's URL", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/(\d+/[\w-]{8,})"),
    looks("a webhook's URL", "webhook.office.com", r"webhook\.office\.com/(webhookb2/[\w@/-]{8,})"),
    looks("a signed URL", "sig", r"(?i)[?&](?:sig|[a-z-]*signature)=([0-9a-z%+/=_-]{16,})"),
    looks(
        "a password in a URL",
        "://",
        r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'$]{0,100}:(?!pass(?:word|wd)?@)([^\s/@\"'${}<>]{1,100})@",
    ),
    looks("a token in a URL", "://", r"://([0-9A-Za-z_-]{20,100})@", is_mixed),
)
