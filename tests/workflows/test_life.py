"""The workflows as users meet them: a pull request, its merge, a change by hand, and the issue about it."""

from __future__ import annotations

from typing import Any

from tests.contract import specs
from tests.workflows.runner import Job
from tests.workflows.world import PROJECT, READER, WRITER, World


def label(value: str) -> Any:
    """An edit that changes nothing but a label."""
    return lambda spec: spec.update(labels={"team": value})


def succeeded(jobs: dict[str, Job]) -> dict[str, Job]:
    """The jobs; fails with all that was said unless every one succeeded."""
    for job in jobs.values():
        assert job.result == "success", job.log
    return jobs


def test_life(world: World) -> None:
    """A plan posts, the next updates the same comment, a merge applies, drift opens an issue, its fix closes it."""
    world.open(7)
    world.edit(label("ml"))
    first = world.commit("A label")
    jobs = succeeded(world.plan(7))
    (comment,) = world.hub.bodies(7)
    assert comment.startswith("<!-- reconciler:plan path=clusters.d environment=prod -->\n")
    assert first[:10] in comment
    assert "1 to create" in comment
    assert "/artifacts/1" in comment
    assert "1 to create" in jobs["plan"].summary

    world.edit(label("research"))
    second = world.commit("Another")
    succeeded(world.plan(7))
    (comment,) = world.hub.bodies(7)
    assert second[:10] in comment
    assert first[:10] not in comment

    merged = world.merge(7)
    succeeded(world.apply())
    assert world.live()["labels"]["team"] == "research"
    assert world.identities == [READER, READER, READER, WRITER]
    told = world.hub.bodies(7)[1]
    assert told.startswith("<!-- reconciler:apply path=clusters.d environment=prod -->\n")
    assert "1 applied" in told
    assert merged[:10] in told

    assert world.drift().result == "success"
    assert world.hub.issues == []
    world.by_hand({"labels": {"team": "night-shift"}})
    job = world.drift()
    assert job.result == "success", job.log
    (issue,) = world.hub.issues
    assert issue["state"] == "open"
    assert issue["title"] == "Drift in clusters.d (prod)"
    assert "night-shift" in issue["body"]

    succeeded(world.apply("workflow_dispatch"))
    assert world.drift().result == "success"
    assert world.hub.issues == [issue]
    assert issue["state"] == "closed"
    assert "No drift any more" in world.hub.bodies(issue["number"])[-1]


def test_a_merge_without_changes_asks_nobody(world: World) -> None:
    """Where main has nothing to do, the job that needs approval isn't started."""
    world.settle()
    jobs = world.apply()
    assert jobs["plan"].result == "success"
    assert jobs["apply"].result == "skipped"


def test_pain_g80_forks_are_checked_without_credentials(world: World) -> None:
    """A fork's pull request gets validate and a summary that says so; no identity, no token, no request to GitHub."""
    world.open(8)
    world.edit(label("ml"))
    world.commit("From far")
    jobs = world.plan(8, fork=True)
    assert {name: job.result for name, job in jobs.items()} == {"validate": "success", "plan": "skipped"}
    assert "comes from a fork" in jobs["validate"].summary
    assert world.identities == []
    assert world.hub.requests == []
    assert world.control.requests() == []


def test_pain_g80_a_refused_comment_keeps_the_plan(world: World) -> None:
    """A token that may only read fails no job: the plan is in the summary with the permission that is missing."""
    world.hub.grant = lambda _permissions: Granting(world).read_only()  # type: ignore[method-assign]  # as Dependabot's
    world.open(9)
    world.edit(label("ml"))
    world.commit("By a bot")
    jobs = succeeded(world.plan(9))
    assert world.hub.bodies(9) == []
    assert "pull-requests: write" in jobs["plan"].step("Comment").log
    assert "couldn't be posted" in jobs["plan"].summary


class Granting:
    """Tokens that differ from what the job asks for."""

    def __init__(self, world: World) -> None:
        self._hub = world.hub

    def read_only(self) -> str:
        """A token that may read everything."""
        self._hub.tokens["read-only"] = {"contents": "read", "issues": "read", "pull-requests": "read"}
        return "read-only"


def test_an_invalid_file_fails_both_jobs_and_is_told(world: World) -> None:
    """What can't be planned is an annotation, a red job, and a comment with the error on top."""
    world.open(10)
    world.edit(lambda spec: spec.update(nodePool=[]))
    world.commit("A typo")
    jobs = world.plan(10)
    assert {name: job.result for name, job in jobs.items()} == {"validate": "failure", "plan": "failure"}
    assert "::error file=clusters.d/demo.yaml,line=" in jobs["validate"].log
    (comment,) = world.hub.bodies(10)
    assert "Errors: 1" in comment


def test_no_plan_at_all_marks_the_older_one_outdated(world: World) -> None:
    """Where the service can't be asked for anything, the comment doesn't go on showing an older commit's plan."""
    world.open(11)
    world.edit(label("ml"))
    world.commit("Fine")
    succeeded(world.plan(11))
    script = world.origin / ".github" / "actions" / "reconciler" / "run.sh"
    script.write_text("exit 1\n")
    head = world.commit("Broken before there is a plan")
    assert world.plan(11)["plan"].result == "failure"
    (comment,) = world.hub.bodies(11)
    assert "No plan could be made" in comment
    assert head[:10] in comment
    assert "to create" not in comment


def test_pain_f61_what_was_approved_is_what_is_applied(world: World) -> None:
    """A live change between the plan of main and its approval: apply refuses, sends nothing, and says what moved."""
    world.settle()
    world.git("checkout", "-q", "main")
    world.edit(label("ml"))
    world.commit("A label")
    by_hand = {"labels": {"team": "somebody"}}
    jobs = world.apply(before=lambda job: world.by_hand(by_hand) if job == "apply" else None)
    assert jobs["apply"].result == "failure"
    assert "live cluster has changed since the plan was made" in jobs["apply"].log
    assert world.live()["labels"]["team"] == "somebody"
    succeeded(world.apply("workflow_dispatch"))
    assert world.live()["labels"]["team"] == "ml"


def test_pain_f86_a_failed_apply_is_told_until_it_is_mended(world: World) -> None:
    """A merge whose apply fails: red, told on the pull request, told by drift, and mended by the next merge."""
    succeeded(world.apply())
    good = world.git("rev-parse", "main")
    world.open(12)
    world.edit(label("ml"))
    world.commit("Unlucky")
    succeeded(world.plan(12))
    world.merge(12)
    stockout = {"kind": "operation_error", "code": 8, "message": "none left"}
    world.control.faults([{"match": {"method": "PATCH"}, "fault": stockout}])
    assert world.apply()["apply"].result == "failure"
    told = world.hub.bodies(12)[-1]
    assert "1 failed" in told
    assert "none left" in told

    world.drift()
    (issue,) = world.hub.issues
    assert "The newest apply failed" in issue["body"]
    assert good[:10] in issue["body"]

    world.control.clear_faults()
    world.edit(label("research"))
    world.commit("Pain H94: the newest main is what is applied")
    succeeded(world.apply())
    assert world.live()["labels"]["team"] == "research"
    world.drift()
    assert issue["state"] == "closed"


def test_pain_f71_one_blocked_cluster_holds_up_nobody(world: World) -> None:
    """A cluster that is blocked makes the run red; the others are applied all the same."""
    world.settle()
    world.git("checkout", "-q", "main")
    world.write("other", specs.small(PROJECT))
    world.edit(lambda spec: specs.pool(spec, "cpu")["machine_spec"].update(machine_type="n2-standard-16"))
    world.commit("One that can't, and one that can")
    jobs = world.apply()
    assert jobs["plan"].result == "failure"
    assert jobs["apply"].result == "failure"
    assert world.live("other")["nodePools"]


def test_pain_i98_a_delete_wants_two_steps_and_a_hand(world: World) -> None:
    """Protection lifted and used in one pull request is blocked; merged in two, a run by hand has to allow it."""
    world.settle()
    world.open(13)
    world.write("demo", specs.small(PROJECT), state="absent", prevent_destroy=False)
    world.commit("Both at once")
    assert world.plan(13)["plan"].result == "failure"
    assert "protected_at_base" in world.hub.bodies(13)[0]

    world.git("checkout", "-q", "main")
    world.write("demo", specs.small(PROJECT), prevent_destroy=False)
    world.commit("First step")
    world.write("demo", specs.small(PROJECT), state="absent", prevent_destroy=False)
    world.commit("Second step")
    assert world.apply()["apply"].result == "failure"
    assert world.live()["nodePools"]
    jobs = world.apply("workflow_dispatch", inputs={"allow-delete": True, "allow-replace": False})
    assert succeeded(jobs)
    assert "applied" in jobs["apply"].summary


def test_pain_g82_a_removed_file_is_told_and_deletes_nothing(world: World) -> None:
    """A file that vanishes leaves its cluster alone, and the comment says so."""
    world.settle()
    world.open(14)
    world.write("other", specs.small(PROJECT))
    (world.origin / "clusters.d" / "demo.yaml").unlink()
    world.commit("Gone")
    succeeded(world.plan(14))
    (comment,) = world.hub.bodies(14)
    assert "file_removed" in comment
    world.merge(14)
    succeeded(world.apply())
    assert world.live()["nodePools"]


def test_pain_g82_a_moved_file_is_no_change(world: World) -> None:
    """A file that moves within the folder makes no comment."""
    world.settle()
    world.open(15)
    (world.origin / "clusters.d" / "eu").mkdir()
    world.git("mv", "clusters.d/demo.yaml", "clusters.d/eu/demo.yaml")
    world.commit("Moved")
    succeeded(world.plan(15))
    assert world.hub.bodies(15) == []


def test_pain_f67_the_authors_changes_and_drift_are_told_apart(world: World) -> None:
    """What this pull request does and what would be reverted stand in two sections."""
    world.settle()
    world.by_hand({"labels": {"owner": "night-shift"}})
    world.open(16)
    world.edit(lambda spec: specs.pool(spec, "cpu")["scaling_spec"].update(max_node_count=6))
    world.commit("More nodes")
    succeeded(world.plan(16))
    (comment,) = world.hub.bodies(16)
    mine, theirs = comment.index("This change makes"), comment.index("Live differs (would be reverted)")
    assert mine < comment.index("scaling_spec.max_node_count") < theirs < comment.index("labels.owner", theirs)


def test_pain_g85_a_cancelled_apply_leaves_nothing_locked(slow_world: World) -> None:
    """SIGINT while operations run: it ends within the runner's patience, says what still runs, and the next run works."""
    world = slow_world

    def is_sent() -> bool:
        return any(entry["kind"] == "create" for entry in world.control.requests())

    jobs = world.apply(cancel=is_sent)
    assert jobs["apply"].result == "cancelled"
    assert "reconciler operations wait" in jobs["apply"].summary
    world.control.advance(3600)
    assert world.apply("workflow_dispatch")["plan"].result == "success"
    assert world.live()["clusterStatus"]["state"] == "RUNNING"
