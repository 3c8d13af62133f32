"""`validate --slurm`: which controller it means, and what it says of what no controller has seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reconciler.cli.app import run

SOUND = "#!/bin/sh\n[ $1 = -V ] && { echo slurm 99.1; exit; }\necho Running as primary controller; exec sleep 60\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with a controller that starts on everything."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "clusters.d").mkdir()
    program = tmp_path / "slurmctld"
    program.write_text(SOUND)
    program.chmod(0o755)


def write(name: str, config: dict[str, str] | None = None, **more: Any) -> None:
    """A cluster file."""
    slurm = {"config": config or {}, "partitions": [{"id": "cpu", "node_pool_ids": ["cpu"]}]}
    pool = {"id": "cpu", "machine_spec": {"machine_type": "n2-standard-8"}, "scaling_spec": {"max_node_count": 2}}
    spec = {"node_pools": [pool], "orchestrator_spec": {"slurm_spec": slurm}, **more}
    document = {"project": "acme-ml", "location": "us-central1", "cluster_id": name, "spec": spec}
    Path("clusters.d", f"{name}.yaml").write_text(json.dumps(document))


def test_no_name(capsys: pytest.CaptureFixture[str]) -> None:
    """`--slurm=` with nothing after it is a slip, such as an empty variable."""
    write("demo")
    assert run(["validate", "--slurm="]) == 64
    assert "--slurm= names no slurmctld" in capsys.readouterr().err


def test_the_path_as_it_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    """`./` is part of it: a file that isn't there is a typo, which must not read as passed; a bare word is one, too."""
    write("demo")
    for missing in ("./nothing", "found", "./clusters.d"):
        assert run(["validate", f"--slurm={missing}"]) == 64
        assert f"--slurm: there is no program {missing} here" in capsys.readouterr().err
    assert run(["validate", "--slurm=./slurmctld"]) == 0
    assert capsys.readouterr().err == ""


def test_clusters_with_errors_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """They aren't tried, and that is said, of each cluster or of the whole file; the others are."""
    write("demo")
    write("wrong", bananas=1)
    Path("clusters.d/broken.yaml").write_text("{")
    assert run(["validate", "--slurm=./slurmctld", "--format", "json"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert sorted(said) == [
        "not checked with Slurm: acme-ml/us-central1/wrong (clusters.d/wrong.yaml), for it has errors",
        "not checked with Slurm: clusters.d/broken.yaml, for it has errors",
    ]


def test_parameters_that_are_held_back_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    """What a trial must go without is said, and fails nothing."""
    write("demo", {"JobSubmitPlugins": "lua", "MaxJobCount": "5"})
    assert run(["validate", "--slurm=./slurmctld"]) == 0
    (said,) = capsys.readouterr().err.splitlines()
    words = "JobSubmitPlugins (acme-ml/us-central1/demo), which a trial must go without"
    assert said == f"not checked with Slurm: {words}"
