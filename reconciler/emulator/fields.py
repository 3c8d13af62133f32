"""The emulator's own table of the resource: every field it knows, with its type. Names are the stored camelCase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["string", "int32", "int64", "bool", "enum", "duration", "name", "image", "script", "timestamp", "any"]


@dataclass(frozen=True)
class Scalar:
    """A leaf. `values` closes an enum; an enum without them takes any word (newer ones may come)."""

    kind: Kind
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repeated:
    """A list; `by` names the field that identifies an item."""

    item: Node
    by: str = ""


@dataclass(frozen=True)
class StringMap:
    """A map of strings. Its keys are data and are never re-cased."""


@dataclass(frozen=True)
class Message:
    """An object. `prefixes` admits families of fields that the documents only sketch; `opaque` admits any field."""

    fields: Mapping[str, Node] = field(default_factory=dict)
    output_only: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    opaque: bool = False

    def child(self, name: str) -> Node | None:
        """The type of a field, or None when no such field is known."""
        if name in self.fields:
            return self.fields[name]
        return ANY if self.opaque or name.startswith(self.prefixes or ("\0",)) else None


Node = Scalar | Repeated | StringMap | Message

STRING = Scalar("string")
BOOL = Scalar("bool")
INT32 = Scalar("int32")
INT64 = Scalar("int64")
NAME = Scalar("name")
SCRIPT = Scalar("script")
DURATION = Scalar("duration")
ANY = Scalar("any")
STRINGS = Repeated(STRING)
NAMES = Repeated(NAME)
SCRIPTS = Repeated(SCRIPT)
TIMESTAMP = Scalar("timestamp")

PROVISIONING_MODELS = ("ON_DEMAND", "RESERVATION", "SPOT", "FLEX_START")
WEEKDAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")

MACHINE_SPEC = Message(
    {
        "machineType": STRING,
        "acceleratorType": Scalar("enum"),
        "acceleratorCount": INT32,
        "reservationAffinity": Message(
            {"reservationAffinityType": Scalar("enum"), "key": STRING, "values": NAMES},
        ),
        "tpuType": STRING,
        "tpuTopology": STRING,
    }
)

NODE_POOL = Message(
    {
        "id": STRING,
        "machineSpec": MACHINE_SPEC,
        "provisioningModel": Scalar("enum", PROVISIONING_MODELS),
        "flexStartMaxDuration": DURATION,
        "effectiveFlexStartMaxDuration": DURATION,
        "scalingSpec": Message({"minNodeCount": INT64, "maxNodeCount": INT64}),
        "zone": STRING,
        "enablePublicIps": BOOL,
        "bootDisk": Message({"bootDiskType": STRING, "bootDiskSizeGb": INT64}),
        "nodeImage": Scalar("image"),
        "startupScript": SCRIPT,
        "filestores": NAMES,
        "lustres": NAMES,
        "labels": StringMap(),
        "confidentialInstanceConfig": Message(opaque=True),
    },
    output_only=frozenset({"effectiveFlexStartMaxDuration"}),
)

SLURM_SPEC = Message(
    {
        "homeDirectoryStorage": NAME,
        "loginNodePoolId": STRING,
        "partitions": Repeated(Message({"id": STRING, "nodePoolIds": STRINGS, "config": StringMap()}), by="id"),
        "defaultPartitionId": STRING,
        "prologBashScripts": SCRIPTS,
        "epilogBashScripts": SCRIPTS,
        "config": StringMap(),
        "nodeSets": Repeated(Message({"nodePoolId": STRING, "config": StringMap()}), by="nodePoolId"),
        "scheduling": Message({"priorityType": STRING}, prefixes=("priorityWeight", "preempt")),
        "accounting": Message({"accountingStorageEnforce": ANY}),
    }
)

CLUSTER = Message(
    {
        "name": STRING,
        "displayName": STRING,
        "labels": StringMap(),
        "createTime": TIMESTAMP,
        "updateTime": TIMESTAMP,
        "startTime": TIMESTAMP,
        "network": Message({"network": NAME, "subnetwork": NAME}),
        "nodePools": Repeated(NODE_POOL, by="id"),
        "orchestratorSpec": Message({"slurmSpec": SLURM_SPEC}),
        "lustreExportConfig": Message(
            {
                "destinationBucket": STRING,
                "lustres": NAMES,
                "daysOfWeek": Repeated(Scalar("enum", WEEKDAYS)),
                "startTime": Message({"hours": INT32, "minutes": INT32, "seconds": INT32, "nanos": INT32}),
            }
        ),
        "runtimeSpec": Message({"serviceAccount": STRING}),
        "clusterStatus": Message(opaque=True),
        "clusterEvents": Repeated(Message(opaque=True)),
        "runtime": Message(opaque=True),
    },
    output_only=frozenset(
        {"name", "createTime", "updateTime", "startTime", "clusterStatus", "clusterEvents", "runtime"}
    ),
)
