#!/usr/bin/env bash
# clang-tidy on the sources that changed since a commit (default: the last one), headers included with them.
#   scripts/tidy.sh [BASE] [BUILD_DIRECTORY]
# The build has to be Clang's own: it cannot read what GCC precompiled.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-HEAD~1}
build=${2:-build/asan}
git rev-parse -q --verify "$base" >/dev/null || base=$(git rev-list --max-parents=0 HEAD | tail -n 1)
mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'operators/*.cpp' 'fitness/*.cpp')
if [[ ${#files[@]} -eq 0 ]]; then
  echo "tidy: no source changed since $base"
  exit 0
fi
echo "tidy: ${#files[@]} sources changed since $base"
printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 2 clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option
