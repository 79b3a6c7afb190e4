#!/usr/bin/env bash
# Formats all C++ of the repository, or with --check says what is not formatted. Attack and candidate sources are data.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.hpp' '*.cpp' | grep -v -E '^configs/|^tests/attacks/.*/|^tests/fuzz/corpus/')
if [[ "${1:-}" == --check ]]; then
  printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 50 clang-format --dry-run --Werror
else
  clang-format -i "${files[@]}"
fi
