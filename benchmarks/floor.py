"""The floor: what planning can't do without, and nothing else. PyYAML's C loader over the files, requests for the list.

Run as a script: `floor.py load FOLDER` or `floor.py plan FOLDER URL`. It compares nothing, checks nothing, and keeps
what it has read, as a plan that is made of it all would. `import_requests` stands in where PROJECT is a single file:
one cluster is read by GET, as the tool does, and not by a list.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml


def load(folder: Path) -> list[Any]:
    """The documents of all cluster files."""
    return [
        document
        for path in sorted(folder.rglob("*.yaml"))
        if not path.name.startswith("_")
        for document in yaml.load_all(path.read_bytes(), yaml.CSafeLoader)
    ]


def read(url: str, wanted: list[Any]) -> list[Any]:
    """The live clusters: by GET where one is wanted, else by the pages of their projects' and locations' lists."""
    import requests

    with requests.Session() as session:
        session.trust_env = False
        places = sorted({f"projects/{each['project']}/locations/{each['location']}" for each in wanted})
        if len(wanted) == 1:
            path = f"{places[0]}/modelDevelopmentClusters/{wanted[0]['cluster_id']}"
            return [_get(session, f"{url}/v1beta1/{path}", {})]
        return [each for place in places for each in _list(session, f"{url}/v1beta1/{place}/modelDevelopmentClusters")]


def _list(session: Any, url: str) -> list[Any]:
    found: list[Any] = []
    query = {"pageSize": "500"}
    while True:
        page = _get(session, url, query)
        found += page.get("modelDevelopmentClusters", [])
        if not page.get("nextPageToken"):
            return found
        query["pageToken"] = page["nextPageToken"]


def _get(session: Any, url: str, query: dict[str, str]) -> Any:
    answer = session.get(url, params=query, timeout=60)
    answer.raise_for_status()
    return answer.json()


def main(what: str, folder: str, url: str = "") -> None:
    """What the command line asks for."""
    wanted = load(Path(folder))
    live = read(url, wanted) if what == "plan" else []
    print(len(wanted), len(live))


if __name__ == "__main__":
    main(*sys.argv[1:])
