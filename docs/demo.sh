#!/bin/bash
# The main job, from nothing to nothing, against the embedded emulator: what `make demo` runs.
set -euo pipefail

state=$(mktemp -d)
emulator=
finish() {
  [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
  rm -rf "$state"
}
trap finish EXIT

step() { printf '\n\033[1m# %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
# Exit code 2 says "there are differences", which is what is wanted here.
differs() { local code=0; run "$@" || code=$?; [ "$code" -eq 2 ] || { echo "expected exit code 2, got $code"; exit 1; }; }

step "An emulator of the API on loopback, with operations of two seconds"
reconciler emulator --state-dir "$state" --lro-seconds 2 >"$state/ready" &
emulator=$!
until grep -q listening "$state/ready"; do kill -0 "$emulator" && sleep 0.1; done
cat "$state/ready"
RECONCILER_ENDPOINT=$(sed 's/listening on //' "$state/ready")
export RECONCILER_ENDPOINT

step "What the files say, checked offline"
run reconciler validate

step "Plan: nothing is there yet"
differs reconciler plan --detailed-exitcode

step "Apply: create, wait, and look again"
run reconciler apply --auto-approve 2>"$state/progress" || { cat "$state/progress"; exit 1; }
grep -v '^ ' "$state/progress" | tail -n 20

step "Plan again: empty"
run reconciler plan

step "Somebody edits a cluster by hand: another maximum, a label, a script gone"
curl_live() {
  python3 - "$RECONCILER_ENDPOINT" <<'PY'
import json, sys, urllib.request
patch = {"labels": {"managed-by": "reconciler", "debug": "yes"},
         "orchestratorSpec": {"slurmSpec": {"prologBashScripts": []}}}
url = sys.argv[1] + "/_emulator/live/acme-ml/us-central1/a4train"
urllib.request.urlopen(urllib.request.Request(url, json.dumps(patch).encode(), method="POST")).read()
PY
}
curl_live

step "Drift sees it"
differs reconciler drift

step "Plan says how it would be undone, apply does it"
differs reconciler plan --detailed-exitcode
run reconciler apply --auto-approve 2>/dev/null
run reconciler plan --detailed-exitcode

step "Clean up: the unprotected clusters go, the protected one is refused"
run reconciler delete cpudev --auto-approve 2>/dev/null
run reconciler delete flexh100 --auto-approve 2>/dev/null
if reconciler delete a4train --auto-approve 2>/dev/null; then echo "a4train was not protected"; exit 1; fi
run reconciler list

step "Done"
