"""Scripts: `{file: …}` kept inside the repository, and what is wrong with a script's text."""

from __future__ import annotations

import copy
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import pytest

from reconciler.spec.findings import Finding, Severity
from reconciler.spec.loader import Loaded
from reconciler.spec.model import Desired, Lifecycle
from reconciler.spec.names import ClusterName
from reconciler.spec.script_checks import check_scripts
from reconciler.spec.scripts import FileText, ScriptText
from tests.unit.spec.samples import HEAD, MINIMAL, SLURM, load_in, load_one, the_error, told, write

GOOD = "#!/bin/bash\necho hello\n"
STARTUP = MINIMAL + "      startup_script: "
PROLOG = MINIMAL + SLURM + "      prolog_bash_scripts: "
EPILOG = MINIMAL + SLURM + "      epilogBashScripts: "


def only(loaded: Loaded) -> Desired:
    assert told(loaded.findings) == []
    (desired,) = loaded.clusters
    return desired


def startup(desired: Desired) -> Any:
    return desired.spec["node_pools"][0]["startup_script"]


def job_scripts(desired: Desired, name: str = "prolog_bash_scripts") -> list[Any]:
    return desired.spec["orchestrator_spec"]["slurm_spec"][name]


def test_a_script_is_read_from_the_file_that_it_names(tmp_path: Path) -> None:
    """Relative to the YAML file, wherever the API wants a script, in either spelling."""
    write(
        tmp_path,
        {
            "scripts/a.sh": GOOD,
            "clusters.d/b.sh": "#!/bin/sh\nexit 1",
            "clusters.d/a.yaml": EPILOG
            + "[{file: b.sh}, exit 0]\n"
            + "      prolog_bash_scripts: [{file: ../scripts/a.sh}]\n",
        },
    )
    desired = only(load_in(tmp_path))
    (prolog,) = job_scripts(desired)
    assert prolog == GOOD
    assert isinstance(prolog, FileText)
    assert prolog.file == "scripts/a.sh"
    epilogs = job_scripts(desired, "epilog_bash_scripts")
    assert epilogs == ["#!/bin/sh\nexit 1", "exit 0"]
    assert epilogs[0].file == "clusters.d/b.sh"
    assert not isinstance(epilogs[1], FileText)


def test_a_startup_script_may_be_a_file() -> None:
    """Inside a list's item too; in a revision's files as on the disk."""
    loaded = load_one(STARTUP + "{file: s.sh}\n", {"clusters.d/s.sh": GOOD})
    assert startup(only(loaded)) == GOOD


def test_a_script_of_the_defaults_is_relative_to_the_defaults() -> None:
    """The file that says `{file: …}` is where the path starts."""
    slurm = "spec: {orchestrator_spec: {slurm_spec: {prolog_bash_scripts: [{file: s.sh}]}}}"
    others = {"clusters.d/_defaults.yaml": slurm, "clusters.d/s.sh": GOOD, "clusters.d/deep/b.yaml": MINIMAL}
    loaded = load_one("", others)
    (desired,) = loaded.clusters
    assert job_scripts(desired)[0].file == "clusters.d/s.sh"


def test_line_ends_and_the_last_newline_stay_as_they_are(tmp_path: Path) -> None:
    """A script's text is what the file holds, to the byte."""
    write(
        tmp_path, {"clusters.d/s.sh": b"#!/bin/bash\r\necho \xc3\xa9", "clusters.d/a.yaml": STARTUP + "{file: s.sh}\n"}
    )
    assert startup(only(load_in(tmp_path))) == "#!/bin/bash\r\necho é"


def test_a_file_is_read_once_for_all_clusters() -> None:
    """Ten thousand clusters with one prolog hold it once."""
    others = {"clusters.d/s.sh": GOOD, "clusters.d/b.yaml": (STARTUP + "{file: s.sh}\n").replace("demo", "second")}
    first, second = load_one(STARTUP + "{file: s.sh}\n", others).clusters
    assert startup(first) is startup(second)


def test_one_file_by_two_ways_is_one_text(tmp_path: Path) -> None:
    """Cluster files of two folders name it differently; it is read once, and told by one name."""
    write(
        tmp_path,
        {
            "scripts/s.sh": GOOD,
            "clusters.d/a.yaml": STARTUP + "{file: ../scripts/s.sh}\n",
            "clusters.d/deep/b.yaml": (STARTUP + "{file: ../../scripts/s.sh}\n").replace("demo", "second"),
        },
    )
    first, second = (startup(desired) for desired in load_in(tmp_path).clusters)
    assert first is second
    assert first.file == "scripts/s.sh"


def test_script_texts_survive_copies() -> None:
    """Copies and pickles keep the place."""
    text = FileText(GOOD, "s.sh", 1, in_step=True)
    for again in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert again == text
        assert (type(again), again.file, again.line, again.in_step) == (FileText, "s.sh", 1, True)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("{file: nosuch.sh}", "script nosuch.sh: no such file or folder"),
        ("{file: /etc/passwd}", "script /etc/passwd: not a relative path"),
        ("{file: ../../outside.sh}", "script ../../outside.sh: outside the repository"),
        ("{file: link.sh}", "script link.sh: outside the repository"),
        ("{file: out/outside.sh}", "script out/outside.sh: outside the repository"),
        ("{file: out/../outside.sh}", "script out/../outside.sh: outside the repository"),
        ("{file: loop.sh}", "script loop.sh: too many levels of symbolic links"),
        ("{file: pipe}", "script pipe: not a regular file"),
        ("{file: zero}", "script zero: outside the repository"),
        ("{file: .}", "script .: not a regular file"),
        ("{file: big.sh}", "script big.sh: larger than 1,024 KiB"),
        ("{file: latin.sh}", "script latin.sh: not UTF-8 in line 2"),
        ('{file: "a\\0b"}', "script a\\x00b: not a relative path"),
        ("{file: " + "x" * 300 + "}", "script " + "x" * 200 + ": file name too long"),
        ("{file: [a]}", "a script is its text, or {file: PATH} and nothing else"),
        ('{file: " "}', "a script is its text, or {file: PATH} and nothing else"),
        ("{file: null}", "a script is its text, or {file: PATH} and nothing else"),
        ("{file: a.sh, mode: 1}", "a script is its text, or {file: PATH} and nothing else"),
        ("{path: a.sh}", "a script is its text, or {file: PATH} and nothing else"),
        ("{}", "a script is its text, or {file: PATH} and nothing else"),
    ],
)
def test_a_script_that_cannot_be_taken_is_an_error(tmp_path: Path, reference: str, message: str) -> None:
    """Missing, outside, endless, no text: one finding at the place, and no reading of what isn't a file."""
    root = write(
        tmp_path,
        {
            "outside.sh": GOOD,
            "repo/.git": "",
            "repo/clusters.d/a.yaml": PROLOG + f"\n        - {reference}\n",
            "repo/clusters.d/big.sh": b"#" * (1024 * 1024 + 1),
            "repo/clusters.d/latin.sh": b"#!/bin/bash\necho caf\xe9\n",
        },
    )
    folder = root / "repo/clusters.d"
    (folder / "link.sh").symlink_to("../../outside.sh")
    (folder / "loop.sh").symlink_to("loop.sh")
    (folder / "out").symlink_to(root)
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    assert the_error(load_in(root / "repo")) == f"clusters.d/a.yaml:12:11 script-file: {message}"


def test_links_inside_the_repository_are_followed(tmp_path: Path) -> None:
    """A link is fine as long as it stays in."""
    write(tmp_path, {"scripts/real.sh": GOOD, "clusters.d/a.yaml": STARTUP + "{file: link.sh}\n"})
    (tmp_path / "clusters.d/link.sh").symlink_to("../scripts/real.sh")
    assert startup(only(load_in(tmp_path))).file == "clusters.d/link.sh"


def test_a_way_out_of_a_revision_is_refused() -> None:
    """Files in memory have a root too."""
    loaded = load_one(STARTUP + "{file: ../../s.sh}\n", {"s.sh": GOOD})
    assert the_error(loaded) == "clusters.d/a.yaml:9:23 script-file: script ../../s.sh: outside the repository"


def test_a_file_where_no_script_is_wanted_is_a_mapping_like_any_other() -> None:
    """Only scripts are read from files."""
    loaded = load_one(MINIMAL + "  display_name: {file: s.sh}\n", {"clusters.d/s.sh": GOOD})
    assert the_error(loaded) == "clusters.d/a.yaml:9:3 type: display_name: expected a string, got a mapping"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (PROLOG + "{file: s.sh}\n", "prolog_bash_scripts must be a list, got a mapping"),
        (PROLOG + "[[a]]\n", "prolog_bash_scripts: expected a string, got a list"),
        (HEAD + "spec: {node_pools: [5]}\n", 'node_pools must be a mapping, got "5"'),
    ],
)
def test_wrong_types_around_scripts_are_left_to_the_reader(text: str, rule: str) -> None:
    """The walk to the scripts reports no types of its own."""
    assert rule in " ".join(told(load_one(text).findings))


def test_the_fault_of_a_script_does_not_hide_others() -> None:
    """A missing script and an unknown field are told together."""
    loaded = load_one(STARTUP + "{file: nosuch.sh}\n  display_nam: x\n")
    assert [each.rule for each in loaded.findings] == ["script-file", "unknown-field"]


def checked(text: str, others: dict[str, str | bytes] | None = None, **options: Any) -> list[Finding]:
    return list(check_scripts(load_one(text, others).clusters, **options))


def block(script: str, indent: str = "        ") -> str:
    return "|\n" + "".join(f"{indent}{line}\n" for line in script.splitlines())


def test_good_scripts_have_no_findings() -> None:
    """Nothing is said of what is right; no scripts at all are right too."""
    assert checked(STARTUP + block(GOOD)) == []
    assert checked(MINIMAL) == []
    assert checked(STARTUP + '""\n') == []
    assert check_scripts(()) == ()


def test_a_syntax_error_is_told_at_the_line_of_the_script_file() -> None:
    """The place is the script's own, since that is what people will edit."""
    others = {"clusters.d/s.sh": "#!/bin/bash\nif true; then\necho\nfi\nfi\n"}
    assert told(checked(STARTUP + "{file: s.sh}\n", others)) == [
        "clusters.d/s.sh:5:0 script-syntax: syntax error near unexpected token `fi'"
    ]


def test_a_syntax_error_in_a_block_is_told_at_the_line_of_the_yaml_file() -> None:
    """The script's third line, in a block that begins in line 10."""
    text = STARTUP + block("#!/bin/bash\necho\nfi\n")
    assert told(checked(text)) == ["clusters.d/a.yaml:12:0 script-syntax: syntax error near unexpected token `fi'"]


def test_an_end_too_early_is_told_at_the_last_line() -> None:
    """Bash counts one line more than there is; people look at the last one."""
    text = STARTUP + block("#!/bin/bash\nif true; then\n  echo\n")
    assert told(checked(text)) == ["clusters.d/a.yaml:12:0 script-syntax: syntax error: unexpected end of file"]


def test_lines_are_counted_as_bash_counts_them() -> None:
    """Characters that Unicode takes for line ends are none in a script."""
    script = "#!/bin/bash\necho 'a\x85b\u2028c'\nif true; then\n  echo\n"
    (line,) = told(checked(STARTUP + "{file: s.sh}\n", {"clusters.d/s.sh": script}))
    assert line == "clusters.d/s.sh:4:0 script-syntax: syntax error: unexpected end of file"


@pytest.mark.parametrize("written", ['"#!/bin/bash\\nfi\\n"', ">\n        #!/bin/bash\n\n        fi\n"])
def test_in_other_texts_the_line_is_told_in_words(written: str) -> None:
    """Quoted and folded texts have other lines than the file: the place is where they begin."""
    (line,) = told(checked(STARTUP + written + "\n"))
    assert line == "clusters.d/a.yaml:9:0 script-syntax: syntax error near unexpected token `fi' (line 2 of the script)"


def test_a_script_of_no_file_is_told_by_its_cluster() -> None:
    """A text that a program put there has no place of its own."""
    spec = {"node_pools": [{"startup_script": "#!/bin/bash\nfi\n"}]}
    (line,) = told(check_scripts([Desired(ClusterName("p", "l", "c"), "a.yaml", Lifecycle(), spec)]))
    assert line == "a.yaml:0:0 script-syntax: syntax error near unexpected token `fi' (line 2 of the script)"


def test_a_here_document_that_does_not_end_is_a_warning() -> None:
    """Bash takes it and warns, so it is a warning here."""
    (finding,) = checked(STARTUP + block("#!/bin/bash\ncat <<EOF\nhello\n"))
    assert finding.severity is Severity.WARNING
    assert "delimited by end-of-file" in finding.message


def test_windows_line_ends_name_file_and_line(tmp_path: Path) -> None:
    """Pain point 20: saved with CR LF, every job would fail with a bad interpreter. Only that is told."""
    write(tmp_path, {"clusters.d/s.sh": "#!/bin/bash\necho\r\nfi\r\n", "clusters.d/a.yaml": STARTUP + "{file: s.sh}\n"})
    (finding,) = check_scripts(load_in(tmp_path).clusters)
    assert told([finding]) == ["clusters.d/s.sh:2:0 script-line-ends: this line ends in CR LF, as Windows writes it"]
    assert finding.severity is Severity.ERROR


def test_a_yaml_file_with_windows_line_ends_has_scripts_without() -> None:
    """YAML makes LF of them, so blocks in it are right."""
    assert checked((STARTUP + block(GOOD)).replace("\n", "\r\n")) == []


def test_a_missing_interpreter_line_is_a_warning() -> None:
    """Without `#!` it is left to chance what runs the script."""
    (finding,) = checked(STARTUP + block("echo hello\n"))
    assert told([finding]) == [
        "clusters.d/a.yaml:10:0 script-first-line: the first line doesn't say what runs the script"
    ]
    assert finding.severity is Severity.WARNING


def test_a_byte_order_mark_is_an_error() -> None:
    """The kernel sees no `#!` behind one."""
    (finding,) = checked(STARTUP + "{file: s.sh}\n", {"clusters.d/s.sh": "\ufeff" + GOOD})
    assert told([finding]) == [
        "clusters.d/s.sh:1:0 script-first-line: a byte order mark hides the first line from the system"
    ]
    assert finding.severity is Severity.ERROR


def test_a_program_is_no_script() -> None:
    """NUL bytes tell it, and bash isn't asked."""
    findings = checked(STARTUP + "{file: s.sh}\n", {"clusters.d/s.sh": b"\x7fELF\n\0\0("})
    assert told(findings) == [
        "clusters.d/s.sh:1:0 script-first-line: the first line doesn't say what runs the script",
        "clusters.d/s.sh:2:0 script-binary: this is a program or data, not a script: it has NUL bytes",
    ]


@pytest.mark.parametrize(
    "line", ["#!/usr/bin/env python3", "#!/usr/bin/python3", "#! /usr/bin/zsh", "#!/usr/bin/env -S fish"]
)
def test_scripts_for_other_interpreters_are_not_read_as_bash(line: str) -> None:
    """A Python startup script is none of bash's business."""
    assert checked(STARTUP + block(f"{line}\nif (:\n")) == []


@pytest.mark.parametrize(
    "line", ["#!/bin/sh -e", "#! /bin/bash", "#!/usr/bin/env bash", "#!/usr/bin/env -S bash -e", "#!/bin/dash"]
)
def test_scripts_for_shells_are(line: str) -> None:
    """All the ways to name a shell of bash's syntax."""
    assert [each.rule for each in checked(STARTUP + block(f"{line}\nif (:\n"))] == ["script-syntax"]


def test_the_script_is_not_run(tmp_path: Path) -> None:
    """Checking a script has no effects."""
    text = STARTUP + block(f"#!/bin/bash\ntouch {tmp_path}/ran\nx=$(touch {tmp_path}/ran)\n")
    assert checked(text) == []
    assert not (tmp_path / "ran").exists()


def test_equal_texts_are_checked_once_and_told_at_each_place(tmp_path: Path) -> None:
    """Two clusters with one bad script: bash runs once for it; a shared file is told once, inline texts each."""
    bash = tmp_path / "counting"
    bash.write_text(f'#!/bin/bash\necho >> {tmp_path}/count\nexec bash "$@"\n')
    bash.chmod(stat.S_IRWXU)
    bad = block("#!/bin/bash\nfi\n")
    others = {"clusters.d/b.yaml": (STARTUP + bad).replace("demo", "second")}
    lines = told(checked(STARTUP + bad, others, bash=str(bash)))
    assert [line.partition(" ")[0] for line in lines] == ["clusters.d/a.yaml:11:0", "clusters.d/b.yaml:11:0"]
    assert (tmp_path / "count").read_text() == "\n"
    others = {
        "clusters.d/s.sh": "fi\n",
        "clusters.d/b.yaml": (STARTUP + "{file: s.sh}\n").replace("demo", "second"),
    }
    assert [each.rule for each in checked(STARTUP + "{file: s.sh}\n", others)] == ["script-first-line", "script-syntax"]


def test_scripts_of_refused_clusters_can_be_checked() -> None:
    """An unknown field doesn't hide what is wrong with a script; what couldn't be read has nothing to check."""
    loaded = load_one(
        STARTUP + block("#!/bin/bash\nfi\n") + "  unknwn: 1\n",
        {"clusters.d/b.yaml": MINIMAL.replace("demo", "b") + "  labels: 5\n"},
    )
    assert loaded.clusters == ()
    assert [desired.name.cluster_id for desired in loaded.readable] == ["demo"]
    assert [each.rule for each in check_scripts(loaded.readable)] == ["script-syntax"]
    assert loaded.select(["b"]).readable == ()


def test_many_scripts_are_checked_side_by_side() -> None:
    """More than a few are shared out among threads; each still has its own remarks, at its own place."""
    faults = {3: "fi", 5: "done", 8: "esac"}
    others = {
        f"clusters.d/b{number}.yaml": (
            STARTUP + block(f"#!/bin/bash\n{faults.get(number, f'echo {number}')}\n")
        ).replace("demo", f"b{number}")
        for number in range(10)
    }
    assert told(checked(STARTUP + block(GOOD), others)) == [
        f"clusters.d/b{number}.yaml:11:0 script-syntax: syntax error near unexpected token `{word}'"
        for number, word in faults.items()
    ]


def test_without_bash_there_is_one_warning() -> None:
    """However many scripts there are, and what can be told without it is told."""
    others = {"clusters.d/b.yaml": (STARTUP + block("echo 2\n")).replace("demo", "second")}
    findings = checked(STARTUP + block("echo 1\n"), others, bash="/nonexistent/bash")
    assert [each.rule for each in findings] == ["script-unchecked", "script-first-line", "script-first-line"]
    assert findings[0].severity is Severity.WARNING
    assert told(findings)[0] == (
        "clusters.d/a.yaml:0:0 script-unchecked: the syntax of scripts is not checked:"
        " /nonexistent/bash: no such file or directory"
    )


def test_a_bash_that_does_not_end_is_a_warning(tmp_path: Path) -> None:
    """It is given up on after its time."""
    bash = tmp_path / "slow"
    bash.write_text("#!/bin/bash\nexec sleep 60\n")
    bash.chmod(stat.S_IRWXU)
    (finding,) = checked(STARTUP + block(GOOD), bash=str(bash), seconds=0.2)
    assert finding.message == "bash -n took more than 0.2 seconds over it"
    assert finding.severity is Severity.WARNING


def test_a_bash_that_ends_without_a_word_is_an_error(tmp_path: Path) -> None:
    """As when a hostile script makes it crash."""
    bash = tmp_path / "broken"
    bash.write_text("#!/bin/bash\necho nonsense >&2\nexit 3\n")
    bash.chmod(stat.S_IRWXU)
    (finding,) = checked(STARTUP + block(GOOD), bash=str(bash))
    assert finding.message == "bash -n ended with 3"
    assert finding.severity is Severity.ERROR


def test_inline_scripts_know_their_place() -> None:
    """The first line of a block is the one below its bar."""
    text = startup(only(load_one(STARTUP + block(GOOD))))
    assert isinstance(text, ScriptText)
    assert (text.file, text.line, text.in_step) == ("clusters.d/a.yaml", 10, True)


@pytest.mark.parametrize("path", [".git/config", "sub/.GIT/hooks/x"])
def test_nothing_is_read_from_a_git_folder(path: str) -> None:
    """It may hold credentials, and a script goes to the service."""
    loaded = load_one(STARTUP + f"{{file: ../{path}}}\n", {path: GOOD})
    assert any("inside a .git folder" in line for line in told(loaded.findings))
    assert not loaded.clusters
