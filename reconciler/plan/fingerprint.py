"""Fingerprints: digests that change when, and only when, what a plan was made from has changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(*parts: Any) -> str:
    """`sha256:` and the digest of JSON-like parts. Order of keys means nothing."""
    return digest(*map(text_of, parts))


def text_of(part: Any) -> str:
    """What of a part goes into its fingerprint."""
    return json.dumps(part, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


def digest(*texts: str) -> str:
    """The fingerprint of parts whose texts are known already."""
    return "sha256:" + hashlib.sha256(f"[{','.join(texts)}]".encode()).hexdigest()
