"""Whether a value that is called a password, a token or a secret is one, or says where one is to be found.

A value may be put together: `S3cret$(hostname)` and `${TOKEN:-s3cret}` hold something that is meant as it stands,
`Bearer $TOKEN` doesn't.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

_LEAST = 3  # characters; what is shorter says yes, no or how many
_LEAST_NUMBER = 6
_LEAST_PIECE = 6  # of a password that is put together
# What the shell, or a template, puts something else for: a variable, a command, a place. What isn't closed goes on.
_REFERENCE = re.compile(
    r"(?<!\\)(?:\$\{(?P<inner>(?:[^{}]|\{[^{}]*\})*)\}|\$\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|`[^`]*`|\$(?:\w+|[@*#?!$-]))"
    r"|(?<!\\)(?:\$[({].*|`.*)|\{\{.*?(?:\}\}|\Z)"
)
_DEFAULT = re.compile(r"\w+:?[-=](.+)")
# Places of other templates, and what people put into brackets to say that it is to be replaced.
_PLACE = re.compile(r"\{(.*)\}|<(.*)>|\[(.*)\]|@(\w+)@|%(\w+)%|%(?:\(\w+\))?[sdrq]\b.*|(?:.*\W)?<\w[\w .-]*>.*")
_ROOTS = (
    "app|bin|boot|certs?|config|data|dev|etc|gcs|home|lib(?:32|64)?|lustre|media|mnt|nfs|opt|proc|projects|root|run|s?bin"
    "|scratch|secrets?|share[ds]?|slurm|srv|sys|tmp|usr|users|var|work(?:space)?"
)
_PATH = re.compile(
    rf"(?:~[\w.-]*|\.{{1,2}}|/(?:{_ROOTS}))/.*|/(?:{_ROOTS})|/[a-z][a-z_-]*|/[\w.-]+\.[a-z]{{2,5}}"
    r"|[a-z][a-z0-9+.-]*:/.*|projects/.*"
    r"|[\w.-]+(?:/[\w.-]+)*\.(?:json|ya?ml|pem|key|txt|env|ini|cfg|conf|crt|p12|jks|sock(?:et)?)"
)
_FOLDERS = re.compile(r"/[\w.@%:-]+(?:/[\w.@%:-]+)+/?")
_NOTHING = r"""(?ix)
    [.*_#?-]+ | x{3,} | .*\[masked.* | n/a | env:\w+ | fd:\d+ | file:.*
    | none | null | nil | true | false | yes | done | auto | fail(?:ed)? | okay | default | enabled | disabled
    | unset | set | missing | empty | undefined | unknown | invalid | expired | valid
    | required | optional | prompt | stdin | files? | flag | option | argument | value | string
    | is | to | or | as | in | of | if | by | via | and | the | for | not | was | has | can | are | you | any | all
    | must | with | from | that | this | when | will
    | (?:user|pass|api|auth|access)?[_-]?(?:name|word|key|token) | passwd | pass | passphrase | secrets? | credentials?
    """
_STAND_IN = r"""(?ix)
    your[_\s-].* | my[_-](?:own[_-])?(?:password|token|secret|key)
    | (?:change|replace|fill|insert|put)[_\s-]?(?:me|this|in|here|with)?\b.*
    | .*(?:placeholder|redacted|example|dummy).* | todo.*
    """
_NUMBER = re.compile(r"\d+")
_KEBAB = re.compile(r"[a-z]+(?:[-_][a-z]+)*")
_CODE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|.*\[.*")  # `json.loads`, `tokens[0]`
_RUN = re.compile(r"[0-9A-Za-z]+")

Check = Callable[[str], bool]


def is_literal(value: str) -> bool:
    """No variable, no command, no file, no placeholder, no word of prose: what stands there is what is meant."""
    return _holds(_is_meant, _is_long, value)


def is_password(value: str) -> bool:
    """A literal, and neither a state nor a count: what is merely called `pass` may say how often."""
    return _holds(_is_password, _is_long, value)


def is_token(value: str) -> bool:
    """A literal, and not how many tokens there are."""
    return _holds(_is_token, is_mingled, value)


def is_no_name(value: str) -> bool:
    """A token, and not the name of a secret that is kept elsewhere: `my-database-password`."""
    return _holds(_is_no_name, is_mingled, value)


def is_mixed(value: str) -> bool:
    """Letters and digits both, so that it's hardly a word, a number or a name of prose or code."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= 6 and has_both and not _CODE.fullmatch(value)


def is_mingled(text: str) -> bool:
    """Whether letters and digits alternate in it as they do in secrets: `s3cr3t`, or a long run of both."""
    return any(
        (len(run) >= 6 and _turns(run) >= 2) or (len(run) >= 16 and _turns(run) >= 1) for run in _RUN.findall(text)
    )


def _turns(run: str) -> int:
    return sum(one.isdigit() != other.isdigit() for one, other in pairwise(run))


def _holds(check: Check, is_telling: Check, value: str) -> bool:
    """The check, and for a value that is put together: of what may stand for a reference, and what stands beside it."""
    value = value.strip().rstrip(",")
    references = list(_REFERENCE.finditer(value))
    if not references:
        return check(value)
    defaults = (_DEFAULT.fullmatch(each["inner"] or "") for each in references)
    if any(_holds(check, is_telling, found[1].strip("\"'")) for found in defaults if found):
        return True
    first, *others = _REFERENCE.sub("\n", value).split("\n")
    # What a slash follows is a folder, whatever is put there.
    pieces = ("" if _is_place(first) else first, *(each for each in others if not each.startswith("/")))
    return not _is_place(value) and any(is_telling(word) for piece in pieces for word in piece.split())


def _is_place(value: str) -> bool:
    """Whether a value says where something is: a path, a URL, the name of a resource."""
    path = _FOLDERS.fullmatch(value)
    return bool(_PATH.fullmatch(value)) or bool(path and not any(map(is_mingled, value.split("/"))))


def _is_meant(value: str) -> bool:
    if not value or _is_place(value) or re.fullmatch(_NOTHING, value):
        return False
    if place := _PLACE.fullmatch(value):
        return is_mingled("".join(filter(None, place.groups())))
    return not re.fullmatch(_STAND_IN, value) or is_mingled(value)


def _is_password(value: str) -> bool:
    least = _LEAST_NUMBER if _NUMBER.fullmatch(value) else _LEAST
    return len(value) >= least and _is_meant(value)


def _is_token(value: str) -> bool:
    return _is_password(value) and not _NUMBER.fullmatch(value)


def _is_no_name(value: str) -> bool:
    return _is_token(value) and not _KEBAB.fullmatch(value)


def _is_long(piece: str) -> bool:
    """Whether a piece of a password is one by itself: long enough to be guessed from, and no word that says nothing."""
    bare = piece.strip("-_.:@")
    return is_mingled(piece) or (len(bare) >= _LEAST_PIECE and "/" not in bare and _is_meant(bare))


def some_login(value: str) -> bool:
    """Whether some line is `name:password` with a literal password."""
    return any(is_literal(password) for password in _after(":", value.splitlines()) if password)


def some_line(value: str) -> bool:
    """Whether some line is a literal."""
    return any(map(is_literal, value.splitlines()))


def some_cookie(value: str) -> bool:
    """Whether some cookie's value is a token by its looks, or by what the cookie is called."""
    return any(
        is_literal(text) and (is_mixed(text) or bool(re.search(r"(?i)sess|sid\b|auth|token|jwt", name)))
        for name, _, text in (each.partition("=") for each in value.split(";"))
    )


def _after(separator: str, lines: list[str]) -> Iterator[str]:
    return (line.partition(separator)[2].strip() for line in lines)
