"""What slurm.conf parameters there are, for which record, and what their values may be.

The names and types in `data/slurm-parameters.json` were read off Slurm 22.05.8, 24.11.7, 25.05 and 25.11.7. The service
runs some version of these and accepts a subset that isn't published, so a name counts as known if any of them knows it,
and a value as good if any of them could read it. How values are read was tried out with Slurm 22.05.8 itself; its
number parser (decimal, 0x, leading 0 for octal, K for 1024 beyond 16 bits, INFINITE, UNLIMITED) is older than all four.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from importlib import resources

from reconciler.spec.findings import did_you_mean

_NUMBER = re.compile(r"\+?(0x[0-9a-f]+|[0-9]+)(k?)", re.IGNORECASE)
_LIMITS = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}
_LONGEST = 32  # digits; no number that fits is longer
_WORDS = frozenset({"infinite", "unlimited"})
_BOOLEANS = frozenset({"yes", "no", "true", "false", "up", "down", "1", "0"})


class Record(StrEnum):
    """The lines of slurm.conf: global ones, `NodeName=` and `PartitionName=`."""

    CLUSTER = "cluster"
    NODE = "node"
    PARTITION = "partition"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of one record, as Slurm spells it, with its types in the versions that know it."""

    name: str
    types: frozenset[str]

    def reads(self, value: str) -> bool:
        """Whether some version could read the value. Strings have grammars of their own, which only Slurm knows."""
        text = value.strip().strip('"').lower()
        return any(_reads(kind, text) for kind in self.types)


@lru_cache(maxsize=4096)  # a few names, seen in every cluster
def fold(name: str) -> str:
    """A parameter name as it is compared: without case and underscores (api-facts, C)."""
    return name.replace("_", "").lower()


def parameter(record: Record, name: str) -> Parameter | None:
    """The record's parameter of that name, in any spelling."""
    return _table()[record].get(fold(name))


def records(name: str) -> tuple[Record, ...]:
    """The records that know a name."""
    return tuple(record for record, names in _table().items() if fold(name) in names)


def suggestion(record: Record, name: str) -> str:
    """A hint naming the record's parameter that is spelled most alike, or the empty string."""
    known = _table()[record]
    hint = did_you_mean(fold(name), list(known))
    return f'did you mean "{known[hint.split(chr(34))[1]].name}"?' if hint else ""


@cache
def _table() -> dict[Record, dict[str, Parameter]]:
    text = resources.files("reconciler.data").joinpath("slurm-parameters.json").read_text("utf-8")
    spelled: dict[Record, dict[str, str]] = {record: {} for record in Record}
    types: dict[Record, dict[str, set[str]]] = {record: {} for record in Record}
    for version in json.loads(text).values():
        for record in Record:
            for name, kind in version[record].items():
                spelled[record][fold(name)] = name
                types[record].setdefault(fold(name), set()).add(kind)
    return {
        record: {key: Parameter(name, frozenset(types[record][key])) for key, name in names.items()}
        for record, names in spelled.items()
    }


def _reads(kind: str, text: str) -> bool:
    if kind == "boolean":
        return text in _BOOLEANS
    if kind not in _LIMITS or text in _WORDS:
        return True
    number = _NUMBER.fullmatch(text) if len(text) <= _LONGEST else None
    if number is None or (number[2] and kind == "uint16"):
        return False
    digits = number[1]
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdecimal()
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:  # an 8 or 9 after a leading zero
        return False
    return value * (1024 if number[2] else 1) <= _LIMITS[kind]
