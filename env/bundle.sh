#!/usr/bin/env bash
# A folder with the programs and all they need but torch: for a machine that has the torch wheel and neither compiler,
# MPI nor HDF5; and the same as FOLDER.tar.xz, to carry.
#   env/bundle.sh [FOLDER]             default build/bundle; needs a build with CUDA (env/test.sh makes one) and
#                                      ninja -C build/release bench_association bench_continuation bench_embedding bench_generation
#   env/bundle.sh --program FOLDER     the program and mpirun alone, with a module file, for a folder that nodes share
# There:  FOLDER/bin/stereosweep --version     FOLDER/bin/mpirun -np 2 FOLDER/bin/stereosweep run JOB     FOLDER/gpu-tests
# The scripts in bin, tests and bench look for torch in FOLDER/python, else in python3, or in the Python that
# STEREOSWEEP_PYTHON names. The C library must be 2.36 or newer. tests/gpu/README.md, env/packages/README.md: how it is used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

parts=all
if [ "${1:-}" = --program ]; then
  parts=program
  shift
  [ "$#" -eq 1 ] || {
    echo "usage: bash env/bundle.sh --program FOLDER" >&2
    exit 2
  }
fi
target=${1:-build/bundle}
build=build/release
[ -x "$build/bin/stereosweep" ] || {
  printf 'bundle: %s is missing (nothing was built). Run env/test.sh first.\n' "$build/bin/stereosweep" >&2
  exit 2
}
rm -rf "${target:?}"/{bin,tests,bench,programs,lib,openmpi,pmix,modulefiles,environment,gpu-tests} "$target.tar.xz"
mkdir -p "$target"/{bin,tests,bench,programs,lib,openmpi/lib,openmpi/share,pmix/lib,modulefiles}

# What the loader would take from the system. Torch's part, the C and the C++ library stay out: torch needs those, too.
needed_by() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(torch|nvidia)/|/(libc|libm|libdl|librt|libpthread|libresolv|libutil|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so' || true
}
copy_needed() {
  needed_by "$@" | while read -r library; do cp -Lu "$library" "$target/lib/"; done
}
# A program, and the script that starts it: libraries are named for our programs alone, not for a Python beside them.
add_program() {
  strip -o "$target/programs/$(basename "$2")" "$2"
  copy_needed "$target/programs/$(basename "$2")"
  cmake -DPROGRAM="$target/programs/$(basename "$2")" -P env/cmake/RemoveRunPath.cmake
  # The line is the script's own, to be expanded there.
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\nset -euo pipefail\nsource "$(dirname "${BASH_SOURCE[0]}")/../environment"\nexec "$bundle/programs/%s"%s "$@"\n' \
    "$(basename "$2")" "${3:-}" >"$target/$1"
  chmod +x "$target/$1"
}

add_program bin/stereosweep "$build/bin/stereosweep"
add_program bin/mpirun "$(readlink -f "$(command -v mpirun)")" ' --oversubscribe --bind-to none'
cp env/packages/modulefile "$target/modulefiles/stereosweep"
gpu_programs() {
  [ "$parts" = all ] || return 0
  ctest --test-dir "$build" -L gpu --show-only=json-v1 |
    python3 -c 'import json, sys; print(*sorted({t["command"][0] for t in json.load(sys.stdin)["tests"] if "command" in t}), sep="\n")' |
    grep '/test_' || true
}
while read -r program; do
  add_program "tests/$(basename "$program")" "$program"
done < <(gpu_programs)
for program in "$build"/tests/dump_{causal,model} "$build"/bench/bench_{association,continuation,embedding,generation}; do
  [ "$parts" = program ] || [ ! -x "$program" ] || add_program "$(basename "$(dirname "$program")")/$(basename "$program")" "$program"
done

# Loaded by CUDA where a script asks for it.
[ "$parts" = program ] || {
  strip -o "$target/lib/libkernel_times.so" "$build/tests/libkernel_times.so"
  cmake -DPROGRAM="$target/lib/libkernel_times.so" -P env/cmake/RemoveRunPath.cmake
}

# Open MPI and PMIx load these when they start; those for networks that one machine does not have stay out.
components=$(dirname "$(find /usr/lib -name mca_btl_vader.so -print -quit)")
find "$components" -name '*.so' | grep -vE 'ucx|ofi|openib|psm|portals|usnic|cuda|sshmem|spml|memheap|scoll|atomic_|monitoring|ime|lustre|pvfs' |
  while read -r component; do
    cp -L "$component" "$target/openmpi/lib/"
    copy_needed "$component"
  done
cp -r "$(dirname "$(find -L /usr/share -name help-mpi-runtime.txt -print -quit)")/." "$target/openmpi/share/"
pmix=$(dirname "$(find /usr/lib -name 'pmix_mca_*.so' -print -quit)")
cp -L "$pmix"/*.so "$target/pmix/lib/"
copy_needed "$pmix"/*.so

cat >"$target/environment" <<'END'
# Sourced by the scripts: where torch, the bundled libraries and Open MPI's parts lie.
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [ -z "${STEREOSWEEP_TORCH:-}" ]; then # the folder that torch lies in
  python=python3
  [ ! -x "$bundle/python/bin/python" ] || python=$bundle/python/bin/python
  python=${STEREOSWEEP_PYTHON:-$python}
  STEREOSWEEP_TORCH=$("$python" -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("torch").origin).parents[1])') || {
    printf 'bundle: %s has no torch (the bundle does not hold it)\n' "$python" >&2
    exit 2
  }
  export STEREOSWEEP_TORCH
fi
libraries=$STEREOSWEEP_TORCH/torch/lib
for folder in "$STEREOSWEEP_TORCH"/nvidia/*/lib; do libraries=$libraries:$folder; done
export LD_LIBRARY_PATH=$libraries:$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_MCA_mca_base_component_path=$bundle/openmpi/lib PMIX_MCA_mca_base_component_path=$bundle/pmix/lib
export OPAL_PREFIX=$bundle/openmpi OPAL_PKGDATADIR=$bundle/openmpi/share
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
END
cat >"$target/gpu-tests" <<'END'
#!/usr/bin/env bash
# All bundled tests with these arguments: gpu-tests --gtest_filter='*OnGpu*'
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
failed=0
for test in "$bundle"/tests/test_*; do "$test" "$@" || failed=1; done
exit "$failed"
END
chmod +x "$target/gpu-tests"
if [ "$parts" = program ]; then
  rm -r "${target:?}"/{tests,bench,gpu-tests}
  printf 'bundle: %s, %s\n' "$target" "$(du -sh "$target" | cut -f1)"
  exit 0
fi
tar -C "$(dirname "$target")" -cf - "$(basename "$target")" | xz -T0 -6 >"$target.tar.xz"
printf 'bundle: %s, %s; %s, %s\n' "$target" "$(du -sh "$target" | cut -f1)" "$target.tar.xz" "$(du -sh "$target.tar.xz" | cut -f1)"
