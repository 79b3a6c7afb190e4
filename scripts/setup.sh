#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that are missing and builds kevo into build/release.
#   scripts/setup.sh            what the program needs
#   scripts/setup.sh --triton   also Triton, for candidates in Triton, from Python's package index into build/python
#   scripts/setup.sh --torch    also PyTorch, for candidates that are modules of PyTorch, into build/torch (2.6 GB to fetch, 4.7 GB on the disk), and
#                               apache-tvm-ffi, for solutions of FlashInfer-Bench in C++ and CUDA, and einops and transformers, which references
#                               of suites use
#   scripts/setup.sh --ray      also Ray, for evaluations on many machines (docs/ray.md), into build/ray (134 MB to fetch, 470 MB on the disk)
#   scripts/setup.sh --tests    what scripts/test.sh needs, Triton and PyTorch included, but not Ray; builds nothing
#   scripts/setup.sh --tests-packages   of that the packages of the system alone, which a build needs
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build libfmt-dev libyaml-cpp-dev libcli11-dev libsqlite3-dev libssl-dev libseccomp-dev
          libeigen3-dev libclang-dev bubblewrap binutils doctest-dev libbenchmark-dev libopenblas-dev)
tests=no
fetch=yes
triton=no
torch=no
ray=no
if [[ "${1:-}" == --triton ]]; then
  triton=yes
elif [[ "${1:-}" == --torch ]]; then
  torch=yes
elif [[ "${1:-}" == --ray ]]; then
  ray=yes
elif [[ "${1:-}" == --tests || "${1:-}" == --tests-packages ]]; then
  if [[ $1 == --tests-packages ]]; then fetch=no; fi
  tests=yes
  triton=yes
  torch=yes
  packages+=(clang clang-format clang-tidy doxygen lld libomp-dev sqlite3 git curl openssl pybind11-dev python3-dev)
  # CI compiles with the newest of both compilers that there is a package of. What clang links into the sanitized build is a package of its
  # own version.
  newest() { apt-cache pkgnames "$1-" 2>/dev/null | sed -n "s/^$1-\([0-9]*\)$/\1/p" | sort -n | tail -n 1; }
  clang=$(newest clang)
  if [[ -n $clang ]]; then packages+=("clang-$clang" "libclang-rt-$clang-dev"); fi
  gcc=$(newest 'g++')
  if [[ -n $gcc ]]; then packages+=("g++-$gcc"); fi
elif [[ $# -gt 0 ]]; then
  echo "usage: scripts/setup.sh [--triton | --torch | --ray | --tests | --tests-packages]" >&2
  exit 2
fi

# The compile stage of CUDA candidates is tested with a real NVRTC, which needs no GPU.
has_nvrtc() {
  compgen -G "${CUDA_HOME:-/usr/local/cuda}/lib*/libnvrtc.so.*" >/dev/null ||
    compgen -G 'build/nvrtc/nvidia/*/lib/libnvrtc.so.*' >/dev/null || ldconfig -p | grep -q 'libnvrtc\.so'
}
# Which version: the one that kevo is tested with.
has_triton() { [[ -d build/python/triton ]]; }
has_torch() { [[ -d build/torch/torch ]]; }
has_ffi() { [[ -d build/torch/tvm_ffi ]]; }
has_einops() { [[ -d build/torch/einops ]]; }
has_transformers() { [[ -d build/torch/transformers ]]; }
has_ray() { [[ -d build/ray/ray ]]; }
has_pip() { python3 -m pip --version >/dev/null 2>&1; }
if { [[ $tests == yes ]] && ! has_nvrtc; } || { [[ $triton == yes ]] && ! has_triton; } ||
  { [[ $torch == yes ]] && ! { has_torch && has_ffi && has_einops && has_transformers; }; } || { [[ $ray == yes ]] && ! has_ray; }; then
  has_pip || packages+=(python3-pip)
fi

installed() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
as_root() { if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi; }

# Boost 1.81 or newer: Debian 12 has it under a versioned name, Ubuntu 24.04 under the plain one. Boost.URL is a package of its own, always
# under a versioned name.
version_of() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo 0; }
candidate_of() { apt-cache policy "$1" 2>/dev/null | sed -n 's/ *Candidate: //p' | grep -v none || echo 0; }
is_new() { dpkg --compare-versions "$1" ge 1.81; }
boost_packages() {
  local version
  if version=$(version_of libboost-dev) && is_new "$version"; then :
  elif version=$(version_of libboost1.81-dev) && is_new "$version"; then echo libboost-url1.81-dev; return
  elif version=$(candidate_of libboost-dev) && is_new "$version"; then echo libboost-dev
  else echo libboost1.81-dev libboost-url1.81-dev; return; fi
  echo "libboost-url$(cut -d. -f1,2 <<<"$version")-dev"
}
boost_is_missing() {
  local package
  for package in $(boost_packages); do installed "$package" || return 0; done
  return 1
}

if command -v apt-get >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
  done
  if [[ ${#missing[@]} -gt 0 ]] || boost_is_missing; then
    as_root apt-get update -q
    for package in $(boost_packages); do  # only now: before the update the list of packages may have been empty
      installed "$package" || missing+=("$package")
    done
    echo "kevo: installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}"
  fi
else
  echo "kevo: no apt-get here; install the equivalents of: ${packages[*]} and Boost 1.81 or newer with Boost.URL" >&2
fi

if [[ $fetch == no ]]; then exit; fi

# Packages of Python's index, unpacked into a folder. uv takes less than half of pip's time for it (PyTorch without compiling its
# Python files: 34 instead of 77 s of processor time); where uv cannot be had or does not reach the index, pip does it. uv's cache
# would keep as much on the disk once more. kevo's Pythons write no bytecode, so that it is made here: `import torch` takes 1.7
# instead of 3.8 s with it.
uv() { PYTHONPATH=build/uv python3 -m uv --cache-dir build/uv-cache "$@"; }
has_uv() {
  uv --version >/dev/null 2>&1 || python3 -m pip install -q --target build/uv uv >/dev/null 2>&1 && uv --version >/dev/null 2>&1
}
fetch_into() {  # FOLDER PACKAGE..., with options of pip that uv has, too
  if has_uv && uv pip install -q --compile-bytecode --python "$(command -v python3)" --target "$@"; then
    rm -rf build/uv-cache
    return
  fi
  rm -rf build/uv-cache "$1"
  python3 -m pip install -q --target "$@"
}

if [[ $tests == yes ]] && ! has_nvrtc; then
  echo "kevo: fetching NVRTC and CUDA's headers into build/nvrtc"
  fetch_into build/nvrtc --no-deps nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cuda-cccl-cu12 nvidia-cuda-nvcc-cu12 ||
    echo "kevo: that failed; the tests that compile CUDA will be skipped" >&2
fi

if [[ $torch == yes ]] && ! has_torch; then
  echo "kevo: fetching PyTorch into build/torch"
  # A folder that is whole or not there: what was interrupted is fetched again. NumPy is what Triton's interpreter needs.
  rm -rf build/torch.new
  if fetch_into build/torch.new torch==2.11.0 numpy; then
    mv build/torch.new build/torch
  else
    rm -rf build/torch.new
    echo "kevo: that failed; modules of PyTorch cannot be run without a Python that has PyTorch" >&2
    if [[ $tests == no ]]; then exit 1; fi
  fi
fi

# Packages beside PyTorch, also where that was fetched earlier. What lies there already stays as it is.
beside_torch() {  # PACKAGE==VERSION CONSEQUENCE [OPTION OF THE INSTALLER...]
  echo "kevo: fetching ${1%%=*} into build/torch"
  rm -rf build/beside.new
  if fetch_into build/beside.new "${@:3}" "$1"; then
    local entry
    for entry in build/beside.new/*; do
      [[ -e build/torch/${entry##*/} || ${entry##*/} == bin ]] || mv "$entry" build/torch
    done
  else
    echo "kevo: that failed; $2" >&2
  fi
  rm -rf build/beside.new
}
# What builds solutions of FlashInfer-Bench that have the binding tvm-ffi (3.3 MB to fetch, 12 MB on the disk).
if [[ $torch == yes ]] && has_torch && ! has_ffi; then
  beside_torch apache-tvm-ffi==0.1.15.post2 "extensions with the binding tvm-ffi cannot be built" --no-deps
fi
# For references that import it, such as two of KernelBench (64 kB to fetch, Python only).
if [[ $torch == yes ]] && has_torch && ! has_einops; then
  beside_torch einops==0.8.2 "programs that import einops cannot be run" --no-deps
fi
# For references that take a model from it, such as level 4 of KernelBench (55 MB to fetch, 200 MB on the disk, with what it needs). This is
# the version that kevo is tested with.
if [[ $torch == yes ]] && has_torch && ! has_transformers; then
  beside_torch transformers==4.57.6 "programs that import transformers cannot be run"
fi

# PyTorch brings Triton along, of the version that is wanted here if the folder of that name is there.
triton_of_torch() {
  [[ -d build/torch/triton-3.6.0.dist-info ]] && mkdir -p build/python &&
    cp -al build/torch/triton-3.6.0.dist-info build/torch/triton build/python
}
if [[ $triton == yes ]] && ! has_triton && ! triton_of_torch; then
  echo "kevo: fetching Triton into build/python"
  if ! fetch_into build/python --no-deps triton==3.6.0; then
    echo "kevo: that failed; candidates in Triton cannot be compiled without a Python that has Triton" >&2
    if [[ $tests == no ]]; then exit 1; fi
  fi
fi

if [[ $ray == yes ]] && ! has_ray; then
  echo "kevo: fetching Ray into build/ray"
  rm -rf build/ray.new
  if fetch_into build/ray.new "ray[serve]==2.60.0"; then
    mv build/ray.new build/ray
  else
    rm -rf build/ray.new
    echo "kevo: that failed; python/kevo_ray needs a Python that has ray[serve]" >&2
    exit 1
  fi
fi

if [[ $tests == no ]]; then
  cmake --preset release >/dev/null
  cmake --build --preset release --target kevo
fi
