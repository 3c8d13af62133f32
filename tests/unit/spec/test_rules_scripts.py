"""Rules on scripts: secrets, and what a prolog or epilog had better not do."""

from __future__ import annotations

import pytest

from reconciler.spec.rules import check
from tests.unit.spec import samples
from tests.unit.spec.rule_cases import SLURM, Broken, Fine, assert_broken, assert_fine, label, problems

PROLOG, EPILOG = f"{SLURM}.prolog_bash_scripts.0", f"{SLURM}.epilog_bash_scripts"
STARTUP = "spec.node_pools.1.startup_script"
HEAD = "#!/bin/bash\n"


def in_epilog(line: str) -> dict[str, list[str]]:
    return {EPILOG: [HEAD, HEAD + "echo\n" + line]}


BROKEN = [
    Broken(
        "a password in a startup script",
        "secret-in-script",
        {STARTUP: HEAD + "\nmount -o password=hunter22 /x\n"},
        STARTUP,
        ("line 3 of the script", "a password", "Secret Manager"),
    ),
    Broken(
        "a token in a prolog",
        "secret-in-script",
        {PROLOG: HEAD + "API_KEY=abcdef123456\n"},
        PROLOG,
        ("line 2", "a token or key"),
    ),
    *(
        Broken(f"the path {path}", "secret-in-script", {STARTUP: f"{HEAD}cp {path} /x\n"}, STARTUP, ("path", "bucket"))
        for path in ("/root/.ssh/id_rsa", "/etc/munge/munge.key", "server.pem", "service-account.json")
    ),
    *(
        Broken(
            f"pain 109: an epilog with {line}",
            "slurm-command-in-script",
            in_epilog(line),
            f"{EPILOG}.1",
            ("line 3", f'"{command}"'),
        )
        for line, command in (
            ("squeue -h -u $SLURM_JOB_USER", "squeue"),
            ("x=$(scontrol show job)", "scontrol"),
            ("  /usr/bin/sacctmgr -n list", "sacctmgr"),
            ("true && scancel 1", "scancel"),
        )
    ),
    *(
        Broken(
            f"an epilog with {line}",
            "kill-by-user",
            in_epilog(line),
            f"{EPILOG}.1",
            ("line 3", f'"{words}"'),
        )
        for line, words in (
            ("pkill -KILL -u $SLURM_JOB_USER", "pkill -KILL -u"),
            ("killall --user bob", "killall --user"),
            ("sudo pkill --euid 7", "pkill --euid"),
            ("loginctl terminate-user $USER", "loginctl terminate-user"),
        )
    ),
]

FINE = [
    Fine("a startup script may call Slurm", {STARTUP: HEAD + "scontrol reconfigure\n"}),
    Fine("a comment may name a command", {PROLOG: HEAD + "  # squeue, pkill -u x\n"}),
    Fine("a word that holds a command's name", {PROLOG: HEAD + "my-squeue; squeue.log; sinfo_x; srun/x\n"}),
    Fine("a process is killed by its name", {PROLOG: HEAD + "pkill nvidia-smi; echo -u\n"}),
    Fine("an empty script", {PROLOG: "", STARTUP: ""}),
]


@pytest.mark.parametrize("case", BROKEN, ids=label)
def test_broken(case: Broken) -> None:
    """The rule speaks, alone, at the place, with the value and a way out."""
    assert_broken(case)


@pytest.mark.parametrize("case", FINE, ids=label)
def test_fine(case: Fine) -> None:
    """No rule speaks."""
    assert_fine(case)


def test_a_finding_never_shows_the_secret() -> None:
    """Findings go into logs and pull requests."""
    found = problems({STARTUP: "password=hunter22"})
    assert found
    assert "hunter22" not in str(found)


def told(text: str, script: str = "") -> list[str]:
    loaded = samples.load_one(text, {"scripts/s.sh": script}, checks=(check,))
    return [line for line in samples.told(loaded.findings) if "unused-node-pool" not in line]


IN_STARTUP = samples.MINIMAL + "      startup_script: "
IN_PROLOG = samples.MINIMAL + samples.SLURM + "      prolog_bash_scripts: "


def test_a_finding_points_into_the_script_file() -> None:
    """Line and column are the script's own, as they are for its syntax: that is what people will edit."""
    script = HEAD + "# caf\u00e9\u2028\n  export PASSWORD=hunter22; squeue\npkill -u bob\n"
    assert told(IN_PROLOG + "[{file: ../scripts/s.sh}]\n", script) == [
        "scripts/s.sh:3:19 secret-in-script: this line holds what looks like a password",
        'scripts/s.sh:3:29 slurm-command-in-script: this line calls "squeue"',
        'scripts/s.sh:4:1 kill-by-user: this line kills by user: "pkill -u"',
    ]


def test_scripts_that_clusters_share_are_told_of_once() -> None:
    """The place is the same whichever file names the script."""
    text = IN_STARTUP + "{file: ../scripts/s.sh}\n"
    both = text + "---\n" + text.replace("demo", "other")
    assert len(told(both, HEAD + "PASSWORD=hunter22\n")) == 1


def test_a_finding_in_a_block_points_to_the_line_of_the_yaml_file() -> None:
    """The second line of a script that begins below line 9."""
    assert told(IN_STARTUP + "|\n        #!/bin/bash\n        PASSWORD=hunter22\n") == [
        "clusters.d/a.yaml:11:0 secret-in-script: this line holds what looks like a password"
    ]


def test_in_other_texts_the_line_is_told_in_words() -> None:
    """A text in quotes has other lines than the file."""
    assert told(IN_STARTUP + '"#!/bin/bash\\nPASSWORD=hunter22\\n"\n') == [
        "clusters.d/a.yaml:9:7 secret-in-script: line 2 of the script holds what looks like a password"
    ]
