"""Versions of the Slurm job API: which there are, and in which of two dialects a job is described."""

from __future__ import annotations

import re

from reconciler.errors import UsageError

DEFAULT = "v0.0.42"  # S1
KNOWN = ("v0.0.44", "v0.0.43", "v0.0.42", "v0.0.41", "v0.0.40", "v0.0.39", "v0.0.38")
# Asked for last: what a Slurm of tomorrow may serve alone. The decoder takes it as it takes v0.0.44.
NEWER = ("v0.0.45", "v0.0.46", "v0.0.47")
_VERSION = re.compile(r"v(\d{1,3})\.(\d{1,3})\.(\d{1,3})")


def checked(version: str) -> str:
    """The version, if it is one. Raises UsageError."""
    if not _VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is no version of the Slurm API", hint=f"it looks like {DEFAULT}")
    return version


def has_plain_values(version: str) -> bool:
    """Whether jobs are described as in v0.0.38: the environment as an object, numbers as they are."""
    match = _VERSION.fullmatch(version)
    return match is not None and tuple(map(int, match.groups())) <= (0, 0, 38)
