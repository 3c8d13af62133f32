"""Who may say yes, to what: approval at a terminal and in CI, deletes, replaces, protection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.bench import Bench, result
from tests.contract.specs import pool, slurm

OTHER_MACHINE = {"machine_type": "n2-standard-16"}


def _another_machine(spec: dict[str, Any]) -> None:
    pool(spec, "cpu").update(machine_spec=OTHER_MACHINE)


def test_yes_at_a_terminal(bench: Bench) -> None:
    """The plan is shown, "yes" is asked for, and then it is done."""
    bench.write("demo", bench.small())
    terminal = bench.at_terminal("apply")
    terminal.hear("Only 'yes' is taken")
    assert "1 to create" in terminal.out
    terminal.type("yes\n")
    assert terminal.end() == 0
    assert bench.writes() == ["POST"]


@pytest.mark.parametrize("answer", ["no\n", "y\n", "YES\n", "\n", "\x04"], ids=["no", "y", "YES", "nothing", "Ctrl-D"])
def test_anything_else_at_a_terminal_is_no(bench: Bench, answer: str) -> None:
    """Only "yes" is yes; anything else sends nothing and exits 1."""
    bench.write("demo", bench.small())
    outcome = bench.run("apply", typed=answer).ended(1)
    assert "Only 'yes' is taken" in outcome.err
    assert "not approved" in outcome.err
    assert bench.writes() == []


def test_ctrl_c_at_the_question(bench: Bench) -> None:
    """Ctrl-C while it asks is an interruption, not an answer."""
    bench.write("demo", bench.small())
    terminal = bench.at_terminal("apply")
    terminal.hear("Only 'yes' is taken")
    terminal.type("\x03")
    assert terminal.end() == 130
    assert bench.writes() == []


@pytest.mark.parametrize("command", ["apply", "delete demo"])
def test_nobody_is_there_to_ask(bench: Bench, command: str) -> None:
    """Without a terminal and without --auto-approve nothing is sent, and the way out is named."""
    path = bench.created("demo", bench.small(), prevent_destroy=False)
    bench.edit(path, lambda spec: spec.update(labels={"a": "b"}))
    assert "--auto-approve" in bench.run(*command.split()).ended(1).err
    assert bench.writes() == []


def test_no_question_where_nothing_is_to_do(bench: Bench) -> None:
    """An empty plan needs nobody's approval."""
    bench.created("demo", bench.small())
    bench.run("apply").ok()


def test_delete_wants_the_id_typed(bench: Bench) -> None:
    """The cluster's id, and nothing else, deletes it. (Case 100)"""
    bench.created("demo", bench.small(), prevent_destroy=False)
    for typed, code, sent in (("yes\n", 1, []), ("demo2\n", 1, []), ("demo\n", 0, ["DELETE"])):
        assert "Type its id, demo" in bench.run("delete", "demo", typed=typed).ended(code).err
        assert bench.writes() == sent


@pytest.mark.parametrize("spelling", ["demo", "{project}/us-central1/demo", "{name}"])
def test_delete_takes_every_spelling_of_a_cluster(bench: Bench, spelling: str) -> None:
    """An id of the files, PROJECT/LOCATION/ID and the full name mean the same cluster."""
    bench.created("demo", bench.small(), prevent_destroy=False)
    bench.run("delete", spelling.format(project=bench.project, name=bench.name()), "--auto-approve").ok()
    assert bench.writes() == ["DELETE"]


def test_a_cluster_that_no_file_describes_can_be_deleted(bench: Bench) -> None:
    """By its full name: there is no file that could protect it."""
    bench.created("demo", bench.small()).unlink()
    bench.run("delete", bench.name(), "--auto-approve").ok()
    assert bench.writes() == ["DELETE"]


@pytest.mark.parametrize("lifecycle", [{}, {"prevent_destroy": True}, {"state": "absent"}], ids=str)
def test_prevent_destroy_blocks_delete(bench: Bench, lifecycle: dict[str, Any]) -> None:
    """It is the default, holds against --auto-approve, and says how it is lifted."""
    bench.created("demo", bench.small())
    bench.write("demo", bench.small(), **lifecycle)
    outcome = bench.run("delete", "demo", "--auto-approve", "--format", "json").ended(1)
    assert result(outcome)["error"]["code"] == "prevent_destroy"
    assert bench.writes() == []


@pytest.mark.parametrize("by", ["id", "number"])
def test_a_protected_cluster_by_the_projects_other_name(bench: Bench, by: str) -> None:
    """The file may name the project by its id and the command by its number, as the service does, or the reverse."""
    spelled = {"id": bench.project, "number": bench.number}
    path = bench.created("demo", bench.small())
    path.write_text(path.read_text().replace(f"project: {bench.project}", f"project: '{spelled[by]}'"))
    for project in spelled.values():
        outcome = bench.run("delete", f"{project}/us-central1/demo", "--auto-approve", "--format", "json").ended(1)
        assert result(outcome)["error"]["code"] == "prevent_destroy"
    assert bench.writes() == []


def test_a_number_of_another_project(bench: Bench) -> None:
    """A cluster of the same id elsewhere is another one, whatever protects its namesake."""
    bench.created("demo", bench.small())
    bench.control.put("projects/4711/locations/us-central1/modelDevelopmentClusters/demo", bench.small())
    outcome = bench.run("delete", "4711/us-central1/demo", "--auto-approve").ok()
    assert "none protects it" in outcome.err
    assert bench.live()


def test_files_of_a_folder_above_protect_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to the repository's own folder; where there are no files at all, that is said."""
    bench.created("demo", bench.small())
    (bench.root / "sub").mkdir()
    root, bench.root = bench.root, bench.root / "sub"
    bench.run("delete", bench.name(), "--auto-approve").ended(1)
    assert bench.writes() == []
    (root / "clusters.d").rename(root / "fleet")
    assert "no file says whether" in bench.run("delete", bench.name(), "--auto-approve").ok().err


def test_a_broken_file_may_be_the_one_that_protects(bench: Bench) -> None:
    """While the cluster's own file can't be read nobody knows whether it is protected: not deleted."""
    path = bench.created("demo", bench.small())
    path.write_text(path.read_text() + "}")
    bench.run("delete", bench.name(), "--auto-approve").ended(1)
    assert bench.writes() == []


def test_removing_a_file_deletes_nothing(bench: Bench) -> None:
    """A cluster whose file is gone stays, unmanaged. (Case 98)"""
    bench.created("demo", bench.small(), prevent_destroy=False).unlink()
    bench.write("other", bench.small())
    bench.apply("--allow-delete", "--allow-replace").ok()
    assert bench.writes() == ["POST"]
    assert bench.live()["nodePools"]


def _absent(bench: Bench, **lifecycle: Any) -> Path:
    bench.created("demo", bench.small())
    return bench.write("demo", None, state="absent", **lifecycle)


def test_absent_needs_both_words(bench: Bench) -> None:
    """A delete by apply wants prevent_destroy lifted in the file and --allow-delete on the command line."""
    _absent(bench)
    assert [blocker["code"] for blocker in bench.plan()["blockers"]] == ["prevent_destroy"]
    assert result(bench.apply("--allow-delete").ended(1))["error"]["code"] == "prevent_destroy"
    bench.write("demo", None, state="absent", prevent_destroy=False)
    assert bench.plan()["blockers"] == []
    assert result(bench.apply().ended(1))["error"]["code"] == "delete_not_allowed"
    assert bench.writes() == []
    assert result(bench.apply("--allow-delete").ok())["status"] == "applied"
    assert bench.writes() == ["DELETE"]
    bench.settled()


def test_absent_where_there_is_nothing(bench: Bench) -> None:
    """A cluster that is wanted absent and is: nothing to do, no flag needed."""
    bench.write("demo", None, state="absent")
    assert bench.plan()["action"] == "no_op"
    bench.settled()


def test_an_immutable_change_is_blocked(bench: Bench) -> None:
    """An immutable change is refused at plan time with the pool, the field and the way out; no PATCH. (Cases 31, 32)"""
    path = bench.created("demo", bench.small())
    bench.edit(path, _another_machine)
    outcome = bench.run("plan").ended(1)
    for word in ("node_pools[cpu].machine_spec.machine_type", "(1) add a pool", "(3) remove pool cpu"):
        assert word in outcome.out
    assert result(bench.apply("--allow-replace").ended(1))["error"]["code"] == "immutable_field"
    assert bench.writes() == []


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s["network"].update(network="projects/p/global/networks/other"),
        lambda s: slurm(s).update(home_directory_storage="projects/p/locations/l/instances/other"),
        lambda s: s.update(runtime_spec={"service_account": "other@example-proj.iam.gserviceaccount.com"}),
        lambda s: pool(s, "cpu").update(provisioning_model="SPOT"),
        lambda s: pool(s, "cpu").update(confidential_instance_config={"enableConfidentialCompute": True}),
        lambda s: pool(s, "gpu")["machine_spec"].update(accelerator_count=4),
    ],
    ids=["network", "home", "service account", "provisioning model", "confidential", "accelerators"],
)  # fmt: skip
def test_every_immutable_field_is_known(bench: Bench, edit: Any) -> None:
    """None of them is sent to be refused by the service. (Cases 23, 31)"""
    path = bench.created("demo", bench.base())
    bench.edit(path, edit)
    plan = bench.plan()
    assert {blocker["code"] for blocker in plan["blockers"]} == {"immutable_field"}
    assert {change["impact"] for change in plan["changes"]} == {"immutable"}
    bench.apply("--allow-replace").ended(1)
    assert bench.writes() == []


def _replaceable(bench: Bench, **lifecycle: Any) -> None:
    path = bench.created("demo", bench.small())
    bench.write("demo", bench.small(), replace_on=["immutable_change"], **lifecycle)
    bench.edit(path, _another_machine)


def test_a_replace_needs_all_three_words(bench: Bench) -> None:
    """replace_on and prevent_destroy in the file, --allow-replace on the command line: then delete and create."""
    _replaceable(bench)
    assert [blocker["code"] for blocker in bench.plan()["blockers"]] == ["prevent_destroy"]
    bench.apply("--allow-replace").ended(1)
    bench.write("demo", bench.small(), replace_on=["immutable_change"], prevent_destroy=False)
    bench.edit(bench.root / "clusters.d/demo.yaml", _another_machine)
    plan = bench.plan()
    assert (plan["action"], plan["request"]["method"], plan["blockers"]) == ("replace", "POST", [])
    assert result(bench.apply().ended(1))["error"]["code"] == "replace_not_allowed"
    assert bench.writes() == []
    assert result(bench.apply("--allow-replace").ok())["status"] == "applied"
    assert bench.writes() == ["DELETE", "POST"]
    assert pool_of(bench, "cpu")["machineSpec"] == {"machineType": "n2-standard-16"}
    bench.settled()


def pool_of(bench: Bench, name: str) -> dict[str, Any]:
    """A pool as it is live."""
    return next(each for each in bench.get()["nodePools"] if each["id"] == name)


def test_an_error_state_is_replaced_only_where_the_file_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster in ERROR blocks; with replace_on: [error_state] it is deleted and created."""
    monkeypatch.setenv("RECONCILER_RETRY_BUDGET", "1s")  # its Slurm doesn't answer
    bench.created("demo", bench.small())
    bench.control.live(bench.name(), {"clusterStatus": {"state": "ERROR", "error": "quota exceeded"}})
    (blocker,) = bench.plan()["blockers"]
    assert blocker["code"] == "cluster_in_error_state"
    assert "quota exceeded" in blocker["message"]
    bench.apply("--allow-replace").ended(1)
    assert bench.writes() == []
    bench.write("demo", bench.small(), replace_on=["error_state"], prevent_destroy=False, running_jobs="warn")
    bench.apply("--allow-replace").ok()
    assert bench.writes() == ["DELETE", "POST"]
    bench.settled()


def test_a_failed_create_leaves_a_cluster_that_can_be_replaced(bench: Bench) -> None:
    """The ERROR cluster of a failed create isn't created over, and its file can let it go. (Case 49)"""
    bench.write("demo", bench.small(), replace_on=["error_state"], prevent_destroy=False)
    bench.fault("operation_error", "create", times=1, code=8, message="no capacity in the zone")
    failed = result(bench.apply().ended(1))
    assert "no capacity in the zone" in failed["error"]["message"]
    assert bench.plan()["action"] == "replace"
    bench.apply("--allow-replace").ok()
    assert bench.writes() == ["POST", "DELETE", "POST"]
    bench.settled()
