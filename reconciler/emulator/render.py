"""Writes a stored resource as the API answers it. How, depends on the quirks."""

from __future__ import annotations

import re
from typing import Any

from reconciler.emulator.fields import ANY, CLUSTER, Message, Node, Repeated, Scalar
from reconciler.emulator.names import ClusterKey, Projects, relative
from reconciler.emulator.quirks import Quirks
from reconciler.emulator.resource import is_default

_IMAGE_FAMILY = re.compile(r"/family/([^/]+)$")
_COMPUTE_URL = "https://www.googleapis.com/compute/v1/"
_FILE_URL = "https://file.googleapis.com/v1/"


class Renderer:
    """Renders resources under one set of quirks."""

    def __init__(self, quirks: Quirks, projects: Projects) -> None:
        self._quirks = quirks
        self._projects = projects

    def render(self, key: ClusterKey, project_id: str, stored: dict[str, Any]) -> dict[str, Any]:
        """The JSON object of an answer. `project_id` is what the name shows when the quirks say so."""
        answer: dict[str, Any] = self._message(CLUSTER, stored)
        if "nodePools" in answer:
            answer["nodePools"] = self._ordered(answer["nodePools"])
        if "network" in answer:
            network = answer["network"]
            answer["network"] = {part: self._name(name, _COMPUTE_URL) for part, name in network.items()}
        shown = key.project if self._quirks.cluster_name == "number" else project_id
        name = f"projects/{shown}/locations/{key.location}/modelDevelopmentClusters/{key.cluster}"
        return {"name": name, **{field: value for field, value in answer.items() if field != "name"}}

    def _ordered(self, pools: list[Any]) -> list[Any]:
        if self._quirks.pool_order == "kept":
            return pools
        return sorted(pools, key=lambda pool: str(pool.get("id", "")), reverse=self._quirks.pool_order == "reversed")

    def _message(self, message: Message, stored: dict[str, Any]) -> dict[str, Any]:
        answer = {}
        for name, value in stored.items():
            node = message.child(name) or ANY
            if not is_default(node, value):
                answer[name] = self._value(node, value)
        return answer

    def _value(self, node: Node, value: Any) -> Any:
        match node:
            case Message() if isinstance(value, dict):
                return self._message(node, value)
            case Repeated() if isinstance(value, list):
                return [self._value(node.item, item) for item in value]
            case Scalar():
                return self._scalar(node, value)
            case _:
                return value

    def _scalar(self, node: Scalar, value: Any) -> Any:
        quirks = self._quirks
        match node.kind:
            case "int64" if isinstance(value, int):
                return value if quirks.int64 == "none" else str(value)
            case "int32" if isinstance(value, int):
                return str(value) if quirks.int64 == "all" else value
            case "duration" if quirks.durations == "decimal" and isinstance(value, str) and "." not in value:
                return f"{value.removesuffix('s')}.000s"
            case "image" if quirks.resolve_image_family and isinstance(value, str):
                return _IMAGE_FAMILY.sub(r"/\1-v1", value)
            case "name" if quirks.all_resource_names and isinstance(value, str):
                return self._name(value, _FILE_URL if "/locations/" in value else _COMPUTE_URL)
            case _:
                return value

    def _name(self, name: Any, host: str) -> Any:
        if self._quirks.resource_names == "id" or not isinstance(name, str) or not relative(name).startswith("project"):
            return name
        if self._quirks.resource_names == "url":
            return host + relative(name)
        return self._projects.canonical(name)
