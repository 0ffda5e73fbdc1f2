#!/usr/bin/env bash
# A job that is run three times, is changed in one thing, and is run again: what is normal for it is
# known from the first three, so that the fourth is told to be slower, and what had been changed.
#
#   deploy/demo_job/regression.sh [--hold]     from the repository's root, built (deploy/demo does)
set -euo pipefail
history=build/release/demo-runs.db
rm -f "$history" "$history"-wal "$history"-shm "$history".lock
export OMP_NUM_THREADS=1 PYTHONUNBUFFERED=1

run() {  # TITLE, options of fathom run up to --, options of the job
  printf '\n== %s\n' "$1"; shift
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  build/release/fathom run --job demo-regression --history "$history" "${options[@]}" -- \
    .venv/bin/torchrun --nproc-per-node "${RANKS:-4}" deploy/demo_job/train.py \
    --iterations 200 --seconds 0.1 "${@:2}"
}

for number in 1 2 3; do run "run $number of the job as it is" --; done
run "the same job, and every rank writes metrics in each iteration" \
  --report build/release/demo-report.json "$@" -- --metrics-every 1
printf '\nThe history of the job: %s\n' "$history"
