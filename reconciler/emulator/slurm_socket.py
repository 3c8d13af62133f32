"""Hands the Slurm job API to a real slurmrestd on a unix socket (``emulator --slurm-socket``).

The same interface as `BuiltinSlurm`: `handle` and `on_cluster_changed`. What slurmrestd answers, status
and text, is passed through untouched. Known needs of slurmrestd are in the module's comments.
"""

from __future__ import annotations

import http.client
import json
import logging
import os
import re
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reconciler.emulator import slurm_files
from reconciler.emulator.slurm_replies import SlurmUnavailable

__all__ = ["SlurmSocket", "SlurmUnavailable"]

_log = logging.getLogger(__name__)

# slurmrestd itself retries a dead controller for 10 to 20 s before it answers: leave it room.
TIMEOUT_SECONDS = 60.0

_VERSION_IN_PATH = re.compile(r"^(/slurm(?:db)?)/v\d+\.\d+\.\d+(?=/)")


class _UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class SlurmSocket:
    """A real Slurm: calls go to its slurmrestd, applied clusters into its configuration directory."""

    def __init__(
        self,
        socket_path: Path,
        config_dir: Path | None = None,
        *,
        api_version: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        """``config_dir`` holds slurm.conf; without one, applied clusters change nothing.

        ``api_version`` (as ``v0.0.38``) replaces the version in every path, for a slurmrestd that serves
        only another than the caller uses; bodies are never translated. ``timeout`` is in seconds.
        """
        self._socket_path = socket_path
        self._config_dir = config_dir
        self._api_version = api_version
        self._timeout = timeout

    def handle(
        self,
        cluster_name: str,  # noqa: ARG002 - one real Slurm stands for every cluster
        resource: Mapping[str, Any],  # noqa: ARG002 - its configuration was applied before
        method: str,
        path: str,
        body: object | None,
    ) -> tuple[int, str]:
        """Slurm's HTTP status and body text. Raises `SlurmUnavailable` when the socket is dead or silent."""
        connection = _UnixConnection(self._socket_path, self._timeout)
        # Content-Type must be exactly this: with a charset slurmrestd answers 400 or 415.
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.request(method, self._map(path), _encode(body), headers)
            response = connection.getresponse()
            return response.status, response.read().decode("utf-8", errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise SlurmUnavailable(f"slurmrestd at {self._socket_path}: {error!r}") from error
        finally:
            connection.close()

    def on_cluster_changed(self, cluster_name: str, resource: Mapping[str, Any] | None) -> None:
        """Applies a created or updated cluster; a deleted one (None) leaves the real Slurm as it is.

        Never raises: the service too reports success when a configuration stops the controller (api-facts,
        rule 9); it is logged here, and the next call then fails as it would there.
        """
        if resource is None:
            return
        try:
            self.apply_configuration(resource)
        except (SlurmUnavailable, OSError) as error:
            _log.error("the configuration of %s did not reach Slurm: %s", cluster_name, error)

    def apply_configuration(self, resource: Mapping[str, Any]) -> None:
        """Writes the cluster into the configuration directory and reconfigures Slurm; nothing without a directory.

        Raises OSError when it can't be written, `SlurmUnavailable` when ``scontrol reconfigure`` fails.
        """
        if self._config_dir is None:
            return
        slurm_files.write_configuration(self._config_dir, resource)
        try:
            result = subprocess.run(
                ["scontrol", "reconfigure"],  # noqa: S607 - found on PATH as every Slurm command
                env={**os.environ, "SLURM_CONF": str(self._config_dir / "slurm.conf")},
                capture_output=True,
                text=True,
                timeout=self._timeout,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SlurmUnavailable(f"scontrol reconfigure: {error}") from error
        if result.returncode != 0:
            raise SlurmUnavailable(f"scontrol reconfigure: {(result.stderr or result.stdout).strip()}")

    def _map(self, path: str) -> str:
        return path if self._api_version is None else _VERSION_IN_PATH.sub(rf"\1/{self._api_version}", path)


def _encode(body: object | None) -> bytes | None:
    """JSON text; a string goes as it is, so that a malformed body can be sent at all."""
    if body is None:
        return None
    return (body if isinstance(body, str) else json.dumps(body)).encode()
