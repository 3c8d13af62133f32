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

from reconciler.spec.findings import Path, Problem, Severity, did_you_mean
from reconciler.spec.slurm_parameters import Record, fold, parameter, suggestion
from reconciler.spec.slurm_plugins import known_plugins
from reconciler.spec.slurmconf import RULE, SLURM, Setting, SlurmConf

RULE_VERSION = "slurm-config-version"
RUNNING = "Running as primary controller"

_MESSAGE = re.compile(r"\b(?:error|fatal): +(?:_\w+: )?(.*\S)")
# What is no fault of the file: no state from an earlier run, no accounting, libraries that the machine hasn't got.
_NOISE = re.compile(
    r"state file|state save file|MPI: |mpi/pmix|MailProg|Unable to process configuration file|NULL SuspendProgram"
    r"|AccountingStorageEnforce set for|no QOS on the system|used with SlurmDBD|not (?:to be )?stored"
)
_UNKNOWN_KEY = re.compile(r"unrecognized key: (\w+)")
_IN_LINE = re.compile(r"slurm\.conf line (\d+)")
_PARSE_ERROR = re.compile(r"Parse error in file \S+ line \d+: \"\s*([^\s\"]*).*")
_STUMBLED = "Parse error at"
_FOLDER = re.compile(r"/\S*/(?=[\w-]+\.(?:conf|yaml)\b)")
_NO_PLUGIN = re.compile(r"(?:Couldn't|Can't|cannot) (?:find|load) .*?plugin.*? for ([\w/]+)")
_NO_FILE = re.compile(r"cannot stat file \S*?([\w.-]+): .*retrying")
# Slurm's database has the QoS, and the resources that are counted beyond the basic ones.
_NO_ACCOUNTING = re.compile(r"slurmdbd|\bQOS\b|weight '(?:gres|license|bb|fs|ic|interconnect)\b", re.IGNORECASE)
_TRES = re.compile(r"TRES weight '([^']+)'")
_WORD = re.compile(r"[A-Za-z]\w*")
_TELLING = re.compile(r"[A-Za-z].|.[A-Za-z]")  # a value that, found in a message, isn't there by chance
_SUFFIX = re.compile(r"(types?|plugins?|param(eter)?s)$")
_LONGEST = 400  # characters of Slurm's own words


class Verdict(NamedTuple):
    """What a run showed, if it is worth telling, and the parameters without which another run may show more."""

    problem: Problem | None
    leave_out: frozenset[Path]


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
        # Of a line that can't be read Slurm shows all the rest: what it stumbled over comes first.
        texts = (_PARSE_ERROR.sub(rf"{_STUMBLED} \1", text) for text in found if not _NOISE.search(text))
        return tuple(dict.fromkeys(_FOLDER.sub("", text) for text in texts))

    @property
    def settings(self) -> Iterable[Setting]:
        """The settings that come from the file."""
        return (setting for setting in self.conf.settings if setting.path is not None)

    def said_of(self, setting: Setting) -> str:
        """Why the controller ended, in its own words, those that are about the setting."""
        named = [text for text in self.messages if _names(setting, text)]
        said = named or [text for text in self.messages if _score(setting, text)]
        return _joined([text for text in said if not text.startswith(_STUMBLED)] or said)

    @property
    def last_words(self) -> str:
        """Why the controller ended, in its own words."""
        return _joined(self.messages[-2:] or [self.log.strip().rpartition("\n")[2] or "it says nothing"])


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(texts)[:_LONGEST]


def missing_file(log: str) -> str:
    """The configuration file that a controller waits for, a minute long; empty where it waits for none."""
    found = _NO_FILE.search(log)
    return found[1] if found else ""


def judge(trial: Trial) -> Verdict | None:
    """Why a controller hasn't started, and where in the file that is; None where it names nothing of the file."""
    for look in (_unknown_key, _missing_file, _missing_plugin, _missing_accounting):
        if verdict := look(trial):
            return verdict
    setting = _culprit(trial)
    if setting is None:
        return None
    peers = [each for each in trial.settings if (each.record, each.owner) == (setting.record, setting.owner)]
    said = trial.said_of(setting)
    return _refused(setting, said, _checked_with(trial), leave_out=[each for each in peers if _names(each, said)])


def unplaced(trial: Trial) -> Problem:
    """The problem of a file none of whose settings the controller names."""
    return Problem(SLURM, RULE, f"the Slurm controller doesn't start: {trial.last_words}", _checked_with(trial))


def objections(trial: Trial) -> tuple[Problem, ...]:
    """What a controller that has started complains of and goes on without: of each setting its first words."""
    problems: dict[Path, Problem] = {}
    for text in trial.messages:
        setting = max(trial.settings, key=lambda each: _score(each, text), default=None)
        # A value alone may be there by chance, but for a plugin's.
        if setting and _score(setting, text) and (_names(setting, text, fold) or _NO_PLUGIN.search(text)):
            path, message = _path(setting), f"the Slurm controller starts, but says: {text[:_LONGEST]}"
            problems.setdefault(path, Problem(path, RULE, message, _checked_with(trial), Severity.WARNING))
    return tuple(problems.values())


def _unknown_key(trial: Trial) -> Verdict | None:
    found = _UNKNOWN_KEY.search(trial.log)
    named = [each for each in trial.settings if found and each.given and each.key == found[1]]
    if not named:
        return None
    setting = max(named, key=lambda each: _in_reported_line(trial, each))
    if parameter(setting.record, setting.key):
        message = f"{setting.key} isn't checked: this machine's Slurm {trial.version} doesn't know it, others do"
        return _unchecked(setting, RULE_VERSION, message, "check with the Slurm that the cluster runs")
    hint = suggestion(setting.record, setting.key) or _checked_with(trial)
    return _refused(setting, trial.said_of(setting), hint)


def _missing_file(trial: Trial) -> Verdict | None:
    missing = missing_file(trial.log)
    stem = fold(missing.partition(".")[0])
    asking = [each for each in trial.settings if stem and each.given and fold(each.key).startswith(stem)]
    if not asking:
        return None
    setting = max(asking, key=lambda each: each.key.endswith(("Plugin", "Type")))
    message = f"{setting.key}={setting.value} isn't checked: it needs a {missing}, which only the service has"
    return _unchecked(setting, RULE, message, leave_out=_family(trial, setting))


def _missing_plugin(trial: Trial) -> Verdict | None:
    missing = [found[1] for found in _NO_PLUGIN.finditer(trial.log)]
    asking = [(each, plugin) for plugin in missing for each in trial.settings if each.given and plugin in _parts(each)]
    if not asking:
        return None
    setting, plugin = asking[0]
    known = known_plugins(plugin.partition("/")[0])
    if plugin not in known and (known or "/" not in plugin):
        hint = did_you_mean(plugin, known) or _checked_with(trial)
        return _refused(setting, f"there is no plugin {plugin}", hint, leave_out=_family(trial, setting))
    message = f"{setting.key}={setting.value} isn't checked: this machine's Slurm {trial.version} can't load {plugin}"
    hint = "install the plugin, or check with the Slurm that the cluster runs"
    return _unchecked(setting, RULE_VERSION, message, hint, leave_out=_family(trial, setting))


def _missing_accounting(trial: Trial) -> Verdict | None:
    setting = _culprit(trial)
    if setting is None or not _NO_ACCOUNTING.search(trial.last_words):
        return None
    said = trial.last_words
    if _is_counted(trial, said):
        return Verdict(None, _leave_out(setting))
    message = f"{setting.key} isn't checked, for there is no accounting here: {said}"
    return _unchecked(setting, RULE, message, "make sure that the cluster's accounting has what it names")


def _is_counted(trial: Trial, said: str) -> bool:
    """Whether the resource that is unknown here is one that the file has counted, in AccountingStorageTRES."""
    tres = _TRES.search(said)
    counted = [each.value.lower() for each in trial.conf.held_back if each.key == "AccountingStorageTRES"]
    return tres is not None and any(tres[1].replace(":", "/").lower() in re.split(r"[,\"]", each) for each in counted)


def _culprit(trial: Trial) -> Setting | None:
    """The setting that the messages fit best: a later message and a later word in it win, then the earlier line."""
    best, most = None, (False, 0, 0, 0)
    for number, text in enumerate(trial.messages):
        for setting in trial.settings:
            if score := _score(setting, text):
                score += 8 * _in_reported_line(trial, setting)
                rank = (text.startswith(_STUMBLED), score, number, text.rfind(setting.key))
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
    for score, texts in ((2, [setting.value.strip('"')]), (1, _parts(setting))):
        if any(_TELLING.search(part) and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) for part in texts):
            return score
    return 0


def _parts(setting: Setting) -> list[str]:
    return re.split(r"[,;|= ]", setting.value.strip('"'))


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


def _refused(setting: Setting, said: str, hint: str, *, leave_out: Iterable[Setting] = ()) -> Verdict:
    problem = Problem(_path(setting), RULE, f"the Slurm controller doesn't start: {said}", hint)
    return Verdict(problem, _leave_out(setting, *leave_out))


def _unchecked(
    setting: Setting, rule: str, message: str, hint: str = "", *, leave_out: Iterable[Setting] = ()
) -> Verdict:
    problem = Problem(_path(setting), rule, message, hint, Severity.WARNING)
    return Verdict(problem, _leave_out(setting, *leave_out))


def _leave_out(*settings: Setting) -> frozenset[Path]:
    return frozenset(_path(setting) for setting in settings if setting.given)


def _path(setting: Setting) -> Path:
    return setting.path or SLURM


def _checked_with(trial: Trial) -> str:
    return f"checked with Slurm {trial.version}"
