"""Rules on resource names (networks, file systems, images) and on the export of Lustre data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reconciler.spec.findings import Path, Severity, did_you_mean
from reconciler.spec.names import resource
from reconciler.spec.paths import parse, resolve
from reconciler.spec.rules.rule import SLURM, Hit, Subject, pick, rule
from reconciler.spec.values import describe

_EXPORT: Path = ("spec", "lustre_export_config")
_DAYS = resolve(parse("lustre_export_config.days_of_week")).row.values
_FORMATS = {
    "network": "projects/{project}/global/networks/{name}",
    "subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "instance": "projects/{project}/locations/{zone}/instances/{name}",
}
_PATTERNS = {what: re.compile(re.sub(r"\{\w+\}", "[^/]+", form)) for what, form in _FORMATS.items()}


def _full(what: str, name: str, project: str = "PROJECT", region: str = "REGION") -> str:
    """A full name whose last part is that of what was written."""
    tail = name.rstrip("/").rpartition("/")[2] or "NAME"
    return _FORMATS[what].format(project=project, region=region, zone="ZONE", name=tail)


def _resource_names(subject: Subject) -> Iterator[tuple[str, Path, str]]:
    for what in ("network", "subnetwork"):
        if name := pick(subject.spec, "network", what):
            yield what, ("spec", "network", what), name
    if home := subject.slurm.get("home_directory_storage"):
        yield "instance", (*SLURM, "home_directory_storage"), home
    for path, pool in subject.pools:
        for field in ("filestores", "lustres"):
            for index, name in enumerate(pool.get(field, ())):
                yield "instance", (*path, field, index), name
    for index, name in enumerate(pick(subject.spec, "lustre_export_config", "lustres") or ()):
        yield "instance", (*_EXPORT, "lustres", index), name


@rule("resource-name", "Networks, subnetworks, Filestore and Lustre instances go by their full names.", source="C S2")
def resource_name(subject: Subject) -> Iterator[Hit]:
    for what, path, name in _resource_names(subject):
        pattern = _PATTERNS[what]
        if not (pattern.fullmatch(name) or pattern.fullmatch(resource(name, {}))):
            field = next(part for part in reversed(path) if isinstance(part, str))
            yield Hit(
                path,
                f"{field}: {describe(name)} is no full resource name, expected {_full(what, name)}",
                f"in the cluster's own project: {_full(what, name, subject.name.project, subject.name.location)}",
            )


@rule("image-name", "A node image goes by its full name.", source="C", severity=Severity.WARNING)
def image_name(subject: Subject) -> Iterator[Hit]:
    for path, pool in subject.pools:
        image = pool.get("node_image")
        if image and not resource(image, {}).startswith("projects/"):
            yield Hit(
                (*path, "node_image"),
                f"node_image {describe(image)} is no full resource name",
                "projects/PROJECT/global/images/NAME or projects/PROJECT/global/images/family/FAMILY",
            )


@rule("service-account", "A service account goes by its e-mail address.", source="T", severity=Severity.WARNING)
def service_account(subject: Subject) -> Iterator[Hit]:
    account = pick(subject.spec, "runtime_spec", "service_account")
    if account and "@" not in account and not account.isdecimal():
        yield Hit(
            ("spec", "runtime_spec", "service_account"),
            f"service_account {describe(account)} is no e-mail address",
            "NAME@PROJECT.iam.gserviceaccount.com",
        )


@rule("lustre-export-unattached", "An exported Lustre instance is attached to a node pool.", source="T", is_local=False)
def lustre_export_unattached(subject: Subject) -> Iterator[Hit]:
    attached = [name for _, pool in subject.pools for name in pool.get("lustres", ())]
    for index, name in enumerate(pick(subject.spec, "lustre_export_config", "lustres") or ()):
        if not any(_may_be_same(name, other) for other in attached):
            yield Hit(
                (*_EXPORT, "lustres", index),
                f"lustres: {describe(name)} is not attached to a node pool",
                "add it to some pool's lustres or remove it here",
            )


def _may_be_same(one: str, other: str) -> bool:
    """Whether two names may mean the same resource: a project's number and its id may, nothing offline tells."""
    one, other = resource(one, {}), resource(other, {})
    (_, project, *rest), (_, other_project, *other_rest) = (f"{name}///".split("/") for name in (one, other))
    return rest == other_rest and (project == other_project or project.isdecimal() != other_project.isdecimal())


@rule("lustre-export-repeated", "A Lustre instance is exported once.", source="T")
def lustre_export_repeated(subject: Subject) -> Iterator[Hit]:
    seen: set[str] = set()
    for index, name in enumerate(pick(subject.spec, "lustre_export_config", "lustres") or ()):
        if resource(name, {}) in seen:
            yield Hit((*_EXPORT, "lustres", index), f"lustres: {describe(name)} is there twice", "remove one")
        seen.add(resource(name, {}))


@rule("lustre-export-bucket", "The export's bucket goes by its bare name.", source="T")
def lustre_export_bucket(subject: Subject) -> Iterator[Hit]:
    bucket = pick(subject.spec, "lustre_export_config", "destination_bucket") or ""
    if bucket.startswith("gs://"):
        yield Hit(
            (*_EXPORT, "destination_bucket"),
            f"destination_bucket {describe(bucket)} starts with gs://",
            f'the bare name: "{bucket.removeprefix("gs://").rstrip("/")}"',
        )


@rule("lustre-export-day", "Days of the export: MONDAY to SUNDAY.", source="T")
def lustre_export_day(subject: Subject) -> Iterator[Hit]:
    for index, day in enumerate(pick(subject.spec, "lustre_export_config", "days_of_week") or ()):
        if day not in _DAYS:
            short = next((known for known in _DAYS if len(day) > 1 and known.startswith(day.upper())), "")
            yield Hit(
                (*_EXPORT, "days_of_week", index),
                f"days_of_week: {describe(day)} is no day",
                did_you_mean(short or day.upper(), _DAYS) or f"one of {', '.join(_DAYS)}",
            )


@rule("lustre-export-time", "The export starts at an hour of 0 to 23 and a minute of 0 to 59.", source="T")
def lustre_export_time(subject: Subject) -> Iterator[Hit]:
    for name, most in (("hours", 23), ("minutes", 59)):
        value = pick(subject.spec, "lustre_export_config", "start_time", name) or 0
        if not 0 <= value <= most:
            yield Hit((*_EXPORT, "start_time", name), f"{name} {value} is out of range", f"0 to {most}")
