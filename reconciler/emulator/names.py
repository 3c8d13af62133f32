"""Names: project numbers, cluster keys, and resource names compared by meaning."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_URL = re.compile(r"^(?:https?:)?//[^/]+/(?:compute/v1/|compute/beta/|v1/|v1beta1/)?(?=projects/)")
_PROJECT = re.compile(r"^projects/([^/]+)/")


@dataclass(frozen=True, order=True)
class ClusterKey:
    """Where a cluster lives. `project` is always the project's number, so that both spellings meet in one key."""

    project: str
    location: str
    cluster: str

    @property
    def name(self) -> str:
        """The full resource name, with the project's number."""
        return f"projects/{self.project}/locations/{self.location}/modelDevelopmentClusters/{self.cluster}"

    @classmethod
    def parse(cls, name: str) -> ClusterKey:
        """The key in a full resource name with the project's number."""
        _, project, _, location, _, cluster = name.split("/")
        return cls(project, location, cluster)


class Projects:
    """Project id to number: configured numbers first, else twelve digits derived from the id, always the same."""

    def __init__(self, configured: Mapping[str, str]) -> None:
        self._configured = dict(configured)

    def number(self, project: str) -> str:
        """The project's number; a number stands for itself."""
        if project.isdecimal():
            return project
        if project in self._configured:
            return self._configured[project]
        digest = hashlib.sha256(project.encode()).digest()
        return str(10**11 + int.from_bytes(digest[:8]) % (9 * 10**11))

    def canonical(self, resource_name: str) -> str:
        """A resource name as a relative name with the project's number: equal when two names mean the same."""
        return self.numbered(relative(resource_name))

    def numbered(self, resource_name: str) -> str:
        """The same relative name with the project's number in place of its id."""
        return _PROJECT.sub(lambda match: f"projects/{self.number(match[1])}/", resource_name)


def relative(resource_name: str) -> str:
    """A resource name without the `https://host/version/` that a full URL puts in front."""
    return _URL.sub("", resource_name)


def snake(name: str) -> str:
    """`bootDiskSizeGb` -> `boot_disk_size_gb`; a snake_case name stays as it is."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def camel(name: str) -> str:
    """`boot_disk_size_gb` -> `bootDiskSizeGb`; a camelCase name stays as it is."""
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)
