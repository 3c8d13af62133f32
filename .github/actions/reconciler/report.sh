#!/bin/bash
# What the command left: its file as an output, and its text in the job summary. Also after a failure or a cancellation.
set -euo pipefail

result="$RUNNER_TEMP/reconciler-$RECONCILER_COMMAND.json"
[ -s "$result" ] || exit 0
echo "result=$result" >>"$GITHUB_OUTPUT"

path=$(head -n 1 <<<"$RECONCILER_PATHS")
exec reconciler github summary --from "$result" --path "$path" --environment "$RECONCILER_ENVIRONMENT" \
  --base "$RECONCILER_BASE"
