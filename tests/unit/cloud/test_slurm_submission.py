"""What is submitted: what was asked for, in the dialect of the version, and nothing that wasn't."""

from __future__ import annotations

from typing import Any

import pytest

from reconciler.cloud.slurm_script import Script, read_script
from reconciler.cloud.slurm_submission import JobOptions, prepare
from reconciler.cloud.slurm_versions import checked, has_plain_values
from reconciler.errors import InputError, UsageError

PLAIN = read_script("#!/bin/bash\nsleep 5\n", "x.sh")
PATH = "/usr/local/bin:/usr/bin:/bin"
ALL = JobOptions("cpu", 2, 4, 8, 120, "my-run", "/home/me", {"FOO": "1"})


def script(*lines: str) -> Script:
    """A script with these lines under its first one."""
    return read_script("\n".join(["#!/bin/bash", *lines, "echo hi", ""]), "x.sh")


def test_a_modern_body() -> None:
    """v0.0.42 as S1 shows it: the environment as a list, the limit wrapped, nodes as minimum and maximum."""
    assert prepare(PLAIN, ALL).body("v0.0.42") == {
        "job": {
            "partition": "cpu",
            "minimum_nodes": 2,
            "maximum_nodes": 2,
            "tasks_per_node": 4,
            "cpus_per_task": 8,
            "time_limit": {"set": True, "number": 120},
            "name": "my-run",
            "current_working_directory": "/home/me",
            "environment": [f"PATH={PATH}", "FOO=1"],
        },
        "script": PLAIN.text,
    }


def test_an_old_body() -> None:
    """v0.0.38: the environment as an object, plain minutes, `nodes`."""
    job = prepare(PLAIN, ALL).body("v0.0.38")["job"]
    assert (job["environment"], job["time_limit"], job["nodes"]) == ({"PATH": PATH, "FOO": "1"}, 120, 2)
    assert not {"minimum_nodes", "maximum_nodes"} & set(job)


@pytest.mark.parametrize("version", ["v0.0.38", "v0.0.42"])
def test_what_was_not_given_is_not_sent(version: str) -> None:
    """A working directory and an environment are demanded; everything else is Slurm's to choose."""
    lines = ("#SBATCH --partition=gpu --time=5", "#SBATCH -J other")
    submission = prepare(script(*lines), JobOptions())
    body = submission.body(version)
    assert set(body["job"]) == {"current_working_directory", "environment"}
    assert body["script"] == script(*lines).text


def test_sbatch_lines_that_may_have_no_effect_are_named() -> None:
    """slurmrestd takes the script as it is (seen in 22.05): what its lines ask for must be said otherwise."""
    notes = prepare(script("#SBATCH --partition=gpu -t 5 --chdir=/home/me"), JobOptions()).notes
    assert len(notes) == 1
    assert "(--partition, -t)" in notes[0]


@pytest.mark.parametrize(
    ("line", "directory"),
    [
        ("#SBATCH --chdir=/home/me", "/home/me"),
        ("#SBATCH --chdir /home/me", "/home/me"),
        ("#SBATCH -D /home/me", "/home/me"),
        ("#SBATCH -D/home/me # there", "/home/me"),
        ("#SBATCH --nodes=2 --chdir='/home/my dir'", "/home/my dir"),
        ("#SBATCH\t-D\t/home/me", "/home/me"),
        ("\n# a comment\n#SBATCH -D /a\n#SBATCH -D /home/me", "/home/me"),
        ("##SBATCH -D /home/me", "/tmp"),
        ("#SBATCHING -D /home/me", "/tmp"),
        ("#SBATCH", "/tmp"),
        ("cd /\n#SBATCH -D /home/me", "/tmp"),
    ],
)
def test_the_working_directory_of_the_script(line: str, directory: str) -> None:
    """As sbatch reads it: among the comments before the first command, the last one wins."""
    submission = prepare(script(line), JobOptions())
    assert submission.jobs[0]["current_working_directory"] == directory
    assert any("stays there on the node" in note for note in submission.notes) == (directory == "/tmp")


def test_which_working_directory_wins() -> None:
    """The option, then the JSON file, then the script; a relative one isn't sent."""
    own = script("#SBATCH -D /script")
    given = {"current_working_directory": "/file"}
    assert prepare(own, JobOptions(cwd="/option"), given).jobs[0]["current_working_directory"] == "/option"
    assert prepare(own, JobOptions(), given).jobs[0]["current_working_directory"] == "/file"
    with pytest.raises(InputError, match="no absolute path"):
        prepare(script("#SBATCH -D here"), JobOptions())


@pytest.mark.parametrize(
    "text", ["", "echo hi\n", " #!/bin/sh\n", "#!/bin/sh\r\necho\r\n", "#!/bin/sh\n\0", "\ufeff#!/bin/sh\n"]
)
def test_scripts_that_would_fail_on_the_node(text: str) -> None:
    """What sbatch refuses is refused here: the API takes it, and the job fails (seen in 22.05 and 25.11)."""
    with pytest.raises(InputError, match=r"x\.sh"):
        read_script(text, "x.sh")


def test_a_byte_order_mark_is_called_one() -> None:
    """The first line does say what runs the script, as far as anyone can see."""
    with pytest.raises(InputError, match=r"x\.sh: begins with a byte order mark") as caught:
        read_script("\ufeff#!/bin/sh\n", "x.sh")
    assert r"sed -i '1s/^\xEF\xBB\xBF//'" in caught.value.hint


def test_an_sbatch_line_that_cannot_be_read() -> None:
    """An open quote is named with its line."""
    with pytest.raises(InputError, match="#SBATCH --comment"):
        script("#SBATCH --comment='oh")


def test_a_json_file_with_a_job() -> None:
    """Fields of the API go through; options win; environment and limit are put into the dialect."""
    given = {"job": {"partition": "gpu", "account": "a", "environment": {"A": "1"}, "time_limit": 60.0, "name": "n"}}
    job = prepare(PLAIN, JobOptions(partition="cpu", cwd="/w", environment={"B": "2"}), given).body("v0.0.42")["job"]
    assert (job["partition"], job["account"], job["name"]) == ("cpu", "a", "n")
    assert job["environment"] == [f"PATH={PATH}", "A=1", "B=2"]
    assert job["time_limit"] == {"set": True, "number": 60}


def test_a_json_file_as_documented_on_an_old_cluster() -> None:
    """The example of S1 works on v0.0.38, too; there `minimum_nodes` would have no effect."""
    given = {
        "job": {
            "minimum_nodes": 2,
            "environment": ["PATH=/bin", "EMPTY="],
            "time_limit": {"set": True, "number": 120},
            "current_working_directory": "/home/me",
        },
        "script": "#!/bin/bash\ntrue\n",
    }
    body = prepare(None, JobOptions(), given).body("v0.0.38")
    assert body["script"] == "#!/bin/bash\ntrue\n"
    assert body["job"] == {
        "nodes": 2,
        "environment": {"PATH": "/bin", "EMPTY": ""},
        "time_limit": 120,
        "current_working_directory": "/home/me",
    }
    given["job"]["maximum_nodes"] = 4  # type: ignore[index]  # the literal's type is wider
    assert prepare(None, JobOptions(), given).body("v0.0.38")["job"]["nodes"] == "2-4"


def test_nodes_given_twice() -> None:
    """--nodes replaces whatever the file says of nodes."""
    job = prepare(PLAIN, JobOptions(nodes=3), {"minimum_nodes": 1, "maximum_nodes": 9}).body("v0.0.42")["job"]
    assert (job["minimum_nodes"], job["maximum_nodes"]) == (3, 3)


def test_a_limit_that_cannot_be_read_is_left_to_slurm() -> None:
    """K127: its own message says what it wants."""
    for limit in ("00:05:00", {"infinite": True}):
        assert prepare(PLAIN, JobOptions(), {"time_limit": limit}).body("v0.0.42")["job"]["time_limit"] == limit


@pytest.mark.parametrize("name", ["time_limit", "nodes", "minimum_nodes", "tasks_per_node", "cpus_per_task"])
@pytest.mark.parametrize("count", [True, False, 1.5, {"set": True, "number": True}, {"number": 0.5}])
def test_counts_that_would_become_others(name: str, count: object) -> None:
    """true isn't 1, and a fraction isn't cut off."""
    with pytest.raises(InputError, match=f"{name} must be a whole number, and is "):
        prepare(PLAIN, JobOptions(), {name: count})
    assert prepare(PLAIN, JobOptions(nodes=2, time_limit=5, tasks_per_node=1, cpus_per_task=1), {name: count})


@pytest.mark.parametrize(("limit", "sent"), [("60", {"set": True, "number": 60}), ("60.5", "60.5"), ("1e3", "1e3")])
def test_a_limit_as_text(limit: str, sent: object) -> None:
    """Minutes where it's just digits; anything else is Slurm's to read as it stands."""
    assert prepare(PLAIN, JobOptions(), {"time_limit": limit}).body("v0.0.42")["job"]["time_limit"] == sent


def test_a_heterogeneous_job() -> None:
    """Each component gets what the API demands; options would belong to none of them."""
    given = {"jobs": [{"name": "a"}, {"name": "b", "current_working_directory": "/w"}]}
    submission = prepare(PLAIN, JobOptions(), given)
    body = submission.body("v0.0.42")
    assert [job["current_working_directory"] for job in body["jobs"]] == ["/tmp", "/w"]
    assert all(job["environment"] == [f"PATH={PATH}"] for job in body["jobs"])
    assert submission.name == "a"
    with pytest.raises(UsageError, match="several jobs"):
        prepare(PLAIN, JobOptions(name="x"), given)


@pytest.mark.parametrize(
    "given",
    [
        {"job": 1},
        {"jobs": []},
        {"jobs": [1]},
        {"jobs": {}},
        {"job": {}, "extra": 1},
        {"environment": "A=1"},
        {"environment": ["A"]},
        {"environment": [1]},
        {"environment": {"DEBUG": True}},
        {"environment": ["A=1", "B=2", "A=3"]},
        {"job": {"name": "a"}, "jobs": [{"name": "b"}]},
        {"job": {"script": PLAIN.text}, "script": PLAIN.text},
        {"current_working_directory": ["/w"]},
        {"current_working_directory": True},
    ],
)
def test_json_files_that_describe_no_job(given: dict[str, Any]) -> None:
    """Refused before anything is sent."""
    with pytest.raises(InputError):
        prepare(PLAIN, JobOptions(), given)


def test_no_script_at_all() -> None:
    """Neither named nor in the file; in the file it may lie beside the job or in it."""
    with pytest.raises(UsageError, match="no script"):
        prepare(None, JobOptions(), {"job": {}})
    given = {"job": {"script": PLAIN.text, "name": "n"}}
    submission = prepare(None, JobOptions(), given)
    assert submission.script == PLAIN.text
    assert "script" not in submission.body("v0.0.42")["job"]
    assert given == {"job": {"script": PLAIN.text, "name": "n"}}


def test_versions() -> None:
    """What is a version, and which ones have plain values."""
    assert has_plain_values("v0.0.38")
    assert not has_plain_values("v0.0.39")
    assert not has_plain_values("v0.1.0")
    for text in ("", "0.0.42", "v42", "v0.0.42/../x"):
        with pytest.raises(UsageError):
            checked(text)
