#!/usr/bin/env bash
# From a fresh machine to four scored models: set-up, build, the bundled models, their jobs on two ranks, pictures.
#   env/quickstart.sh        the second call finds everything done, and only prints the tables again
# Needs git, python3 and, to install packages, root. Results go to results/NAME of each job.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

began=$SECONDS
say() { printf '\n== [%3d s] %s\n' "$((SECONDS - began))" "$*"; }

say "set-up"
python=$(bash env/setup.sh auto)
environment=$(dirname "$(dirname "$python")")

cuda=OFF
[ ! -e "$environment/.ready-cuda" ] || cuda=ON
say "build into build/release (CUDA $cuda; the first time takes minutes)"
mkdir -p build/release
cmake -S . -B build/release -G Ninja -DSTEREOSWEEP_PYTHON="$python" -DSTEREOSWEEP_USE_CUDA="$cuda" \
  >build/release/configure.log 2>&1 || {
  cat build/release/configure.log
  exit 1
}
cmake --build build/release --target stereosweep
program=build/release/bin/stereosweep

say "model: the bundled adapter merged into its base encoder"
"$python" tests/models/real/merge.py

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers often forbid it, with a warning per rank
command -v ssh >/dev/null || export OMPI_MCA_plm=isolated # one machine: no remote shell is needed
sweep() {
  local name=$1 job
  shift
  job=$(echo jobs/[0-9]*_"$name".yaml)
  say "sweep $job on two ranks"
  mpirun --oversubscribe --bind-to none -np 2 "$program" run "$job" --output "results/$name" "$@"
}
sweep planted
sweep real
sweep winoidentity
# Four of the twenty wordings, one sampled answer each: enough to see that the planted ratings come back.
sweep ratings 'axes.rating_questions={file: scm_questions, only: [regarded, image, street, folks]}' sampling.runs=1

# The long tables (by group, by template) stay in the file; the screen gets the first ones.
for name in planted real; do
  "$program" stats "results/$name" --top 5 >"results/$name/stats.txt"
done
say "planted model: does the sweep find what was planted? (tau-b between planted and measured; 1 is perfect)"
sed '/^Kendall/,$d' results/planted/stats.txt
say "real model: the strongest associations of each measure"
sed '/^Kendall/,$d' results/real/stats.txt

recovered=$(awk '/^ilps_first - prior_word/ {sub(/[*]/, "", $4); print $4; exit}' results/planted/stats.txt)
awk -v tau="${recovered:-0}" 'BEGIN {exit !(tau >= 0.9)}' || {
  printf 'quickstart: the planted associations were not recovered (tau-b %s, at least 0.9 expected)\n' "${recovered:-missing}" >&2
  exit 1
}

say "planted causal model: do coreference and ratings find what was planted? (1 is perfect)"
"$program" stats results/winoidentity >results/winoidentity/stats.txt
"$program" stats results/ratings >results/ratings/stats.txt
"$python" tests/models/planted_causal/recover.py results/winoidentity/coreference.h5 results/ratings/rating.h5 || {
  printf 'quickstart: the planted preferences were not recovered (a tau-b under 0.9)\n' >&2
  exit 1
}

# Debian's package; elsewhere put the same files at /usr/share/wordnet.
if [ -d /usr/share/wordnet ]; then
  say "embedding tests: the real encoder on the sentences of WordNet"
  "$python" tests/models/real/contexts_inputs.py
  sweep ceat
  "$program" stats results/ceat >results/ceat/stats.txt
  cat results/ceat/stats.txt
  say "are flowers and instruments pleasant? (combined effect, p of relabelling the words)"
  "$python" tests/models/real/check_effects.py results/ceat/contexts.stats.h5
  PYTHONPATH=analysis "$python" -m stereosweep_analysis figures results/ceat
else
  say "no embedding tests: WordNet (Debian's wordnet-base) is not at /usr/share/wordnet"
fi

say "pictures"
PYTHONPATH=analysis "$python" -m stereosweep_analysis figures results/planted --planted
PYTHONPATH=analysis "$python" -m stereosweep_analysis figures results/real
say "done: planted associations recovered with tau-b $recovered; tables in results/*/stats.txt, numbers in results/*/*.h5"
