"""The update mask: which paths exist, and what they take over from a request (S2, C, T)."""

from __future__ import annotations

from typing import Any

from reconciler.emulator.errors import ApiError, invalid_field
from reconciler.emulator.names import camel, snake
from reconciler.emulator.quirks import Quirks

_SLURM = "orchestrator_spec.slurm_spec."
MASK_PATHS = (
    "display_name",
    "labels",
    "lustre_export_config",
    "node_pools",
    *(
        _SLURM + leaf
        for leaf in (
            "accounting",
            "config",
            "default_partition_id",
            "epilog_bash_scripts",
            "login_node_pool_id",
            "node_sets",
            "partitions",
            "prolog_bash_scripts",
            "scheduling",
        )
    ),
)
UPDATE_MODES = ("UPDATE_MODE_UNSPECIFIED", "USER_ONLY", "USER_AND_SERVICE")


def parse_mask(mask: str | None, body: dict[str, Any], quirks: Quirks) -> list[str]:
    """The mask's paths. Raises ApiError for a missing mask and for every path that can't be updated by name."""
    if mask is None and quirks.missing_mask == "populated":
        return [path for path in MASK_PATHS if get_path(body, path) is not None]
    if not mask:
        raise invalid_field("update_mask", "required: name the fields to change.")
    asked = list(dict.fromkeys(mask.split(",")))
    if quirks.single_mask_path and len(asked) > 1:
        raise invalid_field("update_mask", "must hold exactly one path.")
    paths = [path for path in asked if not _ignored(path, quirks)]
    for path in paths:
        if path not in MASK_PATHS:
            raise invalid_field("update_mask", f"'{path}' can't be updated; known paths: {', '.join(MASK_PATHS)}.")
    return paths


def _ignored(path: str, quirks: Quirks) -> bool:
    return quirks.camel_mask == "ignore" and path not in MASK_PATHS and snake(path) in MASK_PATHS


def check_update_mode(mode: str | None) -> str:
    """The effective update mode; unset and UNSPECIFIED mean USER_AND_SERVICE (S2)."""
    if mode is not None and mode not in UPDATE_MODES:
        raise ApiError("INVALID_ARGUMENT", f"Invalid value at 'update_mode' (TYPE_ENUM), \"{mode}\"")
    return "USER_ONLY" if mode == "USER_ONLY" else "USER_AND_SERVICE"


def _keys(path: str) -> list[str]:
    return [camel(part) for part in path.split(".")]


def get_path(resource: dict[str, Any], path: str) -> Any:
    """The value at a mask path, or None."""
    value: Any = resource
    for key in _keys(path):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def set_path(resource: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of the resource with one mask path replaced; None clears it. Nothing else changes."""
    key, *rest = path.split(".", 1)
    name = camel(key)
    copy = dict(resource)
    if rest:
        copy[name] = set_path(copy.get(name) or {}, rest[0], value)
    else:
        copy[name] = value
    if copy[name] is None or copy[name] == {}:
        del copy[name]
    return copy


def masked(body: dict[str, Any], paths: list[str]) -> dict[str, Any]:
    """What an update would set: mask path -> wanted value (None clears)."""
    return {path: get_path(body, path) for path in paths}


def apply_changes(resource: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy of the resource with the masked values taken over."""
    for path, value in changes.items():
        resource = set_path(resource, path, value)
    return resource
