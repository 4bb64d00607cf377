#!/usr/bin/env bash
# Set-up and build where needed, then every test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(bash env/setup.sh cuda)
cmake -S . -B build/release -G Ninja -DSTEREOSWEEP_PYTHON="$python" -DSTEREOSWEEP_USE_CUDA=ON
cmake --build build/release
ctest --test-dir build/release --output-on-failure -j 2
