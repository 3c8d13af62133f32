"""Rules on Slurm parameters in `config` maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from reconciler.spec import secrets
from reconciler.spec.findings import Severity
from reconciler.spec.rules.rule import SLURM, Hit, Item, Subject, rule
from reconciler.spec.slurm_parameters import Record, fold, parameter, records, suggestion
from reconciler.spec.values import describe

_PLACES = {
    Record.CLUSTER: "orchestrator_spec.slurm_spec.config",
    Record.PARTITION: "a partition's config",
    Record.NODE: "the config of a node set (node_sets)",
}
# Named by the documentation (C, api-facts rule 9), folded.
_MANAGED = frozenset(
    {"healthcheckprogram", "healthcheckinterval", "healthchecknodestate", "requeueexit", "prolog", "epilog"}
)
_SCRIPT_FIELDS = {"prolog": "prolog_bash_scripts", "epilog": "epilog_bash_scripts"}
# What is slurmdbd.conf's alone; what that file shares with slurm.conf isn't here.
_DBD = frozenset(
    {
        "allresourcesabsolute", "allownodefacct", "commitdelay", "defaultqos", "disablearchivecommands",
        "disablecoorddbd", "maxquerytimerange", "persistconnrcvtimeout", "trackslurmctlddown",
    }
)  # fmt: skip
_DBD_PREFIXES = ("storage", "purge", "archive", "dbd")
# Each begins a line of its own, which the service writes from these fields.
_LINES = {"nodename": "node_pools", "nodeset": "node_pools", "partitionname": "partitions"}
_DEFAULT = "default"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BREAK = re.compile(r"[\r\n\0]")


@lru_cache(maxsize=4096)
def _refused(name: str) -> str:
    """What to do instead of a parameter that the service keeps to itself, or the empty string."""
    folded = fold(name)
    if folded in _SCRIPT_FIELDS:
        return f"use {_SCRIPT_FIELDS[folded]}"
    if folded in _MANAGED:
        return "the service manages it: remove it"
    if folded in _DBD or folded.startswith(_DBD_PREFIXES):
        return "it belongs to slurmdbd, which the service manages: remove it"
    return ""


@rule("slurm-superseded", "config excludes scheduling and accounting.", source="C")
def superseded(subject: Subject) -> Iterator[Hit]:
    for name in ("scheduling", "accounting"):
        if subject.slurm.get("config") and subject.slurm.get(name):
            yield Hit(
                (*SLURM, name),
                f"{name} and config are given both, the service takes one of them",
                f"move what {name} says into config, by its slurm.conf names",
            )


@rule("slurm-refused", "Parameters that the service keeps to itself aren't given.", source="C")
def refused(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name in config.value:
            if instead := _refused(name):
                yield Hit((*config.path, name), f"{describe(name)} is refused by the service", instead)


@rule("slurm-record-line", "NodeName, NodeSet and PartitionName lines are the service's.", source="Slurm")
def record_line(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name in config.value:
            if field := _LINES.get(fold(name)):
                yield Hit(
                    (*config.path, name),
                    f"{describe(name)} begins a line of its own, which the service writes",
                    f"say it in {field}",
                )


@rule("slurm-default-partition", "Default isn't a partition parameter here.", source="C")
def default_partition(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name in config.value:
            if fold(name) == _DEFAULT:
                yield Hit(
                    (*config.path, name),
                    f"{describe(name)} is refused by the service",
                    "set orchestrator_spec.slurm_spec.default_partition_id",
                )


@rule("slurm-same-parameter", "A parameter is given once: names are compared without case and underscores.", source="C")
def same_parameter(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        seen: dict[str, str] = {}
        for name in config.value:
            if other := seen.get(fold(name)):
                yield Hit(
                    (*config.path, name),
                    f"{describe(name)} and {describe(other)} are the same parameter",
                    "keep one of them",
                )
            seen.setdefault(fold(name), name)


@rule("slurm-line", "A parameter's name is a word, its value one line.", source="C")
def one_line(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name, value in config.value.items():
            if not _NAME.fullmatch(name):
                yield Hit((*config.path, name), f"{describe(name)} is no parameter name", "a slurm.conf name")
            if _BREAK.search(value):
                yield Hit((*config.path, name), f"the value of {name} has a line break", "write it on one line")


@rule(
    "secret-in-parameter",
    "A Slurm parameter or a label holds what looks like a secret.",
    source="practice",
    severity=Severity.WARNING,
)
def secret_in_parameter(subject: Subject) -> Iterator[Hit]:
    maps = [(config.path, config.value) for config in subject.configs]
    maps += [((*path, "labels"), item["labels"]) for path, item in _labelled(subject)]
    for path, values in maps:
        for name, value in values.items():
            for span in secrets.values(value, name)[:1]:
                yield Hit(
                    (*path, name),
                    f"{describe(name)} holds what looks like {span.kind}",
                    "who may see the cluster can read it: leave it to the service, or give a file's path",
                )


def _labelled(subject: Subject) -> Iterator[Item]:
    items = (Item(("spec",), subject.spec), *subject.pools)
    return (item for item in items if item.value.get("labels"))


@lru_cache(maxsize=4096)
def _unjudged(name: str) -> bool:
    """Whether no other rule has said of a name that it can't be here."""
    return bool(_NAME.fullmatch(name)) and not (_refused(name) or fold(name) == _DEFAULT or fold(name) in _LINES)


@rule("slurm-unknown-parameter", "No known Slurm version has the parameter.", source="Slurm", severity=Severity.WARNING)
def unknown_parameter(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name in config.value:
            if not parameter(config.record, name) and not records(name) and _unjudged(name):
                yield Hit(
                    (*config.path, name),
                    f"{describe(name)} is no Slurm parameter known to this version",
                    suggestion(config.record, name) or "the controller refuses to start on an unknown parameter",
                )


@rule("slurm-misplaced-parameter", "The parameter is another record's.", source="Slurm")
def misplaced_parameter(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name in config.value:
            if parameter(config.record, name) or not _unjudged(name):
                continue
            if places := " or ".join(_PLACES[record] for record in records(name)):
                yield Hit(
                    (*config.path, name),
                    f"{describe(name)} is no parameter of {_PLACES[config.record]}",
                    f"it belongs in {places}",
                )


@rule("slurm-value", "A number or yes/no value can be read by Slurm.", source="Slurm")
def value(subject: Subject) -> Iterator[Hit]:
    for config in subject.configs:
        for name, text in config.value.items():
            known = parameter(config.record, name)
            if known and not known.reads(text) and _unjudged(name):
                yield Hit(
                    (*config.path, name),
                    f"{known.name}: {describe(text)} is no {' or '.join(sorted(known.types))} value",
                    _value_hint(known.types),
                )


def _value_hint(types: frozenset[str]) -> str:
    if types == {"boolean"}:
        return "YES or NO"
    if types == {"uint16"}:
        return "a whole number up to 65535, INFINITE or UNLIMITED"
    return "a whole number, also with K for 1024 (other suffixes aren't read), INFINITE or UNLIMITED"


@rule(
    "slurm-preempt",
    "PreemptType and PreemptMode go together: preempt/none (Slurm's default) knows OFF and GANG only, and SUSPEND "
    "needs GANG. Else the controller doesn't start, and the service doesn't catch it.",
    source="C",
    severity=Severity.WARNING,
    is_local=False,
)
def preempt(subject: Subject) -> Iterator[Hit]:
    config = {fold(name): (name, text) for name, text in subject.slurm.get("config", {}).items()}
    path, name, mode = (*SLURM, "config"), *config.get("preemptmode", ("", ""))
    kind = config.get("preempttype", ("", ""))[1]
    if scheduling := subject.slurm.get("scheduling"):
        path, name, mode = (*SLURM, "scheduling"), "preempt_mode", scheduling.get("preempt_mode")
        kind = scheduling.get("preempt_type", "")
    words = _words(mode)
    if kind.lower() in ("", "preempt/none") and words - {"OFF", "GANG"}:
        none = f"PreemptType={kind}" if kind else "no PreemptType"
        yield Hit(
            (*path, name),
            f"PreemptMode={','.join(sorted(words, reverse=True))} with {none} keeps the Slurm controller from starting",
            "set PreemptType to preempt/partition_prio or preempt/qos, or PreemptMode to OFF or GANG",
        )
    elif "SUSPEND" in words and "GANG" not in words:
        yield Hit(
            (*path, name),
            "PreemptMode=SUSPEND without GANG keeps the Slurm controller from starting",
            "write SUSPEND,GANG",
        )


def _words(mode: Any) -> set[str]:
    """The words of a PreemptMode: text in config, text or a list in scheduling."""
    texts = mode if isinstance(mode, list) else [mode or ""]
    return {word.strip().upper() for text in texts for word in str(text).strip('"').split(",")} - {""}
