#!/bin/bash
# Before each job: a node with a missing or failed GPU must not take it. A failing prolog drains the node.
set -u
if ! command -v nvidia-smi >/dev/null; then
  exit 0 # a CPU node
fi
expected=8
found=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | wc -l)
if [ "$found" -ne "$expected" ]; then
  echo "found $found GPUs, expected $expected" >&2
  exit 1
fi
