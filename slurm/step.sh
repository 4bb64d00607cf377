#!/usr/bin/env bash
# What every batch script here does after its header: check the job, run it on all tasks, come back if it was stopped.
#   step.sh JOB.yaml [key=value ...] [--output DIR] ...      in DIR %A, %a and %j are filled in as sbatch does
# STEREOSWEEP: the program (default: build/release/bin/stereosweep of the folder that sbatch was called in)
# STEREOSWEEP_SITE: modules, container and paths of this cluster: env/machines/NAME.sh, or a file (default: the cluster's
# own name in Slurm, where env/machines has a file of that name)
# STEREOSWEEP_MAX_RESTARTS: how often the job may queue itself again (default 50; 0: never)
# STEREOSWEEP_SIGNAL_LEAD_S: how long before the time limit the script's --signal comes (default 300)
set -euo pipefail

most_losses=3   # lost ranks and nodes after which the job is still queued again
most_launches=3 # of the ranks in one start, where Slurm cannot launch them
most_idle=2     # starts in a row that were stopped before they finished a block: the last is not queued again

refuse() {
  echo "stereosweep: $*" >&2
  exit 2
}

if [ "$#" -lt 1 ] || [ ! -r "$1" ]; then
  refuse "usage: sbatch slurm/<script>.sbatch JOB.yaml [key=value ...] [--output DIR]"
fi
container=()
srun_options=()
machines=$(cd "$(dirname "${BASH_SOURCE[0]}")/../env/machines" && pwd)
site=${STEREOSWEEP_SITE:-}
if [ -z "$site" ] && [ -r "$machines/${SLURM_CLUSTER_NAME:-}.sh" ]; then site=$SLURM_CLUSTER_NAME; fi
if [ -n "$site" ]; then
  case $site in */*) ;; *) site=$machines/$site.sh ;; esac
  [ -r "$site" ] || refuse "STEREOSWEEP_SITE: '$site' cannot be read (copy $machines/example.sh)"
  # shellcheck source=/dev/null
  source "$site"
fi
program=${STEREOSWEEP:-${SLURM_SUBMIT_DIR:-.}/build/release/bin/stereosweep}
restarts=${SLURM_RESTART_COUNT:-0}
job=${SLURM_JOB_ID:-none}
element=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}} # of an array; the number alone may be the whole array's
echo "== job $job, start $((restarts + 1)), ${SLURM_NTASKS:-1} ranks on ${SLURM_JOB_NODELIST:-$(hostname)}, $(date -u +%FT%TZ)"

# --output results/x_%a
fill_in() {
  local path=$1
  case $path in
    *%a* | *%A*)
      if [ -z "${SLURM_ARRAY_TASK_ID:-}" ]; then
        refuse "--output $path: this is no job array (sbatch --array=...)"
      fi
      path=${path//%a/$SLURM_ARRAY_TASK_ID}
      path=${path//%A/$SLURM_ARRAY_JOB_ID}
      ;;
  esac
  filled=${path//%j/$job}
}
arguments=("$1")
check=("$1")
expected=overrides
for argument in "${@:2}"; do
  case $expected:$argument in
    output:* | *:--output=*)
      fill_in "$argument"
      argument=$filled
      expected=options
      ;;
    *:--output) expected=output ;;
    overrides:-*) expected=options ;;
    overrides:*=*) check+=("$argument") ;;
  esac
  arguments+=("$argument")
done

# "1-02:03:04" or "10:00" -> seconds
seconds_of() {
  local days=0 clock=$1 sum=0 part
  case $clock in *-*) days=${clock%%-*} clock=${clock#*-} ;; esac
  for part in ${clock//:/ }; do sum=$((sum * 60 + 10#$part)); done
  echo $((10#$days * 86400 + sum))
}
# What Slurm says of this job: "" where it does not answer.
fact() { scontrol show job --oneliner "${element:-$job}" 2>/dev/null | sed -n "s/.* $1=\([^ ]*\).*/\1/p" || true; }
lead=${STEREOSWEEP_SIGNAL_LEAD_S:-300}
limit=$(fact TimeLimit)
case $limit in
  *[0-9]:[0-9]*)
    if [ "$(seconds_of "$limit")" -le "$lead" ]; then
      refuse "the time limit ($limit) is not longer than the $lead s before it at which the run is stopped: sbatch --time=..."
    fi
    ;;
esac

# No block is begun that would not end before the signal, which may come 60 s early.
end=$(date -d "$(fact EndTime)" +%s 2>/dev/null || echo 0)
rest=$((end - $(date +%s) - lead - 60))
case " ${arguments[*]}" in
  *" --time-limit"*) ;;
  *) if [ "$rest" -gt 0 ]; then arguments+=(--time-limit "$((rest / 60)):$((rest % 60))"); fi ;;
esac

"${container[@]}" "$program" --version
if command -v nvidia-smi >/dev/null; then
  nvidia-smi -L
fi
"${container[@]}" "$program" validate "${check[@]}"

# What became of this job's starts, a line each: start, in DIR (written by the program), then stopped, idle or lost.
starts=$PWD/stereosweep-$job.starts
export STEREOSWEEP_STARTS=$starts

# $2 of the status.json in the folder $1
field() {
  local value
  value=$(sed -n "s/^ *\"$2\": \(.*[^,]\),\{0,1\}\$/\1/p" "$1/status.json" 2>/dev/null | head -1)
  value=${value#\"}
  echo "${value%\"}"
}

# The run directory that the last start has opened: "" where there is none yet.
directory_of_start() { awk '/^start/ { found = "" } /^in / { found = substr($0, 4) } END { print found }' "$starts"; }

# How the last start ended: sets `end` (done; stopped; idle: stopped, and no block was finished; lost; failed) and `cause`.
# $1: the exit status of srun.
read_end() {
  local directory
  directory=$(directory_of_start)
  end=unknown
  cause="srun ended with $1"
  if [ -n "$directory" ]; then
    end=$(field "$directory" state)
    cause=$(field "$directory" cause)
  fi
  case $1:$end:$cause in
    0:done:*) return ;;
    0:*) # srun also says so after it has failed to launch the ranks
      cause="srun reported success, but launched no rank"
      [ -z "$directory" ] || cause="srun reported success, but the run's state is '$end'"
      end=lost
      ;;
    75:* | *:stopped:* | *:stopping:signal*) end=stopped ;;
    *:lost:* | *:done:?*) end=lost ;;
    13?:done: | 14?:done:) end=lost ;; # killed by a signal when all was written: the next start finds it complete
    *:failed:* | *:done: | [0-9]:unknown:* | 12?:unknown:*) end=failed ;; # done: another job of the sweep has failed
    *)
      end=lost
      cause="rank 0 or its node ended without a word${cause:+ ($cause)}"
      ;;
  esac
  cause=${cause:-srun ended with $1}
  if [ "$end" = stopped ] && { [ -z "$directory" ] || [ "$(field "$directory" "done")" -le "$(begun_with "$directory")" ]; }; then
    end=idle
  fi
}
begun_with() { echo $(($(field "$1" resumed) + $(field "$1" reused))); }

finish() { # EXIT-STATUS WHY-NOT-AGAIN
  echo "== not queued again: $2"
  rm -f "$starts"
  exit "$1"
}

# Whoever was killed with its node could not write its last line.
if [ "$restarts" -gt 0 ] && tail -1 "$starts" 2>/dev/null | grep -q '^start\|^in '; then
  read_end 137
  echo "== the start before was $end: $cause"
  echo "$end" >>"$starts"
fi
losses() { grep -c '^lost' "$starts" || true; }
echo "start $((restarts + 1))" >>"$starts"
if [ "$(losses)" -gt "$most_losses" ]; then
  finish 1 "ranks or nodes have been lost $(losses) times; $most_losses are borne"
fi

# One rank per GPU; a rank that dies ends all (--kill-on-bad-exit); Slurm 22.05 no longer hands --cpus-per-task to srun.
# --mpi=pmix: with pmi2 or none a dead rank would hang the others. --wait=0: the others end before rank 0, which writes
# the result, and a site may have set a limit to that. TERM ends the ranks, and then this script goes on.
# Slurm 22.05's PMIx waits for all ranks in fences of kind `ring` alone. With `mixed`, its default, a rank leaves MPI_Init
# while another is still in there, which its messages then kill (a call to address 0).
export SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-ring}
asked_to_end=no
trap 'asked_to_end=yes' TERM
# A requeued job numbers its steps from 0 again. Where the same step of the start before is still ending on a node, Slurm
# launches no rank ("launch failed"); the next step has another number.
for launch in $(seq "$most_launches"); do
  status=0
  srun --mpi=pmix --kill-on-bad-exit=1 --wait=0 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
    "${srun_options[@]}" "${container[@]}" "$program" run "${arguments[@]}" || status=$?
  state=$(fact JobState)
  case $status:$(directory_of_start):$asked_to_end:${state:-RUNNING} in
    0::no:RUNNING | 1[2-4]?::no:RUNNING) ;;
    *) break ;;
  esac
  echo "== Slurm launched no rank (launch $launch of $most_launches)"
  [ "$launch" -eq "$most_launches" ] || sleep "${STEREOSWEEP_LAUNCH_PAUSE_S:-5}"
done
[ "$status" -ne 0 ] || read_end 0
if [ "$status:${end:-}" = 0:done ]; then
  rm -f "$starts"
  echo "== done: $(date -u +%FT%TZ)"
  exit 0
fi

now=$(fact Restarts)
if [ "${now:-$restarts}" -ne "$restarts" ]; then
  echo "== Slurm has queued the job again itself (a requeue, a preemption, or this node was cut off): start $((restarts + 1)) is over"
  exit "$status"
fi
# 75 or status.json says how it ended: srun reports 137 for ranks that were killed with another one.
read_end "$status"
echo "$end" >>"$starts"
echo "== ${end/idle/stopped}: $cause"
case $end in
  stopped | idle) status=75 ;;
  lost) status=1 ;;
  *) finish $((status == 2 ? 2 : 1)) "an error comes again; correct it and submit the job again" ;;
esac
if [ "$(grep '^stopped\|^idle\|^lost' "$starts" | tail -"$most_idle" | grep -c '^idle')" -ge "$most_idle" ]; then
  finish "$status" "$most_idle starts in a row have finished no block: ask for more time, or make blocks smaller (execution.contexts_per_block)"
elif [ "$(losses)" -gt "$most_losses" ]; then
  finish "$status" "ranks or nodes have been lost $(losses) times; $most_losses are borne"
elif [ "$restarts" -ge "${STEREOSWEEP_MAX_RESTARTS:-50}" ]; then
  finish "$status" "$restarts restarts (STEREOSWEEP_MAX_RESTARTS)"
fi
# Cancelled or preempted: Slurm has decided already, and a requeue would undo an scancel.
state=$(fact JobState)
if [ "${state:-RUNNING}" != RUNNING ]; then
  echo "== not queued again by this script: Slurm is ending the job itself ($state)"
  exit "$status"
fi
trap '' TERM # which comes with the requeue
if scontrol requeue "${element:-$job}"; then
  echo "== queued again: $(date -u +%FT%TZ)"
else
  finish "$status" "it could not be queued again (above); what is finished is kept: submit it again with the same command"
fi
exit "$status"
