#!/usr/bin/env bash
# One reader, or all of them in turn, under libFuzzer: clang-19 (README.md).
#   tests/readers/run.sh [-b BUILD] [-s SECONDS] [-f FINDS] [READER ...]
#     -b  build folder, made where it is missing (build/fuzz)     -s  for each reader (1200)
#     -f  folder of inputs that reached something new and of finds, READER/ and READER/crash-... (BUILD/finds)
# Prints a line per reader: seconds, executions, edges, finds. Exit 1 where something was found.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=build/fuzz seconds=1200 finds=
while getopts b:s:f: option; do
  case $option in
    b) build=$OPTARG ;;
    s) seconds=$OPTARG ;;
    f) finds=$OPTARG ;;
    *) sed -n '2,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ -f "$build/build.ninja" ] || cmake --preset fuzz -B "$build"
cmake --build "$build" --target fuzz_readers
finds=$(realpath -m "${finds:-$build/finds}")
readers=("$@")
[ "${#readers[@]}" -gt 0 ] || mapfile -t readers < <(ls tests/readers/corpus)
failed=0
for reader in "${readers[@]}"; do
  mkdir -p "$finds/$reader"
  log=$finds/$reader.log
  # In memory: the files that some readers want by name. Longer than a reader's child process may take.
  STEREOSWEEP_FUZZ=$reader TMPDIR=/dev/shm "$build/tests/fuzz_readers" -max_total_time="$seconds" -timeout=100 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$finds/$reader/" "$finds/$reader" "tests/readers/corpus/$reader" \
    >"$log" 2>&1 || failed=1
  edges=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1)
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  found=$(find "$finds/$reader" -name 'crash-*' -o -name 'oom-*' -o -name 'timeout-*' | wc -l)
  printf '%s: %s s, %s executions, %s edges, %s finds\n' "$reader" "$seconds" "${count:-no}" "${edges#cov: }" "$found"
done
exit "$failed"
