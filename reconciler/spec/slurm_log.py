"""What a throw-away controller's log says of the cluster file that its slurm.conf was made from.

The wording is that of Slurm 22.05.8, where all of it was seen. A message belongs to the setting whose name, value,
partition or pool it mentions. What only this machine's Slurm objects to (it is another version, lacks a plugin, has no
accounting) is a warning: the cluster's own may well accept it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from reconciler.spec.findings import Problem, Severity, did_you_mean
from reconciler.spec.slurm_parameters import Record, fold, parameter, suggestion
from reconciler.spec.slurm_plugins import known_plugins
from reconciler.spec.slurmconf import RULE, SLURM, Setting, SlurmConf

RULE_VERSION = "slurm-config-version"
RUNNING = "Running as primary controller"

_MESSAGE = re.compile(r"\b(?:error|fatal): +(?:_\w+: )?(.*\S)")
# What is no fault of the file: no state from an earlier run, no accounting, libraries that the machine hasn't got.
_NOISE = re.compile(
    r"state file|state save file|MPI: |mpi/pmix|MailProg|Unable to process configuration file|NULL SuspendProgram"
    r"|AccountingStorageEnforce set for|no QOS on the system|used with SlurmDBD|not stored"
)
_UNKNOWN_KEY = re.compile(r"unrecognized key: (\w+)")
_IN_LINE = re.compile(r"slurm\.conf line (\d+)")
_NO_PLUGIN = re.compile(r"(?:Couldn't|Can't|cannot) (?:find|load) .*?plugin.*? for ([\w/]+)")
_NO_FILE = re.compile(r"cannot stat file \S*?([\w.-]+): .*retrying")
# Slurm's database has the QoS, and the resources that are counted beyond the basic ones.
_NO_ACCOUNTING = re.compile(r"slurmdbd|\bQOS\b|weight '(?:gres|license|bb|fs|ic|interconnect)\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z]\w*")
_TELLING = re.compile(r"[A-Za-z].|.[A-Za-z]")  # a value that, found in a message, isn't there by chance
_SUFFIX = re.compile(r"(types?|plugins?|param(eter)?s)$")
_LONGEST = 400  # characters of Slurm's own words


class Verdict(NamedTuple):
    """What a run showed, and the settings without which another run may show more."""

    problem: Problem
    leave_out: frozenset[Setting]


@dataclass(frozen=True)
class Trial:
    """A run: the configuration, what the controller wrote, and its version."""

    conf: SlurmConf
    log: str
    version: str

    @cached_property
    def messages(self) -> tuple[str, ...]:
        """Its errors, each once, without those that are no fault of the file."""
        found = (match[1] for match in _MESSAGE.finditer(self.log))
        return tuple(dict.fromkeys(text for text in found if not _NOISE.search(text)))

    @property
    def refusal(self) -> str:
        """Why the controller ended, in its own words."""
        last = self.log.strip().rpartition("\n")[2]
        return "; ".join(self.messages)[:_LONGEST] or last[:_LONGEST] or "it says nothing"

    @property
    def missing_file(self) -> str:
        """The configuration file that the controller waits for, a minute long; empty where it waits for none."""
        found = _NO_FILE.search(self.log)
        return found[1] if found else ""

    @property
    def settings(self) -> Iterable[Setting]:
        """The settings that the file can be blamed for."""
        return (setting for setting in self.conf.settings if setting.path is not None)


def judge(trial: Trial) -> Verdict | None:
    """Why a controller hasn't started, and where in the file that is; None where it names nothing of the file."""
    for look in (_unknown_key, _missing_file, _missing_plugin, _missing_accounting):
        if verdict := look(trial):
            return verdict
    setting = _culprit(trial)
    if setting is None:
        return None
    peers = [each for each in trial.settings if (each.record, each.owner) == (setting.record, setting.owner)]
    named = [each for each in peers if any(_names(each, text) for text in trial.messages)]
    return _refused(trial, setting, _checked_with(trial), leave_out=named)


def unplaced(trial: Trial) -> Problem:
    """The problem of a file none of whose settings the controller names."""
    return Problem(SLURM, RULE, f"the Slurm controller doesn't start: {trial.refusal}", _checked_with(trial))


def objections(trial: Trial) -> tuple[Problem, ...]:
    """What a controller that has started complains of and goes on without."""
    problems = []
    for text in trial.messages:
        setting = max(trial.settings, key=lambda each: _score(each, text), default=None)
        # A value alone may be there by chance, but for a plugin's.
        if setting and (_names(setting, text, fold) or (_score(setting, text) and _NO_PLUGIN.search(text))):
            message = f"the Slurm controller starts, but says: {text[:_LONGEST]}"
            problems.append(Problem(setting.path or SLURM, RULE, message, _checked_with(trial), Severity.WARNING))
    return tuple(problems)


def _unknown_key(trial: Trial) -> Verdict | None:
    found = _UNKNOWN_KEY.search(trial.log)
    named = [each for each in trial.settings if found and each.given and each.key == found[1]]
    if not named:
        return None
    setting = max(named, key=lambda each: _in_reported_line(trial, each))
    if parameter(setting.record, setting.key):
        message = f"{setting.key} isn't checked: this machine's Slurm {trial.version} doesn't know it, others do"
        return _unchecked(setting, RULE_VERSION, message, "check with the Slurm that the cluster runs")
    return _refused(trial, setting, suggestion(setting.record, setting.key) or _checked_with(trial))


def _missing_file(trial: Trial) -> Verdict | None:
    stem = fold(trial.missing_file.partition(".")[0])
    asking = [each for each in trial.settings if stem and each.given and fold(each.key).startswith(stem)]
    if not asking:
        return None
    setting = asking[0]
    message = (
        f"{setting.key}={setting.value} isn't checked: it needs a {trial.missing_file}, which only the service has"
    )
    return _unchecked(setting, RULE, message, leave_out=_family(trial, setting))


def _missing_plugin(trial: Trial) -> Verdict | None:
    found = _NO_PLUGIN.search(trial.log.replace("mpi/pmix", ""))
    asking = [each for each in trial.settings if found and each.given and _value(each, found[1])]
    if not (found and asking):
        return None
    setting, plugin = asking[0], found[1]
    known = known_plugins(plugin.partition("/")[0])
    if plugin not in known and (known or "/" not in plugin):
        hint = did_you_mean(plugin, known) or _checked_with(trial)
        return _refused(trial, setting, hint, leave_out=_family(trial, setting))
    message = f"{setting.key}={setting.value} isn't checked: this machine's Slurm {trial.version} can't load {plugin}"
    hint = "install the plugin, or check with the Slurm that the cluster runs"
    return _unchecked(setting, RULE_VERSION, message, hint, leave_out=_family(trial, setting))


def _missing_accounting(trial: Trial) -> Verdict | None:
    setting = _culprit(trial)
    # The last two: what made it end, and what it said just before.
    if setting is None or not any(_NO_ACCOUNTING.search(text) for text in trial.messages[-2:]):
        return None
    message = f"{setting.key} isn't checked, for there is no accounting here: {trial.refusal}"
    return _unchecked(setting, RULE, message, "make sure that the cluster's accounting has what it names")


def _culprit(trial: Trial) -> Setting | None:
    """The setting that the messages fit best: a later message and a later word in it win, then the earlier line."""
    best, most = None, (0, 0, 0)
    for number, text in enumerate(trial.messages):
        for setting in trial.settings:
            if score := _score(setting, text):
                rank = (score + 8 * _in_reported_line(trial, setting), number, text.rfind(setting.key))
                best, most = (setting, rank) if rank > most else (best, most)
    return best


def _score(setting: Setting, text: str) -> int:
    """How well a message fits a setting: 0 unless it has its name, or a value that isn't there by chance."""
    named, valued = _names(setting, text), _value(setting, text)
    if not (named or valued):
        return 0
    return 4 * named + valued + _names(setting, text, fold) + _owns(setting, text)


def _names(setting: Setting, text: str, form: Callable[[str], str] = str) -> bool:
    return form(setting.key) in map(form, _WORD.findall(text))


def _value(setting: Setting, text: str) -> int:
    """2 where the message has the whole value, 1 where it has a part of it."""
    value = setting.value.strip('"')
    for score, texts in ((2, [value]), (1, re.split(r"[,;|= ]", value))):
        if any(_TELLING.search(part) and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in texts):
            return score
    return 0


def _owns(setting: Setting, text: str) -> bool:
    return bool(setting.owner and re.search(rf"(?<![\w-]){re.escape(setting.owner)}(?:-\[|-\d|(?![\w-]))", text))


def _in_reported_line(trial: Trial, setting: Setting) -> bool:
    """Whether it stands in the node's or partition's line (or the cluster's) that a parse error is reported of."""
    found = _IN_LINE.search(trial.log)
    if found is None:
        return setting.record is Record.CLUSTER and _UNKNOWN_KEY.search(trial.log) is not None
    number = min(int(found[1]), len(trial.conf.settings))
    reported = trial.conf.settings[number - 1] if number else None
    return reported is not None and (reported.record, reported.owner) == (setting.record, setting.owner)


def _family(trial: Trial, setting: Setting) -> list[Setting]:
    """What is about the same part of Slurm (`PreemptMode` and `PreemptType`), and makes no sense without it."""
    stem = _SUFFIX.sub("", fold(setting.key))
    return [each for each in trial.settings if fold(each.key).startswith(stem)]


def _refused(trial: Trial, setting: Setting, hint: str, *, leave_out: Iterable[Setting] = ()) -> Verdict:
    problem = Problem(setting.path or SLURM, RULE, f"the Slurm controller doesn't start: {trial.refusal}", hint)
    return Verdict(problem, _leave_out(setting, *leave_out))


def _unchecked(
    setting: Setting, rule: str, message: str, hint: str = "", *, leave_out: Iterable[Setting] = ()
) -> Verdict:
    problem = Problem(setting.path or SLURM, rule, message, hint, Severity.WARNING)
    return Verdict(problem, _leave_out(setting, *leave_out))


def _leave_out(*settings: Setting) -> frozenset[Setting]:
    return frozenset(setting for setting in settings if setting.given)


def _checked_with(trial: Trial) -> str:
    return f"checked with Slurm {trial.version}"
