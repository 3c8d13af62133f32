"""Starts and stops the emulator: in a thread for tests and `--endpoint emulator`, blocking for the command line."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

import uvicorn

from reconciler.emulator.app import build_app
from reconciler.emulator.defaults import fill_defaults
from reconciler.emulator.errors import ApiError
from reconciler.emulator.front import Front
from reconciler.emulator.live import put_live
from reconciler.emulator.names import ClusterKey, Projects
from reconciler.emulator.quirks import Quirks
from reconciler.emulator.seed import SeedError, load_seeds
from reconciler.emulator.service import Service
from reconciler.emulator.slurm_call import SlurmCalls
from reconciler.emulator.store import Store
from reconciler.emulator.wire import WireProtocol

_log = logging.getLogger(__name__)

_HOST = "127.0.0.1"  # never anything else: there is no authentication
_BACKLOG = 1024
_TICK_SECONDS = 1.0
_KEEP_ALIVE_SECONDS = 75  # longer than any pause of a client, so that no request meets a closing connection


@dataclass(frozen=True)
class EmulatorConfig:
    """How to run an emulator. Times are in seconds.

    port: 0 takes any free one. state_dir: where state is kept; None keeps it in a private folder, removed at the stop.
    seeds: seed files; clusters that the state already knows are left alone. slurm_socket: a slurmrestd to hand the
    Slurm job API to, in place of the built-in one; slurm_config_dir: where its slurm.conf lies. project_numbers:
    project id to number; others get a number derived from the id.
    """

    port: int = 0
    state_dir: Path | None = None
    seeds: tuple[Path, ...] = ()
    latency: float = 0.0
    lro_seconds: float = 1.0
    slurm_socket: Path | None = None
    slurm_config_dir: Path | None = None
    project_numbers: Mapping[str, str] = field(default_factory=dict)
    quirks: Quirks = field(default_factory=Quirks)


class _Server(uvicorn.Server):
    """uvicorn's server, stopped by an event at once, and leaving signals alone."""

    def __init__(self, front: Front) -> None:
        super().__init__(
            uvicorn.Config(
                front,
                http=WireProtocol,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                backlog=_BACKLOG,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                server_header=False,
            )
        )
        self._front = front
        self._loop: asyncio.AbstractEventLoop | None = None
        self.ready = threading.Event()

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override] # uvicorn's is a generator
        return nullcontext()

    async def main_loop(self) -> None:
        """Serves until `request_stop`."""
        self._loop = asyncio.get_running_loop()
        self.ready.set()
        while not self.should_exit:
            await self.on_tick(0)
            try:
                await asyncio.wait_for(self._front.stopping.wait(), _TICK_SECONDS)
            except TimeoutError:
                continue
            self.should_exit = True

    def request_stop(self) -> None:
        """Ends `main_loop`, from any thread; requests that hang are cut off."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._front.stopping.set)


class Emulator:
    """A running emulator: `with Emulator(EmulatorConfig()) as emulator: … emulator.url`."""

    def __init__(self, config: EmulatorConfig) -> None:
        self._config = config
        self._resources = ExitStack()
        self.url = ""

    def __enter__(self) -> Self:
        """Starts it; it answers when this returns. Raises OSError (port in use, unusable state) and SeedError."""
        with ExitStack() as stack:
            config = self._config
            folder = _open_folder(config.state_dir, stack)
            service = _open_service(config, folder, stack)
            listener = stack.enter_context(_listen(config.port))
            slurm = SlurmCalls(service, folder / "slurm.sqlite3", config.slurm_socket, config.slurm_config_dir)
            stack.callback(slurm.close)
            front = build_app(service, slurm, config.latency)
            stack.callback(_start(_Server(front), listener))
            stack.callback(slurm.stop)
            self.url = f"http://{_HOST}:{listener.getsockname()[1]}"
            self._resources = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops it, ending requests that hang; state in a `state_dir` stays."""
        self._resources.close()


def _listen(port: int) -> socket.socket:
    # With the protocol spelt out: asyncio turns Nagle's algorithm off for such sockets only (40 ms an answer).
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOST, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise type(error)(error.errno, error.strerror, f"{_HOST}:{port}") from None
    return listener


def _start(server: _Server, listener: socket.socket) -> Callable[[], None]:
    """Runs a server in a thread of its own. Returns the function that stops it."""
    thread = threading.Thread(
        target=lambda: asyncio.run(server.serve(sockets=[listener])), name="emulator", daemon=True
    )
    thread.start()
    while not server.ready.wait(_TICK_SECONDS):
        if not thread.is_alive():
            raise RuntimeError("the emulator's server did not start")

    def stop() -> None:
        server.request_stop()
        thread.join()

    return stop


def _open_folder(state_dir: Path | None, stack: ExitStack) -> Path:
    if state_dir is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="emulator-")))
    state_dir.mkdir(parents=True, exist_ok=True)
    return state_dir


def _open_service(config: EmulatorConfig, folder: Path, stack: ExitStack) -> Service:
    path = folder / "emulator.sqlite3"
    try:
        store = Store(path, durable=config.state_dir is not None)
    except sqlite3.Error as error:
        raise OSError(f"{path}: {error}") from error
    stack.callback(store.close)
    service = Service(store, Projects(config.project_numbers), config.quirks, config.lro_seconds)
    with store.transaction():
        for path in config.seeds:
            _plant(service, path)
    return service


def _plant(service: Service, path: Path) -> None:
    for seed in load_seeds(path):
        key = ClusterKey(service.projects.number(seed.project), seed.location, seed.cluster)
        if service.store.cluster(key) is None:
            try:
                cluster = put_live(service, key, seed.project, seed.resource)
            except ApiError as error:
                raise SeedError(f"{path}: {seed.cluster}: {error.message}") from error
            service.store.put(replace(cluster, resource=fill_defaults(cluster.resource, key, seed.project)))


def _check_slurm(config: EmulatorConfig) -> None:
    """See that the real Slurm is where a person says it is. Raises OSError.

    A slurmrestd may come later, or go: that nobody listens is said, and no more.
    """
    if config.slurm_config_dir and not config.slurm_socket:
        raise OSError("a folder of a real Slurm's configuration is of no use without the socket of its slurmrestd")
    if config.slurm_config_dir and not (file := config.slurm_config_dir / "slurm.conf").is_file():
        raise OSError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}; the Slurm's configuration must be there", str(file))
    if config.slurm_socket:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            try:
                probe.connect(str(config.slurm_socket))
            except OSError as error:
                said = error.strerror or error
                _log.warning("%s: %s; jobs are UNAVAILABLE until a slurmrestd listens there", config.slurm_socket, said)


def serve(config: EmulatorConfig, on_ready: Callable[[str], None]) -> None:
    """Runs an emulator until SIGTERM or SIGINT; must be called in the main thread. `on_ready` gets the base URL.

    Raises OSError (port in use, unusable state, a Slurm that isn't there) and SeedError.
    """
    _check_slurm(config)
    stop = threading.Event()
    signals = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in signals}
    try:
        with Emulator(config) as emulator:
            on_ready(emulator.url)
            stop.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
