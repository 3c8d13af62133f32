#!/bin/sh
# Installs Debian's (or Ubuntu's) Slurm for tests/slurm and `validate --slurm`.
#
# Idempotent: does nothing when every program is there already. Starts nothing: the tests
# run their own single-node cluster in a temporary directory (tests/slurm/harness.py).
set -eu

PROGRAMS="munged slurmctld slurmd slurmrestd scontrol sinfo"
PACKAGES="munge slurmctld slurmd slurmrestd slurm-client"

# The daemons live in sbin, which an ordinary user's PATH may lack.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

missing() {
    for program in $PROGRAMS; do
        command -v "$program" >/dev/null 2>&1 || printf '%s ' "$program"
    done
}

if [ -z "$(missing)" ]; then
    echo "Slurm is already installed: $(slurmctld -V)"
    exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "install-slurm: needs apt-get (Debian or Ubuntu); missing here: $(missing)" >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "install-slurm: must run as root to install $PACKAGES" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update -q
# shellcheck disable=SC2086 # the list is meant to be split into words
apt-get install -y -q --no-install-recommends $PACKAGES

if [ -n "$(missing)" ]; then
    echo "install-slurm: still missing after the installation: $(missing)" >&2
    exit 1
fi
echo "Slurm installed: $(slurmctld -V)"
