"""Symbolic links of a git tree lead where they lead on disk, and never to more than there is memory for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reconciler.engine import links as module
from reconciler.engine.links import linked

FILES = ["a/x", "a/b/y", "c/z", "top"]


@pytest.mark.parametrize(
    ("links", "found"),
    [
        ({}, {}),
        ({"l": "top"}, {"l": "top"}),
        ({"l": "a"}, {"l/x": "a/x", "l/b/y": "a/b/y"}),
        ({"c/l": "../a/b/y"}, {"c/l": "a/b/y"}),
        ({"c/l": "./../a//b/"}, {"c/l/y": "a/b/y"}),
        ({"l": "m", "m": "a/b"}, {"l/y": "a/b/y", "m/y": "a/b/y"}),
        ({"l": "a", "m": "l/b"}, {"l/x": "a/x", "l/b/y": "a/b/y", "m/y": "a/b/y"}),
        ({"l": "c", "c/m": "../a/b"}, {"c/m/y": "a/b/y", "l/z": "c/z", "l/m/y": "a/b/y"}),
        ({"a/l": "b"}, {"a/l/y": "a/b/y"}),
        ({"l": "nowhere"}, {}),
        ({"l": "../outside"}, {}),
        ({"l": "/etc/passwd"}, {}),
        ({"l": ""}, {}),
        ({"l": "l"}, {}),
        ({"l": "m", "m": "l"}, {}),
        ({"l": "."}, {}),
        ({"a/l": "."}, {}),
        ({"a/l": ".."}, {}),
        ({"l": "a/" * 5000}, {}),
    ],
)
def test_where_links_lead(links: dict[str, str], found: dict[str, str]) -> None:
    """Files and folders, chains, links on the way; out of the tree, in circles and back to where they are: nowhere."""
    assert dict(linked(FILES, links)) == found


@pytest.mark.parametrize(
    "links", [{"l": "a/b", "c/m": "../l"}, {"a/b/l": "../../c", "d": "a/b"}, {"l": "m/b", "m": "a"}]
)
def test_they_lead_where_they_lead_on_disk(links: dict[str, str], tmp_path: Path) -> None:
    """The same tree, on disk."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    there = {
        os.path.relpath(Path(folder, name), tmp_path): os.path.relpath(Path(folder, name).resolve(), tmp_path)
        for folder, _, names in os.walk(tmp_path, followlinks=True)
        for name in names
    }
    assert dict(linked(FILES, links)) == {path: real for path, real in there.items() if path not in FILES}


def test_links_back_to_their_folder_multiply_nothing() -> None:
    """Ten of them beside ten files lead to nothing new."""
    files = [f"x/f{number}" for number in range(10)]
    assert dict(linked(files, {f"x/l{number}": "../x" for number in range(10)})) == {}


def test_each_folder_once_on_the_way() -> None:
    """Two folders that link to each other end where all has been seen."""
    found = dict(linked(["a/x", "b/y"], {"a/to": "../b", "b/to": "../a"}))
    assert found == {"a/to/y": "b/y", "b/to/x": "a/x"}


def test_links_crosswise_are_refused() -> None:
    """A dozen folders that all link to each other are millions of paths."""
    names = [f"d{number}" for number in range(12)]
    links = {f"{one}/{other}": f"../{other}" for one in names for other in names if one != other}
    with pytest.raises(OverflowError, match="symbolic links lead to more than 100,000 files"):
        for _ in linked([f"{name}/f" for name in names], links):
            pass


def test_as_many_as_the_limit_are_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is exact, and counts what links lead to alone."""
    monkeypatch.setattr(module, "LIMIT", 2)
    assert len(dict(linked(FILES, {"l": "a"}))) == 2
    with pytest.raises(OverflowError):
        dict(linked(FILES, {"l": "a", "m": "c"}))
