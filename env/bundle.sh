#!/usr/bin/env bash
# A folder with the program and all it needs but torch: for a machine that has the torch wheel and neither compiler, MPI nor HDF5.
#   env/bundle.sh [FOLDER]     default build/bundle; needs a build with CUDA (env/test.sh makes one)
# There:  FOLDER/stereosweep --version      FOLDER/mpirun -np 2 FOLDER/stereosweep run JOB      FOLDER/gpu-tests
# Both scripts look for torch in python3, or in the Python that STEREOSWEEP_PYTHON names. The C library must be 2.36 or newer.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=${1:-build/bundle}
program=build/release/bin/stereosweep
[ -x "$program" ] || {
  printf 'bundle: %s is missing (nothing was built). Run env/test.sh first.\n' "$program" >&2
  exit 2
}
rm -rf "$target"
mkdir -p "$target"/{bin,lib,openmpi/lib,openmpi/share,pmix/lib}

# What the loader would take from the system; torch's part and the C library stay out.
needed_by() {
  ldd "$@" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(torch|nvidia)/|/(libc|libm|libdl|librt|libpthread|libresolv|libutil|ld-linux-x86-64)\.so' || true
}
copy_needed() {
  needed_by "$@" | while read -r library; do cp -Lu "$library" "$target/lib/"; done
}

strip -o "$target/bin/stereosweep" "$program"
cp -L "$(command -v mpirun)" "$target/bin/orterun"
programs=("$target/bin/stereosweep" "$target/bin/orterun")
while read -r test; do
  strip -o "$target/bin/$(basename "$test")" "$test"
  programs+=("$target/bin/$(basename "$test")")
done < <(ctest --test-dir build/release -L gpu --show-only=json-v1 |
  python3 -c 'import json, sys; print(*{t["command"][0] for t in json.load(sys.stdin)["tests"] if "command" in t}, sep="\n")' | sed '/^$/d')
copy_needed "${programs[@]}"

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
# Sourced by the scripts beside it: where torch, the bundled libraries and Open MPI's parts lie.
bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${STEREOSWEEP_PYTHON:-python3}
site=$("$python" -c 'import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("torch").origin).parents[1])') || {
  printf 'bundle: %s has no torch (the bundle does not hold it)\n' "$python" >&2
  exit 2
}
libraries=$site/torch/lib
for folder in "$site"/nvidia/*/lib; do libraries=$libraries:$folder; done
export LD_LIBRARY_PATH=$libraries:$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export OMPI_MCA_mca_base_component_path=$bundle/openmpi/lib PMIX_MCA_mca_base_component_path=$bundle/pmix/lib
export OPAL_PREFIX=$bundle/openmpi OPAL_PKGDATADIR=$bundle/openmpi/share
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm=isolated OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
END
write_script() {
  # The lines are the script's own, to be expanded there.
  # shellcheck disable=SC2016
  printf '#!/usr/bin/env bash\nset -euo pipefail\nsource "$(dirname "${BASH_SOURCE[0]}")/environment"\n%s\n' "$2" >"$target/$1"
  chmod +x "$target/$1"
}
# shellcheck disable=SC2016
{
  write_script stereosweep 'exec "$bundle/bin/stereosweep" "$@"'
  write_script mpirun 'exec "$bundle/bin/orterun" --oversubscribe --bind-to none "$@"'
  write_script gpu-tests 'failed=0
for test in "$bundle"/bin/test_*; do "$test" "$@" || failed=1; done
exit "$failed"'
}
printf 'bundle: %s, %s\n' "$target" "$(du -sh "$target" | cut -f1)"
