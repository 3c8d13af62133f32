"""The control endpoint, under /_emulator/: faults, the request log, live edits, quirks and the clock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from reconciler.emulator.errors import ApiError, invalid_field
from reconciler.emulator.faults import Faults
from reconciler.emulator.live import patch_live, put_live
from reconciler.emulator.payload import json_response, parse_json
from reconciler.emulator.quirks import Quirks
from reconciler.emulator.routes import Call

if TYPE_CHECKING:
    from reconciler.emulator.app import Api
    from reconciler.emulator.front import RequestLog

Handler = Callable[[Request], Awaitable[Any]]


def control_routes(api: Api, faults: Faults, log: RequestLog) -> list[Mount]:
    """The control endpoint's routes."""
    control = Control(api, faults, log)
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/faults", control.get_faults),
        ("POST", "/faults", control.add_faults),
        ("DELETE", "/faults", control.clear_faults),
        ("GET", "/requests", control.get_requests),
        ("DELETE", "/requests", control.clear_requests),
        ("GET", "/quirks", control.get_quirks),
        ("POST", "/quirks", control.set_quirks),
        ("DELETE", "/quirks", control.reset_quirks),
        ("POST", "/clock", control.advance_clock),
        ("POST", "/slurm", control.configure_slurm),
        *(
            (method, "/live/{project}/{location}/{cluster}", control.live)
            for method in ("GET", "POST", "PUT", "DELETE")
        ),
    ]
    return [Mount("/_emulator", routes=[Route(path, _endpoint(run), methods=[verb]) for verb, path, run in table])]


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            return json_response(await handler(request))
        except ApiError as error:
            return json_response(error.body(), error.code)

    return endpoint


async def _body(request: Request) -> Any:
    return parse_json(await request.body())


class Control:
    """The control endpoint's methods; each returns what is answered as JSON."""

    def __init__(self, api: Api, faults: Faults, log: RequestLog) -> None:
        self._api = api
        self._service = api.service
        self._faults = faults
        self._log = log
        self._first_quirks = api.service.quirks

    async def get_faults(self, _: Request) -> Any:
        """The rules in force, with their counts."""
        return {"faults": [vars(rule) for rule in self._faults.rules]}

    async def add_faults(self, request: Request) -> Any:
        """Adds one rule, or a list of them."""
        self._faults.add(await _body(request))
        return await self.get_faults(request)

    async def clear_faults(self, _: Request) -> Any:
        """Removes all rules."""
        self._faults.clear()
        return {}

    async def get_requests(self, request: Request) -> Any:
        """The requests so far; `?kind=` narrows."""
        kind = request.query_params.get("kind")
        return {"requests": [entry for entry in self._log.entries if kind in (None, entry["kind"])]}

    async def clear_requests(self, _: Request) -> Any:
        """Forgets the requests so far."""
        self._log.entries.clear()
        return {}

    async def get_quirks(self, _: Request) -> Any:
        """The switches in force."""
        return self._service.quirks.as_dict()

    async def set_quirks(self, request: Request) -> Any:
        """Sets some switches."""
        self._set_quirks(self._service.quirks.with_changes(await _body(request)))
        return self._service.quirks.as_dict()

    async def reset_quirks(self, _: Request) -> Any:
        """Sets every switch as it was at the start."""
        self._set_quirks(self._first_quirks)
        return self._service.quirks.as_dict()

    def _set_quirks(self, quirks: Quirks) -> None:
        self._service.quirks = quirks

    async def advance_clock(self, request: Request) -> Any:
        """Moves the clock of the operations forward by `advance` seconds."""
        body = await _body(request)
        seconds = body.get("advance") if isinstance(body, dict) else None
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
            raise invalid_field("advance", "seconds to move the clock forward by.")
        with self._service.store.transaction():
            now = self._service.advance(seconds)
        await self._api.settle()
        return {"now": now}

    async def configure_slurm(self, request: Request) -> Any:
        """Sets switches of the built-in Slurm."""
        self._api.slurm.configure(await _body(request))
        return {}

    async def live(self, request: Request) -> Any:
        """A live cluster, read or edited around the API."""
        call = Call("get", **request.path_params)
        body = await _body(request) if request.method in ("POST", "PUT") else None
        await self._api.settle()
        service = self._service
        with service.store.transaction():
            match request.method:
                case "PUT":
                    cluster = put_live(service, service.key(call), call.project, body)
                case "POST":
                    cluster = patch_live(service, service.find(call), body)
                case "DELETE":
                    cluster = service.find(call)
                    service.store.remove(cluster.key)
                case _:
                    cluster = service.find(call)
        if request.method != "GET":
            await self._api.slurm.changed(cluster.key, None if request.method == "DELETE" else cluster)
        return {"resource": cluster.resource, "serviceRefreshes": cluster.refreshes}
