"""What the service lets us do: reach it, agree on the time, list, get, and talk to each cluster's Slurm.

What doesn't depend on a failed check is checked all the same; what does is told once, not once for each cluster.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from reconciler.cloud.answers import WireError
from reconciler.cloud.clusters import Clusters
from reconciler.cloud.endpoint import Endpoint
from reconciler.cloud.settings import Settings
from reconciler.cloud.transport import Transport
from reconciler.engine.doctor import Check, Level
from reconciler.engine.doctor_identity import TOKEN_INFO, check_identity
from reconciler.engine.doctor_slurm import ping
from reconciler.engine.threads import in_parallel
from reconciler.errors import NotFoundError, PermissionDeniedError, ReconcilerError, UsageError
from reconciler.plan.status import live_status
from reconciler.spec.names import ClusterName
from reconciler.spec.reading import read_live

# A look, no run: whatever is in a bad state is to be said, not waited for. Seconds.
_RETRY_BUDGET = 5.0
_TIMEOUT = 30.0
_SKEW = 60.0
_NETWORK = "is the location or the endpoint right, and the network up? Behind a proxy: HTTPS_PROXY, REQUESTS_CA_BUNDLE"
_VIEWER, _USER = "roles/aiplatform.viewer", "roles/aiplatform.user"  # the second: S1
_AWAKE = ("RUNNING", "UPDATING", "")  # states in which Slurm can answer; empty: not told


@dataclass(frozen=True, slots=True)
class _Reached:
    """Which locations answered, and by how many seconds the service's clock is ahead of ours (None: it didn't say)."""

    checks: tuple[Check, ...]
    locations: frozenset[str]
    skew: float | None = None


def check_service(
    settings: Settings,
    names: Sequence[ClusterName],
    *,
    wall: Callable[[], float] = time.time,
    token_info: str = TOKEN_INFO,
) -> list[Check]:
    """Credentials, universe, endpoints, clock, then permissions in the clusters' places, then each cluster's Slurm.

    Sends reads only. `wall` is the time of day. Raises UsageError for an endpoint that is none.
    """
    identity = check_identity(settings, token_info=token_info)
    reached = _reach(settings, identity.universe, sorted({name.location for name in names}), wall)
    checks = [*identity.checks, *reached.checks, *_clock(reached)]
    within_reach = [name for name in names if name.location in reached.locations]
    if not identity.is_usable or not within_reach:
        missing = "usable credentials" if not identity.is_usable else "a cluster file" if not names else "a connection"
        return [*checks, Check("permissions", Level.WARN, f"not checked, for want of {missing}")]
    quick = replace(
        settings,
        retry_budget=min(settings.retry_budget, _RETRY_BUDGET),
        request_timeout=min(settings.request_timeout, _TIMEOUT),
    )
    transport = Transport(quick, credentials=identity.credentials)
    try:
        return [*checks, *_Looks(transport).all(within_reach)]
    finally:
        transport.close()


def _reach(settings: Settings, universe: str, locations: Sequence[str], wall: Callable[[], float]) -> _Reached:
    """Ask each host for nothing, without credentials: any answer proves that it's there, a 404 too."""
    endpoint = Endpoint.parse(settings.endpoint)
    if not (locations or endpoint.base):
        return _Reached((Check("endpoint", Level.WARN, "not checked: no file tells a location"),), frozenset())
    bases: dict[str, list[str]] = defaultdict(list)
    checks: list[Check] = []
    for location in locations or [""]:
        try:
            bases[endpoint.url(location, universe)].append(location)
        except UsageError as error:
            checks.append(Check.failure("endpoint", error, subject=location))
    skews: dict[str, float | None] = {}
    for base in bases:
        try:
            skews[base] = _skew(base, min(settings.request_timeout, _TIMEOUT), endpoint, wall)
        except WireError as error:
            checks.append(Check("endpoint", Level.FAIL, f"can't be reached: {error}", _NETWORK, base))
        else:
            checks.append(Check("endpoint", Level.OK, "answers", subject=base))
    told = [skew for skew in skews.values() if skew is not None]
    return _Reached(
        tuple(checks),
        frozenset(location for base in skews for location in bases[base]),
        max(told, key=abs, default=None),
    )


def _skew(base: str, timeout: float, endpoint: Endpoint, wall: Callable[[], float]) -> float | None:
    """Seconds that the host's clock is ahead of ours, by its Date header. Raises WireError."""
    from reconciler.cloud.wire import Wire

    wire = Wire("reconciler doctor", is_loopback=endpoint.is_loopback)
    try:
        date = wire.send("GET", f"{base}/", headers={}, body=None, timeout=timeout).headers.get("date", "")
    finally:
        wire.close()
    try:
        return parsedate_to_datetime(date).timestamp() - wall()
    except (ValueError, OverflowError):
        return None


def _clock(reached: _Reached) -> list[Check]:
    if not reached.locations:
        return []
    if reached.skew is None:
        return [Check("clock", Level.WARN, "can't be compared: the service didn't say what time it is")]
    seconds = round(abs(reached.skew))
    if seconds <= _SKEW:
        return [Check("clock", Level.OK, "agrees with the service's")]
    relation = "behind" if reached.skew > 0 else "ahead of"
    found = f"this machine's clock is {seconds} s {relation} the service's: tokens may be refused"
    return [Check("clock", Level.WARN, found, "set it right, and keep it so (NTP)")]


class _Looks:
    """The looks that need credentials."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._clusters = Clusters(transport)

    def all(self, names: Sequence[ClusterName]) -> list[Check]:
        """The places' checks, then the clusters', each in the order of the names."""
        places: dict[tuple[str, str], list[ClusterName]] = defaultdict(list)
        for name in names:
            places[name.project, name.location].append(name)
        found: dict[tuple[str, ...], list[Check]] = {}
        states: dict[ClusterName, str] = {}

        def place(key: tuple[str, str]) -> None:
            found[key] = [self._list(*key, places[key], states), self._get(places[key], states)]

        def cluster(name: ClusterName) -> None:
            found[name] = [self._slurm(name, states.get(name, ""))]

        in_parallel(place, list(places))
        in_parallel(cluster, names)
        return [check for key in (*places, *names) for check in found[key]]

    def _list(self, project: str, location: str, names: list[ClusterName], states: dict[ClusterName, str]) -> Check:
        """Also notes the states of those clusters that the answer shows."""
        subject = f"{project}/{location}"
        ours = {name.cluster_id: name for name in names}
        count = 0
        try:
            for count, answer in enumerate(self._clusters.list(project, location), 1):  # noqa: B007 - the last one counts
                shown = ClusterName.parse(answer["name"])
                if shown and (name := ours.get(shown.cluster_id)):
                    states[name] = live_status(read_live(answer)).state
        except ReconcilerError as error:
            return _refused("list", error, project, _VIEWER, subject)
        known = sum(name in states for name in names)
        return Check("list", Level.OK, f"permitted; clusters there: {count}, with a file: {known}", subject=subject)

    def _get(self, names: list[ClusterName], states: dict[ClusterName, str]) -> Check:
        """One cluster stands for all of a place: permissions are given by project."""
        name = next((each for each in names if each in states), names[0])
        subject = f"{name.project}/{name.location}"
        try:
            answer = self._clusters.get(name)
        except ReconcilerError as error:
            return _refused("get", error, name.project, _VIEWER, subject)
        absent = "" if answer else f"; {name.cluster_id} isn't there yet"
        return Check("get", Level.OK, f"permitted{absent}", subject=subject)

    def _slurm(self, name: ClusterName, state: str) -> Check:
        subject = "/".join(name)
        if state not in _AWAKE:
            return Check("slurm", Level.WARN, f"not checked: the cluster is {state}", subject=subject)
        try:
            return Check("slurm", Level.OK, ping(self._transport, name), subject=subject)
        except NotFoundError:
            return Check("slurm", Level.OK, "not checked: the cluster isn't there yet", subject=subject)
        except ReconcilerError as error:
            return _refused("run", error, name.project, _USER, subject, name="slurm")


def _refused(verb: str, error: ReconcilerError, project: str, role: str, subject: str, *, name: str = "") -> Check:
    """A failure; where a permission is missing, which one, and which role has it."""
    check = Check.failure(name or verb, error, subject=subject)
    if not isinstance(error, PermissionDeniedError):
        return check
    permission = f"aiplatform.modelDevelopmentClusters.{verb}"
    advice = f"grant these credentials {permission} in the project {project}; the role {role} has it"
    return replace(check, advice=advice if permission in error.hint else f"{advice}; {error.hint}".rstrip("; "))
