#!/bin/bash
# One command of reconciler, as the action's inputs say. What differs is no failure: it is the output "changes".
set -euo pipefail

result="$RUNNER_TEMP/reconciler-$RECONCILER_COMMAND.json"
rm -f "$result"

mapfile -t paths < <(sed '/^$/d' <<<"$RECONCILER_PATHS")
mapfile -t arguments < <(sed '/^$/d' <<<"$RECONCILER_ARGUMENTS")

differs() { # run a command whose exit code 2 says that there are differences
  local code=0 changes=true
  "$@" || code=$?
  [ "$code" -ne 0 ] || changes=false
  [ ! -s "$result" ] || echo "changes=$changes" >>"$GITHUB_OUTPUT"
  [ "$code" -eq 2 ] || return "$code"
}

case "$RECONCILER_COMMAND" in
  validate)
    exec reconciler validate "${paths[@]}" --format github "${arguments[@]}"
    ;;
  plan)
    base=()
    if [ -n "$RECONCILER_BASE" ]; then
      commit=$(git rev-parse --verify --end-of-options "$RECONCILER_BASE^{commit}")
      echo "base=$commit" >>"$GITHUB_OUTPUT"
      base=(--base "$commit")
    fi
    differs reconciler plan "${paths[@]}" --detailed-exitcode --out "$result" "${base[@]}" "${arguments[@]}"
    ;;
  drift)
    # The log gets the text, the file the JSON, of one and the same look.
    differs reconciler drift "${paths[@]}" --format json "${arguments[@]}" >"$result"
    ;;
  apply)
    exec reconciler apply "${paths[@]}" --auto-approve --format json "${arguments[@]}" >"$result"
    ;;
  *)
    echo "::error title=reconciler::unknown command; say validate, plan, apply or drift"
    exit 64
    ;;
esac
