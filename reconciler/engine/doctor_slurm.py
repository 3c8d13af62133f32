"""Whether a cluster's Slurm answers: a ping through the API, in whichever version it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reconciler.cloud import slurm_versions as versions
from reconciler.cloud.slurm_answers import failure
from reconciler.cloud.slurm_replies import Reply
from reconciler.cloud.text import one_line
from reconciler.cloud.transport import Kind, Transport
from reconciler.errors import SlurmError, UnavailableError
from reconciler.spec.names import ClusterName


def ping(transport: Transport, name: ClusterName) -> str:
    """What answered: `Slurm 25.11.7, API v0.0.42`.

    Raises what `Transport.request` raises, UnavailableError where the controller is down, SlurmError or AuthError where
    Slurm refuses.
    """
    for version in dict.fromkeys((versions.DEFAULT, *versions.KNOWN, *versions.NEWER)):
        place = f"GET /slurm/{version}/ping on {'/'.join(name)}"
        answer = transport.request(
            "POST",
            f"/v1beta1/{name}:callSlurmRestApi",
            location=name.location,
            body={"method": "HTTP_METHOD_GET", "path": f"/slurm/{version}/ping"},
            kind=Kind.READ,
        )
        reply = Reply.of(answer.get("status"), answer.get("body"))
        if reply.content is not None:
            return _read(place, version, reply, reply.content)
        # A plain text says that there is no such path: another version may be served.
        if reply.status not in (404, 405):
            raise failure(place, reply)
    raise SlurmError(
        f"{'/'.join(name)} speaks none of the versions {versions.KNOWN[-1]} to {versions.NEWER[-1]} of the Slurm API",
        code="slurm_api_version",
    )


def _read(place: str, version: str, reply: Reply, content: Mapping[str, Any]) -> str:
    if reply.is_refusal or reply.errors:
        raise failure(place, reply)
    pings = content.get("pings")
    if not any(_is_up(each) for each in pings if isinstance(each, dict)) if isinstance(pings, list) else True:
        raise UnavailableError(f"{place}: Slurm answers, and says that its controller is down")
    meta = content.get("meta")
    slurm = (meta.get("slurm") or meta.get("Slurm")) if isinstance(meta, dict) else None
    release = one_line(str(slurm.get("release") or ""), 40) if isinstance(slurm, dict) else ""
    return f"Slurm {release or 'of an untold version'}, API {version}"


def _is_up(each: Mapping[str, Any]) -> bool:
    """v0.0.38 says `ping`, later versions `pinged` and, the newest, `responding`."""
    return each.get("responding") is True or "UP" in (each.get("pinged"), each.get("ping"))
