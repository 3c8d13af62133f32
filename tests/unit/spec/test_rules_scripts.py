"""Rules on scripts: secrets, and what a prolog or epilog had better not do."""

from __future__ import annotations

import pytest

from reconciler.spec.scripts import FileText
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
    Broken(
        "a script file is named by its own name",
        "secret-in-script",
        {STARTUP: FileText(HEAD + "passwd=abcdef123456\n", "scripts/start.sh", 1)},
        STARTUP,
        ("line 2 of scripts/start.sh",),
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
