#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that are missing and builds kevo into build/release.
#   scripts/setup.sh            what the program needs
#   scripts/setup.sh --tests    also what scripts/test.sh needs; builds nothing
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build libfmt-dev libyaml-cpp-dev libcli11-dev libsqlite3-dev libssl-dev libseccomp-dev
          libeigen3-dev bubblewrap binutils doctest-dev libbenchmark-dev libopenblas-dev)
tests=no
if [[ "${1:-}" == --tests ]]; then
  tests=yes
  packages+=(clang clang-format clang-tidy lld libomp-dev sqlite3 git)
  # The sanitized build is clang's; what it links is a package of clang's own version.
  clang=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
  packages+=(libclang-rt-"${clang:-14}"-dev)
elif [[ $# -gt 0 ]]; then
  echo "usage: scripts/setup.sh [--tests]" >&2
  exit 2
fi

# The compile stage of CUDA candidates is tested with a real NVRTC, which needs no GPU.
has_nvrtc() {
  compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib*/libnvrtc.so.*" >/dev/null ||
    compgen -G 'build/nvrtc/nvidia/*/lib/libnvrtc.so.*' >/dev/null || ldconfig -p | grep -q 'libnvrtc\.so'
}
if [[ $tests == yes ]] && ! has_nvrtc; then packages+=(python3-pip); fi

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# Boost 1.81 or newer: Debian 12 has it under a versioned name, Ubuntu 24.04 under the plain one.
boost_is_new() { dpkg --compare-versions "$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo 0)" ge 1.81; }

if command -v apt-get >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
  need_boost=no
  if ! boost_is_new libboost1.81-dev && ! boost_is_new libboost-dev; then need_boost=yes; fi
  if [[ ${#missing[@]} -gt 0 || $need_boost == yes ]]; then
    as_root apt-get update -q
    if [[ $need_boost == yes ]]; then
      candidate=$(apt-cache policy libboost-dev | sed -n 's/ *Candidate: //p')
      if dpkg --compare-versions "${candidate:-0}" ge 1.81; then missing+=(libboost-dev); else missing+=(libboost1.81-dev); fi
    fi
    echo "kevo: installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  fi
else
  echo "kevo: no apt-get here; install the equivalents of: ${packages[*]} and Boost 1.81 or newer" >&2
fi

if [[ $tests == yes ]] && ! has_nvrtc; then
  echo "kevo: fetching NVRTC and CUDA's headers into build/nvrtc"
  python3 -m pip install -q --no-deps --target build/nvrtc nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 \
    nvidia-cuda-cccl-cu12 nvidia-cuda-nvcc-cu12 || echo "kevo: that failed; the tests that compile CUDA will be skipped" >&2
fi

if [[ $tests == no ]]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target kevo
fi
