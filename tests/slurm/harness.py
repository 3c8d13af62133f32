"""A single-node real Slurm without systemd, in a temporary directory, on free loopback ports.

Everything runs in the foreground as a child of this process (so that stopping is waiting), with a munge
key and socket of its own (so that a munged of the machine is left alone). Must run as root; jobs and
slurmrestd run as an ordinary account, since slurmrestd refuses root.
"""

from __future__ import annotations

import http.client
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

JOB_USER = "slurmtest"
NODE = "node1"
PROGRAMS = ("munged", "slurmctld", "slurmd", "slurmrestd", "scontrol", "sinfo", "squeue", "scancel")
START_SECONDS = 30.0
STOP_SECONDS = 15.0
# The cluster that tests begin with, as far as its Slurm goes.
BASE = {"orchestratorSpec": {"slurmSpec": {"partitions": [{"id": "cpu"}, {"id": "debug", "config": {"MaxTime": "5"}}]}}}

_SLURM_CONF = """\
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=slurm
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/run/slurmctld.pid
SlurmdPidFile={root}/run/slurmd.pid
SlurmctldLogFile={root}/log/slurmctld.log
SlurmdLogFile={root}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=10000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
KillWait=2
MinJobAge=300
Prolog={root}/etc/prolog.sh
Epilog={root}/etc/epilog.sh
PrologFlags=Alloc
AccountingStorageType=accounting_storage/none
NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={slurmd_port} CPUs=4 RealMemory=1000 State=UNKNOWN
include {root}/etc/settings.conf
include {root}/etc/partitions.conf
"""


def why_not_here() -> str | None:
    """Why no real Slurm can run on this machine; None when it can."""
    missing = [program for program in PROGRAMS if _find(program) is None]
    if missing:
        return f"no real Slurm here: {', '.join(missing)} not installed (tests/slurm/install-slurm.sh)"
    if os.geteuid() != 0:
        return "a real Slurm needs root: slurmd starts jobs as other users"
    return None


def wait_until(condition: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Polls ``condition``; raises TimeoutError naming ``what`` when it stays false for ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds:g} s still waiting for {what}")
        time.sleep(0.1)


class RealSlurm:
    """munged, slurmctld, slurmd and slurmrestd of one node; use as a context manager."""

    def __init__(self) -> None:
        # Not pytest's tmp_path: that folder is closed to other users, and socket paths must be short.
        self.root = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.config_dir = self.root / "etc"
        self.work_dir = self.root / "work"
        self.socket_path = self.root / "rest" / "socket"
        self._conf = self.config_dir / "slurm.conf"
        self._children: list[tuple[str, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> RealSlurm:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts the four daemons and waits until the node is idle and slurmrestd answers.

        Raises TimeoutError or RuntimeError with the daemon's last log lines.
        """
        user = _ensure_user(JOB_USER)
        self._lay_out(user)
        munge_dir = self.root / "munge"
        munge_files = [
            f"--{name}={munge_dir / name}" for name in ("socket", "key-file", "pid-file", "log-file", "seed-file")
        ]
        self._spawn("munged", "--foreground", *munge_files, user="munge")
        self._wait("munged", (munge_dir / "socket").exists)
        self._spawn("slurmctld", "-D")
        self._wait("slurmctld", lambda: "UP" in self.command("scontrol", "ping", check=False))
        self._spawn("slurmd", "-D", "-N", NODE)
        self._wait("slurmd", lambda: self.node_state() == "idle")
        # Without slurmdbd the other plugins end the daemon, so the one version is named.
        self._spawn(
            "slurmrestd", "-a", "rest_auth/local", "-s", f"openapi/{self.api_version}", f"unix:{self.socket_path}",
            user=JOB_USER,
        )  # fmt: skip
        self._wait("slurmrestd", self._answers)

    @property
    def api_version(self) -> str:
        """The API version of the installed Slurm that is served without slurmdbd (Debian 12: v0.0.38)."""
        return "v0.0.38"

    def stop(self) -> None:
        """Ends all that was started, jobs included, and removes the directory."""
        try:
            self.cancel_all()
        finally:
            for _, child in reversed(self._children):
                _end(child)
            for process in self._strays():
                process.kill()
            self._children.clear()
            shutil.rmtree(self.root, ignore_errors=True)

    def cancel_all(self) -> None:
        """Cancels every job and waits until the queue is empty; no more than that if the controller is dead."""
        jobs = self.command("squeue", "-h", "-o", "%A", check=False).split()
        if not jobs:
            return
        self.command("scancel", *jobs, check=False)
        wait_until(lambda: not self.command("squeue", "-h", "-o", "%A", check=False), "jobs to end", STOP_SECONDS)

    def resume_node(self) -> None:
        """Takes the node back into service after a failed prolog drained it; waits until it is idle."""
        if self.node_state() != "idle":
            self.command("scontrol", "update", f"nodename={NODE}", "state=resume", check=False)
            wait_until(lambda: self.node_state() == "idle", f"{NODE} to be idle")

    def command(self, *arguments: str, check: bool = True) -> str:
        """Runs a Slurm command against this cluster and returns its output; RuntimeError on failure if ``check``."""
        result = subprocess.run(arguments, env=self._environment(), capture_output=True, text=True, timeout=60)
        if check and result.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {result.stderr.strip()}")
        return result.stdout.strip()

    def node_state(self) -> str:
        """The node's state as sinfo shows it, without its flags."""
        return self.command("sinfo", "-h", "-o", "%T", check=False).partition("\n")[0].rstrip("*")

    def log(self, name: str) -> str:
        """The last lines that a daemon wrote."""
        text = (self.root / "log" / f"{name}.out").read_text(errors="replace")
        return "\n".join(text.splitlines()[-20:])

    def _lay_out(self, user: pwd.struct_passwd) -> None:
        self.root.chmod(0o755)
        slurm, munge = pwd.getpwnam("slurm"), pwd.getpwnam("munge")
        owners = {"etc": None, "run": slurm, "log": slurm, "state": slurm, "spool": None, "munge": munge}
        owners |= {"rest": user, "work": user}
        for name, owner in owners.items():
            folder = self.root / name
            folder.mkdir(mode=0o755)
            if owner is not None:
                os.chown(folder, owner.pw_uid, owner.pw_gid)
        key = self.root / "munge" / "key-file"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        os.chown(key, munge.pw_uid, munge.pw_gid)
        ctld_port, slurmd_port = _free_ports(2)
        self._conf.write_text(
            _SLURM_CONF.format(root=self.root, node=NODE, ctld_port=ctld_port, slurmd_port=slurmd_port)
        )
        (self.config_dir / "settings.conf").write_text("# nothing applied yet\n")
        (self.config_dir / "partitions.conf").write_text("PartitionName=cpu Nodes=ALL Default=YES State=UP\n")
        for script in ("prolog.sh", "epilog.sh"):
            (self.config_dir / script).write_text("#!/bin/bash\nexit 0\n")
            (self.config_dir / script).chmod(0o755)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self._conf), "PATH": _search_path()}

    def _spawn(self, name: str, *arguments: str, user: str | None = None) -> None:
        program = _find(name)
        assert program is not None
        with (self.root / "log" / f"{name}.out").open("wb") as log:
            child = subprocess.Popen(
                [program, *arguments],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                user=user,
                group=None if user is None else pwd.getpwnam(user).pw_gid,
                extra_groups=None if user is None else [],
            )
        self._children.append((name, child))

    def _wait(self, name: str, ready: Callable[[], bool]) -> None:
        child = self._children[-1][1]

        def ready_or_dead() -> bool:
            if child.poll() is not None:
                raise RuntimeError(f"{name} ended with {child.returncode}:\n{self.log(name)}")
            return ready()

        try:
            wait_until(ready_or_dead, name)
        except TimeoutError as error:
            raise TimeoutError(f"{error}:\n{self.log(name)}") from error

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            try:
                client.connect(str(self.socket_path))
            except OSError:
                return False
            client.settimeout(START_SECONDS)
            client.sendall(f"GET /slurm/{self.api_version}/ping HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            response = http.client.HTTPResponse(client)
            response.begin()
            return response.status == 200

    def _strays(self) -> list[psutil.Process]:
        """What the daemons left behind (job steps): known by our own configuration path in their environment."""
        strays = []
        for process in psutil.process_iter():
            try:
                mine = process.environ().get("SLURM_CONF") == str(self._conf)
                if mine and process.status() != psutil.STATUS_ZOMBIE:
                    strays.append(process)
            except psutil.Error:
                continue
        return strays


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _search_path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/local/sbin:/usr/sbin:/sbin"


def _find(program: str) -> str | None:
    return shutil.which(program, path=_search_path())


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _ensure_user(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
        return pwd.getpwnam(name)
