"""What a throw-away controller's log says of the cluster file that its slurm.conf was made from.

The wording was seen in Slurm 22.05.8; what is known of later versions differs only in what they accept. A message
belongs to the setting whose name, value, partition or pool it mentions. What only this machine's Slurm objects to (it
is another version, lacks a plugin, has no accounting) is a warning: the cluster's own Slurm may well accept it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from reconciler.spec.findings import Path, Problem, Severity, did_you_mean
from reconciler.spec.slurm_parameters import Record, fold, parameter
from reconciler.spec.slurm_plugins import known_plugins
from reconciler.spec.slurmconf import RULE, SLURM, Setting, SlurmConf

RULE_VERSION = "slurm-config-version"
RUNNING = "Running as primary controller"

_MESSAGE = re.compile(r"\b(error|fatal): +(?:_\w+: )?(.*\S)")
_NOISE = re.compile(r"state file|state save file|MPI: |mpi/pmix|MailProg|Unable to process configuration file")
_UNKNOWN_KEY = re.compile(r"unrecognized key: (\w+)")
_IN_LINE = re.compile(r"slurm\.conf line (\d+)")
_NO_PLUGIN = re.compile(r"(?:[Cc]ouldn't find|[Cc]ouldn't load|[Cc]an't find|cannot find) .*?plugin.* for ([\w/]+)")
_NO_FILE = re.compile(r"cannot stat file \S*?([\w.-]+): ")
# Slurm's database isn't there, and with it QoS and the resource types that it counts beyond its basic ones.
_NO_ACCOUNTING = re.compile(
    r"slurmdbd|accounting_storage/none|asked for it not to be stored|gathered, but not stored|\bQOS\b"
    r"|weight '(?:gres|license|bb|fs|ic|interconnect)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]\w*")
_TELLING = re.compile(r"[A-Za-z/]")  # a value that is found by itself in a message
_LONGEST = 400  # characters of Slurm's own words


class Verdict(NamedTuple):
    """What a run showed, and the settings without which another run may show more."""

    problems: tuple[Problem, ...] = ()
    leave_out: frozenset[Setting] = frozenset()


def refusal(log: str) -> str:
    """Why the controller ended, in its own words."""
    messages = [text for _, text in _messages(log)] or [line.strip() for line in log.splitlines()[-1:]]
    return "; ".join(dict.fromkeys(messages))[:_LONGEST] or "it said nothing"


def missing_file(log: str) -> str:
    """The configuration file that a controller waits for, a minute long; empty where it doesn't."""
    found = _NO_FILE.search(log)
    return found[1] if found else ""


def objections(conf: SlurmConf, log: str, *, version: str) -> Verdict:
    """Of a controller that has started: what it complains of and goes on without."""
    problems = []
    for _, text in _messages(log):
        setting = _best(conf, [text], strictly=True)
        if setting and setting.path and not _NO_ACCOUNTING.search(text):
            message = f"the Slurm controller starts, but says: {text[:_LONGEST]}"
            problems.append(Problem(setting.path, RULE, message, _checked_with(version), Severity.WARNING))
    return Verdict(tuple(dict.fromkeys(problems)))


def judge(conf: SlurmConf, log: str, *, version: str) -> Verdict | None:
    """Of a controller that hasn't started: why, and where in the file; None where no setting is named."""
    texts = [text for _, text in _messages(log)]
    for look in (_unknown_key, _lacking_file, _lacking_plugin, _lacking_accounting):
        if verdict := look(conf, log, texts, version):
            return verdict
    setting = _best(conf, texts, line=_line(log))
    if setting is None or setting.path is None:
        return None
    message = f"the Slurm controller doesn't start: {refusal(log)}"
    leave_out = {other for other in _peers(conf, setting) if _mentions(other, " ".join(texts))} | {setting}
    return _verdict(Problem(setting.path, RULE, message, _checked_with(version)), leave_out)


def unplaced(log: str, *, version: str) -> Problem:
    """The problem of a file where the controller's words lead to none of its settings."""
    return Problem(SLURM, RULE, f"the Slurm controller doesn't start: {refusal(log)}", _checked_with(version))
