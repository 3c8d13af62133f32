"""Shards: a fleet split over machines by a hash of each cluster's name, so that none need know of the others.

Which shard a cluster is in depends on its full name and on how many shards there are, and on nothing else: not on the
other clusters, the machine or the version of Python. Engines that run many tasks number them from 0; people, from 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from reconciler.spec.names import ClusterName

AUTO = "auto"
_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")
_NUMBER = re.compile(r"[0-9]{1,6}")
# Index (from 0) and count, as engines tell their tasks. The first pair that says anything is taken.
ENGINES = (
    ("RECONCILER_SHARD_INDEX", "RECONCILER_SHARD_COUNT"),  # any other engine; a workflow's matrix
    ("CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT"),  # a Cloud Run job
    ("JOB_COMPLETION_INDEX", "JOB_COMPLETION_COUNT"),  # a Kubernetes Indexed Job, which sets the index alone
)


@dataclass(frozen=True, slots=True)
class Shard:
    """The `index`-th of `count` shards, counted from 1."""

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def has(self, name: ClusterName) -> bool:
        """Whether a cluster is in this shard; it is in just one of them."""
        number = int.from_bytes(sha256(str(name).encode()).digest()[:8], "big")
        return number % self.count == self.index - 1


def parse(text: str, environment: Mapping[str, str]) -> Shard:
    """The shard that `I/N` or `auto` means. Raises ValueError with a sentence for people."""
    if text == AUTO:
        return _from_engine(environment)
    match = _FORM.fullmatch(text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f'"{text[:40]}" is no shard: I/N with 1 <= I <= N, such as 2/5, or {AUTO}')
    return Shard(int(match[1]), int(match[2]))


def _from_engine(environment: Mapping[str, str]) -> Shard:
    for names in ENGINES:
        index, count = (environment.get(name, "") for name in names)
        if not (index or count):
            continue
        for name, text in zip(names, (index, count), strict=True):
            if not _NUMBER.fullmatch(text):
                what = f'is "{text[:40]}", which is no number' if text else "isn't set"
                raise ValueError(f"{name} {what}; {' and '.join(names)} go together")
        if not int(index) < int(count):
            raise ValueError(f"{names[0]} is {index} and {names[1]} is {count}: indexes count from 0")
        return Shard(int(index) + 1, int(count))
    known = ", ".join(" and ".join(names) for names in ENGINES)
    raise ValueError(f"{AUTO} finds no task's number in the environment; it looks for {known}")
