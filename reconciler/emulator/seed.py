"""Seeds: clusters that exist from the start.

A seed file is YAML or JSON and holds one resource, or a list of them, either in the API's form (with a `name`) or as a
cluster file (`project`, `location`, `cluster_id`, `spec`), with `{file: …}` in place of a script's text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_NAME = re.compile(r"projects/([^/]+)/locations/([^/]+)/modelDevelopmentClusters/([^/]+)")


class SeedError(Exception):
    """A seed file that can't be used; the message names the file."""


@dataclass(frozen=True)
class Seed:
    """One cluster of a seed file."""

    project: str
    location: str
    cluster: str
    resource: dict[str, Any]


class _CoreLoader(yaml.CSafeLoader):
    """YAML 1.2's core schema: `on`, `yes`, `12:30:00`, `010` and dates aren't what YAML 1.1 makes of them."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own class attribute


def _whole_number(loader: yaml.CSafeLoader, node: Any) -> int:
    return int(loader.construct_scalar(node))


for _tag, _pattern, _first in (
    ("merge", r"^<<$", "<"),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
):
    _CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))
_CoreLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)


def load_seeds(path: Path) -> Iterator[Seed]:
    """The clusters of a seed file. Raises SeedError."""
    try:
        documents = _documents(path.read_text(encoding="utf-8"))
        json.dumps(documents)  # refuses anchors that contain themselves, and keys that are no strings
    except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        raise SeedError(f"{path}: {error}") from error
    for document in documents:
        for item in document if isinstance(document, list) else [document]:
            if item is not None:
                yield _seed(path, item)


def _documents(text: str) -> list[Any]:
    try:
        # YAML reads JSON too, and forgives trailing commas, but it is a hundred times slower.
        return [json.loads(text)]
    except ValueError:
        return list(yaml.load_all(text, _CoreLoader))


def _seed(path: Path, item: object) -> Seed:
    if not isinstance(item, dict):
        raise SeedError(f"{path}: a cluster must be an object")
    if isinstance(item.get("spec"), dict):
        parts = [item.get(part) for part in ("project", "location", "cluster_id")]
        if not all(parts):
            raise SeedError(f"{path}: project, location and cluster_id are needed")
        return Seed(str(parts[0]), str(parts[1]), str(parts[2]), _with_scripts(item["spec"], path))
    name = _NAME.fullmatch(str(item.get("name")))
    if not name:
        raise SeedError(f"{path}: neither a resource with its full name nor a cluster file")
    return Seed(name[1], name[2], name[3], item)


def _with_scripts(value: Any, path: Path) -> Any:
    if isinstance(value, list):
        return [_with_scripts(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    if list(value) == ["file"]:
        try:
            return (path.parent / str(value["file"])).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise SeedError(f"{path}: {error}") from error
    return {key: _with_scripts(item, path) for key, item in value.items()}
