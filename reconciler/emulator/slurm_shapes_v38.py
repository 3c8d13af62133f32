"""Jobs, partitions and nodes as v0.0.38 (Slurm 22.05) writes them: plain numbers, states as one string.

The key sets are those of recorded answers (tests/unit/emulator_slurm/samples).
"""

from __future__ import annotations

from typing import Any

from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_replies import tres, user_id, words
from reconciler.emulator.slurm_scheduler import Scheduler
from reconciler.emulator.slurm_view import ClusterView, Node, Partition, hostlist, number_ranges

RELEASE = "22.05.8"
TOP_PRIORITY = 4294901760

_JOB_TEXTS = words("""
    admin_comment array_task_string batch_features batch_host burst_buffer burst_buffer_state cluster_features command
    comment container cpus_per_tres dependency excluded_nodes features federation_origin federation_siblings_active
    federation_siblings_viable licenses mcs_label memory_per_tres nodes het_job_id_set prefer required_nodes resv_name
    state_description standard_error standard_input standard_output system_comment tres_bind tres_freq tres_per_job
    tres_per_node tres_per_socket tres_per_task tres_alloc_str wckey""")
_JOB_ZEROES = words("""
    accrue_time array_job_id array_max_tasks deadline delay_boot derived_exit_code end_time exit_code max_cpus max_nodes
    tasks_per_board het_job_id het_job_offset minimum_tmp_disk_per_node preempt_time pre_sus_time resize_time
    restart_cnt sockets_per_board start_time suspend_time time_minimum""")
_JOB_NULLS = words("""
    array_task_id core_spec thread_spec cores_per_socket billable_tres cpus_per_task cpu_frequency_minimum
    cpu_frequency_maximum cpu_frequency_governor nice tasks_per_core tasks_per_socket memory_per_node memory_per_cpu
    profile shared sockets_per_node threads_per_core""")
_PARTITION_TEXTS = words("""
    allowed_allocation_nodes allowed_accounts allowed_groups allowed_qos alternative billing_weights denied_accounts
    denied_qos qos""")
_PARTITION_NULLS = words("""
    default_memory_per_cpu default_memory_per_node default_time_limit maximum_memory_per_cpu maximum_memory_per_node
    over_time_limit""")
_NODE_TEXTS = words("burstbuffer_network_address comment extra features active_features gres gres_used mcs_label")


def live_job(job: Job, scheduler: Scheduler) -> dict[str, Any]:
    """A job of /slurm/."""
    now = scheduler.state.time
    shape: dict[str, Any] = {**dict.fromkeys(_JOB_TEXTS, ""), **dict.fromkeys(_JOB_ZEROES, 0)}
    shape |= dict.fromkeys(_JOB_NULLS)
    shape |= {"association_id": 0, "batch_flag": True, "requeue": True, "contiguous": False, "reboot": False}
    shape |= {"gres_detail": [], "show_flags": ["SHOW_ALL", "SHOW_DETAIL", "SHOW_LOCAL"], "minimum_cpus_per_node": 1}
    shape |= {
        "job_id": job.job_id, "name": job.name, "partition": job.partition, "account": job.account, "qos": "normal",
        "cluster": scheduler.cluster, "comment": job.comment, "restart_cnt": job.restart_cnt,
        "user_name": job.user_name, "group_name": job.user_name,
        "user_id": user_id(job.user_name), "group_id": user_id(job.user_name),
        "job_state": "COMPLETING" if job.is_completing(now) else job.state,
        "state_reason": job.state_reason, "state_description": job.state_description,
        "priority": 0 if job.held else TOP_PRIORITY - job.job_id,
        "flags": ["JOB_WAS_RUNNING"] if job.is_active else [],
        "nodes": hostlist(job.nodes), "batch_host": job.nodes[0] if job.nodes else "",
        "node_count": job.node_count, "tasks": job.tasks, "cpus": job.cpus, "tasks_per_node": job.tasks_per_node,
        "cpus_per_task": None if job.cpus_per_task == 1 else job.cpus_per_task,
        "time_limit": job.time_limit, "exit_code": job.exit_code * 256 + job.signal,
        "submit_time": int(job.submit_time), "eligible_time": int(job.submit_time),
        "last_sched_evaluation": int(job.start_time or job.submit_time),
        "start_time": int(job.start_time), "end_time": int(job.forecast_end),
        "current_working_directory": job.current_working_directory,
        "standard_output": job.standard_output, "standard_error": job.standard_error,
        "standard_input": job.standard_input,
        "array_job_id": job.array_job_id, "array_task_id": job.array_task_id, "array_max_tasks": job.array_max_tasks,
        "array_task_string": array_task_string(job),
        "het_job_id": job.het_job_id, "het_job_id_set": job.het_job_id_set, "het_job_offset": job.het_job_offset,
        "tres_req_str": tres(job.cpus, 1000, job.node_count),
    }  # fmt: skip
    if job.nodes:
        shape |= {
            "accrue_time": int(job.submit_time), "billable_tres": float(job.cpus), "job_resources": _resources(job),
            "tres_alloc_str": tres(job.cpus, None, job.node_count),
        }  # fmt: skip
    return shape


def array_task_string(job: Job) -> str:
    """The task numbers of an array that wait, as squeue shows them: ``2-5%2``."""
    limit = f"%{job.array_max_tasks}" if job.array_max_tasks else ""
    return number_ranges(job.array_tasks) + limit if job.array_tasks else ""


def past_job(job: Job, scheduler: Scheduler) -> dict[str, Any]:
    """A job of /slurmdb/."""
    cpus, nodes = job.cpus, len(job.nodes)
    return {
        "job_id": job.job_id, "name": job.name, "partition": job.partition, "account": job.account, "qos": "normal",
        "cluster": scheduler.cluster, "user": job.user_name, "group": job.user_name, "constraints": "",
        "container": None, "comment": {"administrator": None, "job": job.comment or None, "system": None},
        "allocation_nodes": nodes, "nodes": hostlist(job.nodes) or "None assigned",
        "array": {
            "job_id": job.array_job_id, "limits": {"max": {"running": {"tasks": job.array_max_tasks}}},
            "task": array_task_string(job) or None, "task_id": job.array_task_id,
        },
        "association": {
            "account": job.account, "cluster": scheduler.cluster, "partition": None, "user": job.user_name,
        },
        "het": {"job_id": job.het_job_id, "job_offset": job.het_job_offset if job.het_job_id else None},
        "time": past_times(job, scheduler.state.time) | {"limit": job.time_limit},
        "exit_code": _past_exit(job), "derived_exit_code": {"status": "SUCCESS", "return_code": 0},
        "flags": ["CLEAR_SCHEDULING", "STARTED_ON_SCHEDULE"] if job.nodes else [], "mcs": {"label": ""},
        "priority": TOP_PRIORITY - job.job_id, "required": {"CPUs": cpus, "memory": 0},
        "kill_request_user": job.cancelled_by or None, "reservation": {"id": 0, "name": 0},
        "state": {"current": job.state, "reason": job.state_reason}, "steps": [],
        "tres": {"allocated": past_tres(cpus, nodes) if nodes else [], "requested": past_tres(cpus, job.node_count)},
        "wckey": {"wckey": "", "flags": []}, "working_directory": job.current_working_directory,
    }  # fmt: skip


def past_times(job: Job, now: float) -> dict[str, Any]:
    """The ``time`` of a slurmdb job, but for its limit."""
    none = {"seconds": 0, "microseconds": 0}
    elapsed = (job.end_time or now) - job.start_time if job.start_time else 0
    return {
        "elapsed": int(elapsed), "eligible": int(job.submit_time), "submission": int(job.submit_time),
        "start": int(job.start_time), "end": int(job.end_time), "suspended": 0,
        "system": none, "total": none, "user": none,
    }  # fmt: skip


def past_tres(cpus: int, nodes: int) -> list[dict[str, Any]]:
    """Trackable resources of a slurmdb job."""
    counts = (("cpu", 1, cpus), ("node", 4, nodes), ("billing", 5, cpus))
    return [{"type": kind, "name": None, "id": number, "count": count} for kind, number, count in counts]


def partition(item: Partition, view: ClusterView) -> dict[str, Any]:
    """A partition; its numbers of nodes and CPUs are those of all its pools."""
    cpus = sum(view.nodes[node].cpus for node in item.nodes)
    memory = sum(view.nodes[node].memory_mb for node in item.nodes)
    return {
        **dict.fromkeys(_PARTITION_TEXTS, ""), **dict.fromkeys(_PARTITION_NULLS),
        "name": item.name, "nodes": hostlist(item.nodes), "state": item.state,
        "flags": ["default"] if item.is_default else [], "preemption_mode": ["disabled"], "preemption_grace_time": 0,
        "maximum_cpus_per_node": -1, "maximum_nodes_per_job": -1 if item.max_nodes is None else item.max_nodes,
        "max_time_limit": -1 if item.max_minutes is None else item.max_minutes, "min nodes per job": 0,
        "priority_job_factor": 1, "priority_tier": 1, "total_cpus": cpus, "total_nodes": len(item.nodes),
        "tres": tres(cpus, memory, len(item.nodes)),
    }  # fmt: skip


def node(item: Node, scheduler: Scheduler) -> dict[str, Any]:
    """A node."""
    used, state = scheduler.used_cpus(item.name), scheduler.state
    flags = ["DRAIN"] if item.name in state.drained else []
    flags += [] if item.static or used else ["CLOUD", "POWERED_DOWN"]
    return {
        **dict.fromkeys(_NODE_TEXTS, ""), "name": item.name, "architecture": "x86_64", "boards": 1, "boot_time": 0,
        "cores": 1, "cpu_binding": 0, "cpu_load": 0, "free_memory": item.memory_mb, "cpus": item.cpus, "last_busy": 0,
        "gres_drained": "N/A", "next_state_after_reboot": "invalid", "address": item.name, "hostname": item.name,
        "state": cpu_state(used, item.cpus), "state_flags": flags, "next_state_after_reboot_flags": [],
        "operating_system": "Linux", "owner": None, "partitions": scheduler.view.partitions_of(item.name),
        "port": 6818, "real_memory": item.memory_mb, "reason": state.drained.get(item.name, ""),
        "reason_changed_at": 0, "reason_set_by_user": "slurm" if item.name in state.drained else None,
        "slurmd_start_time": 0, "sockets": item.cpus, "threads": 1, "temporary_disk": 0, "weight": 1,
        "tres": tres(item.cpus, item.memory_mb, None), "slurmd_version": RELEASE, "alloc_memory": 0,
        "alloc_cpus": used, "idle_cpus": item.cpus - used, "tres_used": f"cpu={used}" if used else None,
        "tres_weighted": 0.0,
    }  # fmt: skip


def cpu_state(used: int, cpus: int) -> str:
    """A node's state by how many of its CPUs jobs hold: idle, mixed or allocated."""
    return "idle" if not used else "allocated" if used >= cpus else "mixed"


def _resources(job: Job) -> dict[str, Any]:
    cores = {"0": {"cores": {str(core): "allocated" for core in range(job.cpus_per_node)}}}
    nodes = [
        {"nodename": name, "sockets": cores, "cpus_used": 0, "memory_used": 0, "memory_allocated": 0}
        for name in job.nodes
    ]
    hosts = len(job.nodes)
    return {
        "nodes": hostlist(job.nodes), "allocated_cores": job.cpus, "allocated_hosts": hosts, "allocated_nodes": nodes,
    }  # fmt: skip


def _past_exit(job: Job) -> dict[str, Any]:
    """slurmdb shows SUCCESS for a cancelled job, whatever ended its processes."""
    if job.signal and job.state != "CANCELLED":
        return {"status": "SIGNALED", "return_code": None, "signal": {"signal_id": job.signal, "name": "Terminated"}}
    return {"status": "ERROR" if job.exit_code else "SUCCESS", "return_code": job.exit_code}
