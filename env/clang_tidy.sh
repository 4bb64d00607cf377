#!/usr/bin/env bash
# clang-tidy (14, with .clang-tidy) over rooms without torch; exit 1 where it finds something.
#   env/clang_tidy.sh [ROOM ...]     default: all of them; needs a configured build/release
# Minutes, not seconds: so it is no test. clang 14 does not read torch's headers under C++20, so the rooms model and engine, and
# files that include theirs, are left to g++'s warnings.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tool=$(command -v clang-tidy-14 || command -v clang-tidy) || {
  printf 'clang_tidy: no clang-tidy here (apt-get install clang-tidy-14)\n' >&2
  exit 2
}
[ -f build/release/compile_commands.json ] || {
  printf 'clang_tidy: build/release/compile_commands.json is missing (nothing is configured). Run env/test.sh first.\n' >&2
  exit 2
}
rooms=("$@")
[ "${#rooms[@]}" -gt 0 ] || mapfile -t rooms < <(find src -mindepth 1 -maxdepth 1 -type d ! -name model ! -name engine -printf '%f\n' | sort)
failed=0
for room in "${rooms[@]}"; do
  mapfile -t files < <(find "src/$room" -name '*.cpp' | sort)
  [ "${#files[@]}" -gt 0 ] || continue
  printf 'clang_tidy: %s, %s files\n' "$room" "${#files[@]}"
  "$tool" -p build/release --quiet "${files[@]}" 2>/dev/null || failed=1
done
exit "$failed"
