#!/usr/bin/env bash
# Everything that CI checks: formatting, headers that compile alone, release and sanitized builds with their tests,
# an installed copy that a consumer finds, and clang-tidy on what changed.
#   scripts/test.sh         runs each test in one of the two builds (cmake/tests.cmake says which), and leaves out those with the label `long`
#   scripts/test.sh --all   runs all tests in both builds, except the slow ones in the sanitized build; takes longer
set -euo pipefail
cd "$(dirname "$0")/.."
optimized=optimized
sanitized=sanitized
left_out=long
if [[ "${1:-}" == --all ]]; then
  optimized=all
  sanitized=all
  left_out=none
elif [[ $# -gt 0 ]]; then
  echo "usage: scripts/test.sh [--all]" >&2
  exit 2
fi
scripts/setup.sh --tests-packages
jobs=$(nproc)
step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }

# What tests use beyond the system's packages, PyTorch above all, comes while the release build compiles: no build needs it.
mkdir -p build
scripts/setup.sh --tests >build/fetch.log 2>&1 &
fetch=$!
# Steps of one thread run beside others; each is named, with what it printed, when its result is needed.
started=("$fetch")
trap 'kill "${started[@]}" 2>/dev/null || true' EXIT
finish() {  # PROCESS LOG
  wait "$1" || { cat "$2"; exit 1; }
  cat "$2"
}
api_reference() {
  if command -v doxygen >/dev/null; then scripts/api_reference.sh; else echo "skipped: doxygen is not installed"; fi
}
api_reference >build/api_reference.log 2>&1 &
reference=$!
started+=("$reference")

step "format"
scripts/format.sh --check

step "no include runs up a layer"
scripts/check_layers.sh

step "release build"
# A build folder of scripts/setup.sh may know the same compiler by another name, for which CMake would drop all settings of the preset.
cmake --fresh --preset release -DKEVO_PYTHON=ON -DKEVO_TEST_SHARE="$optimized" -DCMAKE_CXX_COMPILER="$(scripts/newest_compiler.sh g++)"

step "API reference without warnings"
finish "$reference" build/api_reference.log

step "release build, continued"
cmake --build --preset release -j "$jobs"

step "exceptions can leave every function"
scripts/check_unwinding.py build/release/kevo

step "what the tests need beyond packages"
finish "$fetch" build/fetch.log
started=()

# Tests wait for processes and time limits, too: one more than there are processors keeps these busy. With two more, they took as long.
at_once=$((jobs + 1))

# A neighbour of a virtual machine can disturb what a test measures or waits for. A test with the label timing that fails is therefore run
# once more, alone; what fails again fails the script, and the log names what passed only then. Other tests have one try, and so has the
# test of the exploits that are caught whatever else the machine does.
run_together() {  # PRESET
  ctest --preset "$1" -j "$at_once" -LE "^(alone|$left_out)\$" || again "$1"
}
run_alone() {  # PRESET: what measures, and must not have neighbours
  ctest --preset "$1" -j 1 -L '^alone$' -LE "^$left_out\$" --no-tests=ignore || again "$1"
}

names() {  # PRESET OPTIONS...: of the tests that ctest selects
  ctest --preset "$@" -N | sed -n 's/^ *Test *#[0-9]*: *//p' | sort
}
again() {  # PRESET; after ctest has failed
  local failed timed final
  failed=$(names "$1" --rerun-failed)  # ctest ignores further options that select tests
  timed=$(comm -12 <(echo "$failed") <(names "$1" -L '^timing$' -E '^attacks\.caught$'))
  final=$(comm -23 <(echo "$failed") <(echo "$timed"))
  if [[ -n $final ]]; then
    sed 's/^/FAILED: /' <<<"$final"
    return 1
  fi
  sed 's/^/UNSTABLE, run again alone because it failed: /' <<<"$timed"
  ctest --preset "$1" -j 1 --rerun-failed
}

step "release tests"
names release -L "^$left_out\$" | sed 's/^/not run, because scripts\/test.sh --all alone runs it: /'
run_together release

step "release tests that measure"
run_alone release

# With the other compiler, so that both see every source of the library. What is slow or timed says nothing there. Not beside the release
# tests: even with the lowest priority it made measurements fail. Without line tables it compiles a fifth faster; a report of a sanitizer
# names functions all the same, and a build by the preset alone (cmake --preset asan) names lines, too.
cmake --fresh --preset asan -DKEVO_TEST_SHARE="$sanitized" -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0 \
  -DCMAKE_CXX_COMPILER="$(scripts/newest_compiler.sh clang++)" >build/asan_configure.log 2>&1 &
configured=$!
started=("$configured")

step "installed copy and its consumer"
tests/install/test.sh build/release

step "sanitized build (Clang, ASan, UBSan), every public header and the benchmarks alone"
finish "$configured" build/asan_configure.log
started=()
cmake --build --preset asan -j "$jobs" --target all header_alone benchmarks_compile

step "compile time of kevo.hpp"
RUNS=3 scripts/compile_time.sh 2.3  # the aim is 2; the rest is noise

step "sanitized tests"
run_together asan
run_alone asan

step "clang-tidy on what changed"
scripts/tidy.sh

step "done"
