"""A live cluster as a cluster file, whose first plan is empty."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import yaml

from reconciler.errors import ReconcilerError
from reconciler.plan.build import plan_cluster
from reconciler.plan.payload import body
from reconciler.spec.fields import Kind, Many
from reconciler.spec.findings import Severity
from reconciler.spec.loader import load_text
from reconciler.spec.names import ClusterName, project_aliases, resource
from reconciler.spec.reading import read_live
from reconciler.spec.tree import ROOT, Node
from reconciler.spec.values import script
from reconciler.spec.yamlvalues import plain

_HEAD = """\
# yaml-language-server: $schema={schema}
# Taken over from the live cluster. Fields that are left out are wanted empty, but for those that the service fills in.
"""


@dataclass(frozen=True, slots=True)
class Imported:
    """The file's text, and the texts of the scripts it names, by path relative to the file's folder."""

    text: str
    scripts: dict[PurePosixPath, str] = field(default_factory=dict)


_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")  # in names of files: ids come from the service, and could lead elsewhere


# A block would take these for line ends, and so change the script.
_BREAKS_BLOCKS = re.compile("[\r\x85\u2028\u2029]")


class _Text(str):
    """A string that is written as a block."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Block style, keys in the order given, long lines left alone.

    A text that is to be a block is one: PyYAML would put one with tabs, or with spaces at the end of a line, into
    quotes on a single line, though each reader takes both as they are.
    """

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001 - PyYAML's
        super().increase_indent(flow, False)

    def choose_scalar_style(self) -> str:
        is_block = isinstance(self.event, yaml.ScalarEvent) and self.event.style == "|"
        return "|" if is_block else str(super().choose_scalar_style())

    def determine_block_hints(self, text: str) -> str:
        """With the width of the indentation also where a tab begins the text, and so can't show it."""
        hints: str = super().determine_block_hints(text)
        return f"{self.best_indent}{hints}" if text.startswith("\t") else hints


def _string(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """In quotes also where only YAML 1.2 takes it for something else, such as 1e3 and 0o14."""
    try:
        is_plain = plain(text) == text
    except ValueError:
        is_plain = False
    return _scalar(dumper, text, None if is_plain else "'")


def _scalar(dumper: _Dumper, text: str, style: str | None) -> yaml.ScalarNode:
    """In double quotes, where escapes can stand, if it holds what can't be seen or changes the order of writing."""
    is_seen = all(each.isprintable() or each in "\n\t" for each in text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style if is_seen else '"')


_Dumper.add_representer(str, _string)
_Dumper.add_representer(_Text, lambda dumper, text: _scalar(dumper, text, "|"))


def _visible(text: str) -> str:
    """PyYAML escapes control characters; what else can't be seen stands in double quotes by now."""
    if text.isascii():
        return text
    return "".join(each if each.isprintable() or each in "\n\t" else f"\\U{ord(each):08x}" for each in text)


def import_cluster(
    name: ClusterName, answer: dict[str, Any], *, scripts: PurePosixPath | None = None, schema: str = ""
) -> Imported:
    """The cluster file of an answer. `scripts` is the folder of its scripts, relative to the file; None: in the file.

    Fields that this version doesn't know aren't written: they are carried over into every payload anyway. Raises
    ReconcilerError (unreadable_answer) where no file can say what the answer holds, so that its plan would be empty.
    """
    live = read_live(answer)
    aliases = project_aliases(name, answer.get("name"))
    extracted: dict[PurePosixPath, str] = {}

    def keep(text: str, path: str) -> Any:
        clean = script(text) + "\n"
        if script(clean) == script(text):  # a lone CR before it would make one line end of the two
            text = clean
        if scripts is None:
            return text if _BREAKS_BLOCKS.search(text) else _Text(text)
        where = scripts / f"{name.cluster_id}-{_FOREIGN.sub('_', path)}.sh"
        while extracted.setdefault(where, text) != text:  # ids that differ in what file names can't show
            where = where.with_stem(f"{where.stem}_")
        return {"file": str(where)}

    spec = _known(body(live, {}, aliases), ROOT, keep, "")
    spec = _by_id(spec, ROOT, aliases)
    document = {
        "project": name.project,
        "location": name.location,
        "cluster_id": name.cluster_id,
        "lifecycle": {"prevent_destroy": True},
        "spec": spec,
    }
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
    made = Imported(_HEAD.format(schema=schema or "cluster.schema.json") + _visible(text), extracted)
    _prove(made, name, answer)
    return made


def _prove(made: Imported, name: ClusterName, answer: dict[str, Any]) -> None:
    """See that the file reads as what is live. What only breaks rules is left to `validate`: the service took it."""
    above = max((path.parts.count("..") for path in made.scripts), default=0)
    folder = PurePosixPath(*["folder"] * above)
    files = {folder / "cluster.yaml": made.text, **{folder / path: text for path, text in made.scripts.items()}}
    loaded = load_text(
        {posixpath.normpath(path): text.encode() for path, text in files.items()}, [str(folder / "cluster.yaml")]
    )
    said = [each.message for each in loaded.findings if each.severity is Severity.ERROR]
    for desired in loaded.clusters:
        said += [f"{change.path} can't be said" for change in plan_cluster(desired, answer).changes]
    if said:
        more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
        raise ReconcilerError(
            f"{name}: no cluster file can say what the service answers: {said[0]}{more}",
            code="unreadable_answer",
            hint="look at it with 'reconciler get'",
        )


def _empty(node: Node) -> Any:
    if node.many is not Many.NO:
        return []
    return {Kind.MESSAGE: {}, Kind.INT: 0, Kind.INT64: 0, Kind.BOOL: False}.get(node.kind, "")


def _short(path: str) -> str:
    """What of a field's path is worth a place in a script's file name: `prolog`, `a4-startup`."""
    for noise in ("orchestrator_spec-slurm_spec-", "node_pools-", "_bash_scripts", "_script"):
        path = path.replace(noise, "")
    return path.strip("-")


def _by_id(value: dict[str, Any], node: Node, aliases: dict[str, str]) -> dict[str, Any]:
    """The same with resource names as people write them: relative, and with the project's id."""

    def one(item: Any, child: Node) -> Any:
        if isinstance(item, dict) and child.children:
            return _by_id(item, child, aliases)
        return resource(item, aliases) if isinstance(item, str) and child.kind in (Kind.RESOURCE, Kind.IMAGE) else item

    out = {}
    for name, item in value.items():
        child = node.children[name]
        out[name] = [one(each, child) for each in item] if isinstance(item, list) else one(item, child)
    return out


def _known(value: dict[str, Any], node: Node, keep: Any, path: str) -> dict[str, Any]:
    """The fields of the table, empty ones left out unless a file must have them; scripts are handed to `keep`."""
    out: dict[str, Any] = {}
    for name, child in node.children.items():
        item = value.get(name)
        if item in (None, "", [], {}):
            if not child.row.required:
                continue
            item = _empty(child)  # left out of the answer as every default is, such as a maximum of no nodes
        below = _short(f"{path}-{name}")
        if child.kind is Kind.SCRIPT:
            texts = item if isinstance(item, list) else [item]
            kept = [keep(text, f"{below}-{i}" if isinstance(item, list) else below) for i, text in enumerate(texts)]
            out[name] = kept if isinstance(item, list) else kept[0]
        elif child.kind is Kind.MESSAGE and isinstance(item, list):
            out[name] = [
                _known(each, child, keep, f"{below}-{each.get(child.row.key, i)}") for i, each in enumerate(item)
            ]
        elif child.kind is Kind.MESSAGE:
            out[name] = _known(item, child, keep, below)
        elif child.kind is Kind.LABELS:
            if own := {key: text for key, text in item.items() if not key.startswith("goog-")}:
                out[name] = own
        else:
            out[name] = item
    return out
