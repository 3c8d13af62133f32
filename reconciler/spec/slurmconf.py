"""The slurm.conf that a cluster's typed spec amounts to, every line with the path in the file that it comes from.

The service writes the real one and doesn't show it, so this is what a controller has to accept at least: node pools as
cloud nodes, partitions, and the config maps, whose values win over defaults. What belongs to the place where a
controller runs (ports, folders, accounts), and what makes it run programs or read other files, is held back.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reconciler.spec.findings import Path, Problem
from reconciler.spec.machines import machine
from reconciler.spec.model import Desired
from reconciler.spec.reading import Typed
from reconciler.spec.slurm_parameters import Record, fold, parameter
from reconciler.spec.values import describe

RULE = "slurm-config"
SLURM: Path = ("spec", "orchestrator_spec", "slurm_spec")

# An id that means nothing but itself in a line and in a host list; a name; a value that ends where it seems to.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PLAIN = r"[^\s\"#\\\x00-\x1f\x7f-\x9f]"
_VALUE = re.compile(rf'"({_PLAIN}| )*"|{_PLAIN}*')
_MOST_NODES = 10_000  # of a pool; Slurm's own bound is 65,533 in all, and more show nothing new

# Programs that the controller would run, files it would read or write, where it listens, whom it trusts, how it logs.
_HELD_BACK = re.compile(
    r""".*(prog|program|command|dir|file|location|loc|host|addr|port|user|pass|passscript|privatekey|certificate)
    |(srun|task|resv)?(prolog|epilog)(slurmctld)?
    |accountingstorage(?!enforce).*
    |(auth|jobcomp|prep|burstbuffer|power|extsensors|tls|cert|metrics|federation).*
    |credtype|cryptotype|plugstackconfig|slurmctldplugstack|jobsubmitplugins|clifilterplugins|nodefeaturesplugins
    |switchparameters|communicationparameters|controlmachine|backupcontroller|usepam|include
    |slurmctlddebug|slurmctldsyslogdebug|logtimeformat
    |clustername|nodename|nodeset|partitionname|frontendname|downnodes|suspendexcnodes""",
    re.VERBOSE,
)
# The service names the nodes and starts them, so their names can't be known here, and in any other state than CLOUD the
# controller would look for them. Default isn't the file's to say (api-facts, rule 9).
_HELD_BACK_IN = {
    Record.NODE: frozenset(
        {"nodename", "nodeaddr", "nodehostname", "bcastaddr", "port", "state", "gresconf", "include"}
    ),
    Record.PARTITION: frozenset({"partitionname", "nodes", "default", "include"}),
}
_GEOMETRY = frozenset({"cpus", "procs", "boards", "socketsperboard", "sockets", "corespersocket", "threadspercore"})


@dataclass(frozen=True, slots=True)
class Setting:
    """One `Key=value`. `path` is None where the file says nothing of it; `owner` is the partition's or pool's id."""

    record: Record
    key: str  # as Slurm spells it, where it is known
    value: str
    path: Path | None = None
    owner: str = ""
    given: bool = False  # a parameter of one of the file's maps: a check can go on without it

    @property
    def opens_line(self) -> bool:
        return self.record is Record.CLUSTER or self.key in ("NodeName", "PartitionName")


@dataclass(frozen=True, slots=True)
class SlurmConf:
    """A slurm.conf, without what depends on where its controller runs.

    `held_back` are parameters of the file that aren't in it, for they must not be tried. `problems` tell of names and
    values that can't stand in a line, and aren't in it either.
    """

    settings: tuple[Setting, ...]
    held_back: tuple[Setting, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def text(self) -> str:
        """The file: a setting on each line, those of one node or partition joined by Slurm's backslash."""
        ends = [f" {chr(92)}\n" if not after.opens_line else "\n" for after in self.settings[1:]] + ["\n"]
        return "".join(
            f"{'' if each.opens_line else '  '}{each.key}={each.value}{end}"
            for each, end in zip(self.settings, ends, strict=False)
        )

    @property
    def lines(self) -> tuple[Path | None, ...]:
        """Where each line of `text` comes from."""
        return tuple(setting.path for setting in self.settings)


def render(desired: Desired, leave_out: Collection[Path] = ()) -> SlurmConf:
    """The configuration of a cluster that is to be there; empty where its file wants none, or no Slurm.

    `leave_out` are parameters to go without, such as those that a controller has refused.
    """
    slurm = desired.spec.get("orchestrator_spec", {}).get("slurm_spec")
    if slurm is None or desired.lifecycle.state == "absent":
        return SlurmConf(())
    return _Renderer(desired.spec, slurm, leave_out).conf()


Parameters = dict[str, Setting]  # by folded name


class _Renderer:
    def __init__(self, spec: Typed, slurm: Typed, leave_out: Collection[Path]) -> None:
        self._slurm = slurm
        self._leave_out = leave_out
        self._held_back: list[Setting] = []
        self._problems: list[Problem] = []
        login = slurm.get("login_node_pool_id")
        self._pools = [(pool, path) for pool, path in self._named(spec, ("spec", "node_pools")) if pool["id"] != login]

    def conf(self) -> SlurmConf:
        cluster = self._cluster()
        nodes, partitions = self._nodes(cluster), self._partitions()
        # A controller wants a node and a partition, whatever else is right or wrong.
        if not nodes:
            nodes = [Setting(Record.NODE, "NodeName", "none"), Setting(Record.NODE, "State", "FUTURE")]
        if not partitions:
            partitions = [Setting(Record.PARTITION, "PartitionName", "none")]
        return SlurmConf((*cluster.values(), *nodes, *partitions), tuple(self._held_back), tuple(self._problems))

    def _cluster(self) -> Parameters:
        own = [Setting(Record.CLUSTER, "SelectType", "select/cons_tres")]
        if any(machine(pool.get("machine_spec", {})).gpus for pool, _ in self._pools):
            own.append(Setting(Record.CLUSTER, "GresTypes", "gpu"))
        given = self._given(Record.CLUSTER, self._slurm, SLURM)
        if not self._slurm.get("config"):  # the service takes config or these
            for name in ("scheduling", "accounting"):
                said = {key: _text(value) for key, value in self._slurm.get(name, {}).items()}
                filled = {name: {key: text for key, text in said.items() if text}}
                given |= self._given(Record.CLUSTER, filled, SLURM, name)
        return _over(own, given)

    def _nodes(self, cluster: Parameters) -> list[Setting]:
        config = {
            node_set.get("node_pool_id"): self._given(
                Record.NODE, node_set, path, owner=node_set.get("node_pool_id", "")
            )
            for node_set, path in _items(self._slurm, (*SLURM, "node_sets"))
        }
        gres = "grestypes" in cluster and "gpu" in cluster["grestypes"].value
        settings: list[Setting] = []
        for pool, path in self._pools:
            if hosts := _hosts(pool):
                given = config.get(pool["id"], {})
                own = _own_nodes(pool, path, hosts, sized=not _GEOMETRY & given.keys(), gres=gres)
                settings += _over(own, given).values()
        return settings

    def _partitions(self) -> list[Setting]:
        hosts = {pool["id"]: _hosts(pool) for pool, _ in self._pools}
        partitions = list(self._named(self._slurm, (*SLURM, "partitions")))
        default = self._slurm.get("default_partition_id") or (partitions[0][0]["id"] if partitions else "")
        settings: list[Setting] = []
        for partition, path in partitions:
            owner = partition["id"]
            own = [Setting(Record.PARTITION, "PartitionName", owner, (*path, "id"), owner)]
            if nodes := ",".join(filter(None, (hosts.get(pool) for pool in partition.get("node_pool_ids", ())))):
                own.append(Setting(Record.PARTITION, "Nodes", nodes, (*path, "node_pool_ids"), owner))
            if owner == default:
                own.append(Setting(Record.PARTITION, "Default", "YES", (*path, "id"), owner))
            settings += _over(own, self._given(Record.PARTITION, partition, path, owner=owner)).values()
        return settings

    def _named(self, parent: Typed, at: Path) -> Iterator[tuple[Typed, Path]]:
        """The items of a list whose ids can stand in a line."""
        for item, path in _items(parent, at):
            if _ID.fullmatch(item.get("id", "")):
                yield item, path
            else:
                message = f"{describe(item.get('id'))} can't be a name in slurm.conf"
                self._refuse((*path, "id"), message, "letters, digits and - do")

    def _given(self, record: Record, parent: Typed, at: Path, name: str = "config", *, owner: str = "") -> Parameters:
        """The parameters of a map that may be tried, later spellings of the same name winning."""
        given: Parameters = {}
        for key, value in parent.get(name, {}).items():
            path, text = (*at, name, key), value.strip()
            known = parameter(record, key)
            if not _KEY.fullmatch(key):
                self._refuse(path, f"{describe(key)} can't be a name in slurm.conf", "a word of letters and digits")
            elif not _VALUE.fullmatch(text):
                self._refuse(
                    path,
                    f"the value of {key} would not end where it should in slurm.conf: {describe(value)}",
                    'put a text with spaces in double quotes; leave out line breaks, control characters, " # and \\',
                )
            else:
                setting = Setting(record, known.name if known else key, text, path, owner, given=True)
                if _must_wait(record, fold(key)):
                    self._held_back.append(setting)
                elif path not in self._leave_out:
                    given[fold(key)] = setting
        return given

    def _refuse(self, path: Path, message: str, hint: str) -> None:
        self._problems.append(Problem(path, RULE, message, hint))


def _must_wait(record: Record, folded: str) -> bool:
    names = _HELD_BACK_IN.get(record)
    return _HELD_BACK.fullmatch(folded) is not None if names is None else folded in names


def _own_nodes(pool: Typed, path: Path, hosts: str, *, sized: bool, gres: bool) -> list[Setting]:
    """What a pool's own fields say of its nodes; `sized`: the node set leaves the CPUs to the machine type."""
    typed, size = (*path, "machine_spec"), machine(pool.get("machine_spec", {}))
    said: list[tuple[str, str, Path | None]] = [("NodeName", hosts, (*path, "id"))]
    if sized:
        said.append(("CPUs", str(size.cpus), (*typed, "machine_type")))
    said.append(("RealMemory", str(size.memory_mb), (*typed, "machine_type")))
    if gres and size.gpus:
        said.append(("Gres", f"gpu:{size.gpus}", typed))
    said.append(("State", "CLOUD", None))
    return [Setting(Record.NODE, key, value, where, pool["id"]) for key, value, where in said]


def _hosts(pool: Typed) -> str:
    """The names of a pool's nodes as a host list; empty where it has none."""
    count = min(pool.get("scaling_spec", {}).get("max_node_count") or 0, _MOST_NODES)
    if count < 1:
        return ""
    return f"{pool['id']}-0" if count == 1 else f"{pool['id']}-[0-{count - 1}]"


def _over(own: Iterable[Setting], given: Parameters) -> Parameters:
    """The tool's own settings with the file's in their stead or after them, each name once."""
    return {fold(setting.key): setting for setting in own} | given


def _items(parent: Typed, at: Path) -> Iterator[tuple[Typed, Path]]:
    for index, item in enumerate(parent.get(str(at[-1]), ())):
        yield item, (*at, index)


def _text(value: Any) -> str:
    """A field of scheduling or accounting as slurm.conf has it; empty where it says nothing."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "" if value is None else str(value)
