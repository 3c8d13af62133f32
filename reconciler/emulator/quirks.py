"""Switches for what the documents leave open, or say in two ways."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from reconciler.emulator.errors import invalid_field


@dataclass(frozen=True)
class Quirks:
    """How this emulator answers. The defaults are the likeliest reading of the documents.

    int64: which whole numbers come back as strings: `mixed` (node counts and disk sizes), `all` or `none`.
    cluster_name: whether a cluster's own `name` shows the project's number or its id.
    resource_names: how network and subnetwork come back: with the project's number, as sent, or as a full URL.
    all_resource_names: the same for storage instances and reservations.
    list_key: the key of the list answer (V and S2 differ).
    page_cap: a page never holds more than this; None = what was asked for.
    empty_pages: how many empty pages with a token come before each page that holds something.
    missing_mask: a PATCH without updateMask is refused, or means every field that the body holds (S2: "optional").
    camel_mask: a camelCase mask path is refused, or answered with 200 and ignored.
    single_mask_path: a mask with more than one path is refused.
    normalise_scripts: trailing whitespace of scripts is lost on write.
    durations: `604800s` or `604800.000s`.
    pool_order: node pools come back sorted by id, reversed, or as sent.
    display_name: C's rule (`strict`: ten lower-case characters) or T's (`lenient`).
    resolve_image_family: a node image given as a family comes back as an image of that family.
    future_fields: names (camelCase) of fields not documented yet that are accepted and kept at any depth.
    slurm_request_limit: bytes that a callSlurmRestApi request must stay below (S1: "1 MB").
    """

    int64: Literal["mixed", "all", "none"] = "mixed"
    cluster_name: Literal["number", "id"] = "number"
    resource_names: Literal["number", "id", "url"] = "number"
    all_resource_names: bool = False
    list_key: Literal["modelDevelopmentClusters", "clusters"] = "modelDevelopmentClusters"
    page_cap: int | None = None
    empty_pages: int = 0
    missing_mask: Literal["reject", "populated"] = "populated"
    camel_mask: Literal["reject", "ignore"] = "reject"
    single_mask_path: bool = False
    normalise_scripts: bool = False
    durations: Literal["plain", "decimal"] = "plain"
    pool_order: Literal["sorted", "reversed", "kept"] = "sorted"
    display_name: Literal["lenient", "strict"] = "lenient"
    resolve_image_family: bool = False
    future_fields: tuple[str, ...] = ()
    slurm_request_limit: int = 1_000_000

    def with_changes(self, changes: object) -> Quirks:
        """These switches with some set anew. Raises ApiError for an unknown switch or an unfit value."""
        if not isinstance(changes, dict):
            raise invalid_field("quirks", "must be an object.")
        hints = get_type_hints(Quirks)
        for name, value in changes.items():
            if name not in hints:
                raise invalid_field(name, f"no such quirk; there are {', '.join(hints)}.")
            if not _fits(hints[name], value):
                raise invalid_field(name, f"{value!r} is not a {hints[name]}.")
        checked = {name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()}
        return Quirks(**{**asdict(self), **checked})

    @property
    def render_key(self) -> str:
        """What a rendered answer depends on: two equal keys mean equal text."""
        parts = (self.int64, self.cluster_name, self.resource_names, self.all_resource_names)
        return "/".join(map(str, (*parts, self.durations, self.pool_order, self.resolve_image_family)))

    def as_dict(self) -> dict[str, Any]:
        """All switches, for JSON."""
        return asdict(self)


def _fits(hint: Any, value: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))
