"""What `init` writes into somebody's repository, as texts by path. Nothing here touches a disk but the templates'."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from reconciler import __version__
from reconciler.engine.importing import import_cluster
from reconciler.engine.origin import Origin
from reconciler.spec.names import ClusterName

Files = dict[PurePosixPath, str]

FOLDER = PurePosixPath("clusters.d")
DEFAULTS = FOLDER / "_defaults.yaml"
HOOK = PurePosixPath(".pre-commit-config.yaml")
EDITOR = PurePosixPath(".vscode/settings.json")
WORKFLOWS = ("plan", "apply", "drift")
_SCHEMA = PurePosixPath("schemas/cluster.schema.json")
# In this tool's own repository the action is beside the workflows; elsewhere it's taken from there.
_OWN_ACTION = "uses: ./.github/actions/reconciler"
_BRANCH = "main"
# Well-formed, so that linters have nothing to say, and plainly nobody's.
_UNKNOWN = Origin("", "OWNER/reconciler", "0" * 40)


def cluster_path(cluster_id: str) -> PurePosixPath:
    """Where a cluster's file is put."""
    return FOLDER / f"{cluster_id}.yaml"


def starter(name: ClusterName) -> Files:
    """Defaults, a commented first cluster file, and the script that it names."""
    return {
        **defaults(name.project, name.location),
        cluster_path(name.cluster_id): _filled("cluster.yaml", name),
        FOLDER / "scripts" / "check-node.sh": _template("check-node.sh"),
    }


def defaults(project: str, location: str) -> Files:
    """Defaults that say where clusters are, and nothing of what they are."""
    return {DEFAULTS: _filled("defaults.yaml", ClusterName(project, location, ""))}


def taken_over(name: ClusterName, answer: Mapping[str, Any]) -> Files:
    """A live cluster as a cluster file whose plan is empty, its scripts in files beside it."""
    imported = import_cluster(name, dict(answer), scripts=PurePosixPath("scripts"), schema=f"../{_SCHEMA}")
    scripts = {FOLDER / path: text for path, text in imported.scripts.items()}
    return {cluster_path(name.cluster_id): imported.text, **scripts}


def editor() -> Files:
    """The schema that the cluster files' first line names, and settings for an editor."""
    from reconciler.spec.schema import cluster_schema

    schema = json.dumps(cluster_schema(), indent=2, ensure_ascii=False) + "\n"
    return {_SCHEMA: schema, EDITOR: _template("vscode-settings.json")}


def workflows(origin: Origin | None, branch: str = _BRANCH) -> Files:
    """This repository's own workflows, with its action taken from where the tool is from, for merges to `branch`."""
    known = origin or _UNKNOWN
    comment = f"reconciler {__version__}" if origin else "put in who has it, and the commit that you want"
    action = f"uses: {known.repository}/.github/actions/reconciler@{known.revision} # {comment}"
    pushed = f"branches: [{_pattern(branch)}]"
    return {
        PurePosixPath(f".github/workflows/{name}.yml"): _template(f"workflows/{name}.yml")
        .replace(_OWN_ACTION, action)
        .replace(f"branches: [{_BRANCH}]", pushed)
        for name in WORKFLOWS
    }


def _pattern(branch: str) -> str:
    """A branch where GitHub reads a pattern: of its signs, a branch's name can hold these."""
    return branch if branch == _BRANCH else json.dumps(re.sub(r"([!+])", r"\\\1", branch))


def variables(files: Files) -> list[str]:
    """The repository variables that workflows ask for, sorted."""
    return sorted({name for text in files.values() for name in re.findall(r"\bvars\.([A-Z][A-Z0-9_]*)", text)})


def hook(origin: Origin | None) -> Files:
    """The configuration of pre-commit: the hook from where the tool is from, else the installed tool."""
    if origin is None:
        return {HOOK: _template("pre-commit-local.yaml")}
    text = _template("pre-commit-remote.yaml")
    return {HOOK: text.replace("<url>", origin.url).replace("<revision>", origin.revision)}


def hook_entry(files: Files) -> str:
    """The same as an entry for the `repos` of a configuration that is there already."""
    return files[HOOK].partition("repos:\n")[2]


def _filled(template: str, name: ClusterName) -> str:
    text = _template(template)
    for place, value in zip(("<project>", "<location>", "<cluster>"), name, strict=True):
        text = text.replace(place, value)
    return text


def _template(name: str) -> str:
    return resources.files("reconciler.data").joinpath("templates", *name.split("/")).read_text("utf-8")
