#!/usr/bin/env bash
# Everything that CI checks: formatting, headers that compile alone, release and sanitized builds with their tests,
# an installed copy that a consumer finds, and clang-tidy on what changed.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh --tests
jobs=$(nproc)
step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

step "format"
scripts/format.sh --check

step "no include runs up a layer"
scripts/check_layers.sh

step "release build"
cmake --preset release
cmake --build --preset release -j "$jobs"

# What is timed can be disturbed by a neighbour of a virtual machine: a test that fails is tried once more.
step "release tests"
ctest --preset release -j "$jobs" --repeat until-pass:2

step "installed copy and its consumer"
tests/install/test.sh build/release

# With the other compiler, so that both see every source. What is slow or timed says nothing there.
step "sanitized build (Clang, ASan, UBSan)"
cmake --preset asan
cmake --build --preset asan -j "$jobs"

step "every public header compiles alone"
cmake --build --preset asan --target header_alone -j "$jobs"

step "sanitized tests"
ctest --preset asan -j "$jobs" --repeat until-pass:2

step "clang-tidy on what changed"
scripts/tidy.sh

step "done"
