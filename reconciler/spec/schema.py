"""The JSON Schema (2020-12) of cluster files, for editors: the field table and the lifecycle's model, in other words.

It accepts what the tool accepts: either spelling of a field, the API's strings for numbers and booleans, plain YAML
scalars in string fields, null for absent. What is required is so within lists only: above them `_defaults.yaml` may
have it. Unknown fields are refused by a part of its own, which holds unless the lifecycle of the file lets them in.
"""

from __future__ import annotations

from typing import Any

from reconciler.spec.fields import Kind, Many
from reconciler.spec.model import Lifecycle
from reconciler.spec.tree import ROOT, Node, camel

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Schema = {"type": ["string", "number", "boolean"]}  # YAML types mean nothing in a string field
_KINDS: dict[Kind, Schema] = {
    Kind.STRING: _TEXT,
    Kind.INT: {"type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"},
    Kind.INT64: {"type": ["integer", "string"], "pattern": "^[+-]?[0-9]+$"},
    Kind.BOOL: {"type": ["boolean", "string"], "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"},
    Kind.DURATION: {"type": "string", "pattern": r"^[0-9]+(\.[0-9]{1,9})?s$"},
    Kind.RESOURCE: {"type": "string"},
    Kind.IMAGE: {"type": "string"},
    Kind.SCRIPT: {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/script_file"}]},
    Kind.LABELS: {"type": "object", "additionalProperties": _TEXT},
    Kind.SLURM: {"type": "object", "additionalProperties": _TEXT},
    Kind.ANY: {},
}
_NULL: Schema = {"type": "null"}
_KNOWN = "known_fields"
_UNKNOWN_ALLOWED: Schema = {
    "properties": {
        "lifecycle": {
            "type": "object",
            "properties": {"allow_unknown_fields": {"const": True}},
            "required": ["allow_unknown_fields"],
        }
    },
    "required": ["lifecycle"],
}
_SCRIPT_FILE: Schema = {
    "type": "object",
    "description": "A script's text from a file, relative to this one and within the repository.",
    "properties": {"file": {"type": "string", "minLength": 1}},
    "required": ["file"],
    "additionalProperties": False,
}


def cluster_schema() -> Schema:
    """The schema of one document of a cluster file. Each call builds it anew."""
    from pydantic import TypeAdapter

    lifecycle = TypeAdapter(Lifecycle).json_schema()
    definitions: Schema = {"script_file": _SCRIPT_FILE, **lifecycle.pop("$defs")}
    lifecycle["properties"] = {name: _nullable(schema) for name, schema in lifecycle["properties"].items()}
    spec = _message(ROOT, definitions, within_list=False)
    definitions[_KNOWN] = _known(ROOT, definitions)
    return {
        "$schema": DIALECT,
        "title": "Cluster file",
        "description": "One training cluster as it is wanted.",
        "type": "object",
        "properties": {
            "project": _TEXT | {"description": "Project id or number."},
            "location": {"type": "string", "description": "Region, such as us-central1."},
            "cluster_id": {
                "type": "string",
                "description": "The cluster's id: 1 to 10 characters, never changes.",
                "pattern": "^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$",
            },
            "lifecycle": _nullable({**lifecycle, "description": "How the tool treats the cluster."}),
            "spec": _nullable({**spec, "description": "The ModelDevelopmentCluster, as the API documents it."}),
        },
        "required": ["cluster_id"],
        "additionalProperties": False,
        "if": _UNKNOWN_ALLOWED,
        "else": {"properties": {"spec": {"$ref": f"#/$defs/{_KNOWN}"}}},
        "$defs": definitions,
    }


def _message(node: Node, definitions: Schema, *, within_list: bool) -> Schema:
    """A message's schema; those of its fields go to `definitions`, since each has two names."""
    schema: Schema = {"type": "object", "properties": {}}
    required: list[Schema] = []
    twice: Schema = {}
    for name, child in node.children.items():
        place = child.path.replace("[]", "")
        definitions[place] = _field(child, definitions, within_list=within_list)
        names = list(dict.fromkeys((name, camel(name))))
        for spelling in names:
            schema["properties"][spelling] = {"$ref": f"#/$defs/{place}"}
        if len(names) > 1:
            twice[names[0]] = {"properties": {names[1]: False}}
        if child.row.required and within_list:
            required.append({"anyOf": [{"required": [spelling]} for spelling in names]})
    if twice:
        schema["dependentSchemas"] = twice
    if required:
        schema["allOf"] = required
    return schema


def _known(node: Node, definitions: Schema) -> Schema:
    """That a message has known fields only, and nothing else of it. Those of messages below go to `definitions`."""
    properties: Schema = {}
    for name, child in node.children.items():
        below: bool | Schema = True
        if child.kind is Kind.MESSAGE and not child.row.output:
            place = f"{_KNOWN}.{child.path.replace('[]', '')}"
            fields = _known(child, definitions)
            definitions[place] = fields if child.many is Many.NO else {"items": fields}
            below = {"$ref": f"#/$defs/{place}"}
        properties |= {name: below, camel(name): below}
    return {"properties": properties, "additionalProperties": False}


def _field(node: Node, definitions: Schema, *, within_list: bool) -> Schema:
    row = node.row
    if row.output:
        return {"description": f"{row.doc} Filled by the service, ignored here. ({row.source})", "readOnly": True}
    if node.many is Many.NO:
        schema = _item(node, definitions, within_list=within_list)
    else:
        schema = {"type": "array", "items": _item(node, definitions, within_list=True)}
    if not row.required:
        schema = _nullable(schema)
    return {"description": f"{row.doc} ({row.source})", **schema}


def _item(node: Node, definitions: Schema, *, within_list: bool) -> Schema:
    if node.kind is Kind.MESSAGE:
        return _message(node, definitions, within_list=within_list)
    if node.kind is Kind.ENUM:
        # New values may come; the known ones are suggestions.
        return {"anyOf": [{"enum": list(node.row.values)}, {"type": "string"}]}
    return _KINDS[node.kind]


def _nullable(schema: Schema) -> Schema:
    """The same, with null for "absent"."""
    if "anyOf" in schema:
        return schema if _NULL in schema["anyOf"] else schema | {"anyOf": [*schema["anyOf"], _NULL]}
    if "type" not in schema:
        return schema
    if "enum" in schema:
        schema = schema | {"enum": [*schema["enum"], None]}
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return schema | {"type": [*types, "null"]}
