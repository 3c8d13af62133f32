"""What stands around the resource in a cluster file: which cluster it is, and how the tool treats it."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from reconciler.spec.findings import Path, Problem, Report, did_you_mean
from reconciler.spec.model import Lifecycle, MaintenanceWindow, Paused
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import Literal as LiteralText
from reconciler.spec.reading import Typed, read_file
from reconciler.spec.tree import ROOT
from reconciler.spec.values import describe

KEYS = ("project", "location", "cluster_id", "lifecycle", "spec")
_MEANINGS = {
    "project": "say the project's id, here or in a _defaults.yaml",
    "location": "say a region such as us-central1, here or in a _defaults.yaml",
    "cluster_id": "say the cluster's id, such as a4train",
}
_DEFAULT = Lifecycle()
_NAME = re.compile(r"[^\s/]+")
_QUOTED = re.compile("'([^']+)'")
_TIME = "a time with its zone, such as 2026-12-24T08:00:00Z"
_WANTED = {  # pydantic's names of errors, in words for people who write YAML
    "bool_type": "true or false",
    "dataclass_type": "a mapping",
    "datetime_parsing": _TIME,
    "datetime_type": _TIME,
    "float_type": "a number",
    "string_pattern_mismatch": 'a time of day such as "02:00"',
    "string_too_short": "a text that isn't empty",
    "string_type": "a string",
    "timezone_aware": _TIME,
    "too_short": "a list that isn't empty",
    "tuple_type": "a list",
}
_MODELS: dict[Path, type] = {
    (): Lifecycle,
    ("paused",): Paused,
    ("maintenance_window",): MaintenanceWindow,
}


def read_keys(raw: dict[str, Any], report: Report) -> None:
    """Report the keys that a document can't have."""
    for key in raw:
        if key in KEYS:
            continue
        hint = did_you_mean(key, KEYS)
        if not hint:
            hint = "it belongs under spec" if key in ROOT.names else "known here: " + ", ".join(KEYS)
        report(Problem((key,), "unknown-field", f"unknown key {key[:80]}", hint))


def read_name(raw: dict[str, Any], literal: LiteralText, report: Report) -> ClusterName | None:
    """The cluster's name, where all three parts of it are sound."""
    parts = [_part(raw.get(key), key, literal, report) for key in KEYS[:3]]
    return ClusterName(*parts) if all(parts) else None


def _part(value: Any, key: str, literal: LiteralText, report: Report) -> str:
    if value is None:
        report(Problem((key,), "required", f"{key} is missing", _MEANINGS[key]))
        return ""
    # Written without quotes, a number or a word such as true is taken as it stands.
    text = literal((key,)) if isinstance(value, (bool, int, float)) else value
    if not isinstance(text, str):
        report(Problem((key,), "type", f"{key} must be a string, got {describe(value)}", _MEANINGS[key]))
    elif not _NAME.fullmatch(text):
        message = f"{key} must be one name without slashes and spaces, got {describe(text)}"
        report(Problem((key,), "name", message, _MEANINGS[key]))
    else:
        return text
    return ""


def read_spec(raw: dict[str, Any], lifecycle: Lifecycle | None, literal: LiteralText, report: Report) -> Typed:
    """The resource, empty where there is none. Only a cluster that is to be absent may lack it."""
    spec = raw.get("spec")
    if lifecycle is not None and lifecycle.state == "absent" and not spec:
        return {}
    if isinstance(spec, dict):
        said = raw.get("lifecycle")  # taken from there, since one with a fault elsewhere says it too
        allow_unknown = isinstance(said, dict) and said.get("allow_unknown_fields") is True
        return read_file(spec, ("spec",), literal, report, allow_unknown=allow_unknown)
    if spec is not None:
        hint = "write the resource's fields below it, or paste the API's JSON"
        report(Problem(("spec",), "type", f"spec must be a mapping, got {describe(spec)}", hint))
    elif lifecycle is not None:  # a lifecycle with a fault may have been meant to say "absent"
        report(Problem(("spec",), "required", "spec is missing", "only state: absent goes without it"))
    return {}


def read_lifecycle(raw: Any, report: Report) -> Lifecycle | None:
    """The lifecycle of a document, the default where it has none; null means absent. None where it can't be read."""
    if raw is None:
        return _DEFAULT
    if isinstance(raw, dict):
        raw = {key: value for key, value in raw.items() if value is not None}
        if (plain := _plain(raw)) is not None:
            return plain
    from pydantic import TypeAdapter, ValidationError

    try:
        # Strict, since a lenient reading would take "no" for false; from JSON, where strictness still allows for times.
        lifecycle = TypeAdapter(Lifecycle).validate_json(json.dumps(raw), strict=True)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            if detail["type"] == "too_short" and detail["input"]:
                continue  # its items are at fault, which is said of each
            report(_problem(detail["type"], detail["loc"], detail["msg"], detail["input"]))
        return None
    if lifecycle.paused and lifecycle.paused.until and lifecycle.paused.until.tzinfo is None:
        report(_problem("timezone_aware", ("paused", "until"), "", raw["paused"]["until"]))
        return None
    return lifecycle


def says_present(raw: dict[str, Any]) -> bool:
    """Whether a document whose lifecycle can't be read says all the same that the cluster is to be there."""
    said = raw.get("lifecycle")
    return isinstance(said, dict) and said.get("state") in (None, "present")


def _plain(raw: dict[str, Any]) -> Lifecycle | None:
    """The lifecycle where it is flat and sound, as most are: so they don't pay for pydantic, which imports slowly."""
    hints = _hints()
    if not all(key in hints and _fits(value, hints[key]) for key, value in raw.items()):
        return None
    sound: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    return Lifecycle(**sound)


@cache
def _hints() -> dict[str, Any]:
    return get_type_hints(Lifecycle)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if get_origin(hint) is tuple:
        return isinstance(value, list) and all(_fits(item, get_args(hint)[0]) for item in value)
    return hint in (bool, str) and type(value) is hint


def _problem(kind: str, where: Path, message: str, value: object) -> Problem:
    path: Path = ("lifecycle", *where)
    name = "lifecycle" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    if kind == "unexpected_keyword_argument":
        known = [field.name for field in fields(_MODELS[where[:-1]])]
        hint = did_you_mean(str(where[-1]), known) or "known here: " + ", ".join(known)
        return Problem(path, "unknown-field", f"unknown field {name}", hint)
    if kind == "missing":
        return Problem(path, "required", f"{name} is missing", f"add it, or leave out lifecycle.{where[0]}")
    otherwise = ".".join(("lifecycle", *map(str, where[:1])))
    hint = f"correct it, or leave out {otherwise}"
    if kind == "literal_error":
        known = _QUOTED.findall(message)
        hint = did_you_mean(str(value), known) or hint
        return Problem(path, "type", f"{name} must be {' or '.join(known)}, got {describe(value)}", hint)
    wanted = _WANTED.get(kind) or message.partition(" should be ")[2] or message
    return Problem(path, "type", f"{name} must be {wanted}, got {describe(value)}", hint)
