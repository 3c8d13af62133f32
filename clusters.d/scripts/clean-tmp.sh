#!/bin/bash
# After each job: leave nothing of it behind on the node's local disk.
set -u
rm -rf "/tmp/job-${SLURM_JOB_ID:?}"
