"""Plan files and drift reports read back. Strictly: what isn't understood whole must not be applied."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from reconciler.engine.results import Drift
from reconciler.errors import InputError
from reconciler.plan.model import FORMAT_VERSION, Plan
from reconciler.plan.shard import parse
from reconciler.views.json import Document, plan_document

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MISSING = object()


def read_plan(text: str) -> Plan:
    """The plan of a plan file. Raises InputError where it isn't one that this version wrote or would write."""
    return _read(_document(text))


def read_drift(text: str) -> Drift:
    """What `drift_json` wrote. Raises InputError."""
    return _drift(_document(text))


def read_either(text: str) -> Plan | Drift:
    """What a plan file or a drift report holds, whichever it is. Raises InputError."""
    document = _document(text)
    return _drift(document) if "unmanaged" in document else _read(document)


def _drift(document: Document) -> Drift:
    unmanaged = document.pop("unmanaged", None)
    if not isinstance(unmanaged, list) or not all(isinstance(name, str) for name in unmanaged):
        raise InputError("this is no drift report: unmanaged is not a list of names")
    counted = document.pop("include_unmanaged", False)
    if not isinstance(counted, bool):
        raise InputError("this is no drift report: include_unmanaged is neither true nor false")
    return Drift(_read(document), tuple(unmanaged), counted)


def _document(text: str) -> Document:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the plan file isn't JSON: {error}", hint="make it with plan --out FILE") from error
    if not isinstance(document, dict) or "format_version" not in document:
        raise InputError("the file is no plan: it has no format_version", hint="make it with plan --out FILE")
    version = document["format_version"]
    if version != FORMAT_VERSION:
        raise InputError(
            f"the plan file has format version {json.dumps(version)[:40]}, and this version of the tool reads "
            f'"{FORMAT_VERSION}"',
            hint="make the plan anew with this version",
        )
    return document


@cache
def _adapter() -> TypeAdapter[Plan]:
    """Takes longer to make than a plan file to read."""
    from pydantic import TypeAdapter

    return TypeAdapter(Plan)


def _read(document: Document) -> Plan:
    from pydantic import ValidationError

    try:
        plan = _adapter().validate_python(_with_masks(document))
        strange = _difference(document, plan_document(plan), "")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the plan"
        raise InputError(f"the plan file is damaged: {place}: {first['msg']}") from error
    if "shard" in document:
        try:
            parse(plan.shard, {})
        except ValueError as error:
            raise InputError(f"the plan file is damaged: shard: {error}") from None
    if strange:
        raise InputError(
            f"the plan file is damaged: {strange} isn't as this version writes it",
            hint="make the plan anew with this version",
        )
    return plan


def _with_masks(document: Any) -> Any:
    """The document with "" for each mask that is null, which is how the value has it."""
    match document:
        case {"mask": None, "path": _, "impact": _}:
            return {**document, "mask": ""}
        case {"clusters": list() as clusters}:
            return {**document, "clusters": [_with_masks(cluster) for cluster in clusters]}
        case {"changes": list() as changes}:
            return {**document, "changes": [_with_masks(change) for change in changes]}
    return document


def _difference(given: Any, written: Any, place: str) -> str:
    """Where the value differs from what the file holds: an unknown key, or a value of another type. "" if nowhere.

    Members with a default may be missing in the file.
    """
    if given is written:
        return ""
    if isinstance(given, dict) and isinstance(written, dict):
        steps = ((given[key], written.get(key, _MISSING), f"{place}.{key}".lstrip(".")) for key in given)
    elif isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        steps = ((item, written[index], f"{place}[{index}]") for index, item in enumerate(given))
    else:
        same = given == written and (type(given) is type(written) or isinstance(written, str))
        return "" if same else place
    return next(filter(None, (_difference(*step) for step in steps)), "")
