#!/usr/bin/env bash
# Set-up and build where needed, then every test: ctest (unit, MPI, lint), then pytest. --quick: the quick unit tests alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "$*" != "" ] && [ "$*" != "--quick" ]; then
  echo "usage: bash env/test.sh [--quick]" >&2
  exit 2
fi
began=$SECONDS
say() { printf '\n== [%3d s] %s\n' "$((SECONDS - began))" "$*"; }

# the compiler cache takes names below this folder as relative: a second clone finds what the first one compiled
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
say "set-up"
python=$(bash env/setup.sh cuda tests)
say "build"
cmake -S . -B build/release -G Ninja -DSTEREOSWEEP_PYTHON="$python" -DSTEREOSWEEP_USE_CUDA=ON -DSTEREOSWEEP_BUILD_TESTS=ON
cmake --build build/release

if [ "${1:-}" = "--quick" ]; then
  say "ctest -L quick"
  exec ctest --test-dir build/release --output-on-failure -j 2 -L quick
fi

failed=0
log=build/release/tests.log
say "ctest"
ctest --test-dir build/release --output-on-failure -j 2 2>&1 | tee "$log" || failed=1
ctest_line=$(grep -E 'tests passed|tests failed' "$log" | tail -1 || true)

say "pytest"
pytest_line='pytest: nothing to run'
places=()
for place in tests/integration tests/slurm tests/models tests/published tests/tokenizer analysis/tests; do
  if find "$place" \( -name 'test_*.py' -o -name '*_test.py' \) 2>/dev/null | grep -q .; then
    places+=("$place")
  fi
done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export STEREOSWEEP_PROGRAM="$PWD/build/release/bin/stereosweep"
if ((${#places[@]})); then
  # three processes, for many tests wait; tests/conftest.py says which tests stay together
  PYTHONPATH="$PWD/analysis${PYTHONPATH:+:$PYTHONPATH}" "$python" -m pytest -q -rs --durations=25 --rootdir . -n 3 --dist loadscope \
    --no-loadscope-reorder "${places[@]}" 2>&1 | tee "$log" || failed=1
  pytest_line=$(grep -E '[0-9]+ (passed|failed|error|skipped)' "$log" | tail -1)
fi

say "ctest:  ${ctest_line:-no summary}"
printf '   pytest: %s\n   time:   %d s\n' "${pytest_line}" "$((SECONDS - began))"
exit "$failed"
