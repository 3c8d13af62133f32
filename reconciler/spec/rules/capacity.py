"""Rules on how a node pool gets its capacity: provisioning model, reservation, Flex Start."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from reconciler.spec.reading import Typed
from reconciler.spec.rules.pools import is_gpu_family, machine_type
from reconciler.spec.rules.rule import Hit, Subject, pick, rule
from reconciler.spec.values import describe

_UNSPECIFIED = "PROVISIONING_MODEL_UNSPECIFIED"
_FLEX_MIN, _FLEX_MAX = 30, 604800  # seconds


def _model(pool: Typed) -> str:
    model: str = pool.get("provisioning_model", "")
    return "" if model == _UNSPECIFIED else model


@rule(
    "gpu-provisioning-model",
    "A GPU pool without a reservation names its provisioning model.",
    source="T U",
    is_local=False,
)
def gpu_provisioning_model(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        machine = pool.get("machine_spec", {})
        gpu = machine.get("accelerator_type") or machine.get("accelerator_count") or is_gpu_family(pool)
        if gpu and not _model(pool) and not machine.get("reservation_affinity"):
            what = describe(machine_type(pool) or machine.get("accelerator_type", ""))
            yield Hit(
                path,
                f"a pool of {what} without a reservation has no provisioning_model",
                "set provisioning_model to ON_DEMAND, SPOT or FLEX_START, or add a reservation_affinity",
            )


@rule("reservation-model", "A reservation goes with the provisioning model RESERVATION, or none.", source="T U")
def reservation_model(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        model = _model(pool)
        if model not in ("", "RESERVATION") and pick(pool, "machine_spec", "reservation_affinity"):
            yield Hit(
                (*path, "provisioning_model"),
                f"provisioning_model {describe(model)} doesn't go with a reservation_affinity",
                "make it RESERVATION or remove machine_spec.reservation_affinity",
            )


@rule("reservation-missing", "The provisioning model RESERVATION names a reservation.", source="T U", is_local=False)
def reservation_missing(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        if _model(pool) == "RESERVATION" and not pick(pool, "machine_spec", "reservation_affinity"):
            yield Hit(
                (*path, "provisioning_model"),
                'provisioning_model "RESERVATION" without a reservation_affinity',
                "say which in machine_spec.reservation_affinity",
            )


@rule("reservation-values", "SPECIFIC_RESERVATION names the reservations.", source="C", is_local=False)
def reservation_values(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        affinity = pick(pool, "machine_spec", "reservation_affinity") or {}
        kind = affinity.get("reservation_affinity_type")
        if kind == "SPECIFIC_RESERVATION" and not affinity.get("values"):
            yield Hit(
                (*path, "machine_spec", "reservation_affinity"),
                f"reservation_affinity_type {describe(kind)} without values",
                "name the reservations in values",
            )


@rule(
    "flex-start-model",
    "flex_start_max_duration goes with the provisioning model FLEX_START.",
    source="F T",
    is_local=False,
)
def flex_start_model(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        if pool.get("flex_start_max_duration") and _model(pool) != "FLEX_START":
            model = _model(pool)
            yield Hit(
                (*path, "flex_start_max_duration"),
                f"flex_start_max_duration {describe(pool['flex_start_max_duration'])} goes with FLEX_START only, "
                f"not with {f'provisioning_model {describe(model)}' if model else 'no provisioning_model'}",
                "remove it, or make provisioning_model FLEX_START",
            )


@rule("flex-start-duration", "flex_start_max_duration is 30 seconds to 7 days.", source="F T")
def flex_start_duration(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        duration = pool.get("flex_start_max_duration")
        # The reader has seen to it that this is a number with an s.
        if duration and not _FLEX_MIN <= Decimal(duration.removesuffix("s")) <= _FLEX_MAX:
            yield Hit(
                (*path, "flex_start_max_duration"),
                f"flex_start_max_duration {describe(duration)} is out of range",
                f"{_FLEX_MIN}s to {_FLEX_MAX}s (7 days)",
            )
