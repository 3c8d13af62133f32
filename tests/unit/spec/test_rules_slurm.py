"""Rules on Slurm parameters: names, places, values, and what the service keeps to itself (pain 110)."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.spec.rules.slurm import refused
from reconciler.spec.slurm_parameters import fold
from tests.unit.spec.rule_cases import (
    GONE,
    SLURM,
    Broken,
    Fine,
    assert_broken,
    assert_fine,
    label,
    problems,
    slurm_names,
)

CONFIG = f"{SLURM}.config"
PARTITION = f"{SLURM}.partitions.1.config"
NODES = f"{SLURM}.node_sets.0.config"


def refuses(name: str, words: str, place: str = CONFIG) -> Broken:
    return Broken(f"{name} in {place}", "slurm-refused", {f"{place}.{name}": "1"}, f"{place}.{name}", (name, words))


def value(name: str, text: str, words: str, place: str = CONFIG) -> Broken:
    words_ = (f'{name}: "{text.strip()}"' if text.strip() else name, words)
    return Broken(f"{name} {text}", "slurm-value", {f"{place}.{name}": text}, f"{place}.{name}", words_)


def preempt(kind: Any, mode: str, words: str) -> Broken:
    changes = {f"{CONFIG}.PreemptType": kind, f"{CONFIG}.PreemptMode": mode}
    return Broken(
        f"{'no type' if kind is GONE else kind} with {mode}",
        "slurm-preempt",
        changes,
        f"{CONFIG}.PreemptMode",
        (words,),
    )


BROKEN = [
    *(
        Broken(
            f"a secret in {place}.{name}", "secret-in-parameter", {f"{place}.{name}": text}, f"{place}.{name}", (name,)
        )
        for place, name, text in (
            (CONFIG, "AccountingStoragePass", "hunter"),
            (CONFIG, "JobCompPass", "hunter"),
            (CONFIG, "job_comp_pass", "hunter"),
            (CONFIG, "SlurmctldParameters", "password=hunter22"),
            ("spec.labels", "wandb-token", "hunter"),
            ("spec.node_pools.1.labels", "password", "hunter"),
        )
    ),
    *(
        Broken(
            f"{name} beside config",
            "slurm-superseded",
            {f"{SLURM}.{name}": {"accounting_storage_enforce": "limits", "preempt_type": "preempt/qos"}},
            f"{SLURM}.{name}",
            (name, "config"),
        )
        for name in ("scheduling", "accounting")
    ),
    refuses("HealthCheckProgram", "manages"),
    refuses("health_check_interval", "manages"),
    refuses("HEALTHCHECKNODESTATE", "manages"),
    refuses("RequeueExit", "manages"),
    refuses("Prolog", "prolog_bash_scripts"),
    refuses("epilog", "epilog_bash_scripts"),
    refuses("StorageHost", "slurmdbd"),
    refuses("PurgeJobAfter", "slurmdbd"),
    refuses("ArchiveJobs", "slurmdbd"),
    refuses("DbdPort", "slurmdbd"),
    refuses("CommitDelay", "slurmdbd"),
    refuses("Epilog", "epilog_bash_scripts", PARTITION),
    refuses("Prolog", "prolog_bash_scripts", NODES),
    *(
        Broken(
            f"{name} begins a line",
            "slurm-record-line",
            {f"{CONFIG}.{name}": "x"},
            f"{CONFIG}.{name}",
            (f'"{name}"', field),
        )
        for name, field in (("NodeName", "node_pools"), ("partition_name", "partitions"), ("NodeSet", "node_pools"))
    ),
    *(
        Broken(
            f"Default in {place}",
            "slurm-default-partition",
            {f"{place}.{name}": "YES"},
            f"{place}.{name}",
            (f'"{name}"', "default_partition_id"),
        )
        for place, name in ((PARTITION, "Default"), (PARTITION, "default"), (CONFIG, "DEFAULT"), (NODES, "Default"))
    ),
    Broken(
        "one parameter in two spellings",
        "slurm-same-parameter",
        {f"{CONFIG}.def_mem_per_cpu": "1"},
        f"{CONFIG}.def_mem_per_cpu",
        ('"def_mem_per_cpu"', '"DefMemPerCPU"'),
    ),
    Broken(
        "one parameter twice in a partition",
        "slurm-same-parameter",
        {PARTITION: {"MaxTime": "1", "MAXTIME": "2"}},
        f"{PARTITION}.MAXTIME",
        ('"MaxTime"',),
    ),
    Broken(
        "a line break would begin another line",
        "slurm-line",
        {f"{CONFIG}.JobSubmitPlugins": "lua\nNodeName=x"},
        f"{CONFIG}.JobSubmitPlugins",
        ("JobSubmitPlugins", "one line"),
    ),
    Broken("no name", "slurm-line", {f"{CONFIG}.Max Time=1": "1"}, f"{CONFIG}.Max Time=1", ('"Max Time=1"',)),
    Broken(
        "a name mistyped",
        "slurm-unknown-parameter",
        {f"{CONFIG}.DefMemPerCUP": "1"},
        f"{CONFIG}.DefMemPerCUP",
        ('"DefMemPerCUP"', 'did you mean "DefMemPerCPU"?'),
    ),
    Broken(
        "a name nobody heard of",
        "slurm-unknown-parameter",
        {f"{PARTITION}.Zzz": "1"},
        f"{PARTITION}.Zzz",
        ('"Zzz"', "refuses to start"),
    ),
    Broken(
        "a node's parameter for all",
        "slurm-misplaced-parameter",
        {f"{CONFIG}.Weight": "1"},
        f"{CONFIG}.Weight",
        ('"Weight"', "belongs in", "node_sets"),
    ),
    Broken(
        "a global parameter for a partition",
        "slurm-misplaced-parameter",
        {f"{PARTITION}.SchedulerType": "sched/backfill"},
        f"{PARTITION}.SchedulerType",
        ("orchestrator_spec.slurm_spec.config",),
    ),
    Broken(
        "a parameter of two other records",
        "slurm-misplaced-parameter",
        {f"{NODES}.max_mem_per_cpu": "1"},
        f"{NODES}.max_mem_per_cpu",
        ("slurm_spec.config or a partition's config",),
    ),
    value("DefMemPerCPU", "4G", "K for 1024"),
    value("DefMemPerNode", "lots", "uint64", PARTITION),
    value("KillWait", "65536", "65535"),
    value("KillWait", "", "uint16"),
    value("RealMemory", "-1", "uint64", NODES),
    value("UsePAM", "on", "YES or NO"),
    value("Hidden", "maybe", "boolean", PARTITION),
    preempt("preempt/none", "SUSPEND,GANG", "PreemptType=preempt/none"),
    preempt("PREEMPT/NONE", "gang,suspend", "PreemptMode=SUSPEND,GANG"),
    preempt("preempt/none", "REQUEUE", "preempt/partition_prio"),
    preempt(GONE, "SUSPEND,GANG", "no PreemptType"),
    preempt("preempt/qos", "SUSPEND", "SUSPEND,GANG"),
    *(
        Broken(
            f"scheduling says so: {mode}",
            "slurm-preempt",
            {CONFIG: GONE, f"{SLURM}.scheduling": {"preempt_type": "preempt/none", "preempt_mode": mode}},
            f"{SLURM}.scheduling.preempt_mode",
            ("keeps the Slurm controller from starting",),
        )
        for mode in ("SUSPEND,GANG", ["SUSPEND", "GANG"])
    ),
]

FINE = [
    Fine("the path of a socket", {f"{CONFIG}.AccountingStoragePass": "/var/run/munge/munge.socket.2"}),
    Fine("no parameters", {CONFIG: GONE}),
    Fine("scheduling without config", {CONFIG: GONE, f"{SLURM}.scheduling": {"preempt_type": "preempt/qos"}}),
    Fine("an empty config excludes nothing", {CONFIG: {}, f"{SLURM}.accounting": {"accounting_storage_enforce": "x"}}),
    Fine("any spelling", {f"{CONFIG}.scheduler_parameters": "bf_continue", f"{PARTITION}.MAXTIME": "UNLIMITED"}),
    Fine("known to one old version", {f"{CONFIG}.FastSchedule": "1"}),
    Fine("known to one new version", {f"{CONFIG}.NamespaceType": "namespace/linux"}),
    Fine("a string's grammar is Slurm's own", {f"{CONFIG}.SuspendTime": "whatever", f"{NODES}.Gres": "gpu:8"}),
    Fine("gang alone", {f"{CONFIG}.PreemptType": "preempt/none", f"{CONFIG}.PreemptMode": '"GANG"'}),
    Fine("off", {f"{CONFIG}.PreemptType": GONE, f"{CONFIG}.PreemptMode": "OFF"}),
    Fine("a type without a mode", {f"{CONFIG}.PreemptType": "preempt/none", f"{CONFIG}.PreemptMode": GONE}),
    Fine("a cluster's own scripts", {f"{CONFIG}.PrologFlags": "Alloc", f"{CONFIG}.TaskProlog": "/x"}),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)


def test_only_documented_slurm_conf_names_are_refused() -> None:
    """Of slurm.conf's own names just six are refused: a mistake in the list would block a good one."""
    names = set().union(*slurm_names().values())
    found = problems({CONFIG: dict.fromkeys(names, "1")})
    hit = {fold(str(problem.path[-1])) for problem in found if problem.rule == refused.id}
    assert hit == {
        "healthcheckprogram",
        "healthcheckinterval",
        "healthchecknodestate",
        "requeueexit",
        "prolog",
        "epilog",
    }


def test_a_bad_value_of_a_refused_name_is_told_once() -> None:
    """What can't be here needs no advice on its value."""
    found = problems({f"{CONFIG}.HealthCheckInterval": "often"})
    assert [problem.rule for problem in found] == ["slurm-refused"]
