#!/bin/bash
# Before each job, on each of its nodes. A prolog that fails drains the node, and the job is queued again.
set -u
free_kib=$(df --output=avail /tmp | tail -n 1)
if [ "$free_kib" -lt 1048576 ]; then
  echo "less than 1 GiB left in /tmp" >&2
  exit 1
fi
