#!/usr/bin/env bash
# What every batch script here does after its header: check the job, run it on all tasks, come back if it was stopped.
#   step.sh JOB.yaml [key=value ...] [--output DIR] ...
# STEREOSWEEP: the program (default: build/release/bin/stereosweep of the folder that sbatch was called in)
# STEREOSWEEP_MAX_RESTARTS: how often the job may queue itself again (default 50; 0: never)
set -euo pipefail

if [ "$#" -lt 1 ] || [ ! -r "$1" ]; then
  echo "usage: sbatch slurm/<script>.sbatch JOB.yaml [key=value ...] [--output DIR]" >&2
  exit 2
fi
program=${STEREOSWEEP:-${SLURM_SUBMIT_DIR:-.}/build/release/bin/stereosweep}
restarts=${SLURM_RESTART_COUNT:-0}

echo "== job ${SLURM_JOB_ID:-none}, start $((restarts + 1)), ${SLURM_NTASKS:-1} ranks on ${SLURM_JOB_NODELIST:-$(hostname)}, $(date -u +%FT%TZ)"
"$program" --version
if command -v nvidia-smi >/dev/null; then
  nvidia-smi -L
fi
check=("$1")
for argument in "${@:2}"; do
  case $argument in
    -*) break ;;
    *=*) check+=("$argument") ;;
  esac
done
"$program" validate "${check[@]}"

# One rank per GPU; a rank that dies ends all (--kill-on-bad-exit); Slurm 22.05 no longer hands --cpus-per-task to srun.
# --mpi=pmix: with pmi2 or none a dead rank would hang the others.
status=0
srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
  "$program" run "$@" || status=$?

# 75: stopped cleanly (time limit, preemption), everything finished is in the journal: the same command goes on.
if [ "$status" -eq 75 ] && [ "$restarts" -lt "${STEREOSWEEP_MAX_RESTARTS:-50}" ]; then
  echo "== stopped cleanly, queued again: $(date -u +%FT%TZ)"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
