"""The one table of the resource: everything the tool knows about a field stands in its row, and nowhere else.

Diff, mask, payload, impact, validation of types, JSON Schema and `docs/fields.md` are driven by these rows. A new API
field is one new row. Sources are the letters of the API facts: S1/S2 the two seed documents, C "Create cluster",
O "Orchestration", V "View clusters", R "Compute resources", F "Flex Start", T the Terraform definition, U user scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Kind(Enum):
    """What a value is, and so how it is read and when two of them are equal."""

    __hash__ = object.__hash__  # members are looked up for every value, and Enum's own hash is made in Python

    STRING = "string"
    INT = "integer"  # 32 bit: a JSON number
    INT64 = "64-bit integer"  # may come back as a JSON string
    BOOL = "boolean"
    ENUM = "enum"  # open: new values may come; X_UNSPECIFIED means absent
    DURATION = "duration"  # "604800s"; compared by length
    RESOURCE = "resource name"  # full URL, relative, by number or id: compared by meaning
    IMAGE = "image"  # a resource name; a family is satisfied by an image of that family
    SCRIPT = "script"  # text or {file: path}
    LABELS = "labels"  # map with keys of the user's
    SLURM = "Slurm parameters"  # map whose keys are compared without case and underscores
    MESSAGE = "message"  # has rows of its own below it
    ANY = "any value"  # compared as it stands


class Many(Enum):
    """What the order and identity of a repeated field's items mean."""

    NO = "single"
    KEYED = "keyed"  # items are known by `key`; their order means nothing, but for `first_is`
    ORDERED = "ordered"
    SET = "set"


class Impact(StrEnum):
    """What a change does to the cluster, in rising order of harm (contract section 3)."""

    IN_PLACE = "in_place"
    RECREATES_NODES = "recreates_nodes"
    REMOVES_NODES = "removes_nodes"
    IMMUTABLE = "immutable"


@dataclass(frozen=True, slots=True)
class Field:
    """One row. `mask` and `impact` hold for all below the row unless a nearer row says otherwise."""

    path: str  # snake_case; [] marks a repeated field
    kind: Kind
    source: str
    doc: str
    many: Many = Many.NO
    key: str = ""  # KEYED: the item's member that identifies it
    first_is: str = ""  # KEYED: while this sibling is unset, the first item stands for it
    mask: str = ""  # the updateMask path that covers it; "" inherits
    impact: Impact | None = None  # None inherits; the root is in_place
    removal: Impact = Impact.IN_PLACE  # KEYED: what dropping an item does
    filled: bool = False  # the service fills it when absent: absent in a file means "leave the live value"
    output: bool = False  # output only: never diffed, never sent
    required: bool = False
    values: tuple[str, ...] = ()  # known values of an ENUM

    @property
    def name(self) -> str:
        """The last part of the path, snake_case."""
        return self.path.removesuffix("[]").rpartition(".")[2]


F, K, M = Field, Kind, Many
_SLURM = "orchestrator_spec.slurm_spec"
_RECREATES, _REMOVES, _IMMUTABLE = Impact.RECREATES_NODES, Impact.REMOVES_NODES, Impact.IMMUTABLE
_PROVISIONING = ("ON_DEMAND", "RESERVATION", "SPOT", "FLEX_START")
_DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")

# fmt: off
FIELDS: tuple[Field, ...] = (
    F("name", K.STRING, "S2", "Full resource name.", output=True),
    F("create_time", K.STRING, "V", "When the cluster was created.", output=True),
    F("update_time", K.STRING, "V", "When the cluster was last updated.", output=True),
    F("start_time", K.STRING, "V", "When the cluster first ran.", output=True),
    F("cluster_status", K.ANY, "V", "State, detail, error and the nodes' states.", output=True),
    F("cluster_events", K.ANY, "V", "The last 100 events.", output=True),
    F("runtime", K.ANY, "T", "What the service runs for the cluster.", output=True),
    F("display_name", K.STRING, "C T", "Name shown to people.", mask="display_name"),
    F("labels", K.LABELS, "S2", "Labels of the cluster.", mask="labels"),
    F("network", K.MESSAGE, "C", "Where the nodes' interfaces are.", impact=_IMMUTABLE, filled=True),
    F("network.network", K.RESOURCE, "C", "projects/PROJECT/global/networks/NAME", filled=True),
    F("network.subnetwork", K.RESOURCE, "C T", "projects/PROJECT/regions/REGION/subnetworks/NAME", filled=True),

    F("node_pools[]", K.MESSAGE, "S2 C", "Groups of like machines.", M.KEYED, key="id", mask="node_pools",
      removal=_REMOVES, required=True),
    F("node_pools[].id", K.STRING, "C T", "The pool's id; unique in the cluster, never changes.", required=True),
    F("node_pools[].machine_spec", K.MESSAGE, "C T", "What each machine is.", impact=_IMMUTABLE, required=True),
    F("node_pools[].machine_spec.machine_type", K.STRING, "C", "Compute Engine machine type.", required=True),
    F("node_pools[].machine_spec.accelerator_type", K.ENUM, "C", "GPU type.", values=(
        "NVIDIA_H100_80GB", "NVIDIA_H100_MEGA_80GB", "NVIDIA_H200_141GB", "NVIDIA_B200")),
    F("node_pools[].machine_spec.accelerator_count", K.INT, "C", "GPUs per node."),
    F("node_pools[].machine_spec.reservation_affinity", K.MESSAGE, "C", "Which reservation the machines come from."),
    F("node_pools[].machine_spec.reservation_affinity.reservation_affinity_type", K.ENUM, "C", "How reservations are used.",
      values=("SPECIFIC_RESERVATION", "ANY_RESERVATION", "NO_RESERVATION")),
    F("node_pools[].machine_spec.reservation_affinity.key", K.STRING, "C", "compute.googleapis.com/reservation-name"),
    F("node_pools[].machine_spec.reservation_affinity.values[]", K.RESOURCE, "C", "The reservations' names.", M.SET),
    F("node_pools[].machine_spec.tpu_type", K.STRING, "U", "TPU type."),
    F("node_pools[].machine_spec.tpu_topology", K.STRING, "U", "TPU topology, such as 2x2x1."),
    F("node_pools[].provisioning_model", K.ENUM, "C T", "How capacity is got.", impact=_IMMUTABLE, filled=True,
      values=_PROVISIONING),
    F("node_pools[].flex_start_max_duration", K.DURATION, "F", "How long a FLEX_START node may run: 30s to 604800s."),
    F("node_pools[].effective_flex_start_max_duration", K.STRING, "F T", "What is in force.", output=True),
    F("node_pools[].scaling_spec", K.MESSAGE, "C", "How many nodes.", required=True),
    F("node_pools[].scaling_spec.min_node_count", K.INT64, "C T", "Nodes that are always there."),
    F("node_pools[].scaling_spec.max_node_count", K.INT64, "C T", "Nodes at the most.", required=True),
    F("node_pools[].zone", K.STRING, "C", "The nodes' zone, in the cluster's region.", impact=_RECREATES),
    F("node_pools[].enable_public_ips", K.BOOL, "C", "Whether nodes have external addresses.", impact=_RECREATES),
    F("node_pools[].boot_disk", K.MESSAGE, "C", "The nodes' boot disk.", impact=_RECREATES),
    F("node_pools[].boot_disk.boot_disk_type", K.STRING, "T U", "Disk type.", filled=True),
    F("node_pools[].boot_disk.boot_disk_size_gb", K.INT64, "C T", "Disk size in GB.", filled=True),
    F("node_pools[].node_image", K.IMAGE, "C", "Image of the nodes' boot disk.", impact=_RECREATES, filled=True),
    F("node_pools[].startup_script", K.SCRIPT, "S2 C", "Run when a node starts.", impact=_RECREATES),
    F("node_pools[].filestores[]", K.RESOURCE, "C S2", "Filestore instances mounted on the nodes.", M.SET, impact=_RECREATES),
    F("node_pools[].lustres[]", K.RESOURCE, "C S2", "Lustre instances mounted on the nodes.", M.SET, impact=_RECREATES),
    F("node_pools[].labels", K.LABELS, "C", "Labels of the nodes."),
    F("node_pools[].confidential_instance_config", K.ANY, "T", "Confidential computing.", impact=_IMMUTABLE),

    F("orchestrator_spec", K.MESSAGE, "C", "What runs jobs."),
    F(_SLURM, K.MESSAGE, "C", "Slurm."),
    F(f"{_SLURM}.home_directory_storage", K.RESOURCE, "C T", "Filestore or Lustre instance of /home.", impact=_IMMUTABLE),
    F(f"{_SLURM}.login_node_pool_id", K.STRING, "S2", "The pool people log in to.", mask=f"{_SLURM}.login_node_pool_id"),
    F(f"{_SLURM}.partitions[]", K.MESSAGE, "S2", "Queues over node pools.", M.KEYED, key="id",
      first_is="default_partition_id", mask=f"{_SLURM}.partitions", removal=_REMOVES),
    F(f"{_SLURM}.partitions[].id", K.STRING, "C", "The partition's name.", required=True),
    F(f"{_SLURM}.partitions[].node_pool_ids[]", K.STRING, "C", "The pools whose nodes it has.", M.SET, required=True),
    F(f"{_SLURM}.partitions[].config", K.SLURM, "C", "Parameters of its PartitionName line."),
    F(f"{_SLURM}.default_partition_id", K.STRING, "T", "Where jobs go that name none.", mask=f"{_SLURM}.default_partition_id"),
    F(f"{_SLURM}.prolog_bash_scripts[]", K.SCRIPT, "S2", "Run on a node before each job, in order.", M.ORDERED,
      mask=f"{_SLURM}.prolog_bash_scripts"),
    F(f"{_SLURM}.epilog_bash_scripts[]", K.SCRIPT, "S2", "Run on a node after each job, in order.", M.ORDERED,
      mask=f"{_SLURM}.epilog_bash_scripts"),
    F(f"{_SLURM}.config", K.SLURM, "C T", "Global slurm.conf parameters.", mask=f"{_SLURM}.config"),
    F(f"{_SLURM}.node_sets[]", K.MESSAGE, "C T", "Parameters of pools' NodeName lines.", M.KEYED, key="node_pool_id",
      mask=f"{_SLURM}.node_sets"),
    F(f"{_SLURM}.node_sets[].node_pool_id", K.STRING, "C", "The pool.", required=True),
    F(f"{_SLURM}.node_sets[].config", K.SLURM, "C", "Parameters of its NodeName lines."),
    F(f"{_SLURM}.scheduling", K.MESSAGE, "T", "Superseded by config.", mask=f"{_SLURM}.scheduling"),
    F(f"{_SLURM}.scheduling.priority_type", K.STRING, "T", "PriorityType."),
    *(F(f"{_SLURM}.scheduling.priority_weight_{x}", K.INT64, "T", f"PriorityWeight of {x}.")
      for x in ("age", "assoc", "fairshare", "job_size", "partition", "qos")),
    F(f"{_SLURM}.scheduling.priority_weight_tres", K.STRING, "T", "PriorityWeightTRES."),
    F(f"{_SLURM}.scheduling.preempt_type", K.STRING, "T", "PreemptType."),
    F(f"{_SLURM}.scheduling.preempt_mode", K.ANY, "T", "PreemptMode."),
    F(f"{_SLURM}.scheduling.preempt_exempt_time", K.STRING, "T", "PreemptExemptTime."),
    F(f"{_SLURM}.accounting", K.MESSAGE, "T", "Superseded by config.", mask=f"{_SLURM}.accounting"),
    F(f"{_SLURM}.accounting.accounting_storage_enforce", K.ANY, "T", "AccountingStorageEnforce."),

    F("lustre_export_config", K.MESSAGE, "T", "Export of Lustre data to Cloud Storage.", mask="lustre_export_config"),
    F("lustre_export_config.destination_bucket", K.STRING, "T", "Bucket name, without gs://."),
    F("lustre_export_config.lustres[]", K.RESOURCE, "T", "What is exported; attached to some pool.", M.SET),
    F("lustre_export_config.days_of_week[]", K.ENUM, "T", "On which days.", M.SET, values=_DAYS),
    F("lustre_export_config.start_time", K.MESSAGE, "T", "At what time."),
    F("lustre_export_config.start_time.hours", K.INT, "T", "0 to 23."),
    F("lustre_export_config.start_time.minutes", K.INT, "T", "0 to 59."),
    F("runtime_spec", K.MESSAGE, "T", "What the cluster runs as.", impact=_IMMUTABLE),
    F("runtime_spec.service_account", K.STRING, "T", "The nodes' service account.", filled=True),
)
# fmt: on
