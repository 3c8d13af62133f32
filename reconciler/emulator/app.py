"""The HTTP side: JSON in, JSON out, one transaction per request."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reconciler.emulator.admin import control_routes
from reconciler.emulator.errors import ApiError, error_body
from reconciler.emulator.faults import Faults
from reconciler.emulator.front import FAULT, Front, RequestLog
from reconciler.emulator.payload import JSON_TYPE, json_response, parse_json
from reconciler.emulator.routes import Call, bind_query, recognise
from reconciler.emulator.service import Service
from reconciler.emulator.slurm_call import SlurmCalls, read_envelope

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_log = logging.getLogger(__name__)


def build_app(service: Service, slurm: SlurmCalls, latency: float) -> Front:
    """The emulator as an ASGI application. `latency` is in seconds, before each answer of the API."""
    faults, log = Faults(), RequestLog()
    api = Api(service, slurm)
    inner = Starlette(
        routes=[*control_routes(api, faults, log), Route("/{path:path}", api.answer, methods=_METHODS)],
        # The fastest level: on loopback, bytes are cheaper than time.
        middleware=[Middleware(GZipMiddleware, compresslevel=1)],
    )
    return Front(inner, faults=faults, log=log, latency=latency, cluster_of=api.cluster_of)


class Api:
    """Answers API requests out of the service."""

    def __init__(self, service: Service, slurm: SlurmCalls) -> None:
        self.service = service
        self.slurm = slurm

    async def answer(self, request: Request) -> Response:
        """Any request that isn't one to the control endpoint."""
        call = recognise(request.method, request.scope["path"])
        try:
            text = await self._call(call, request)
        except ApiError as error:
            return json_response(error.body(), error.code)
        except Exception:  # noqa: BLE001 - a bug must answer 500 as the API does, and is logged
            _log.exception("%s %s", request.method, request.scope["path"])
            return json_response(error_body(500, "Internal error of the emulator.", "INTERNAL"), 500)
        return Response(text, media_type=JSON_TYPE)

    async def _call(self, call: Call, request: Request) -> str:
        if call.kind == "unknown":
            raise ApiError("NOT_FOUND", f"Method not found: {request.method} {request.scope['path']}")
        query = bind_query(call, request.query_params.multi_items())
        raw = await request.body()
        body = parse_json(raw) if call.kind in ("create", "patch", "slurm") else None
        await self.settle()
        if call.kind == "slurm":
            envelope = read_envelope(raw, body, self.service.quirks.slurm_request_limit)
            with self.service.store.transaction():
                cluster = self.service.find(call)
            return await self.slurm.call(cluster, envelope)
        with self.service.store.transaction():
            return self._serve(call, query, body, request.scope[FAULT])

    def _serve(self, call: Call, query: Mapping[str, str], body: object, fault: Mapping[str, Any]) -> str:
        service = self.service
        match call.kind:
            case "list":
                return service.list_clusters(call, query)
            case "get":
                return service.get(call)
            case "create":
                return service.create(call, query, body, fault)
            case "patch":
                return service.patch(call, query, body, fault)
            case "delete":
                return service.delete(call, fault)
            case "poll":
                return service.poll(call, fault)
            case _:
                return service.list_operations(call, query)

    async def settle(self) -> None:
        """Lets due operations take effect, in a transaction of their own: a refused request must not undo them."""
        with self.service.store.transaction():
            changed = self.service.settle()
        for key, cluster in changed:
            await self.slurm.changed(key, cluster)

    def cluster_of(self, call: Call) -> str:
        """The id of the cluster that a poll's operation belongs to; empty when there is no such operation."""
        with self.service.store.transaction():
            project = self.service.projects.number(call.project)
            operation = self.service.store.operation(project, call.location, call.operation)
        return operation.key.cluster if operation else ""
