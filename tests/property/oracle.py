"""A second, naive opinion on when a file and a live cluster mean the same (contract section 1).

It goes by values and names alone, knows nothing of the field table, and shares no code with what it judges.
"""

from __future__ import annotations

import re
from typing import Any

OUTPUT = {"name", "create_time", "update_time", "start_time", "cluster_status", "cluster_events", "runtime"}
COMPUTED = {"effective_flex_start_max_duration"}
FILLED = {
    "network",
    "subnetwork",
    "boot_disk_type",
    "boot_disk_size_gb",
    "node_image",
    "provisioning_model",
    "service_account",
}
DATA = {"labels", "config", "confidential_instance_config"}
SETS = {"node_pool_ids", "filestores", "lustres", "days_of_week", "values"}
URL = re.compile(r"^(https?:)?//[^/]+/(compute/)?v1/(?=projects/)")
SECONDS = re.compile(r"^(\d+)(\.\d+)?s$")


def normal(file: dict[str, Any], answer: dict[str, Any], project: str, number: str) -> tuple[Any, Any]:
    """File and answer, such that they are equal when nothing is to be changed."""
    wanted, live = (
        _plain({key: value for key, value in _snake(side).items() if key not in OUTPUT}, project, number)
        for side in (file, answer)
    )
    for side in (wanted, live):
        _mark_default(side)
    return wanted, _restricted(live, wanted)


def _snake(value: Any, *, data: bool = False) -> Any:
    if isinstance(value, list):
        return [_snake(item, data=data) for item in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, item in value.items():
        name = key if data else re.sub(r"(?<=[a-z0-9])[A-Z]", lambda found: "_" + found[0].lower(), key)
        out[name] = _snake(item, data=data or name in DATA)
    return out


def _plain(value: Any, project: str, number: str, name: str = "") -> Any:
    """Scalars in one spelling, defaults gone, lists as sets or mappings where their order means nothing."""
    if isinstance(value, dict):
        members = {key: _plain(item, project, number, "data" if name in DATA else key) for key, item in value.items()}
        if name == "labels":
            members = {
                key: item if item is not None else "" for key, item in members.items() if not key.startswith("goog-")
            }
        elif name == "config":
            members = {key.replace("_", "").lower(): item for key, item in members.items()}
        else:
            members = {key: item for key, item in members.items() if item is not None and key not in COMPUTED}
        return members or None
    if isinstance(value, list):
        items = [
            _plain(item, project, number, "data") if not isinstance(item, dict) else _plain(item, project, number)
            for item in value
        ]
        keys = [item.get("id") or item.get("node_pool_id") for item in items if isinstance(item, dict)]
        if items and len(keys) == len(items):
            return dict(zip(keys, items, strict=True))
        if name in SETS:
            return sorted(set(map(str, items))) or None
        return ["" if item is None else item for item in items] or None
    return _scalar(value, project, number)


def _scalar(value: Any, project: str, number: str) -> Any:
    if value in (None, "", False) or value == 0:
        return None
    if value is True or isinstance(value, int):
        return str(value).lower()
    text = URL.sub("", str(value)).replace("\r\n", "\n").removesuffix("\n")
    if text.startswith(f"projects/{number}/"):
        text = text.replace(number, project, 1)
    if found := SECONDS.match(text):
        text = f"{float(found[1] + (found[2] or '')):g} seconds"
    if text.endswith("_UNSPECIFIED") or text in ("", "0", "false"):
        return None
    return text


def _mark_default(side: Any) -> None:
    """The first partition is the default one where none is named."""
    slurm = ((side or {}).get("orchestrator_spec") or {}).get("slurm_spec") or {}
    if slurm.get("partitions") and not slurm.get("default_partition_id"):
        slurm["first partition"] = next(iter(slurm["partitions"]))


def _restricted(live: Any, wanted: Any) -> Any:
    """Live without what the service filled in where the file is silent."""
    if not isinstance(live, dict):
        return live
    silent = wanted if isinstance(wanted, dict) else {}
    out = {
        key: _restricted(item, silent.get(key))
        for key, item in live.items()
        if not (key in FILLED and silent.get(key) is None)
    }
    return {key: item for key, item in out.items() if item is not None} or None
