"""Names: clusters, and other resources compared by meaning (contract section 1, "When two values are equal")."""

from __future__ import annotations

import re
from typing import NamedTuple

_FULL = re.compile(r"projects/([^/]+)/locations/([^/]+)/modelDevelopmentClusters/([^/]+)")
_URL_HEAD = re.compile(r"(?:https?:)?//[^/]+/(?:[a-z]+/)?(?:v\d[^/]*/|beta/|alpha/)?(?=projects/)")


class ClusterName(NamedTuple):
    """Where a cluster is: project id, location (region) and cluster id. `str()` is the full resource name."""

    project: str
    location: str
    cluster_id: str

    def __str__(self) -> str:
        return f"{self.parent}/modelDevelopmentClusters/{self.cluster_id}"

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.location}"

    @classmethod
    def parse(cls, text: str) -> ClusterName | None:
        """Read a full resource name, with or without a URL before it, or `PROJECT/LOCATION/ID`; None if it is none."""
        relative = _URL_HEAD.sub("", text, count=1) if "//" in text else text
        if match := _FULL.fullmatch(relative):
            return cls(*match.groups())
        parts = text.split("/")
        if len(parts) == 3 and all(parts):
            return cls(*parts)
        return None


def resource(name: str, aliases: dict[str, str]) -> str:
    """The comparison form of a resource name: relative, with the project's id where `aliases` knows its number."""
    relative = name.strip()
    if "//" in relative:
        relative = _URL_HEAD.sub("", relative, count=1)
    relative = relative.rstrip("/")
    head, _, rest = relative.partition("/")
    if head == "projects":
        project, slash, tail = rest.partition("/")
        return f"projects/{aliases.get(project, project)}{slash}{tail}"
    return relative


def project_aliases(name: ClusterName, live_name: object) -> dict[str, str]:
    """`{number: id}` of the cluster's project where the live resource's own `name` shows the number, else empty."""
    shown = ClusterName.parse(live_name) if isinstance(live_name, str) else None
    if shown is None or shown.project == name.project:
        return {}
    if shown.project.isdigit():
        return {shown.project: name.project}
    # The file may name the project by number and the answer by id.
    return {name.project: shown.project} if name.project.isdigit() else {}


def image_satisfies(family: str, image: str) -> bool:
    """Whether a live image is one of the wished family: `…/images/family/F` by `…/images/F` or `…/images/F-anything`.

    Both in comparison form. The API doesn't say which family an image is of; the naming rule is the public images' one.
    """
    head, marker, name = family.rpartition("/images/family/")
    live_head, live_marker, live_name = image.rpartition("/images/")
    return (
        bool(marker and live_marker) and head == live_head and (live_name == name or live_name.startswith(f"{name}-"))
    )
