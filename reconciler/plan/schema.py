"""The JSON Schema (2020-12) of a plan (contract section 3): the plan's value types, as `views.json` writes them."""

from __future__ import annotations

from typing import Any

from reconciler.plan.model import FORMAT_VERSION, Plan

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LEFT_OUT_WHEN_EMPTY = {"Change": {"origin", "reason"}, "Plan": {"shard"}}
_NOT_WRITTEN = {"Change": {"field", "item"}}


def plan_schema() -> dict[str, Any]:
    """The schema of `plan --format json` and of plan files. Each call builds it anew."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(Plan).json_schema(mode="serialization")
    definitions = schema.pop("$defs")
    for name, message in {"Plan": schema, **definitions}.items():
        if message["type"] == "object":
            _close(message, _LEFT_OUT_WHEN_EMPTY.get(name, set()), _NOT_WRITTEN.get(name, set()))
    _spell_as_written(schema, definitions)
    return {"$schema": _DIALECT, **schema, "title": "Plan", "$defs": definitions}


def _close(message: dict[str, Any], optional: set[str], hidden: set[str]) -> None:
    """Everything is always written, but for what is left out when empty; nothing else is."""
    fields = {name: field for name, field in message["properties"].items() if name not in hidden}
    for field in fields.values():
        field.pop("default", None)
        field.pop("title", None)
    message["properties"] = fields
    message["required"] = [name for name in fields if name not in optional]
    message["additionalProperties"] = False


def _spell_as_written(schema: dict[str, Any], definitions: dict[str, Any]) -> None:
    schema["properties"]["format_version"] = {"const": FORMAT_VERSION}
    change = definitions["Change"]
    change["description"] = "One path, before and after. `mask` is the updateMask path that covers it."
    change["properties"]["mask"] = {"type": ["string", "null"]}
    change["properties"]["origin"] = {"$ref": "#/$defs/Origin"}
