"""Jobs, partitions and nodes as v0.0.39 and later write them: ``{set, infinite, number}``, states as lists.

The key sets are those of answers recorded from Slurm 25.11 in v0.0.42 (tests/unit/emulator_slurm/samples).
What the other versions have differently is in `adapt_job` (published API descriptions of those versions).
"""

from __future__ import annotations

from typing import Any

from reconciler.emulator import slurm_shapes_v38 as plain
from reconciler.emulator.slurm_jobs import Job
from reconciler.emulator.slurm_replies import tres, user_id, words
from reconciler.emulator.slurm_scheduler import Scheduler
from reconciler.emulator.slurm_view import ClusterView, Node, Partition, hostlist

RELEASE = "25.11.7"

_JOB_TEXTS = words("""
    admin_comment array_task_string batch_features batch_host burst_buffer burst_buffer_state cluster_features command
    comment container container_id cpus_per_tres cron dependency excluded_nodes extra failed_node features
    federation_origin federation_siblings_active federation_siblings_viable het_job_id_set licenses mcs_label
    memory_per_tres network nodes prefer required_nodes resv_name scheduled_nodes selinux_context state_description
    standard_error system_comment tres_bind tres_freq tres_per_job tres_per_node tres_per_socket tres_per_task
    tres_alloc_str wckey""")
_JOB_SET_ZEROES = words("""
    accrue_time array_max_tasks deadline delay_boot max_cpus max_nodes tasks_per_tres tasks_per_board memory_per_node
    minimum_tmp_disk_per_node preempt_time preemptable_time pre_sus_time resize_time suspend_time time_minimum""")
_JOB_UNSET = words("""
    array_task_id cores_per_socket cpu_frequency_minimum cpu_frequency_maximum cpu_frequency_governor memory_per_cpu
    sockets_per_node threads_per_core""")
_JOB_ZEROES = words("""
    core_spec thread_spec nice required_switches sockets_per_board maximum_switch_wait_time association_id""")
_JOB_LISTS = words("gres_detail job_size_str mail_type priority_by_partition shared")
_PAST_TEXTS = words("""
    block constraints container extra failed_node licenses qosreq script stdin_expanded stderr_expanded stderr stdin
    submit_line used_gres""")
_NODE_TEXTS = words("""
    burstbuffer_network_address cluster_name specialized_cpus extra gpu_spec gres gres_used instance_id instance_type
    mcs_label owner comment reservation""")
_NODE_ZEROES = words("""
    specialized_cores cpu_binding cpu_load specialized_memory res_cores_per_gpu alloc_memory temporary_disk""")
_NODE_NUMBERS = words("boot_time last_busy reason_changed_at resume_after slurmd_start_time")
_TIMES = words("""
    accrue_time deadline eligible_time end_time last_sched_evaluation preempt_time preemptable_time pre_sus_time
    resize_time start_time submit_time suspend_time""")


def number(value: float | None, *, infinite: bool = False) -> dict[str, Any]:
    """An optional number: None is unset."""
    return {"set": value is not None, "infinite": infinite, "number": 0 if value is None else value}


def limit(value: int | None) -> dict[str, Any]:
    """A number where None means no limit."""
    return number(value, infinite=value is None)


def live_job(job: Job, scheduler: Scheduler) -> dict[str, Any]:
    """A job of /slurm/."""
    flags = ["USING_DEFAULT_ACCOUNT", "USING_DEFAULT_QOS", "USING_DEFAULT_WCKEY"]
    state = [job.state, "COMPLETING"] if job.is_completing(scheduler.state.time) else [job.state]
    uid = user_id(job.user_name)
    return {
        **dict.fromkeys(_JOB_TEXTS, ""), **{key: number(0) for key in _JOB_SET_ZEROES},
        **{key: number(None) for key in _JOB_UNSET}, **dict.fromkeys(_JOB_ZEROES, 0),
        **{key: list[str]() for key in _JOB_LISTS},
        "batch_flag": True, "requeue": True, "contiguous": False, "reboot": False, "power": {"flags": []},
        "profile": ["NOT_SET"], "allocating_node": "controller", "minimum_cpus_per_node": number(1),
        "job_id": job.job_id, "name": job.name, "partition": job.partition, "account": job.account, "qos": "normal",
        "cluster": scheduler.cluster, "comment": job.comment, "restart_cnt": job.restart_cnt, "hold": job.held,
        "user_name": job.user_name, "group_name": job.user_name, "mail_user": job.user_name,
        "user_id": uid, "group_id": uid, "priority": number(0 if job.held else 1),
        "job_state": state, "state_reason": job.state_reason, "state_description": job.state_description,
        "flags": ["JOB_WAS_RUNNING", *flags] if job.is_active else flags,
        **_numbers(job), **_paths(job), **_groups(job), **_allocation(job),
    }  # fmt: skip


def past_job(job: Job, scheduler: Scheduler) -> dict[str, Any]:
    """A job of /slurmdb/."""
    cluster, nodes = scheduler.cluster, len(job.nodes)
    times = plain.past_times(job, scheduler.state.time)
    return {
        **dict.fromkeys(_PAST_TEXTS, ""),
        "job_id": job.job_id, "name": job.name, "partition": job.partition, "account": job.account, "qos": "normal",
        "cluster": cluster, "user": job.user_name, "group": job.user_name,
        "comment": {"administrator": "", "job": job.comment, "system": ""},
        "allocation_nodes": nodes, "nodes": hostlist(job.nodes) or "None assigned",
        "array": {
            "job_id": job.array_job_id, "limits": {"max": {"running": {"tasks": job.array_max_tasks}}},
            "task_id": number(job.array_task_id), "task": plain.array_task_string(job),
        },
        "association": {
            "account": job.account, "cluster": cluster, "partition": "", "user": job.user_name, "id": 0,
        },
        "het": {"job_id": job.het_job_id, "job_offset": number(job.het_job_offset if job.het_job_id else None)},
        "time": times | {"limit": limit(job.time_limit), "planned": number(max(0, times["start"] - times["eligible"]))},
        # slurmdb shows SUCCESS for a cancelled job, whatever ended its processes.
        "exit_code": exit_code(0, 0) if job.state == "CANCELLED" else exit_code(job.exit_code, job.signal),
        "derived_exit_code": exit_code(0, 0), "mcs": {"label": ""},
        "flags": ["STARTED_ON_SCHEDULE", "START_RECEIVED"] if nodes else [],
        "hold": job.held, "priority": number(1), "restart_cnt": job.restart_cnt,
        "required": {"CPUs": job.cpus, "memory_per_cpu": number(None), "memory_per_node": number(0)},
        "kill_request_user": job.cancelled_by, "reservation": {"id": 0, "name": ""},
        "state": {"current": [job.state], "reason": job.state_reason}, "steps": [],
        "stdout": job.standard_output or "slurm-%j.out", "stdout_expanded": _output(job),
        "tres": {
            "allocated": _past_tres(job.cpus, nodes) if nodes else [],
            "requested": _past_tres(job.cpus, job.node_count),
        },
        "wckey": {"wckey": "", "flags": []}, "working_directory": job.current_working_directory,
    }  # fmt: skip


def exit_code(code: int, signal: int) -> dict[str, Any]:
    """How a job ended: its exit code, or the signal that ended it."""
    status = "SIGNALED" if signal else "ERROR" if code else "SUCCESS"
    name = {9: "KILL", 15: "TERM"}.get(signal, str(signal)) if signal else ""
    return {
        "status": [status], "return_code": number(None if signal else code),
        "signal": {"id": number(signal or None), "name": name},
    }  # fmt: skip


def partition(item: Partition, view: ClusterView) -> dict[str, Any]:
    """A partition; its numbers of nodes and CPUs are those of all its pools."""
    cpus = sum(view.nodes[node].cpus for node in item.nodes)
    memory = sum(view.nodes[node].memory_mb for node in item.nodes)
    memories = {
        "memory_per_cpu": 0, "partition_memory_per_cpu": number(None), "partition_memory_per_node": number(0),
    }  # fmt: skip
    return {
        "name": item.name, "partition": {"state": [item.state]}, "alternate": "", "cluster": "", "node_sets": "",
        "nodes": {"allowed_allocation": "", "configured": hostlist(item.nodes), "total": len(item.nodes)},
        "accounts": {"allowed": "", "deny": ""}, "groups": {"allowed": ""},
        "qos": {"allowed": "", "deny": "", "assigned": ""}, "select_type": [], "grace_time": 0,
        "tres": {"billing_weights": "", "configured": tres(cpus, memory, len(item.nodes))},
        "cpus": {"task_binding": 0, "total": cpus}, "priority": {"job_factor": 1, "tier": 1},
        "defaults": {**memories, "time": number(None), "job": ""}, "minimums": {"nodes": 0},
        "maximums": {
            **memories, "cpus_per_node": limit(None), "cpus_per_socket": limit(None), "nodes": limit(item.max_nodes),
            "shares": 1, "oversubscribe": {"jobs": 1, "flags": []}, "time": limit(item.max_minutes),
            "over_time_limit": number(None),
        },
        "timeouts": {"resume": number(None), "suspend": number(None)}, "suspend_time": number(None),
    }  # fmt: skip


def node(item: Node, scheduler: Scheduler) -> dict[str, Any]:
    """A node."""
    used, drained = scheduler.used_cpus(item.name), scheduler.state.drained
    state = [plain.cpu_state(used, item.cpus).upper()]
    state += ["DRAIN"] if item.name in drained else []
    state += [] if item.static or used else ["CLOUD", "POWERED_DOWN"]
    energy = {"average_watts": 0, "base_consumed_energy": 0, "consumed_energy": 0, "current_watts": number(0)}
    return {
        **dict.fromkeys(_NODE_TEXTS, ""), **dict.fromkeys(_NODE_ZEROES, 0),
        **{key: number(0) for key in _NODE_NUMBERS},
        "name": item.name, "architecture": "x86_64", "boards": 1, "cores": 1, "free_mem": number(item.memory_mb),
        "cpus": item.cpus, "effective_cpus": item.cpus, "external_sensors": {}, "power": {}, "features": [],
        "energy": {**energy, "previous_consumed_energy": 0, "last_collected": 0}, "active_features": [],
        "gres_drained": "N/A", "next_state_after_reboot": ["INVALID"], "address": item.name, "hostname": item.name,
        "state": state, "operating_system": "Linux", "partitions": scheduler.view.partitions_of(item.name),
        "port": 6818, "real_memory": item.memory_mb, "reason": drained.get(item.name, ""),
        "reason_set_by_user": "slurm" if item.name in drained else "", "alloc_cpus": used,
        "alloc_idle_cpus": item.cpus - used, "tres_used": f"cpu={used}" if used else "", "tres_weighted": 0.0,
        "sockets": item.cpus, "threads": 1, "weight": 1, "tres": tres(item.cpus, item.memory_mb, None),
        "version": RELEASE,
    }  # fmt: skip


def adapt_job(shape: dict[str, Any], version: str) -> dict[str, Any]:
    """A live job as another version than v0.0.42 writes it."""
    if version == "v0.0.39":
        code = shape["exit_code"]
        raw = code["return_code"]["number"] * 256 + code["signal"]["id"]["number"]
        times = {key: shape[key]["number"] for key in _TIMES}
        shown = "COMPLETING" if "COMPLETING" in shape["job_state"] else shape["job_state"][0]
        return {**shape, **times, "job_state": shown, "exit_code": raw, "derived_exit_code": 0}
    if version == "v0.0.44":
        step = {"sluid": "", "job_id": number(shape["job_id"]), "step_het_component": number(None), "step_id": ""}
        return {**shape, "step_id": step, "segment_size": 0, "stdin_expanded": "/dev/null", "stderr_expanded": ""}
    return shape


def _numbers(job: Job) -> dict[str, Any]:
    return {
        "node_count": number(job.node_count), "tasks": number(job.tasks), "cpus": number(job.cpus),
        "cpus_per_task": number(job.cpus_per_task), "tasks_per_node": number(job.tasks_per_node),
        "tasks_per_core": limit(None), "tasks_per_socket": limit(None), "time_limit": limit(job.time_limit),
        "submit_time": number(int(job.submit_time)), "eligible_time": number(int(job.submit_time)),
        "last_sched_evaluation": number(int(job.start_time or job.submit_time)),
        "start_time": number(int(job.start_time)), "end_time": number(int(job.forecast_end)),
        "exit_code": exit_code(job.exit_code, job.signal), "derived_exit_code": exit_code(0, 0),
    }  # fmt: skip


def _paths(job: Job) -> dict[str, Any]:
    return {
        "current_working_directory": job.current_working_directory, "standard_output": _output(job),
        "standard_error": job.standard_error, "standard_input": job.standard_input or "/dev/null",
    }  # fmt: skip


def _output(job: Job) -> str:
    """The output file, filled in and expanded as these versions show it."""
    name = (job.standard_output or "slurm-%j.out").replace("%j", str(job.job_id))
    return name if name.startswith("/") else f"{job.current_working_directory.rstrip('/')}/{name}"


def _groups(job: Job) -> dict[str, Any]:
    return {
        "array_job_id": number(job.array_job_id), "array_task_id": number(job.array_task_id),
        "array_max_tasks": number(job.array_max_tasks), "array_task_string": plain.array_task_string(job),
        "het_job_id": number(job.het_job_id), "het_job_id_set": job.het_job_id_set,
        "het_job_offset": number(job.het_job_offset),
    }  # fmt: skip


def _allocation(job: Job) -> dict[str, Any]:
    requested = {"tres_req_str": tres(job.cpus, 1000, job.node_count)}
    if not job.nodes:
        return {**requested, "job_resources": None, "billable_tres": {**number(None), "number": 0.0}}
    cores = [{"index": core, "status": ["ALLOCATED"]} for core in range(job.cpus_per_node)]
    nodes = [
        {
            "index": index, "name": name, "cpus": {"count": job.cpus_per_node, "used": 0},
            "memory": {"used": 0, "allocated": 0}, "sockets": [{"index": 0, "cores": cores}],
        }
        for index, name in enumerate(job.nodes)
    ]  # fmt: skip
    names = hostlist(job.nodes)
    summary = {"count": len(nodes), "select_type": ["ONE_ROW"], "list": names, "whole": False, "allocation": nodes}
    return {
        **requested, "tres_alloc_str": tres(job.cpus, None, job.node_count), "nodes": names,
        "batch_host": job.nodes[0], "accrue_time": number(int(job.submit_time)),
        "billable_tres": number(float(job.cpus)),
        "job_resources": {
            "select_type": ["CORE"], "nodes": summary, "cpus": job.cpus, "threads_per_core": number(None),
        },
    }  # fmt: skip


def _past_tres(cpus: int, nodes: int) -> list[dict[str, Any]]:
    return [{**item, "name": ""} for item in plain.past_tres(cpus, nodes)]
