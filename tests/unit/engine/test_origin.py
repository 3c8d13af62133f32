"""Where the tool came from: as somebody says, or as pip noted it."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError
from unittest.mock import Mock

import pytest

from reconciler.engine import origin
from reconciler.errors import UsageError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = f"acme/reconciler@{COMMIT}"


@pytest.mark.parametrize(
    ("text", "url", "repository", "revision"),
    [
        (SOURCE, "https://github.com/acme/reconciler", "acme/reconciler", COMMIT),
        ("acme/reconciler@v1.2", "https://github.com/acme/reconciler", "acme/reconciler", "v1.2"),
        ("https://ghe.example.com/a/b.git@main", "https://ghe.example.com/a/b", "a/b", "main"),
    ],
)
def test_a_source_that_is_given(text: str, url: str, repository: str, revision: str) -> None:
    """On GitHub, or on a host of one's own."""
    assert origin.given(text) == origin.Origin(url, repository, revision)


@pytest.mark.parametrize(
    "text", ["", "acme", "acme/reconciler", "acme/reconciler@", "a/b@c d", "a/b@c\n- run: x", "a b/c@d"]
)
def test_a_source_that_is_none(text: str) -> None:
    """It ends up in workflows: nothing but a repository and a revision may."""
    with pytest.raises(UsageError):
        origin.given(text)


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/reconciler.git",
        "https://github.com/acme/reconciler",
        "https://ada:made-up@github.com/acme/reconciler/",
        "ssh://git@github.com/acme/reconciler.git",
    ],
)
def test_a_source_that_pip_noted(url: str) -> None:
    """However it was cloned; who logged in there isn't written anywhere."""
    document = {"url": url, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    assert origin.noted(json.dumps(document)) == origin.given(SOURCE)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"url": "file:///somewhere", "dir_info": {"editable": true}}',
        json.dumps({"url": "file:///somewhere/a/b", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}),
        json.dumps({"url": "https://github.com/acme/reconciler", "vcs_info": {"commit_id": "main"}}),
        json.dumps({"url": "https://github.com/acme/reconciler", "vcs_info": {"commit_id": 1}}),
    ],
)
def test_no_source_is_noted(text: str) -> None:
    """A folder, a wheel, something odd: nobody knows."""
    assert origin.noted(text) is None


def test_run_from_a_source_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that isn't installed doesn't know either."""
    monkeypatch.setattr(origin, "distribution", Mock(side_effect=PackageNotFoundError))
    assert origin.installed() is None
