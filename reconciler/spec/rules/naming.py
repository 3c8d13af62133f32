"""Rules on names: where the cluster is, what it is called, how it is labelled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from reconciler.spec.findings import Path, Severity, did_you_mean
from reconciler.spec.rules.rule import Hit, Subject, rule
from reconciler.spec.values import describe

REGIONS = (
    "us-central1", "us-east1", "us-east4", "us-east5", "us-south1", "us-west1", "us-west4",
    "asia-southeast1", "europe-west1", "europe-west4", "europe-north1",
)  # fmt: skip
_CLUSTER_ID = re.compile(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?")
_PROJECT = re.compile(r"[a-z0-9]([a-z0-9.:-]*[a-z0-9])?")
_LOCATION = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_ZONE = re.compile(r"(.+\d)-[a-z]")
_DISPLAY_NAME = re.compile(r"[a-z][a-z0-9]{0,9}")
_DISPLAY_NAME_MAX = 128
_LABEL = re.compile(r"[a-z0-9_-]{0,64}")
_LABEL_MAX = 64


@rule("cluster-id", "A cluster id is 1 to 10 lower-case letters, digits and hyphens, from a letter on.", source="T")
def cluster_id(subject: Subject) -> Iterator[Hit]:
    identifier = subject.name.cluster_id
    if not _CLUSTER_ID.fullmatch(identifier):
        yield Hit(
            ("cluster_id",),
            f"cluster_id {describe(identifier)} is not 1 to 10 lower-case letters, digits and hyphens",
            "start with a letter, end with a letter or digit, at most 10 characters",
        )


@rule("cluster-id-hyphen", "A cluster that runs Slurm has no hyphen in its id.", source="T")
def cluster_id_hyphen(subject: Subject) -> Iterator[Hit]:
    identifier = subject.name.cluster_id
    if "-" in identifier and "slurm_spec" in subject.spec.get("orchestrator_spec", {}):
        yield Hit(
            ("cluster_id",),
            f"cluster_id {describe(identifier)} has a hyphen, which a cluster with slurm_spec can't have",
            f'such as "{identifier.replace("-", "")}"; an id can\'t be changed later',
        )


@rule("project", "A project is given by its id or number.", source="S2")
def project(subject: Subject) -> Iterator[Hit]:
    if not _PROJECT.fullmatch(subject.name.project):
        yield Hit(
            ("project",),
            f"project {describe(subject.name.project)} is no project id or number",
            "the id, such as acme-ml, without projects/ and not the display name",
        )


@rule("location", "A location is a region, not a zone.", source="S2")
def location(subject: Subject) -> Iterator[Hit]:
    region = subject.name.location
    if zone := _ZONE.fullmatch(region):
        yield Hit(("location",), f"location {describe(region)} is a zone", f'clusters are in a region: "{zone[1]}"')
    elif not _LOCATION.fullmatch(region):
        yield Hit(("location",), f"location {describe(region)} is no region", "such as us-central1")


@rule("unknown-region", "The region is none of the documented ones.", source="C", severity=Severity.WARNING)
def unknown_region(subject: Subject) -> Iterator[Hit]:
    region = subject.name.location
    if region not in REGIONS and _LOCATION.fullmatch(region) and not _ZONE.fullmatch(region):
        yield Hit(
            ("location",),
            f"location {describe(region)} is none of the documented regions",
            did_you_mean(region, REGIONS) or f"known: {', '.join(REGIONS)}",
        )


@rule(
    "display-name",
    "A display name is at most 10 lower-case letters and digits, from a letter on. C says so, T allows more.",
    source="C",
    severity=Severity.WARNING,
)
def display_name(subject: Subject) -> Iterator[Hit]:
    name = subject.spec.get("display_name")
    if name and len(name) <= _DISPLAY_NAME_MAX and not _DISPLAY_NAME.fullmatch(name):
        yield Hit(
            ("spec", "display_name"),
            f"display_name {describe(name)} is not at most 10 lower-case letters and digits, starting with a letter",
            "the documentation asks for that; the service may take it all the same",
        )


@rule("display-name-length", "A display name has at most 128 characters.", source="T")
def display_name_length(subject: Subject) -> Iterator[Hit]:
    name = subject.spec.get("display_name") or ""
    if len(name) > _DISPLAY_NAME_MAX:
        yield Hit(
            ("spec", "display_name"),
            f"display_name {describe(name)} has {len(name)} characters",
            f"at most {_DISPLAY_NAME_MAX}",
        )


def _labels(subject: Subject) -> Iterator[tuple[Path, str, str]]:
    for path, owner in ((("spec",), subject.spec), *subject.pools):
        for key, value in owner.get("labels", {}).items():
            yield (*path, "labels", key), key, value


@rule("label", "Label keys and values: up to 64 lower-case letters of any script, digits, _ and -.", source="S2")
def label(subject: Subject) -> Iterator[Hit]:
    for path, key, value in _labels(subject):
        if not key:
            yield Hit(path, f'the label with the value {describe(value)} has the empty key ""', "name it")
        for what, text in (("key", key), ("value", value)):
            if wrong := _label_fault(text):
                yield Hit(path, f"label {what} {describe(text)} {wrong}", "lower-case letters, digits, _ and -")


def _label_fault(text: str) -> str:
    if _LABEL.fullmatch(text):
        return ""
    if len(text) > _LABEL_MAX:
        return f"has {len(text)} characters, {_LABEL_MAX} are allowed"
    bad = next((character for character in text if not _label_character(character)), None)
    return f"holds {bad!r}" if bad else ""


def _label_character(character: str) -> bool:
    category = unicodedata.category(character)
    # Letters without case, and the marks that scripts such as Devanagari spell with, are international letters too.
    return character in "_-" or category in ("Ll", "Lo", "Lm") or category[0] in "NM"


@rule("goog-label", "Labels that start with goog- are the service's.", source="contract", severity=Severity.WARNING)
def goog_label(subject: Subject) -> Iterator[Hit]:
    for path, key, _ in _labels(subject):
        if key.startswith("goog-"):
            yield Hit(path, f"label {describe(key)} is the service's and is never touched", "remove it")
