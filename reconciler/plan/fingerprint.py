"""Fingerprints: digests that change when, and only when, what a plan was made from has changed."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint(*parts: Any) -> str:
    """`sha256:` and the digest of JSON-like parts. Order of keys means nothing."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()
