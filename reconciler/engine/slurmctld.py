"""`validate --slurm`: each cluster's whole Slurm configuration tried on a real controller.

The service checks parameters one by one; a combination that keeps the controller from starting passes it. A throw-away
controller ends within milliseconds on what is wrong, and runs within as many on what is right. A parameter that it
refuses is left out and the rest tried again, so that one mistake hides no other.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from reconciler.engine.interrupt import Interrupt
from reconciler.engine.slurmctld_run import LIMIT, SBIN, End, run
from reconciler.errors import InterruptedRun, ReconcilerError
from reconciler.spec.findings import Path as FieldPath
from reconciler.spec.findings import Problem, Severity
from reconciler.spec.model import Desired
from reconciler.spec.names import ClusterName
from reconciler.spec.slurm_log import Trial, Verdict, judge, objections, unplaced
from reconciler.spec.slurm_parameters import Record
from reconciler.spec.slurmconf import RULE, SLURM, Setting, SlurmConf, render

AT_ONCE = 4  # controllers; each mostly waits
ROUNDS = 12  # of leaving out what was refused and trying the rest
# What any controller starts on: a program that doesn't is none, or none that can be of use here.
BARE = SlurmConf(
    (
        Setting(Record.NODE, "NodeName", "none"),
        Setting(Record.NODE, "State", "FUTURE"),
        Setting(Record.PARTITION, "PartitionName", "none"),
    )
)
_VERSION = re.compile(r"slurm\S* (\d+\.\d+\S*)")
_INSTALL = "Debian and Ubuntu have it in the package slurmctld"


class NoSlurmctld(ReconcilerError):  # noqa: N818 - named for what it says; nothing failed
    """There is no controller on this machine to check with, or none that starts: nothing was checked."""

    code = "no_slurmctld"


@dataclass(frozen=True, slots=True)
class Checked:
    """What a controller said of one cluster, and the parameters of its file that it wasn't given, in words.

    Those are parameters that would make it run programs, read files or reach hosts, or that are the service's to say.
    """

    problems: tuple[Problem, ...] = ()
    untried: tuple[str, ...] = ()


def check(clusters: Sequence[Desired], *, slurmctld: str | None) -> dict[ClusterName, Checked]:
    """What a real controller says of each cluster's Slurm configuration. Several are tried at once.

    `slurmctld` is the program, as a shell takes one; None looks for it on PATH and in the sbin folders. A configuration
    that it doesn't start on is an error, and so is what can't stand in a slurm.conf. What this machine's Slurm can't
    check, and what it complains of and goes on, are warnings.

    Raises NoSlurmctld where there is none, and InterruptedRun on Ctrl-C or SIGTERM, all controllers stopped.
    """
    controller = find(slurmctld)
    interrupt = Interrupt()
    # Only the main thread may ask for signals; elsewhere they are the caller's.
    is_main = threading.current_thread() is threading.main_thread()
    with interrupt.on_signals() if is_main else nullcontext(), ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            if any(render(desired).settings for desired in clusters):
                controller.prove(interrupt)
            trials = {desired.name: pool.submit(controller.check, desired, interrupt) for desired in clusters}
            checked = {name: trial.result() for name, trial in trials.items()}
        except BaseException:
            interrupt.set()  # the pool waits for the others, who now hurry
            raise
    if interrupt:
        raise InterruptedRun("interrupted: not every Slurm configuration was checked")
    return checked


def find(slurmctld: str | None) -> Controller:
    """The program to check with. Raises NoSlurmctld where it can't be found, or doesn't say which Slurm's it is."""
    wanted = slurmctld or "slurmctld"
    found = shutil.which(wanted, path=f"{os.environ.get('PATH', '')}{os.pathsep}{SBIN}")
    if found is None:
        raise _unusable(f"there is no program {wanted} here", _INSTALL)
    program = str(Path(found).absolute())
    try:
        said = subprocess.run(  # noqa: S603 - the program that the user names, or the system's slurmctld
            [program, "-V"], capture_output=True, text=True, errors="replace", timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unusable(f"{program} can't be run", str(error)) from error
    version = _VERSION.match(said.stdout)
    if version is None:
        raise _unusable(f"{program} is no slurmctld", _INSTALL)
    return Controller(program, version[1])


def _unusable(why: str, hint: str) -> NoSlurmctld:
    return NoSlurmctld(f"{why}, so no Slurm configuration was checked as a whole", hint=hint)


@dataclass(frozen=True, slots=True)
class Controller:
    """A slurmctld program and its version."""

    program: str
    version: str

    def prove(self, interrupt: Interrupt) -> None:
        """See that it starts at all, so that what it refuses later is the file's fault. Raises NoSlurmctld.

        Other programs of Slurm (slurmd, slurmdbd) tell a version, too, and refuse whatever a controller is given.
        """
        end, bare = self._try(BARE, interrupt)
        if end is not End.STARTED and not interrupt:
            hint = f"is it a slurmctld? Its last words: {bare.last_words}"
            raise _unusable(f"{self.program} doesn't start as a controller, on no configuration at all", hint)

    def check(self, desired: Desired, interrupt: Interrupt) -> Checked:
        """What is to be said of one cluster."""
        conf, left_out = render(desired), set[FieldPath]()
        problems, untried = list(conf.problems), list(conf.held_back)
        for _ in range(ROUNDS if conf.settings else 0):
            end, trial = self._try(conf, interrupt)
            if interrupt:
                break
            if end is End.STARTED:
                problems += objections(trial)
                break
            verdict = judge(trial) or Verdict(_unplaced(end, trial), frozenset())
            problems += [verdict.problem] if verdict.problem else []
            new = verdict.leave_out - left_out
            if not new:
                break
            told = {each.path for each in problems}
            untried += [each for each in conf.settings if each.path in new - told]
            left_out |= new
            conf = render(desired, left_out)
        else:
            problems += [_unfinished()] if conf.settings else []
        return Checked(tuple(dict.fromkeys(problems)), tuple(dict.fromkeys(map(_in_words, untried))))

    def _try(self, conf: SlurmConf, interrupt: Interrupt) -> tuple[End, Trial]:
        end, log = run(self.program, conf.text, interrupt)
        return end, Trial(conf, log, self.version)


def _unplaced(end: End, trial: Trial) -> Problem:
    """Of words that lead nowhere in the file."""
    if end is End.REFUSED:
        return unplaced(trial)
    message = f"not checked: the Slurm controller neither started nor ended within {LIMIT:g} s"
    return Problem(SLURM, RULE, message, f"its last words: {trial.last_words}", Severity.WARNING)


def _unfinished() -> Problem:
    message = f"not checked to its end: the Slurm controller has refused {ROUNDS} parameters, and there may be more"
    return Problem(SLURM, RULE, message, "mend these, and check again", Severity.WARNING)


def _in_words(setting: Setting) -> str:
    """A parameter with where it stands: `Nodes of partition gpu`."""
    if setting.record is Record.CLUSTER:
        return setting.key
    kind = "partition" if setting.record is Record.PARTITION else "node set"
    return f"{setting.key} of {kind} {setting.owner}"
