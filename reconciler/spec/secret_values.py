"""Whether a value that is called a password, a token or a secret is one, or says where one is to be found."""

from __future__ import annotations

import re

_LEAST = 3  # characters; what is shorter says yes, no or how many
_LEAST_NUMBER = 6
# A variable, a command, a template's place. `$` inside of a word may as well be a letter of a password.
_REFERENCE = re.compile(r"""(?<!\\)(?:\$[\w{(*@]|`)|\{\{|^\{.*\}$|^%[(\w]|^@\w+@$|<\w[\w .-]*>""")
_PATH = re.compile(
    r"(?:~|\.{0,2})/.*|[a-z][a-z0-9+.-]*:/.*|projects/.*"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:json|ya?ml|pem|key|txt|env|ini|cfg|conf|crt|p12|jks|sock(?:et)?)"
)
_PLACEHOLDER = r"""(?ix)
    <.*> | \[.*\] | [.*_#?-]+ | x{3,} | your[_\s-].* | my[_-](?:own[_-])?(?:password|token|secret|key)
    | (?:change|replace|fill|insert|put)[_\s-]?(?:me|this|in|here|with)?\b.*
    | .*(?:placeholder|redacted|\[masked|example|dummy).* | todo.*
    | none | null | nil | true | false | yes | done | auto | fail(?:ed)? | okay | default | enabled | disabled
    | required | optional | prompt | stdin | files? | flag | option | argument | value | string
    | is | to | or | as | in | of | if | by | via | and | the | for | not | was | has | can | are | you | any | all
    | must | with | from | that | this | when | will
    | (?:user|pass|api|auth|access)?[_-]?(?:name|word|key|token) | passwd | pass | passphrase | secrets? | credentials?
    """
_NUMBER = re.compile(r"\d+")
_KEBAB = re.compile(r"[a-z]+(?:[-_][a-z]+)*")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|.*\[.*")  # `json.loads`, `tokens[0]`


def is_literal(value: str) -> bool:
    """No variable, no command, no file, no placeholder, no word of prose: what stands there is what is meant."""
    value = value.strip().rstrip(",")
    if not value or _REFERENCE.search(value) or _PATH.fullmatch(value):
        return False
    return not re.fullmatch(_PLACEHOLDER, value)


def is_password(value: str) -> bool:
    """A literal, and neither a state nor a count: what is merely called `pass` may say how often."""
    least = _LEAST_NUMBER if _NUMBER.fullmatch(value) else _LEAST
    return len(value) >= least and is_literal(value)


def is_token(value: str) -> bool:
    """A literal, and not how many tokens there are."""
    return is_password(value) and not _NUMBER.fullmatch(value)


def is_no_name(value: str) -> bool:
    """A token, and not the name of a secret that is kept elsewhere: `my-database-password`."""
    return is_token(value) and not _KEBAB.fullmatch(value)


def is_mixed(value: str) -> bool:
    """Letters and digits both, so that it's hardly a word, a number or a name of prose or code."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= 6 and has_both and not _CODE.fullmatch(value)
