"""What holds for every test: nothing of this machine's settings, credentials or terminal has a say in it."""

from __future__ import annotations

import os

import pytest

_FOREIGN = ("RECONCILER_", "GOOGLE_", "CLOUDSDK_", "GITHUB_", "CLOUD_RUN_", "JOB_COMPLETION_")
_NAMES = ("CI", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "GCE_METADATA_HOST")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that says nothing about endpoints, credentials, colours or CI."""
    for name in [*os.environ]:
        if name.startswith(_FOREIGN) or name in _NAMES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("TERM", "xterm-256color")
